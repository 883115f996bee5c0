// The panel beside a text: a click on a reference (a[data-source], or any link to a marked place) shows the place in
// it.
import { button } from "../button.js";
import { isShortcut } from "../lists.js";

const REFERENCES = "main a[data-source], main a[href$='#hit']";
/** @type {Record<string, number>} */
const KEYS = { n: 1, j: 1, p: -1, k: -1 };
const narrow = window.matchMedia("(max-width: 62rem)");
/** @type {PageElement | null} */
let panel = null;
/** @type {PageElement | null} The reference that is shown. */
let current = null;
/** @type {AbortController | null} */
let loading = null;

/**
 * Where a text has two links to one place, the second is passed over ("again"); a click on it counts as the first.
 * @param {PageElement} link
 */
const visible = (link) => link.dataset.source !== "again" && link.checkVisibility({ visibilityProperty: true });
/**
 * A live update may have put an equal link in its place.
 * @param {PageElement} link
 * @param {PageElement[]} all
 */
const placeOf = (link, all) =>
  all.includes(link) ? all.indexOf(link) : all.findIndex((one) => one.href === link?.href);
const references = () => [...document.querySelectorAll(REFERENCES)].filter(visible);

/**
 * @param {string} label
 * @param {string} icon that css/icons.css draws
 * @param {() => void} action
 */
function sign(label, icon, action) {
  const element = button("", "button quiet small", action);
  element.dataset.icon = icon;
  element.setAttribute("aria-label", label);
  element.title = label;
  return element;
}

function build() {
  panel = /** @type {any} */ (document.createElement("dialog"));
  panel.className = "source-panel";
  panel.setAttribute("aria-label", "Source");
  const bar = document.createElement("div");
  bar.className = "source-bar";
  const count = document.createElement("span");
  count.className = "source-count";
  const previous = sign("Previous reference", "previous", () => step(-1));
  const next = sign("Next reference", "next", () => step(1));
  const close = sign("Close the source", "close", () => panel.close());
  close.classList.add("source-close");
  bar.append(count, previous, next, close);
  const body = document.createElement("div");
  body.className = "source-body";
  body.setAttribute("aria-live", "polite");
  panel.append(bar, body);
  panel.addEventListener("close", closed);
  panel.addEventListener("keydown", keys);
  panel.addEventListener("click", (event) => {
    if (event.target === panel) panel.close(); // beside the sheet, on its backdrop
    const page = event.target.closest("a[data-turn]");
    if (!page || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    load(page);
  });
  document.body.append(panel);
}

/** @param {KeyboardEvent} event */
function keys(event) {
  if (isShortcut(event)) return;
  const by = KEYS[event.key];
  if (by) {
    event.preventDefault();
    step(by);
  }
}

function show() {
  if (!panel) build();
  if (panel.open) return;
  if (narrow.matches) panel.showModal();
  else panel.show();
  document.body.classList.toggle("with-source", !narrow.matches);
}

function closed() {
  loading?.abort();
  document.body.classList.remove("with-source");
  current?.removeAttribute("aria-current");
  const link = current?.isConnected ? current : null;
  current = null;
  link?.focus({ preventScroll: !narrow.matches });
}

/** @param {PageElement} link */
function choose(link) {
  current?.removeAttribute("aria-current");
  current = link;
  link.setAttribute("aria-current", "true");
  const all = references();
  const at = placeOf(link, all);
  const [previous, next] = panel.querySelectorAll(".source-bar button");
  panel.querySelector(".source-count").textContent = at < 0 ? "" : `${at + 1} of ${all.length}`;
  previous.setAttribute("aria-disabled", String(at <= 0));
  next.setAttribute("aria-disabled", String(at < 0 || at === all.length - 1));
}

/** @param {number} by */
function step(by) {
  const all = references();
  const at = placeOf(current, all);
  const link = all[at + by];
  if (!link || at < 0) return;
  open(link);
}

/**
 * @param {PageElement} body
 * @param {Iterable<Node>} nodes
 */
function fill(body, nodes) {
  body.replaceChildren(...nodes);
  const text = body.querySelector(".source-text");
  const hit = body.querySelector(".leaf-crop, .leaf rect") ?? body.querySelector("mark, .hit-line");
  if (text && hit) for (const box of [hit.closest(".sheet"), text]) if (box) reveal(hit, box);
}

/**
 * Scrolls a box so that the place in it is a third below its top. Not by offsetTop, which counts from a table's cell.
 * @param {PageElement} hit
 * @param {PageElement} box
 */
function reveal(hit, box) {
  const [place, seen] = [hit.getBoundingClientRect(), box.getBoundingClientRect()];
  box.scrollTop += place.top - seen.top - box.clientHeight / 3;
  if (place.left < seen.left + box.clientWidth / 3 || place.right > seen.right) {
    box.scrollLeft += place.left - seen.left - box.clientWidth / 3;
  }
}

/**
 * @param {PageElement} body
 * @param {PageElement} link
 * @param {string} words
 */
function failed(body, link, words) {
  const said = document.createElement("p");
  said.className = "alert warn";
  const page = document.createElement("a");
  page.href = link.href;
  page.textContent = "Open its page";
  said.append(`${words} `, page, ".");
  fill(body, [said]);
}

/**
 * The panel must not lie over what it explains: on a narrow screen the reference moves up above the sheet.
 * @param {PageElement} link
 */
function uncover(link) {
  const place = link.getBoundingClientRect();
  const end = narrow.matches ? panel.getBoundingClientRect().top : window.innerHeight;
  if (place.top < 0 || place.bottom > end) link.scrollIntoView({ block: narrow.matches ? "start" : "center" });
}

/**
 * What the panel shows of the address of a link. Resolves to false where another was asked for meanwhile.
 * @param {PageElement} link
 */
async function load(link) {
  loading?.abort();
  const mine = new AbortController();
  loading = mine;
  const body = panel.querySelector(".source-body");
  body.setAttribute("aria-busy", "true");
  const address = new URL(link.href);
  address.searchParams.set("panel", "1");
  address.hash = "";
  try {
    const answer = await fetch(address, { signal: mine.signal, headers: { Accept: "text/html" } });
    const text = await answer.text();
    if (mine.signal.aborted) return false;
    const page = new DOMParser().parseFromString(text, "text/html");
    if (answer.redirected || !page.querySelector(".source-head")) {
      failed(
        body,
        link,
        answer.ok ? "You are no longer signed in, or this place has no panel." : "This source is not there.",
      );
    } else {
      fill(body, [...page.body.childNodes]);
    }
  } catch (error) {
    if (error.name === "AbortError") return false;
    failed(body, link, "Not loaded: no connection.");
  }
  body.removeAttribute("aria-busy");
  return true;
}

/** @param {PageElement} link */
async function open(link) {
  const opening = !panel?.open;
  show();
  choose(link);
  uncover(link);
  if (!(await load(link))) return;
  if (opening || !panel.contains(document.activeElement)) panel.querySelector(".source-title")?.focus();
}

document.addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
    return;
  let link = event.target.closest?.(REFERENCES);
  if (!link && window.getSelection()?.isCollapsed && !event.target.closest?.("a, button, summary, input, textarea")) {
    link = event.target.closest?.("main .quote")?.querySelector("a[data-source]"); // the quote itself, beside its link
  }
  if (!link) return;
  event.preventDefault();
  open(link);
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && panel?.open && !narrow.matches && !event.defaultPrevented) panel.close();
});

narrow.addEventListener("change", () => {
  if (!panel?.open) return;
  const link = current;
  panel.close();
  if (link) open(link);
});
