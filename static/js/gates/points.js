// Says at the decision how many points go back with it, as they are ticked; shows them, and takes the ticks away.
(() => {
  "use strict";
  const boxesOf = (form) => [...form.elements].filter((field) => field.name === "back");
  const foldOf = (form) => document.getElementById(`gate-${form.dataset.gate}-points`);

  function share(boxes, name) {
    const ticked = boxes.filter((box) => box.checked).length;
    return ticked ? `${ticked} of ${boxes.length} ${name}${boxes.length === 1 ? "" : "s"}` : "";
  }

  function say(form) {
    const place = form.querySelector(".decide-points");
    if (!place) return;
    const boxes = boxesOf(form);
    const rows = boxes.filter((box) => box.hasAttribute("data-row"));
    const parts = [share(boxes.filter((box) => !rows.includes(box)), "point"), share(rows, "table row")].filter(Boolean);
    const ticked = boxes.filter((box) => box.checked).length;
    const words = parts.length ? `${parts.join(" and ")} go${ticked === 1 ? "es" : ""} back with “${place.dataset.sends}”. ` : "";
    if (place.dataset.said === words) return;
    place.dataset.said = words;
    place.replaceChildren(words);
    if (words) place.append(button("Show them", () => show(form)), " ", button("Clear the ticks", () => clear(form)));
  }

  function button(words, action) {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "link";
    made.textContent = words;
    made.addEventListener("click", action);
    return made;
  }

  function show(form) {
    foldOf(form).open = true;
    const first = boxesOf(form).find((box) => box.checked);
    first.closest("tr").scrollIntoView({ block: "center" });
    first.focus({ preventScroll: true });
  }

  // What was written beside a point is kept: with the next tick it is there again.
  function clear(form) {
    for (const box of boxesOf(form).filter((one) => one.checked)) {
      box.checked = false;
      box.dispatchEvent(new Event("input", { bubbles: true }));
    }
    form.querySelector("textarea[name=reason]")?.focus();
  }

  function sayAll() {
    for (const form of document.querySelectorAll("form.decide")) say(form);
  }

  document.addEventListener("input", (event) => {
    if (event.target.name === "back" && event.target.form) say(event.target.form);
  });
  for (const name of ["pev:restored", "htmx:after:swap", "pev:after-part"]) document.addEventListener(name, sayAll);
  sayAll();
})();
