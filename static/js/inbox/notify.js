// Notifications of the browser, for people who ask for them by [data-notify]: one when the number of decisions that wait
// for this person rises.

const WANTED = "pevsite.notify";

/**
 * @param {PageElement} button
 * @param {PageElement} region
 */
function offer(button, region) {
  let known = needed();

  function needed() {
    return Number(region.querySelector("[data-needed]")?.dataset.needed || 0);
  }

  function wanted() {
    return localStorage.getItem(WANTED) === "1" && Notification.permission === "granted";
  }

  function show() {
    const on = wanted();
    button.hidden = false;
    button.textContent =
      Notification.permission === "denied"
        ? "Notifications are blocked by the settings of this browser"
        : on
          ? "Notifications on"
          : "Notify me";
    button.disabled = Notification.permission === "denied";
    button.title = button.disabled
      ? "This browser blocks them for this site; its settings can allow them."
      : "While this page is open, also behind others, the browser tells you when a run needs your decision.";
    button.setAttribute("aria-pressed", String(on));
    if (on) region.dataset.whenHidden = "1";
    else delete region.dataset.whenHidden;
  }

  button.addEventListener("click", async () => {
    if (wanted()) {
      localStorage.removeItem(WANTED);
    } else if ((await Notification.requestPermission()) === "granted") {
      localStorage.setItem(WANTED, "1");
    }
    show();
  });

  document.addEventListener("htmx:after:swap", () => {
    const now = needed();
    const looking = !document.hidden && document.hasFocus();
    if (now > known && wanted() && !looking) {
      const note = new Notification(now === 1 ? "A run needs your decision" : `${now} runs need your decision`, {
        tag: "pevsite",
        icon: document.querySelector("link[rel=icon]")?.href,
      });
      note.onclick = () => window.focus();
    }
    known = now;
  });

  show();
}

const button = document.querySelector("[data-notify]");
const region = document.querySelector("[data-refresh]");
if (button && region && "Notification" in window) offer(button, region);
