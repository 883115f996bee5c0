// How long a text is, as the server counts it: runs/text/text_limits.py.
import { counted } from "./words.js";

/**
 * By how much a text is too long, as a sentence; empty if it fits. White space around it does not count.
 * @param {string} text
 * @param {number} limit in characters
 */
export function lengthProblem(text, limit) {
  if (text.length <= limit) return ""; // an emoji has two units here, and never fewer than one
  let characters = 0;
  for (const _ of text.trim()) characters += 1;
  const over = characters - limit;
  return over > 0
    ? `Too long by ${counted(over, "character")}; ${limit.toLocaleString("en")} fit. Nothing was cut.`
    : "";
}
