// Owns relative times: keeps <time data-ago> true while a page is open, in the words of templatetags/pev.py.
(() => {
  "use strict";
  const UNITS = [[60, 1, "second"], [3600, 60, "minute"], [86400, 3600, "hour"], [604800, 86400, "day"]];

  function inWords(moment) {
    const seconds = (Date.now() - moment) / 1000;
    if (seconds < 10) return "just now";
    for (const [below, unit, name] of UNITS) {
      if (seconds < below) {
        const count = Math.floor(seconds / unit);
        return `${count} ${name}${count === 1 ? "" : "s"} ago`;
      }
    }
    return null;
  }

  function refresh() {
    for (const time of document.querySelectorAll("time[data-ago]")) {
      const words = inWords(Date.parse(time.dateTime));
      if (words && time.textContent !== words) time.textContent = words;
    }
  }

  refresh();
  setInterval(refresh, 5000);
})();
