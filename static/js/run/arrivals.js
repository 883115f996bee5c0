// Holds back a question or a result that arrives while the page is visible, behind a bar in the corner: nothing moves, and
// no button appears under the pointer. After a decision the next one comes at once where the reader still looks.
import { isStill } from "../gates/stillness.js";

/** @param {PageElement} bar */
function holdBack(bar) {
  const box = bar.querySelector("p");
  const words = box.querySelector("span");
  const held = new Map(); // name of the region to { id, put }

  /**
   * What is on its way and not on the page.
   * @param {string} text
   */
  function newIn(text) {
    const came = new DOMParser().parseFromString(text, "text/html").querySelectorAll("article[id]");
    return [...came].find((one) => !document.getElementById(one.id));
  }

  /**
   * Whether something that is seen now stands below the region. The box of what is written gives way by itself.
   * @param {PageElement} region
   */
  function pushes(region) {
    for (let next = region.nextElementSibling; next; next = next.nextElementSibling) {
      const { top, bottom, height } = next.getBoundingClientRect();
      if (height && top < innerHeight && bottom > 0 && next !== bar && !next.matches(".writing")) return true;
    }
    return false;
  }

  function draw() {
    for (const [name, { id }] of held) if (document.getElementById(id)) held.delete(name);
    box.hidden = !held.size;
    const said = [...held.values()].map((one) => one.words).join(" ");
    if (words.textContent !== said) words.textContent = said;
  }

  /** @param {boolean} focus */
  function release(focus) {
    const waiting = [...held.values()];
    held.clear();
    draw();
    for (const { id, put } of waiting) {
      put().then(() => {
        const heading = focus && document.querySelector(`#${id} h2`);
        if (!heading) return;
        heading.setAttribute("tabindex", "-1");
        heading.focus({ preventScroll: true });
        heading.scrollIntoView({ block: "nearest" });
      });
    }
  }

  document.addEventListener("pev:arriving", (event) => {
    const { name, text, put } = event.detail;
    const region = document.getElementById(`run-${name}`);
    const article = document.hidden || !region || isStill() || !pushes(region) ? null : newIn(text);
    if (article) {
      event.preventDefault();
      const heading = article.querySelector("h2").textContent.trim();
      held.set(name, { id: article.id, put, words: `${article.dataset.arrives}: ${heading}` });
    } else {
      held.delete(name);
    }
    draw();
  });
  // A plan comes with an empty region in place of the graph: then there is nothing to be pushed any more.
  document.addEventListener("pev:after-part", () => {
    if ([...held.keys()].every((name) => !pushes(document.getElementById(`run-${name}`)))) release(false);
  });
  box.querySelector("button").addEventListener("click", () => release(true));
  // The question in the header leads to the gate, also while that waits here.
  document.addEventListener("click", (event) => {
    if (!held.has("gates") || !event.target.closest(".run-sentence a")) return;
    event.preventDefault();
    release(true);
  });
  document.addEventListener("visibilitychange", () => document.hidden && release(false));
  // The answer to a decision brings the region as it is now.
  document.addEventListener("htmx:after:request", () => setTimeout(draw, 50));
}

const bar = document.getElementById("arrivals");
if (bar) holdBack(bar);
