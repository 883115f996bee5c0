// Lets the clocks of a run go on: [data-clock] has the milliseconds that the server knew, and [data-going] says that time
// passes on it.

import { duration } from "../words.js";

const read = new WeakMap(); // clock to what it said, and since when

function tick() {
  for (const clock of document.querySelectorAll("[data-clock][data-going]")) {
    const said = Number(clock.dataset.clock);
    let known = read.get(clock);
    if (known?.said !== said) {
      known = { said, at: Date.now() };
      read.set(clock, known);
    }
    const words = duration(said + Date.now() - known.at);
    if (clock.textContent !== words) clock.textContent = words;
  }
}

tick();
setInterval(tick, 1000);
