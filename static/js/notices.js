// Notices of the browser, for people who turn them on by [data-notify]. An open page asks what has become due for the
// person since some page of this browser last asked, and shows its titles. What is due when is decided by the server.

import { read, write } from "./browser_storage.js";

const EVERY = 20_000; // milliseconds; browsers let hidden pages ask once a minute
const CHECKS = 5_000;
const MOST = 3; // more at once are one notification
const REMEMBERED = 100;
const { user, notices: address } = document.body.dataset;
const KEPT = `pevsite.notices.${user}`; // { since, at, shown } while this person wants notices in this browser

function wanted() {
  return Notification.permission === "granted" && read(KEPT) !== null;
}

/**
 * @param {string} title
 * @param {string} path
 * @param {string} tag
 */
function show(title, path, tag) {
  const note = new Notification(title, { tag, icon: document.querySelector("link[rel=icon]")?.href });
  note.onclick = () => {
    window.open(path, "pevsite-notice"); // this page may contain words that are not sent yet
    note.close();
  };
}

async function ask() {
  const kept = read(KEPT);
  if (!wanted() || Date.now() - kept.at < EVERY) return;
  write(KEPT, { ...kept, at: Date.now() });
  const query = kept.since ? `?since=${encodeURIComponent(kept.since)}` : "";
  // By this header the server knows that no one has clicked: an open page keeps no session alive.
  const answer = await fetch(address + query, { headers: { "HX-Request": "true" }, redirect: "manual" });
  if (!answer.ok) return;
  /** @type {{ now: string, notices: { id: number, title: string, path: string }[] }} */
  const { now, notices } = await answer.json();
  const listed = notices.filter((one) => !kept.shown.includes(one.id));
  const fresh = kept.since ? listed : []; // at first, only what comes from now on
  const shown = [...kept.shown, ...listed.map((one) => one.id)].slice(-REMEMBERED);
  if (!wanted()) return; // turned off in the meantime
  write(KEPT, { ...read(KEPT), since: now, shown });
  if (!fresh.length || (!document.hidden && document.hasFocus())) return; // the person is here
  if (fresh.length <= MOST) for (const one of fresh) show(one.title, one.path, `pevsite-${one.id}`);
  else show(`${fresh[0].title}, and ${fresh.length - 1} more`, "/", "pevsite");
}

/** One page of this browser asks at a time. */
function askAlone() {
  if (!wanted()) return;
  navigator.locks.request(KEPT, { ifAvailable: true }, (lock) => lock && ask()).catch(() => {}); // no connection: the next time
}

/** @param {PageElement} button */
function offer(button) {
  const region = document.querySelector("[data-refresh]");

  function update() {
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
      : "While a page of pevsite is open, also behind others, the browser shows the notices that you have chosen.";
    button.setAttribute("aria-pressed", String(on));
    if (!region) return;
    if (on) region.dataset.whenHidden = "1";
    else delete region.dataset.whenHidden;
  }

  button.addEventListener("click", async () => {
    if (wanted()) write(KEPT, null);
    else if ((await Notification.requestPermission()) === "granted") write(KEPT, { since: "", at: 0, shown: [] });
    update();
    askAlone(); // from this moment on
  });
  update();
}

if (user && "Notification" in window && "locks" in navigator) {
  for (const button of document.querySelectorAll("[data-notify]")) offer(button);
  setInterval(askAlone, CHECKS);
}
