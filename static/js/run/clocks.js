// Lets the clocks of a run go on: [data-clock] has the milliseconds that the server knew, [data-going] says that time passes on it.
(() => {
  "use strict";
  const read = new WeakMap(); // clock to what it said, and since when

  // The words of the filter `seconds` in templatetags/pev.py.
  function inWords(ms) {
    const seconds = Math.floor(ms / 1000);
    if (seconds < 60) return `${seconds} s`;
    const minutes = Math.floor(seconds / 60);
    if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
    return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  }

  function tick() {
    for (const clock of document.querySelectorAll("[data-clock][data-going]")) {
      const said = Number(clock.dataset.clock);
      let known = read.get(clock);
      if (!known || known.said !== said) read.set(clock, known = { said, at: Date.now() });
      const words = inWords(said + Date.now() - known.at);
      if (clock.textContent !== words) clock.textContent = words;
    }
  }

  tick();
  setInterval(tick, 1000);
})();
