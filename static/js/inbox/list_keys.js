// Keys of a list: they go through [data-row] below [data-list-keys], and to the search field.

import { nextPlace } from "../lists.js";
import { onKey } from "../shortcuts.js";

const search = document.querySelector("[data-list-search]");

/** @param {number} by */
function step(by) {
  const rows = [...document.querySelectorAll("[data-list-keys] [data-row]")];
  if (!rows.length) return false;
  const next = nextPlace(rows.indexOf(/** @type {PageElement} */ (document.activeElement)), by, rows.length);
  rows[next].focus();
  rows[next].scrollIntoView({ block: "nearest" });
}

onKey("j", "Next run", () => step(1));
onKey("k", "Previous run", () => step(-1));
onKey("Enter", "Open it", () => false); // as any link
if (search) {
  onKey("/", "Search", () => {
    search.focus();
    search.select();
  });
  search.addEventListener("keydown", (event) => {
    if (event.key === "Escape") search.blur();
  });
}
