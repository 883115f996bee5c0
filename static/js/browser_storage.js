// What this browser keeps. It may refuse to keep anything, and others may have written what cannot be read.

/**
 * The stored value, or null.
 * @param {string} key
 * @returns {any}
 */
export function read(key) {
  try {
    return JSON.parse(localStorage.getItem(key) || "null");
  } catch {
    return null;
  }
}

/**
 * Stores the value, or removes it if it is null. Returns false where the browser refuses.
 * @param {string} key
 * @param {unknown} value
 */
export function write(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

/**
 * The names of the stored values that begin with the prefix.
 * @param {string} prefix
 */
export function keys(prefix) {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(prefix));
  } catch {
    return [];
  }
}

/**
 * Removes values whose time (`at`) is longer ago, and those that have none.
 * @param {string} prefix
 * @param {number} days
 */
export function forgetOld(prefix, days) {
  const oldest = Date.now() - days * 86_400_000;
  for (const key of keys(prefix)) if (!(read(key)?.at >= oldest)) write(key, null);
}
