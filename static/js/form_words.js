// What is said at the button of a form whose words did not arrive, or were not read.

/** The header with the address that an ordinary form would be led to: runs/web/site/headers.py. */
export const place = "X-Location";

/**
 * What to say of an answer that does not replace what is shown: no answer, an error page, or no page at all. Null for an
 * answer that can be shown, such as a form with what is wrong in it.
 * @param {number} status of the answer; 0 if none came, because the connection is gone, or the server is
 * @param {{ isShown?: boolean, reason?: string }} [page] `isShown`: whether it can be shown; `reason`: what an error
 *   page says
 * @returns {{ words: string, signIn: boolean } | null}
 */
export function answerTo(status, { isShown = false, reason = "" } = {}) {
  /** @param {string} words */
  const said = (words, signIn = false) => ({ words, signIn });
  if (status === 0)
    return said("Not sent: no connection to the server. Your words are kept here; try again when it is back.");
  if (status === 401) return said("Not sent: you are signed out. Your words are kept in this browser.", true);
  if (isShown) return null;
  if (status === 404) return said("Not sent: this no longer exists. Your words are kept here.");
  if (status >= 400 && reason) return said(`Not done. ${reason} Your words are kept here.`);
  if (status === 413) return said("Not sent: it is too large. Your words are kept here.");
  if (status === 429)
    return said("Not sent: too much was sent at once. Your words are kept here; try again in a minute.");
  if (status >= 500) return said("Not sent: the server could not answer. Your words are kept here; try again.");
  if (status >= 400) return said(`Not done: the server refused it (${status}). Your words are kept here.`);
  return said("The answer of the server cannot be shown here. Reload the page to see what became of it.");
}
