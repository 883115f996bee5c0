// Keys of a list: j and k go to the next and the previous [data-row] below [data-list-keys], / to the search field; Enter follows the link as ever.
(() => {
  "use strict";
  function typing(target) {
    return target.closest("input, textarea, select, [contenteditable]");
  }

  function step(by) {
    const rows = [...document.querySelectorAll("[data-list-keys] [data-row]")];
    if (!rows.length) return;
    const at = rows.indexOf(document.activeElement);
    const next = at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + by, 0), rows.length - 1);
    rows[next].focus();
    rows[next].scrollIntoView({ block: "nearest" });
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const search = document.querySelector("[data-list-search]");
    if (event.key === "Escape" && event.target === search) {
      search.blur();
      return;
    }
    if (typing(event.target)) return;
    if (event.key === "j") step(1);
    else if (event.key === "k") step(-1);
    else if (event.key === "/" && search) {
      event.preventDefault();
      search.focus();
      search.select();
    }
  });
})();
