// Says at a text field with [data-max-length] by how much it is too long, while somebody types or pastes. Nothing is cut:
// the text stays whole, and its form is not sent before it fits.
import { lengthProblem } from "./text_length.js";

/** @param {PageElement} field */
function placeFor(field) {
  const beside = field.parentElement;
  const known = beside.querySelector(":scope > [data-too-long]");
  if (known) return known;
  const place = document.createElement("div");
  place.dataset.tooLong = "";
  place.hidden = true;
  const words = document.createElement("p");
  words.className = "field-error";
  words.setAttribute("role", "status");
  place.append(words);
  field.after(place);
  return place;
}

/** @param {PageElement} field */
function check(field) {
  const problem = lengthProblem(field.value, Number(field.dataset.maxLength));
  if (!problem && !field.hasAttribute("data-over")) return;
  const place = placeFor(field);
  field.toggleAttribute("data-over", Boolean(problem));
  if (problem) field.setAttribute("aria-invalid", "true");
  else field.removeAttribute("aria-invalid");
  place.querySelector("p").textContent = problem;
  place.hidden = !problem;
}

document.addEventListener("input", (event) => {
  if (event.target.dataset.maxLength) check(event.target);
});
// Kept words are put back without an event of their own.
const checkAll = () => document.querySelectorAll("[data-max-length]").forEach(check);
document.addEventListener("pev:restored", checkAll);
checkAll();

// Before anything else that sends the form.
window.addEventListener(
  "submit",
  (event) => {
    if (/** @type {any} */ (event).submitter?.formNoValidate) return; // it sends no text, or makes a file of it
    const form = /** @type {PageElement} */ (event.target);
    const field = [...form.elements].find((one) => one.hasAttribute("data-over"));
    if (!field) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    field.focus();
  },
  true,
);
