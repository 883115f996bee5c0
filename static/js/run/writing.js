// Shows what models are writing in [data-writing]: the newest words of a call, its tool, and for how long it is silent.
import { doing, who } from "./call_words.js";

const LOST = 12_000; // the server gives a sign of life every three seconds

/** @param {PageElement[]} boxes */
function showWriting(boxes) {
  const calls = new Map(); // by step, in the order in which they began
  let asked = false;

  /**
   * @param {Element} element
   * @param {string} words
   */
  function say(element, words) {
    if (element.textContent !== words) element.textContent = words;
  }

  /** @param {PageElement} box */
  function fill(box) {
    const wanted = box.dataset.for;
    const mine = [...calls.values()].filter((call) => !wanted || String(call.step) === wanted);
    // It stays with one call until that is over: texts that alternate cannot be read.
    const call = mine.find((one) => String(one.step) === box.dataset.shown) ?? mine[0];
    box.toggleAttribute("data-idle", !call);
    box.dataset.shown = call ? String(call.step) : "";
    const review = box.dataset.review ?? "AI review";
    say(box.querySelector(".writing-who"), call ? who(call, review) : "Nothing is being written");
    say(box.querySelector(".writing-doing"), call ? doing(call, Date.now()) : "");
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
}

const boxes = [...document.querySelectorAll("[data-writing]")];
if (boxes.length) showWriting(boxes);
