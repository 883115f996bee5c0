// Owns a run's page while it is followed: says what it has seen, shows whether it is live, keeps what is being typed.

const live = document.getElementById("live");
const NO_LONGER_ALLOWED = 4403;

let seen = live ? Number(live.dataset.seen) : 0;

/**
 * @param {string} state
 * @param {string} words
 */
function show(state, words) {
  if (!live || live.dataset.state === state) return;
  live.dataset.state = state;
  live.querySelector(".live-text").textContent = words;
}

// Words that somebody was typing when the question went away are not thrown away with it.
function unsent() {
  return [...document.querySelectorAll("#run-gates textarea, #run-plan textarea")]
    .filter((field) => field.value.trim())
    .map((field) => ({ id: field.id, words: field.value }));
}

/** @param {{ id: string, words: string }[]} before */
function keep(before) {
  for (const { id, words } of before) {
    if (document.getElementById(id)) continue;
    const note = document.createElement("div");
    note.className = "alert warn";
    const said = document.createElement("p");
    said.textContent = "This question was answered while you were writing. Your words were not sent:";
    const quote = document.createElement("blockquote");
    quote.className = "quote";
    quote.textContent = words;
    note.append(said, quote);
    document.querySelector("#run-gates, #run-plan").after(note);
  }
}

// htmx starts as soon as it is there; an extension that came later has missed the element.
window.addEventListener("load", () => {
  if (live) window.htmx.process(live);
});

document.addEventListener("htmx:after:ws:connection", (event) => {
  event.detail.connection.socket.send(JSON.stringify({ seen }));
  show("live", "Live");
});

document.addEventListener("htmx:ws:close", (event) => {
  if (event.detail.code === NO_LONGER_ALLOWED) {
    event.detail.connection.config.reconnect = false;
    // What may not be seen any more does not stay on the screen; words that were not sent do.
    if (unsent().length) show("gone", "You can no longer follow this run");
    else window.location.reload();
  } else if (!document.hidden) {
    show("waiting", "reconnecting…");
  }
});

document.addEventListener("htmx:after:ws:message", (event) => {
  const seq = event.detail.message.json?.seq;
  if (Number.isInteger(seq)) seen = Math.max(seen, seq);
  show("live", "Live");
});

// A region of the page is replaced (following.js).
/** @type {{ id: string, words: string }[]} */
let typed = [];
document.addEventListener("pev:before-part", () => {
  typed = unsent();
});
document.addEventListener("pev:after-part", () => {
  keep(typed);
});

// On a phone the open tab may lie beyond the edge.
const tabs = document.querySelector(".run-tabs");
const reveal = () => {
  const open = tabs.querySelector("[aria-current]");
  if (open) tabs.scrollLeft = open.offsetLeft - (tabs.clientWidth - open.offsetWidth) / 2;
};
if (tabs) new ResizeObserver(reveal).observe(tabs);
