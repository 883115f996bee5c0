// Owns relative times: keeps <time data-ago> true while a page is open.

import { ago } from "./words.js";

function refresh() {
  for (const time of document.querySelectorAll("time[data-ago]")) {
    const words = ago((Date.now() - Date.parse(time.dateTime)) / 1000);
    if (words && time.textContent !== words) time.textContent = words;
  }
}

refresh();
setInterval(refresh, 5000);
