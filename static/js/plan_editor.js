// Keeps what is typed into the plan editor in this browser until it is saved, and tries checks when their fields change.
(() => {
  "use strict";
  const PREFIX = "pev-plan-edit:";
  const WAIT = 400;
  const form = () => document.getElementById("plan-editor");
  const key = () => PREFIX + form().dataset.gate;

  function stored() {
    try {
      return JSON.parse(localStorage.getItem(key()) || "null");
    } catch {
      return null;
    }
  }

  function typed() {
    const data = new FormData(form());
    for (const name of ["csrfmiddlewaretoken", "do"]) data.delete(name);
    return new URLSearchParams(data).toString();
  }

  function say(words) {
    const place = document.getElementById("editor-kept");
    if (place) place.textContent = words;
  }

  const begun = typed();
  let waiting = 0;
  function keep() {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (!form()) return;
      const now = typed();
      try {
        if (now === begun) localStorage.removeItem(key());
        else localStorage.setItem(key(), JSON.stringify({ at: Date.now(), typed: now }));
        say(now === begun ? "" : "Kept in this browser until you save.");
      } catch {
        say("This browser keeps nothing; save before you leave.");
      }
    }, WAIT);
  }

  // What other gates of this browser have left behind is of no use any more.
  function tidy() {
    for (const name of Object.keys(localStorage)) {
      if (name.startsWith(PREFIX) && name !== key()) {
        const at = JSON.parse(localStorage.getItem(name) || "{}").at || 0;
        if (Date.now() - at > 7 * 24 * 3600 * 1000) localStorage.removeItem(name);
      }
    }
  }

  function offer() {
    const found = stored();
    if (!found || found.typed === begun || document.getElementById("editor-problem")) return;
    const note = document.createElement("div");
    note.className = "alert warn";
    note.id = "editor-draft";
    const words = document.createElement("p");
    words.textContent = `You have changes from ${new Date(found.at).toLocaleString()} that were not saved.`;
    const bar = document.createElement("div");
    bar.className = "toolbar";
    const take = document.createElement("button");
    take.type = "button";
    take.className = "button small primary";
    take.textContent = "Go on with them";
    take.addEventListener("click", async () => {
      const body = new URLSearchParams(found.typed);
      body.set("csrfmiddlewaretoken", new FormData(form()).get("csrfmiddlewaretoken"));
      body.set("do", "show");
      const answer = await fetch(form().action, { method: "POST", body, headers: { "HX-Request": "true" } });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      form().replaceWith(document.adoptNode(page.getElementById("plan-editor")));
      window.htmx.process(form());
      note.remove();
      keep();
    });
    const leave = document.createElement("button");
    leave.type = "button";
    leave.className = "button small";
    leave.textContent = "Throw them away";
    leave.addEventListener("click", () => {
      localStorage.removeItem(key());
      note.remove();
    });
    bar.append(take, leave);
    note.append(words, bar);
    form().before(note);
  }

  document.addEventListener("input", (event) => {
    if (event.target.closest("#plan-editor")) keep();
  });
  document.addEventListener("htmx:after:swap", keep);
  document.addEventListener("change", (event) => {
    const editor = form();
    if (!editor?.contains(event.target)) return;
    // Another kind of check has other fields; a check whose fields have changed says something else today.
    if (event.target.name.endsWith("-kind")) editor.querySelector("button[value=show]").click();
    else if (event.target.name.includes("-check-")) {
      const attempt = event.target.closest(".edit-check").querySelector("button[value^='try:']");
      if (document.activeElement !== attempt) attempt.click();
    }
  });
  tidy();
  offer();
})();
