// Numbers in words, for all pages. The server says the same: templatetags/pev.py.

/**
 * @param {number} count
 * @param {string} noun in the singular
 */
export const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

/** @type {[number, number, string][]} The upper bound in seconds, the unit in seconds, and its name. */
const UNITS = [
  [60, 1, "second"],
  [3600, 60, "minute"],
  [86400, 3600, "hour"],
  [604800, 86400, "day"],
];

/**
 * How long ago something was, or null where a date says it better.
 * @param {number} seconds
 */
export function ago(seconds) {
  if (seconds < 10) return "just now";
  const unit = UNITS.find(([below]) => seconds < below);
  return unit ? `${counted(Math.floor(seconds / unit[1]), unit[2])} ago` : null;
}

/** @param {number} ms */
export function duration(ms) {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** @param {number} bytes */
export function inUnits(bytes) {
  if (bytes < 1000) return counted(bytes, "byte");
  const units = ["kB", "MB", "GB"];
  let amount = bytes / 1000;
  while (amount >= 999.5 && units.length > 1) {
    amount /= 1000;
    units.shift();
  }
  return `${amount.toLocaleString("en", { maximumFractionDigits: amount >= 99.5 ? 0 : 1 })} ${units[0]}`;
}

/**
 * What a person is called on a page that `reader` reads.
 * @param {string} person
 * @param {string} reader
 * @param {string} before what stands before the name
 */
export function nameFor(person, reader, before) {
  if (person !== reader) return person;
  return before.trim() ? "you" : "You";
}
