// Moving through a list by keyboard.

/**
 * The place of the next item, which stays inside of the list. From nowhere (-1) it is the first or the last one.
 * @param {number} at
 * @param {number} by
 * @param {number} length
 */
export function nextPlace(at, by, length) {
  if (at < 0) return by > 0 ? 0 : length - 1;
  return Math.min(Math.max(at + by, 0), length - 1);
}

/**
 * The field that an event of the keyboard types into, or null.
 * @param {Event} event
 * @returns {HTMLElement | null}
 */
export const typedInto = (event) =>
  event.target instanceof Element ? event.target.closest("input, textarea, select, [contenteditable]") : null;

/**
 * Whether a key is pressed together with a modifier that gives it another meaning.
 * @param {KeyboardEvent | MouseEvent} event
 */
export const isShortcut = (event) => event.ctrlKey || event.metaKey || event.altKey;
