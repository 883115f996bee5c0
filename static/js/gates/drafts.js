// Keeps words that were typed and not sent ([data-draft]) in this browser, for this person, and restores them after a
// reload.
// Where the browser keeps nothing, the words stay in the page only.
import { forgetOld, read, write } from "../browser_storage.js";

const DAYS = 30;
const person = document.body.dataset.user || "";
const prefix = `draft:${person}:${window.location.pathname}:`;
/** @param {PageElement} field */
const keyOf = (field) => prefix + field.dataset.draft;
/** @param {PageElement} field */
const ticked = (field) => field.type === "checkbox";

/**
 * @param {PageElement} field
 * @param {string} value
 */
const keep = (field, value) => write(keyOf(field), value ? { at: Date.now(), value } : null);

function restore() {
  for (const field of document.querySelectorAll("[data-draft]")) {
    if (field.dataset.restored) continue;
    field.dataset.restored = "yes";
    const value = read(keyOf(field))?.value;
    if (!value) continue;
    if (ticked(field)) field.checked = true;
    else if (!field.value) field.value = value;
  }
  document.dispatchEvent(new Event("pev:restored"));
}

document.addEventListener("input", (event) => {
  const field = event.target.closest?.("[data-draft]");
  if (field) keep(field, ticked(field) ? (field.checked ? "on" : "") : field.value);
});

// What was sent and taken is no draft any more: the form that held it says so.
document.addEventListener("pev:sent", (event) => {
  for (const field of event.target.elements) if (field.dataset.draft) keep(field, "");
});

document.addEventListener("htmx:after:swap", restore);
document.addEventListener("htmx:after:ws:message", () => setTimeout(restore, 60));
forgetOld("draft:", DAYS);
restore();
