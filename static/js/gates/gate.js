// Says why a button of a decision cannot be used, and where the focus goes next. What became of it is said by forms.js.
import { isStill } from "./stillness.js";

const me = document.body.dataset.user || "";
/** @param {PageElement} form */
const chosen = (form) => [...form.elements].some((field) => field.name === "back" && field.checked);

// A second person has to approve: the person who submitted the task sees this before they try. And no one takes what is
// their turn already.
function prepare() {
  for (const form of document.querySelectorAll("form[data-assigned-to]")) {
    form.hidden = form.dataset.assignedTo === me;
  }
  for (const form of document.querySelectorAll("form.decide[data-not-by]")) {
    const button = form.querySelector("button[value=approve]");
    const mine = form.dataset.notBy?.split(" ").includes(me);
    button.disabled = mine;
    const about = mine ? "second" : `does-${button.value}`;
    button.setAttribute("aria-describedby", `gate-${form.dataset.gate}-${about}`);
  }
  showBelow();
}

// The bar of a decision covers what lies below it. It says so while there is more to read.
function showBelow() {
  for (const form of document.querySelectorAll("form.decide")) {
    const end = form.previousElementSibling?.getBoundingClientRect().bottom ?? 0;
    form.toggleAttribute("data-below", end > form.getBoundingClientRect().top + 8);
  }
}

for (const name of ["scroll", "resize", "toggle"]) {
  addEventListener(name, () => requestAnimationFrame(showBelow), { capture: true, passive: true });
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

// The button names the limit that is typed.
document.addEventListener("input", (event) => {
  const { form, value, dataset } = event.target;
  if (!dataset.raises || !value) return;
  form.querySelector("button[value=approve]").textContent = dataset.raises.replace("{}", value);
});

/** @type {PageElement | null} */
let sent = null;

document.addEventListener("htmx:before:request", (event) => {
  if (event.target.matches("form.decide")) sent = event.target;
});

// A double click on the button of one question must not decide the next one, which may be there by then.
document.addEventListener("click", (event) => {
  if (event.detail > 1 && event.target.closest?.("form.decide button[name=verb]")) event.preventDefault();
});

// The question is gone: the next one gets the focus, now or when it opens while the reader still looks there; else what
// was decided.
let answered = false;

function goOn() {
  prepare();
  if (sent && !sent.isConnected) {
    sent = null;
    answered = true;
  }
  answered &&= isStill();
  const here = document.activeElement;
  if (!answered || (here && here !== document.body && !here.matches(".run-decided"))) return;
  const next =
    document.querySelector(".gate h2, .arrivals > :not([hidden]) button") || document.querySelector(".run-decided");
  if (!next) return;
  if (!next.matches(".run-decided")) answered = false;
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
