// Says at the decision how many points go back with it, as they are ticked; shows them, and takes the ticks away.
import { button } from "../button.js";
import { wordsOfPoints } from "./point_words.js";

/** @param {PageElement} form */
const boxesOf = (form) => [...form.elements].filter((field) => field.name === "back");
/** @param {PageElement} form */
const foldOf = (form) => document.getElementById(`gate-${form.dataset.gate}-points`);

/** @param {PageElement} form */
function say(form) {
  const place = form.querySelector(".decide-points");
  if (!place) return;
  const points = boxesOf(form).map((box) => ({ checked: box.checked, isRow: box.hasAttribute("data-row") }));
  const words = wordsOfPoints(points, place.dataset.sends);
  if (place.dataset.said === words) return;
  place.dataset.said = words;
  place.replaceChildren(words);
  if (!words) return;
  place.append(
    button("Show them", "link", () => show(form)),
    " ",
    button("Clear the ticks", "link", () => clear(form)),
  );
}

/** @param {PageElement} form */
function show(form) {
  foldOf(form).open = true;
  const first = boxesOf(form).find((box) => box.checked);
  first.closest("tr").scrollIntoView({ block: "center" });
  first.focus({ preventScroll: true });
}

/**
 * What was written beside a point is kept: with the next tick it is there again.
 * @param {PageElement} form
 */
function clear(form) {
  for (const box of boxesOf(form).filter((one) => one.checked)) {
    box.checked = false;
    box.dispatchEvent(new Event("input", { bubbles: true }));
  }
  form.querySelector("textarea[name=reason]")?.focus();
}

function sayAll() {
  for (const form of document.querySelectorAll("form.decide")) say(form);
}

document.addEventListener("input", (event) => {
  if (event.target.name === "back" && event.target.form) say(event.target.form);
});
for (const name of ["pev:restored", "htmx:after:swap", "pev:after-part"]) document.addEventListener(name, sayAll);
sayAll();
