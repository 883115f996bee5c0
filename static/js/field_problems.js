// Says at a field what is wrong with it, instead of the bubble of the browser, and takes that away as soon as it is right.
// Without this script the browser says it.
import { problemOf } from "./field_words.js";

let isFirst = true;

/** @param {PageElement} field */
function placeFor(field) {
  const about = field.matches("[type=checkbox], [type=radio]") ? field.closest("fieldset, .field, label") : field;
  const known = about.parentElement.querySelector(":scope > [data-problem]");
  if (known) return known;
  const place = document.createElement("p");
  place.className = "field-error";
  place.dataset.problem = "";
  place.id = `${field.id || field.name}-problem`;
  about.after(place);
  return place;
}

/** @param {PageElement} field */
function say(field) {
  const place = placeFor(field);
  place.textContent = problemOf(/** @type {any} */ (field));
  const described = (field.getAttribute("aria-describedby") ?? "").split(" ").filter((id) => id && id !== place.id);
  field.setAttribute("aria-describedby", [place.id, ...described].join(" "));
  field.setAttribute("aria-invalid", "true");
}

/** @param {PageElement} field */
function forgive(field) {
  field.removeAttribute("aria-invalid");
  const place = placeFor(field);
  const described = (field.getAttribute("aria-describedby") ?? "").split(" ").filter((id) => id !== place.id);
  if (described.length) field.setAttribute("aria-describedby", described.join(" "));
  else field.removeAttribute("aria-describedby");
  place.remove();
}

// One for each field that is not right; the focus, which the browser would set with its bubble, goes to the first.
document.addEventListener(
  "invalid",
  (event) => {
    event.preventDefault();
    const field = /** @type {PageElement} */ (event.target);
    say(field);
    if (!isFirst) return;
    isFirst = false;
    queueMicrotask(() => {
      isFirst = true;
    });
    field.closest("details:not([open])")?.setAttribute("open", "");
    field.focus();
  },
  true,
);

document.addEventListener("input", (event) => {
  const field = event.target;
  field.setCustomValidity?.(""); // what asked for it looks again when the form is sent
  if (!field.parentElement?.querySelector(":scope > [data-problem]") || !field.willValidate) return;
  if (problemOf(/** @type {any} */ (field))) say(field);
  else forgive(field);
});
