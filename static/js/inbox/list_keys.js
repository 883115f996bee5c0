// Keys of a list: j and k go to the next and the previous [data-row] below [data-list-keys], / to the search field.
// Enter follows the link as ever.

import { isShortcut, nextPlace, typedInto } from "../lists.js";

/** @param {number} by */
function step(by) {
  const rows = [...document.querySelectorAll("[data-list-keys] [data-row]")];
  if (!rows.length) return;
  const next = nextPlace(rows.indexOf(/** @type {PageElement} */ (document.activeElement)), by, rows.length);
  rows[next].focus();
  rows[next].scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (event) => {
  if (isShortcut(event)) return;
  const search = document.querySelector("[data-list-search]");
  if (event.key === "Escape" && event.target === search) {
    search.blur();
    return;
  }
  if (typedInto(event)) return;
  if (event.key === "j") step(1);
  else if (event.key === "k") step(-1);
  else if (event.key === "/" && search) {
    event.preventDefault();
    search.focus();
    search.select();
  }
});
