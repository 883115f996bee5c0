// Sends every form of a page in the background, so that its words stay where they are if they do not arrive, and says at
// the button what became of it: not sent and why, or what the server answered. Without this script forms are ordinary
// ones. Forms that htmx sends get the same sentences, and those of a new run have a script of their own.
import { answerTo, place } from "./form_words.js";

/** @typedef {PageElement & { enctype: string }} Form */

/** @type {WeakSet<Element>} Forms whose answer is on its way. */
const sending = new WeakSet();
/** @type {WeakMap<Element, PageElement>} Places for answers that were made, by form: a button may be outside of it. */
const answers = new WeakMap();

/**
 * Where the answer stands: a place that the form has for it, or one behind the button.
 * @param {PageElement} form
 * @param {PageElement | null | undefined} button
 */
function answerOf(form, button) {
  const known = form.querySelector(".form-answer") ?? answers.get(form);
  if (known?.isConnected) return known;
  const answer = /** @type {any} */ (document.createElement("p"));
  answer.className = "form-answer";
  answer.setAttribute("role", "status");
  if (button?.isConnected && !button.matches(".visually-hidden")) (button.closest(".toolbar") ?? button).after(answer);
  else form.append(answer);
  answers.set(form, answer);
  return answer;
}

/**
 * @param {PageElement} form
 * @param {PageElement | null | undefined} button
 * @param {string} words
 * @param {{ isBad?: boolean, signIn?: boolean }} [how]
 */
function say(form, button, words, { isBad = true, signIn = false } = {}) {
  if (!form.isConnected) return;
  const answer = answerOf(form, button);
  answer.classList.toggle("bad", isBad);
  answer.textContent = words;
  if (!signIn) return;
  const way = document.createElement("a");
  way.href = `/sign-in/?next=${encodeURIComponent(window.location.pathname + window.location.search)}`;
  way.textContent = "Sign in again";
  answer.append(" ", way);
}

/** @param {string} text */
const pageOf = (text) => new DOMParser().parseFromString(text, "text/html");

/**
 * What an error page says; empty for any other page.
 * @param {Document} page
 */
function reasonOf(page) {
  const sentence = page.querySelector("main > .notice p:not(.eyebrow)");
  return sentence ? sentence.textContent.replace(/\s+/g, " ").trim() : "";
}

/**
 * Says why an answer is none. Returns whether it is one.
 * @param {PageElement} form
 * @param {PageElement | null | undefined} button
 * @param {number} status of the answer; 0 if none came
 * @param {{ isShown?: boolean, reason?: string }} [page]
 */
function isAnswer(form, button, status, page) {
  const refusal = answerTo(status, page);
  if (refusal) say(form, button, refusal.words, { signIn: refusal.signIn });
  return !refusal;
}

// Regions of a run are rendered once for everybody, so that their forms carry no token; the page has it for htmx.
function tokens() {
  return JSON.parse(document.body.getAttribute("hx-headers:inherited") || "{}");
}

/** @param {PageElement} form */
function taken(form) {
  form.dispatchEvent(new CustomEvent("pev:sent", { bubbles: true }));
}

/**
 * The page of an answer takes the place of what is shown; scripts keep the elements that they know.
 * @param {Document} page
 * @param {PageElement} fresh its main part
 */
async function show(page, fresh) {
  const main = document.querySelector("main");
  for (const style of page.querySelectorAll("link[rel=stylesheet]")) {
    const known = [...document.querySelectorAll("link[rel=stylesheet]")].some((one) => one.href === style.href);
    if (!known) document.head.append(document.adoptNode(style));
  }
  document.title = page.title;
  const words = fresh.outerHTML;
  await window.htmx.swap({ sourceElement: main, target: main, swap: "outerMorph", text: words, transition: false });
  document.dispatchEvent(new Event("pev:after-part"));
  const first = document.querySelector("main :is([role=alert], .alert, .field-error, [aria-invalid])");
  const next = first ?? document.querySelector("main");
  if (!next.hasAttribute("tabindex") && !next.matches("input, textarea, select")) next.setAttribute("tabindex", "-1");
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

/** @param {string} address */
function goTo(address) {
  const url = new URL(address, window.location.href);
  const isHere = url.pathname === window.location.pathname && url.search === window.location.search;
  if (!isHere || !url.hash) return window.location.assign(url);
  window.location.hash = url.hash; // by itself that loads nothing
  window.location.reload();
}

/**
 * @param {Form} form
 * @param {any} button that was pressed
 */
async function send(form, button) {
  if (sending.has(form)) return;
  const data = /** @type {any} */ (new FormData(/** @type {any} */ (form), button?.form ? button : null));
  const address = button?.hasAttribute("formaction") ? button.formAction : form.getAttribute("action") || "";
  sending.add(form);
  say(form, button, "Sending…", { isBad: false });
  try {
    const answer = await fetch(new URL(address, window.location.href), {
      method: "POST",
      body: form.enctype === "multipart/form-data" ? data : new URLSearchParams(data),
      headers: { ...tokens(), "X-Requested-With": "XMLHttpRequest", Accept: "text/html" },
    });
    const page = pageOf(await answer.text());
    const to = answer.headers.get(place);
    const [reason, fresh] = [reasonOf(page), page.querySelector("main")];
    if (!isAnswer(form, button, answer.status, { isShown: Boolean(to || (fresh && !reason)), reason })) return;
    if (answer.ok) taken(form);
    say(form, button, "", { isBad: false });
    if (to) return goTo(to);
    // What was typed is done with, and would stay in the fields. The answer has what is not.
    if (answer.ok) /** @type {any} */ (form).reset();
    await show(page, fresh);
  } catch {
    isAnswer(form, button, 0);
  } finally {
    sending.delete(form);
  }
}

document.addEventListener("submit", (event) => {
  const form = /** @type {Form} */ (event.target);
  const button = /** @type {any} */ (event).submitter;
  if (!window.htmx?.swap || event.defaultPrevented || (button?.formMethod || form.getAttribute("method")) !== "post")
    return;
  event.preventDefault();
  send(form, button);
});

// What the server said of a field is about the words that were sent, not about those that are typed now.
document.addEventListener("input", (event) => {
  const said = event.target.closest?.(".field")?.querySelectorAll(":scope > .field-error:not([data-problem])");
  for (const error of said ?? []) error.remove();
});

/** @param {CustomEvent<HtmxEventDetail>} event */
const sentByHtmx = (event) => {
  const request = event.detail.ctx?.request;
  const form = event.detail.ctx?.sourceElement;
  return form?.matches("form[hx-post]") ? { form, button: request.submitter } : null;
};
document.addEventListener("htmx:before:request", (event) => {
  const sent = sentByHtmx(event);
  if (sent) say(sent.form, sent.button, "Sending…", { isBad: false });
});
document.addEventListener("htmx:error", (event) => {
  const sent = sentByHtmx(event);
  if (sent && event.detail.error?.name !== "AbortError") isAnswer(sent.form, sent.button, 0);
});
document.addEventListener("htmx:after:request", (event) => {
  const sent = sentByHtmx(event);
  const status = event.detail.ctx?.response?.status;
  if (!sent || !status) return;
  // What htmx is answered are regions; a whole page is an error page, and stays out of the one that is shown.
  const text = event.detail.ctx.text || "";
  const isPage = /<html/i.test(text);
  const reason = isPage ? reasonOf(pageOf(text)) : "";
  if (!isAnswer(sent.form, sent.button, status, { isShown: !isPage && (status < 400 || text.includes("<")), reason }))
    return event.preventDefault();
  say(sent.form, sent.button, "", { isBad: false });
  if (status < 400) taken(sent.form);
});
