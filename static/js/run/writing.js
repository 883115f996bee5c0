// Shows what models are writing in [data-writing]: the newest words of a call, its tool, and for how long it is silent.
(() => {
  "use strict";
  const ROLES = { planner: "Planning", executor: "Working", synthesizer: "Final answer" };
  const LOST = 12_000; // the server gives a sign of life every three seconds
  const SILENT = 3; // seconds
  const calls = new Map(); // by step, in the order in which they began
  let asked = false;

  const boxes = [...document.querySelectorAll("[data-writing]")];
  if (!boxes.length) return;

  function say(element, words) {
    if (element.textContent !== words) element.textContent = words;
  }

  function role(call, box) {
    return call.role === "verifier" ? (box.dataset.review ?? "AI review") : (ROLES[call.role] ?? call.role);
  }

  function doing(call) {
    const silent = call.silent_s + Math.floor((Date.now() - call.at) / 1000);
    if (!call.text && !call.tool && !call.thinking) return `waiting for the first word, ${silent} s`;
    const what = call.tool ? `calls ${call.tool}` : call.text ? "writes" : "thinks";
    return silent < SILENT ? what : `${what}, silent for ${silent} s`;
  }

  function fill(box) {
    const wanted = box.dataset.for;
    const mine = [...calls.values()].filter((call) => !wanted || String(call.step) === wanted);
    // It stays with one call until that is over: texts that alternate cannot be read.
    const call = mine.find((one) => String(one.step) === box.dataset.shown) ?? mine[0];
    box.toggleAttribute("data-idle", !call);
    box.dataset.shown = call ? String(call.step) : "";
    const who = call ? [role(call, box), call.name, call.attempt > 1 ? `attempt ${call.attempt}` : ""] : [];
    say(box.querySelector(".writing-who"), call ? who.filter(Boolean).join(" · ") : "Nothing is being written");
    say(box.querySelector(".writing-doing"), call ? doing(call) : "");
    say(box.querySelector(".writing-others"), mine.length > 1 ? `and ${mine.length - 1} more` : "");
    say(box.querySelector(".writing-text"), call ? call.text : "");
    say(box.querySelector(".writing-thought"), call?.thinking ?? "");
    const fold = box.querySelector(".writing-thinking");
    fold.toggleAttribute("data-empty", !call?.thinking && !fold.open);
  }

  function draw() {
    asked = false;
    for (const [step, call] of calls) if (Date.now() - call.at > LOST) calls.delete(step);
    boxes.forEach(fill);
  }

  function soon() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(draw);
  }

  document.addEventListener("htmx:before:ws:message", (event) => {
    const update = event.detail.message.json?.writing;
    if (!update) return;
    event.preventDefault(); // nothing else on the page has to look at it
    if (update.done) calls.delete(update.step);
    else calls.set(update.step, { ...update, at: Date.now() });
    soon();
  });
  document.addEventListener("htmx:ws:close", () => {
    calls.clear();
    soon();
  });
  setInterval(draw, 1000);
  draw();
})();
