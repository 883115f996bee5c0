// Fetches what a row of a step unfolds, and unfolds rows whose step comes to run, to need a decision or to fail.

const UNFOLDED = ["running", "waiting", "failed"];
const TIMEOUT = 20_000;

/** @param {PageElement} row */
async function fill(row) {
  const body = row.querySelector(":scope > [data-unread]");
  if (!body || !row.open) return;
  body.removeAttribute("data-unread");
  try {
    const address = `${window.location.pathname}?part=${body.id}`;
    const answer = await fetch(address, { headers: { "HX-Request": "true" }, signal: AbortSignal.timeout(TIMEOUT) });
    if (!answer.ok || answer.redirected) throw new Error(`${answer.status}`);
    body.outerHTML = await answer.text();
  } catch {
    body.setAttribute("data-unread", ""); // its link leads to the same; opened again it asks again
  }
}

document.addEventListener(
  "toggle",
  (event) => {
    if (event.target.matches("details.row")) fill(event.target);
  },
  true,
);
document.addEventListener("pev:after-part", () => document.querySelectorAll("details.row[open]").forEach(fill));

// Whether it stays open is the reader's choice.
new MutationObserver((changes) => {
  for (const { target, oldValue } of changes) {
    const row = /** @type {PageElement} */ (target);
    const { status } = row.dataset;
    if (row.matches("details.row") && status !== oldValue && UNFOLDED.includes(status)) row.open = true;
  }
}).observe(document.body, { subtree: true, attributeFilter: ["data-status"], attributeOldValue: true });
