// Decisions that are ticked to be approved together: those of one kind, with their number and consequence at the button.
import { counted } from "../words.js";

const TICKS = "input[name=gate][form=together]";
const ticks = () => [...document.querySelectorAll(TICKS)];
/** @type {string | null} */
let usual = null;

function show() {
  const bar = document.getElementById("together");
  if (!bar) return;
  const ticked = ticks().filter((tick) => tick.checked);
  const kind = ticked[0]?.dataset.kind;
  for (const tick of ticks()) tick.disabled = Boolean(kind) && tick.dataset.kind !== kind;
  const words = bar.querySelector("[role=status]");
  usual ??= words.textContent;
  const said = kind ? ticked[0].dataset.means : usual;
  if (words.textContent !== said) words.textContent = said;
  const button = bar.querySelector("button");
  button.textContent = kind ? `Approve ${counted(ticked.length, "decision")}` : "Approve what is ticked";
  button.disabled = !kind;
}

document.addEventListener("change", (event) => {
  if (event.target.matches(TICKS)) show();
});
document.addEventListener("htmx:after:swap", show);
show();
