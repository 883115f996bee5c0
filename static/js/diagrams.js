// Owns pictures of diagrams that cannot be had: says so, and shows the source.

/** @param {PageElement} image */
function failed(image) {
  const figure = image.closest("figure.diagram");
  if (!figure) return;
  figure.querySelector(".diagram-picture").hidden = true;
  figure.querySelector(".alert").hidden = false;
  figure.querySelector("details").open = true;
}

addEventListener(
  "error",
  (event) => event.target instanceof HTMLImageElement && failed(/** @type {any} */ (event.target)),
  true,
);
for (const image of document.querySelectorAll(".diagram img"))
  if (image.complete && !image.naturalWidth && image.currentSrc) failed(image);
