// Puts in place what the socket of a run tells: title, icon, states of steps; fetches regions that changed when they are on the screen.
(() => {
  "use strict";
  const MIN_GAP = 1000; // milliseconds between two looks at one region
  const TIMEOUT = 20_000;
  const SWAP_TIME = 1000;
  const NEAR = "400px";
  const live = document.getElementById("live");
  const icon = document.querySelector("link[rel=icon]");
  if (!live) return;

  const stale = new Set(); // names of regions that are not what the page shows
  const fetching = new Set();
  const fetched = new Map(); // name to when
  const names = new WeakMap(); // of regions that wait until they are on the screen

  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const regionOf = (name) => document.getElementById(name.startsWith("step-") ? name : `run-${name}`);

  const seenSoon = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      seenSoon.unobserve(target);
      refresh(names.get(target));
    }
  }, { rootMargin: NEAR });

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

  async function part(name) {
    const address = `${window.location.pathname}?part=${encodeURIComponent(name)}`;
    // As htmx asks: a page that looks by itself does not keep a session alive.
    const answer = await fetch(address, { headers: { "HX-Request": "true" }, signal: AbortSignal.timeout(TIMEOUT) });
    if (!answer.ok || answer.redirected) throw new Error(`no ${name}: ${answer.status}`);
    return answer.text();
  }

  async function refresh(name) {
    if (!stale.has(name) || fetching.has(name)) return;
    fetching.add(name);
    try {
      const wait = (fetched.get(name) ?? 0) + MIN_GAP - Date.now();
      if (wait > 0) await pause(wait);
      stale.delete(name);
      fetched.set(name, Date.now());
      const text = await part(name);
      document.dispatchEvent(new CustomEvent("pev:before-part"));
      const target = regionOf(name);
      const swapped = target && window.htmx.swap({ sourceElement: target, target, swap: "outerMorph", text, transition: false });
      await Promise.race([swapped, pause(SWAP_TIME)]); // of a region that went meanwhile nothing more is heard
      document.dispatchEvent(new CustomEvent("pev:after-part"));
    } catch {
      stale.add(name); // the next connection of the socket tries again
      return;
    } finally {
      fetching.delete(name);
    }
    if (stale.has(name)) changed(name); // once more while it was asked for
  }

  function show({ title, icon: state, steps, words, changed: regions }) {
    if (title) document.title = `${title} · ${live.dataset.title}`;
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
})();
