// Owns the answer at the button: what was done, refused or not sent; why a button cannot be used; where the focus goes
// next.

const me = document.body.dataset.user || "";
/** @param {PageElement} form */
const answerOf = (form) => document.getElementById(`gate-${form.dataset.gate}-answer`);
/** @param {PageElement} form */
const chosen = (form) => [...form.elements].some((field) => field.name === "back" && field.checked);

/**
 * @param {PageElement} form
 * @param {string} words
 * @param {string} [link]
 */
function say(form, words, link) {
  const place = answerOf(form);
  if (!place) return;
  place.className = "decide-answer bad";
  place.textContent = words;
  if (link) {
    const way = document.createElement("a");
    way.href = link;
    way.textContent = "Sign in again";
    place.append(" ", way);
  }
}

// A second person has to approve: the person who submitted the task sees this before they try.
function prepare() {
  for (const form of document.querySelectorAll("form.decide[data-not-by]")) {
    const button = form.querySelector("button[value=approve]");
    const mine = form.dataset.notBy === me;
    button.disabled = mine;
    if (mine) button.setAttribute("aria-describedby", `gate-${form.dataset.gate}-second`);
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("button[data-needs-words]");
  if (!button) return;
  const words = button.form.elements.reason;
  words.setCustomValidity(
    words.value.trim() || chosen(button.form) ? "" : "Say what should be different, or tick points to send back.",
  );
  if (!words.reportValidity()) event.preventDefault();
});
document.addEventListener("input", (event) => event.target.setCustomValidity?.(""));

/** @param {Event} event */
const formOf = (event) => (event.target instanceof Element ? event.target.closest("form.decide") : null);
/** @type {PageElement | null} */
let sent = null;

document.addEventListener("htmx:before:request", (event) => {
  const form = formOf(event);
  if (!form) return;
  sent = form;
  const place = answerOf(form);
  place.className = "decide-answer";
  place.textContent = "Sending…";
});

// No answer at all: the connection is gone, or the server is.
document.addEventListener("htmx:error", (event) => {
  const form = formOf(event) || sent;
  if (form?.isConnected)
    say(form, "Not sent: no connection to the server. Your words are kept here; try again when it is back.");
});

document.addEventListener("htmx:after:request", (event) => {
  const form = formOf(event);
  const response = event.detail.ctx?.response;
  if (!form || !response) return;
  if (response.status === 401) {
    const back = encodeURIComponent(window.location.pathname);
    say(form, "Not sent: you are signed out. Your words are kept in this browser.", `/sign-in/?next=${back}`);
  } else if (response.status < 400) {
    form.dispatchEvent(new CustomEvent("pev:sent", { bubbles: true }));
  } else if (response.status === 403) {
    say(
      form,
      "Not sent: this page is out of date, or you may not decide here any more. Your words are kept; load the page again.",
    );
  } else if (response.status >= 500) {
    say(form, "Not sent: the server could not answer. Your words are kept here; try again.");
  }
});

// The question is gone: the next one gets the focus, now or when it opens soon after; else what was decided.
const SOON = 15000;
let answered = 0;

function goOn() {
  prepare();
  if (sent && !sent.isConnected) {
    sent = null;
    answered = Date.now();
  }
  if (!answered || Date.now() - answered > SOON) return;
  if (
    document.activeElement &&
    document.activeElement !== document.body &&
    !document.activeElement.matches(".run-decided")
  )
    return;
  const next =
    document.querySelector(".gate h2, .arrivals > :not([hidden]) button") || document.querySelector(".run-decided");
  if (!next) return;
  if (!next.matches(".run-decided")) answered = 0;
  if (!next.matches("button")) next.setAttribute("tabindex", "-1");
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

// A swap ends in a later turn of the event loop.
document.addEventListener("htmx:after:request", () => setTimeout(goOn, 50));
document.addEventListener("htmx:after:ws:message", () => setTimeout(goOn, 60));
// Regions come later than the message that names them (following.js), or wait behind a bar (arrivals.js).
for (const name of ["pev:arriving", "pev:after-part"]) document.addEventListener(name, () => setTimeout(goOn));

prepare();
