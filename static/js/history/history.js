// Moves through the lines of a history by keyboard: j and k, arrows to fold, / to search; finds events that are on
// another page.
import { nextPlace, typedInto } from "../lists.js";
import { onKey } from "../shortcuts.js";

/** @param {PageElement} root */
function listen(root) {
  // A link to an event that this page does not show leads to the page that does.
  const named = /^#e(\d{1,9})$/.exec(window.location.hash);
  const params = new URLSearchParams(window.location.search);
  if (named && !document.getElementById(`e${named[1]}`) && params.get("event") !== named[1]) {
    window.location.replace(`?event=${named[1]}#e${named[1]}`);
  }

  const stops = () => [...root.querySelectorAll("summary, .event-seq")].filter((stop) => stop.checkVisibility());

  /** @param {number} by */
  function move(by) {
    const all = stops();
    const next = all[nextPlace(all.indexOf(/** @type {PageElement} */ (document.activeElement)), by, all.length)];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  }

  /** @param {boolean} open */
  function fold(open) {
    const here = document.activeElement?.closest("details");
    if (!here || !root.contains(here)) return false;
    if (!open && !here.open) return false;
    here.open = open;
    if (!open) here.querySelector("summary").focus();
    return true;
  }

  onKey("j", "Next line", () => move(1));
  onKey("k", "Previous line", () => move(-1));
  onKey("ArrowRight", "Unfold", () => fold(true));
  onKey("ArrowLeft", "Fold", () => fold(false));
  onKey("/", "Search", () => root.querySelector("input[type=search]")?.focus());
  document.addEventListener("keydown", (event) => {
    const typing = typedInto(event);
    if (event.key === "Escape" && typing && root.contains(typing)) typing.blur();
  });
}

const root = document.querySelector("[data-history]");
if (root) listen(root);
