// The keys of a page. A module says which key it takes and what for; `?` shows them all.
import { button } from "./button.js";
import { isShortcut, typedInto } from "./lists.js";

/** @typedef {(event: KeyboardEvent) => boolean | void} Action returns false where there is nothing to do */

/** @type {Map<string, { words: string, action: Action }>} */
const taken = new Map();

/**
 * @param {string} key as the browser names it
 * @param {string} words what it does
 * @param {Action} action
 */
export function onKey(key, words, action) {
  taken.set(key, { words, action });
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || isShortcut(event) || typedInto(event) || event.target.closest?.("dialog")) return;
  if (taken.get(event.key)?.action(event) === false) return;
  if (taken.has(event.key)) event.preventDefault();
});

/** @type {Record<string, string>} */
const SIGNS = { ArrowLeft: "←", ArrowRight: "→" };

/**
 * @param {string} name
 * @param {string} text
 */
function element(name, text = "") {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function help() {
  const dialog = /** @type {any} */ (document.createElement("dialog"));
  dialog.className = "keys";
  dialog.setAttribute("aria-labelledby", "keys-title");
  const title = element("h2", "Keys on this page");
  title.id = "keys-title";
  const list = document.createElement("dl");
  for (const [key, { words }] of taken) {
    const term = document.createElement("dt");
    term.append(element("kbd", SIGNS[key] ?? key));
    list.append(term, element("dd", words));
  }
  dialog.append(
    title,
    list,
    button("Close", "button small", () => dialog.close()),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

onKey("?", "This list", help);
for (const sign of document.querySelectorAll("[data-keys]")) {
  sign.hidden = false;
  sign.addEventListener("click", help);
}
