// The form of a new run: brings its parts together, submits in the background, and says at the button what is wrong.
// Without this script the form is an ordinary one.
import { DraftFiles } from "./draft_files.js";
import { KeptWords } from "./kept_words.js";
import { presets } from "./presets.js";

const form = /** @type {PageElement} */ (/** @type {unknown} */ (document.getElementById("new-run")));
/** @param {string} id */
const at = (id) => document.getElementById(id);
const SIGNED_OUT =
  "You are signed out here. Sign in in another tab, then submit again; your words and your files are kept.";
let sending = false;
let sent = false;

for (const element of form.querySelectorAll("[data-script]")) element.hidden = false;
for (const element of form.querySelectorAll("[data-plain]")) element.hidden = true;
const policy = presets(form);
const words = new KeptWords(form, () => {
  policy.mark();
  document.dispatchEvent(new Event("pev:restored"));
  window.addEventListener("load", () => setTimeout(drafted)); // behind the timer after which htmx listens
});
const plans = at("id_template");
/** @type {DraftFiles | null} */
let files = null; // what a draft holds already is told while it is made
files = new DraftFiles(form, { changed, freshToken });
estimate();

let ticked = false; // by a template and not by the person, whose tick stays
plans.addEventListener("change", () => {
  const creative = "noSources" in plans.selectedOptions[0].dataset;
  const box = at("id_no_sources");
  if (creative ? box.checked : !ticked) return;
  box.checked = creative;
  ticked = creative;
});
form.addEventListener("change", (event) => {
  if (["template", "preset", "attempts", "executor_model", "verifier_model"].includes(event.target.name)) estimate();
});
at("add-files").addEventListener("click", () => {
  ask("");
  at("choose-files").focus();
  at("choose-files").click();
});
at("into-file").addEventListener("click", intoFile);
form.addEventListener("submit", submit);
form.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit(at("submit"));
});
window.addEventListener("pageshow", (event) => {
  if (event.persisted && sent) location.reload();
});

function changed() {
  words.address();
  estimate();
  drafted();
}

// Tells what is drawn from the whole form, such as what would be reused, that its files or restored words are others.
function drafted() {
  form.dispatchEvent(new Event("drafted"));
}

// What the chosen template may cost, once there are files for it.
async function estimate() {
  const shown = plans.value && files?.count > 0;
  const query = new URLSearchParams(
    ["template", "attempts", "executor_model", "verifier_model"].map((name) => [name, form.elements[name].value]),
  );
  const answer = shown
    ? await fetch(`${at("estimate").dataset.place}?${query}`).catch(/** @returns {any} */ () => null)
    : null;
  at("estimate").innerHTML = answer?.ok && !answer.redirected ? await answer.text() : "";
}

/** @param {string[]} problems */
function tell(problems) {
  const box = at("problems");
  box.hidden = !problems.length;
  box
    .querySelector("ul")
    .replaceChildren(...problems.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
  if (problems.length) box.focus();
}

/** @param {string} question */
function ask(question) {
  at("question").hidden = !question;
  at("question").querySelector("p").textContent = question;
  if (question) at("question").focus();
}

/** @param {MouseEvent} event */
async function intoFile(event) {
  event.preventDefault();
  const data = new FormData();
  data.set("into_file", "on");
  data.set("request", at("id_request").value);
  const answer = await files.post(data);
  if (!answer?.request) return; // what is wrong is said at the files
  at("id_request").value = answer.request;
  at("id_request").dispatchEvent(new Event("input", { bubbles: true }));
  at("id_request").focus();
  changed();
}

// After signing in again the form needs the new session's token; words and files stay where they are.
async function freshToken() {
  try {
    const page = new DOMParser().parseFromString(await (await fetch(form.action)).text(), "text/html");
    const token = page.querySelector("#new-run [name=csrfmiddlewaretoken]");
    if (!token) return false;
    form.querySelector("[name=csrfmiddlewaretoken]").value = token.value;
    return true;
  } catch {
    return false;
  }
}

/** @param {SubmitEvent & { submitter: any }} event */
async function submit(event) {
  if (event.submitter?.name === "look") return; // where htmx is missing: it only asks, and starts nothing
  event.preventDefault();
  if (sending || sent) return;
  const data = new FormData(/** @type {any} */ (form), event.submitter?.name ? event.submitter : null);
  tell([]);
  ask("");
  if (!at("id_request").value.trim()) return tell(["Describe the task: the request is empty."]);
  busy("Sending the files");
  const arrived = await files.settled();
  if (!arrived) {
    busy("");
    return tell(["Some files were not sent. Try them again, or remove them, then submit."]);
  }
  data.delete("files");
  data.delete("folder");
  for (const name of ["has_draft", "begun"]) {
    data.delete(name);
    if (at("draft-files").querySelector(`[name=${name}]`)) data.set(name, "on");
  }
  busy("Starting the run");
  await send(data, true);
  if (!sent) busy("");
}

/**
 * @param {FormData} data
 * @param {boolean} first
 */
async function send(data, first) {
  let response = null;
  try {
    response = await fetch(form.action, { method: "POST", body: data, headers: { Accept: "application/json" } });
  } catch {
    return tell(["Not sent: no connection to the server. Your words and your files are kept; submit again."]);
  }
  const answer = await response.json().catch(/** @returns {any} */ () => null);
  if (response.status === 201 && answer) {
    sent = true;
    busy("Opening the run");
    words.sent();
    location.assign(answer.location);
  } else if (answer?.became) {
    words.keep(); // the page that says what became of this form shows them
    location.assign(answer.became);
  } else if (answer?.question) {
    ask(answer.question);
  } else if (answer?.errors) {
    tell(answer.errors);
  } else if (response.status === 403 || response.ok) {
    if (!first || !(await freshToken())) return tell([SIGNED_OUT]);
    data.set("csrfmiddlewaretoken", form.querySelector("[name=csrfmiddlewaretoken]").value);
    await send(data, false);
  } else {
    tell([
      `The server could not take the run (error ${response.status}). Nothing was changed; your words and your files are kept. Try again in a moment.`,
    ]);
  }
}

/** @param {string} text */
function busy(text) {
  sending = Boolean(text);
  at("submit").disabled = sending;
  at("submit-state").textContent = text;
}

estimate();
