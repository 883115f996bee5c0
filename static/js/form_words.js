// What is said at the button of a form whose words did not arrive, or were not read.

/** The header with the address that an ordinary form would be led to: runs/web/site/headers.py. */
export const place = "X-Location";

/**
 * What to say of an answer without a page: of the site's own pages, these replace what was asked for. Null for an
 * answer that can be shown.
 * @param {number} status of the answer; 0 if none came, because the connection is gone, or the server is
 * @returns {{ words: string, signIn: boolean } | null}
 */
export function answerTo(status) {
  /** @param {string} words */
  const said = (words, signIn = false) => ({ words, signIn });
  if (status === 0)
    return said("Not sent: no connection to the server. Your words are kept here; try again when it is back.");
  if (status === 401) return said("Not sent: you are signed out. Your words are kept in this browser.", true);
  if (status === 403)
    return said(
      "Not sent: this page is out of date, or you may not do this any more. Your words are kept; load the page again.",
    );
  if (status === 404) return said("Not sent: this is not there any more. Your words are kept here.");
  if (status === 413) return said("Not sent: it is too large. Your words are kept here.");
  if (status === 429)
    return said("Not sent: too much was sent at once. Your words are kept here; try again in a minute.");
  if (status >= 500) return said("Not sent: the server could not answer. Your words are kept here; try again.");
  return null;
}
