// Keeps what is typed into the plan editor in this browser until it is saved, and while an answer of the server is on
// its way.
import { forgetOld, read, write } from "../browser_storage.js";
import { button } from "../button.js";

const PREFIX = "pev-plan-form:";
const WAIT = 400; // milliseconds without typing
const DAYS = 7;
const form = () => /** @type {HTMLFormElement} */ (/** @type {unknown} */ (document.getElementById("plan-editor")));
const key = () => PREFIX + form().dataset.gate;

function typed() {
  const data = new FormData(form());
  for (const name of ["csrfmiddlewaretoken", "do"]) data.delete(name);
  return new URLSearchParams(/** @type {any} */ (data)).toString();
}

/** @param {string} words */
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
    if (!write(key(), now === begun ? null : { at: Date.now(), typed: now }))
      say("This browser keeps nothing; save before you leave.");
    else say(now === begun ? "" : "Kept in this browser until you save.");
  }, WAIT);
}

function offer() {
  const found = read(key());
  if (!found || found.typed === begun || document.getElementById("editor-problem")) return;
  const note = document.createElement("div");
  note.className = "alert warn";
  note.id = "editor-draft";
  const words = document.createElement("p");
  words.textContent = `You have changes from ${new Date(found.at).toLocaleString()} that were not saved.`;
  const bar = document.createElement("div");
  bar.className = "toolbar";
  const take = button("Continue with them", "button small primary", async () => {
    const body = new URLSearchParams(found.typed);
    body.set("csrfmiddlewaretoken", String(new FormData(form()).get("csrfmiddlewaretoken")));
    body.set("do", "show");
    const answer = await fetch(form().action, { method: "POST", body, headers: { "HX-Request": "true" } });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    form().replaceWith(document.adoptNode(page.getElementById("plan-editor")));
    window.htmx.process(form());
    note.remove();
    keep();
  });
  const leave = button("Discard them", "button small", () => {
    write(key(), null);
    note.remove();
  });
  bar.append(take, leave);
  note.append(words, bar);
  form().before(note);
}

document.addEventListener("input", (event) => {
  const field = /** @type {HTMLInputElement} */ (/** @type {unknown} */ (event.target));
  if (!field.closest("#plan-editor")) return;
  if (field.getAttribute("aria-invalid")) forgive(field);
  keep();
});

/**
 * What is wrong with a field is no longer known once it was changed.
 * @param {HTMLInputElement} field
 */
function forgive(field) {
  const error = `${field.id}_error`;
  document.getElementById(error)?.remove();
  const left = (field.getAttribute("aria-describedby") ?? "").split(" ").filter((id) => id !== error);
  field.setAttribute("aria-describedby", left.join(" "));
  if (!left.join("")) field.removeAttribute("aria-describedby");
  field.removeAttribute("aria-invalid");
}

// What is typed while an answer is on its way is newer than the answer. Rows keep their names when they are moved.
let sent = new Map();
/** @type {string[][]} */
let late = [];
let unfolded = false;
const texts = () => [...form().querySelectorAll("textarea, input[type=text]")];
document.addEventListener(
  "submit",
  () => {
    sent = new Map(texts().map((field) => [field.name, field.value]));
  },
  true,
);
document.addEventListener("htmx:before:swap", () => {
  if (!form()) return;
  unfolded = form().querySelector("details").open;
  late = texts()
    .filter((field) => sent.has(field.name) && sent.get(field.name) !== field.value)
    .map((field) => [field.id, field.value]);
});
document.addEventListener("htmx:after:swap", () => {
  for (const [id, value] of late) {
    const field = document.getElementById(id);
    if (field) field.value = value;
  }
  late = [];
  const first = form()?.querySelector("[autofocus] :is(input[type=text], textarea)");
  if (first && !first.value) setTimeout(() => first.focus()); // of a new row; htmx looks for the row itself now
  if (form() && unfolded) form().querySelector("details").open = true;
  keep();
});
// Another kind of check has other fields.
document.addEventListener("change", (event) => {
  if (form()?.contains(event.target) && event.target.name.endsWith("-kind")) {
    form().querySelector("button[value=show]").click();
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !event.target.matches("#plan-editor .edit-check input")) return;
  event.preventDefault();
  event.target.closest(".edit-check").querySelector("button[value^='try:']").click();
});
forgetOld(PREFIX, DAYS);
offer();
