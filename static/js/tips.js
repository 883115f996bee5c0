// Closes what is said about a button of a decision with Escape, until the pointer or the focus comes to a button again.

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const one of document.querySelectorAll(".tips")) one.setAttribute("data-quiet", "");
});

/** @param {Event & { target: PageElement }} event */
function again(event) {
  if (event.target.matches?.(".tips > button")) event.target.closest(".tips").removeAttribute("data-quiet");
}
document.addEventListener("pointerover", again);
document.addEventListener("focusin", again);
