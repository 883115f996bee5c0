// Says that the server does not answer: shows [data-connection] after a failed htmx request, and hides it after the next
// one that succeeds.

/** @param {boolean} lost */
function show(lost) {
  for (const notice of document.querySelectorAll("[data-connection]")) notice.hidden = !lost;
}
document.addEventListener("htmx:error", () => show(true));
document.addEventListener("htmx:response:error", () => show(true));
document.addEventListener("htmx:after:swap", () => show(false));
