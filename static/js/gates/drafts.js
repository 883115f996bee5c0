// Owns words that were typed and not sent ([data-draft]): kept for this person in this browser, put back after a reload.
(() => {
  "use strict";
  const OLD = 30 * 24 * 3600 * 1000;
  const person = document.body.dataset.user || "";
  const prefix = `draft:${person}:${window.location.pathname}:`;
  const keyOf = (field) => prefix + field.dataset.draft;
  const ticked = (field) => field.type === "checkbox";

  function write(key, value) {
    try {
      if (value) localStorage.setItem(key, JSON.stringify({ at: Date.now(), value }));
      else localStorage.removeItem(key);
    } catch {
      // Without storage, or with a full one, the words stay in the page only.
    }
  }

  function read(key) {
    try {
      return JSON.parse(localStorage.getItem(key) || "null")?.value || "";
    } catch {
      return "";
    }
  }

  function forgetOld() {
    try {
      for (const key of Object.keys(localStorage)) {
        if (!key.startsWith("draft:")) continue;
        const kept = JSON.parse(localStorage.getItem(key) || "null");
        if (!kept || Date.now() - kept.at > OLD) localStorage.removeItem(key);
      }
    } catch {
      // Nothing can be kept, so nothing is old.
    }
  }

  function restore() {
    for (const field of document.querySelectorAll("[data-draft]")) {
      if (field.dataset.restored) continue;
      field.dataset.restored = "yes";
      const value = read(keyOf(field));
      if (!value) continue;
      if (ticked(field)) field.checked = true;
      else if (!field.value) field.value = value;
    }
    document.dispatchEvent(new Event("pev:restored"));
  }

  document.addEventListener("input", (event) => {
    const field = event.target.closest?.("[data-draft]");
    if (field) write(keyOf(field), ticked(field) ? (field.checked ? "on" : "") : field.value);
  });

  // What was sent and taken is no draft any more: the form that held it says so.
  document.addEventListener("pev:sent", (event) => {
    for (const field of event.target.elements) if (field.dataset.draft) write(keyOf(field), "");
  });

  document.addEventListener("htmx:after:swap", restore);
  document.addEventListener("htmx:after:ws:message", () => setTimeout(restore, 60));
  forgetOld();
  restore();
})();
