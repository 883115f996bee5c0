// How many points of a result go back with a decision, in words.
import { counted } from "../words.js";

/** @typedef {{ checked: boolean, isRow: boolean }} Point a list item or a table row, and whether it is ticked */

/**
 * @param {Point[]} points
 * @param {string} noun
 */
function share(points, noun) {
  const ticked = points.filter((point) => point.checked).length;
  return ticked ? `${ticked} of ${counted(points.length, noun)}` : "";
}

/**
 * @param {Point[]} points
 * @param {string} verb of the button that sends them back
 */
export function wordsOfPoints(points, verb) {
  const ticked = points.filter((point) => point.checked).length;
  if (!ticked) return "";
  const items = points.filter((point) => !point.isRow);
  const rows = points.filter((point) => point.isRow);
  const parts = [share(items, "point"), share(rows, "table row")].filter(Boolean);
  return `${parts.join(" and ")} go${ticked === 1 ? "es" : ""} back with “${verb}”. `;
}
