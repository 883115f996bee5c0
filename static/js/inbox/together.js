// Decisions that are ticked to be approved together: those with equal consequences, with their number at the button.
import { counted } from "../words.js";

const TICKS = "input[name=gate][form=together]";
const ticks = () => [...document.querySelectorAll(TICKS)];

function show() {
  const bar = document.getElementById("together");
  if (!bar) return;
  const ticked = ticks().filter((tick) => tick.checked);
  const group = ticked[0]?.dataset.group;
  for (const tick of ticks()) tick.disabled = Boolean(group) && tick.dataset.group !== group;
  const words = bar.querySelector("[role=status]");
  const alike = ticks().filter((tick) => tick.dataset.group === group).length;
  const said = group ? `${ticked.length} of ${counted(alike, "equal decision")} ticked.` : "";
  if (words.textContent !== said) words.textContent = said;
  const button = bar.querySelector("button");
  button.textContent = group ? `Approve ${counted(ticked.length, "decision")}` : "Approve the ticked decisions";
  button.disabled = !group;
}

document.addEventListener("change", (event) => {
  if (event.target.matches(TICKS)) show();
});
document.addEventListener("htmx:after:swap", show);
show();
