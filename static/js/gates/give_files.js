// Files that are dropped on the field for missing files of a gate. forms.js sends them; without scripts they are chosen.

/** @param {Event} event */
const zoneOf = (event) => /** @type {any} */ (event.target).closest?.(".give .drop-zone");

/** @param {DragEvent} event */
const zoneForFiles = (event) => (event.dataTransfer?.types.includes("Files") ? zoneOf(event) : null);

document.addEventListener("dragover", (event) => {
  const zone = zoneForFiles(event);
  if (!zone) return;
  event.preventDefault();
  zone.classList.add("over");
});
document.addEventListener("dragleave", (event) => {
  const zone = zoneOf(event);
  if (zone && !zone.contains(/** @type {any} */ (event).relatedTarget)) zone.classList.remove("over");
});
document.addEventListener("drop", (event) => {
  const zone = zoneForFiles(event);
  if (!zone) return;
  event.preventDefault();
  zone.classList.remove("over");
  const input = zone.querySelector("input[type=file]");
  const hasFolder = [...event.dataTransfer.items].some((item) => item.webkitGetAsEntry?.()?.isDirectory);
  const answer = zone.querySelector(".form-answer");
  answer.classList.toggle("bad", hasFolder);
  answer.textContent = hasFolder ? "Drop the files themselves, or pack the folder into a zip archive." : "";
  if (hasFolder) return;
  input.files = event.dataTransfer.files;
  zone.querySelector("button").focus();
});
