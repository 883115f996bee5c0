// Puts in place what the socket of a run tells: title, icon, states of steps; fetches regions that changed when they are
// on the screen. What somebody is at, in a region with [data-hold], stays as it is: a line says that there is news.

const MIN_GAP = 1000; // milliseconds between two looks at one region
const TIMEOUT = 20_000;
const SWAP_TIME = 1000;
const AGAIN = 2000; // after the first failure; each further one doubles it
const AGAIN_AT_MOST = 60_000;
const NEAR = "400px";
const PASSING = "time, [data-clock], script"; // what reads differently a moment later

function follow() {
  const held = document.getElementById("run-held");
  const icon = document.querySelector("link[rel=icon]");
  const rest = document.title.slice(document.title.indexOf(" · ")); // behind the state
  const stale = new Set(); // names of regions that are not what the page shows
  const fetching = new Set();
  const fetched = new Map(); // name to when
  const failures = new Map(); // name to how often in a row it could not be fetched
  const names = new WeakMap(); // of regions that wait until they are on the screen
  const folded = new WeakSet(); // folds that somebody opened or closed
  const waiting = new Set(); // names of regions that were not put in place, since somebody is at them
  const asked = new Set(); // names of regions that somebody asked to see, whatever they are at

  /** @param {number} ms */
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  /** @param {string} name */
  const regionOf = (name) => document.getElementById(name.startsWith("step-") ? name : `run-${name}`);

  const seenSoon = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        seenSoon.unobserve(target);
        refresh(names.get(target));
      }
    },
    { rootMargin: NEAR },
  );

  /** @param {string} name */
  function changed(name) {
    const region = regionOf(name);
    if (!region || region.hasAttribute("data-unread")) return; // that is fetched when its fold is opened
    stale.add(name);
    names.set(region, name);
    // An empty one has no place on the screen; one inside of a closed fold has none until that is opened.
    const isEmpty = !region.checkVisibility() && !region.closest("details:not([open])");
    if (isEmpty) refresh(name);
    else seenSoon.observe(region);
  }

  /** @param {string} name */
  async function part(name) {
    const address = new URL(window.location.href);
    address.searchParams.set("part", name);
    address.hash = "";
    // As htmx asks: a page that looks by itself does not keep a session alive.
    const answer = await fetch(address, { headers: { "HX-Request": "true" }, signal: AbortSignal.timeout(TIMEOUT) });
    const isOver = answer.redirected || (answer.status >= 400 && answer.status < 500); // signed out, or deleted
    if (!answer.ok || isOver) throw Object.assign(new Error(`no ${name}: ${answer.status}`), { isOver });
    return answer.text();
  }

  document.addEventListener("click", (event) => {
    const fold = event.target.closest("summary")?.parentElement;
    if (fold) folded.add(fold);
  });

  /**
   * Whether somebody types in it, has marked something, has opened a fold, or would lose the place.
   * @param {PageElement} region
   */
  function isAtHand(region) {
    const marked = window.getSelection();
    /** @param {any} field */
    const typed = (field) => field.value !== field.defaultValue;
    return (
      region.contains(document.activeElement) ||
      (marked && !marked.isCollapsed && marked.containsNode(region, true)) ||
      [...region.querySelectorAll("textarea, input")].some(typed) ||
      [...region.querySelectorAll("details")].some((fold) => folded.has(fold))
    );
  }

  /** @param {PageElement} region */
  function words(region) {
    const copy = /** @type {PageElement} */ (region.cloneNode(true));
    for (const one of copy.querySelectorAll(PASSING)) one.remove();
    return copy.textContent.replace(/\s+/g, " ").trim();
  }

  /**
   * @param {PageElement} region
   * @param {string} text
   */
  function isNews(region, text) {
    const fresh = document.createRange().createContextualFragment(text).querySelector("*");
    return fresh && words(fresh) !== words(region);
  }

  function tell() {
    if (!held) return;
    const [name] = [...waiting].filter((one) => regionOf(one)?.dataset.hold);
    held.hidden = !name;
    if (name) held.querySelector("span").textContent = regionOf(name).dataset.hold;
  }

  held?.querySelector("button").addEventListener("click", () => {
    for (const name of waiting) {
      asked.add(name); // if it is being fetched just now, that fetch puts it in place
      stale.add(name);
      refresh(name);
    }
  });

  /**
   * @param {string} name
   * @param {string} text
   */
  async function replace(name, text) {
    document.dispatchEvent(new CustomEvent("pev:before-part"));
    const target = regionOf(name);
    const swapped =
      target && window.htmx.swap({ sourceElement: target, target, swap: "outerMorph", text, transition: false });
    await Promise.race([swapped, pause(SWAP_TIME)]); // of a region that went meanwhile nothing more is heard
    document.dispatchEvent(new CustomEvent("pev:after-part"));
  }

  /** @param {string} name */
  function later(name) {
    const before = failures.get(name) ?? 0;
    failures.set(name, before + 1);
    setTimeout(() => stale.has(name) && changed(name), Math.min(AGAIN * 2 ** before, AGAIN_AT_MOST));
  }

  /** @param {string} name */
  async function refresh(name) {
    if (!stale.has(name) || fetching.has(name)) return;
    fetching.add(name);
    try {
      const wait = (fetched.get(name) ?? 0) + MIN_GAP - Date.now();
      if (wait > 0) await pause(wait);
      stale.delete(name);
      fetched.set(name, Date.now());
      const text = await part(name);
      failures.delete(name);
      const target = regionOf(name);
      if (target?.hasAttribute("data-hold") && !asked.has(name) && isAtHand(target)) {
        if (isNews(target, text)) waiting.add(name);
        tell();
        return;
      }
      waiting.delete(name);
      asked.delete(name);
      const put = () => replace(name, text);
      // A listener that prevents this keeps the words, and puts them in place later (arrivals.js).
      if (document.dispatchEvent(new CustomEvent("pev:arriving", { cancelable: true, detail: { name, text, put } })))
        await put();
      tell();
    } catch (error) {
      asked.delete(name); // or words typed until the next try would be lost
      stale.add(name); // the next connection of the socket tries again, too
      if (!error.isOver) later(name);
      return;
    } finally {
      fetching.delete(name);
    }
    if (stale.has(name)) changed(name); // once more while it was asked for
  }

  /** @param {any} message of the socket */
  function show({ title, icon: state, steps, words, changed: regions }) {
    if (title) document.title = title + rest;
    if (state && icon?.dataset[state]) icon.href = icon.dataset[state];
    for (const [step, status] of Object.entries(steps ?? {})) {
      for (const element of document.querySelectorAll(`[data-step="${CSS.escape(step)}"]`)) {
        element.dataset.status = status;
        if (element.matches(".badge")) element.textContent = words[status];
      }
    }
    for (const name of regions ?? []) {
      changed(name);
      if (name.startsWith("step-")) changed(`${name}-body`);
    }
  }

  document.addEventListener("htmx:after:ws:message", (event) => {
    if (event.detail.message.json) show(event.detail.message.json);
  });
  document.addEventListener("htmx:after:ws:connection", () => [...stale].forEach(changed));
}

if (document.getElementById("live")) follow();
