// Calls the person who reads a run “you”: [data-person] names who did something, and the server renders regions of a run
// once for everyone who follows it. Without a script the name stays.

import { nameFor } from "../words.js";

const reader = document.body.dataset.user;

function address() {
  for (const one of document.querySelectorAll("main [data-person]")) {
    const words = nameFor(one.dataset.person, reader, one.previousSibling?.textContent ?? "");
    if (one.textContent !== words) one.textContent = words;
  }
}

address();
// A region that is fetched or pushed has the names again.
new MutationObserver(address).observe(document.querySelector("main"), {
  childList: true,
  characterData: true,
  subtree: true,
});
