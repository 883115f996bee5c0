// What is wrong with what stands in a field, in words for the person who fills it in.

/**
 * @typedef {{ type: string, min: string, max: string, step: string, title: string, validationMessage: string,
 *   validity: Partial<ValidityState> }} Field
 */

const MISSING = /** @type {Record<string, string>} */ ({
  checkbox: "Tick this to go on.",
  radio: "Choose one.",
  "select-one": "Choose one.",
  file: "Choose a file.",
  date: "Enter a date.",
  number: "Enter a number.",
});
const NO_SUCH = /** @type {Record<string, string>} */ ({
  email: "This is not an e-mail address.",
  url: "This is not a web address. It must begin with https://.",
});

/**
 * The problem of a field, or an empty text if it has none.
 * @param {Field} field
 */
export function problemOf({ type, min, max, step, title, validationMessage, validity }) {
  if (validity.valid) return "";
  if (validity.customError) return validationMessage;
  if (validity.badInput) return MISSING[type] ?? validationMessage;
  if (validity.valueMissing) return MISSING[type] ?? "Fill this in.";
  if (validity.typeMismatch) return NO_SUCH[type] ?? validationMessage;
  if (validity.rangeUnderflow) return `Enter at least ${min}.`;
  if (validity.rangeOverflow) return `Enter at most ${max}.`;
  if (validity.stepMismatch) return Number(step || 1) === 1 ? "Enter a whole number." : `Enter a multiple of ${step}.`;
  return title || validationMessage;
}
