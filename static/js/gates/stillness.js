// Whether the reader has moved since their own decision. As long as not, the next question comes where they look.

let still = false;

document.addEventListener("pev:sent", (event) => {
  if (event.target.matches("form.decide")) still = true;
});
for (const name of ["wheel", "touchmove", "keydown", "pointerdown"]) {
  document.addEventListener(
    /** @type {keyof GlobalEventHandlersEventMap} */ (name),
    () => {
      still = false;
    },
    { capture: true, passive: true },
  );
}

export const isStill = () => still;
