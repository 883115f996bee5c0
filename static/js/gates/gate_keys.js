// Keys of a decision. They lead to its buttons and its field; nothing is decided before the button itself is pressed.

import { nextPlace } from "../lists.js";
import { onKey } from "../shortcuts.js";

const gates = () => [...document.querySelectorAll("article.gate")];

/** The decision that has the focus; else the first. */
const current = () => document.activeElement?.closest("article.gate") ?? gates()[0];

/** @param {PageElement | null | undefined} target */
function focus(target) {
  if (!target || target.disabled) return false;
  target.focus();
  target.scrollIntoView({ block: "nearest" });
}

/** @param {number} by */
function step(by) {
  const all = gates();
  const here = document.activeElement?.closest("article.gate");
  return focus(all[nextPlace(here ? all.indexOf(here) : -1, by, all.length)]?.querySelector("h2"));
}

onKey("j", "Next decision of this run", () => step(1));
onKey("k", "Previous decision of this run", () => step(-1));
onKey("Enter", "Press the button, or open the link, that has the focus", () => false);
onKey("a", "To the button that approves (Enter presses it)", () =>
  focus(current()?.querySelector(".decide-buttons > button:not([value=reject])")),
);
onKey("r", "Request changes: to the field for your words", () =>
  focus(current()?.querySelector("textarea[name=reason]")),
);
onKey("n", "Next decision of another run", () => {
  const next = document.querySelector("#next-decision a");
  if (!next) return false;
  next.click();
});
