// What a call of a model is doing, in words.

/**
 * @typedef {object} Call as the socket tells of it, and `at`, when it did so in milliseconds
 * @property {number} step
 * @property {string} role
 * @property {string} name of the step
 * @property {number} attempt
 * @property {string} text the newest words
 * @property {string} thinking
 * @property {string} tool that is being called
 * @property {number} silent_s
 * @property {number} at
 */

/** @type {Record<string, string>} */
const ROLES = { planner: "Planning", executor: "Working", synthesizer: "Final answer" };
const SILENT_SECONDS = 3; // shorter pauses are usual

/**
 * Who makes the call: role, step and attempt.
 * @param {Call} call
 * @param {string} review what the page calls a review
 */
export function who(call, review) {
  const role = call.role === "verifier" ? review : (ROLES[call.role] ?? call.role);
  return [role, call.name, call.attempt > 1 ? `attempt ${call.attempt}` : ""].filter(Boolean).join(" · ");
}

/**
 * @param {Call} call
 * @param {number} now in milliseconds
 */
export function doing(call, now) {
  const silent = call.silent_s + Math.floor((now - call.at) / 1000);
  if (!call.text && !call.tool && !call.thinking) {
    return silent < SILENT_SECONDS ? "begins" : `waiting for the first word for ${silent} s`;
  }
  const what = call.tool ? `uses “${call.tool.replaceAll("_", " ").trim()}”` : call.text ? "writes" : "thinks";
  return silent < SILENT_SECONDS ? what : `${what}, silent for ${silent} s`;
}
