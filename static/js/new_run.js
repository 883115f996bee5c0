// Owns the form of a new run in the browser: choosing files, limits before the upload, the upload in the background, and its errors.
// Without this script the form is an ordinary one.
import { FileList, dropped, inUnits } from "./file_list.js";
import { Unreadable } from "./unreadable.js";

const form = document.getElementById("new-run");
const at = (id) => document.getElementById(id);
const files = new FileList(
  { files: Number(form.dataset.maxFiles), bytes: Number(form.dataset.maxBytes), fileBytes: Number(form.dataset.maxFileBytes) },
  new RegExp(form.dataset.secrets, "i"),
  refresh,
);
const unreadable = new Unreadable(JSON.parse(form.dataset.kinds));
let sending = null;
let sent = false;
let staleToken = false;

function enhance() {
  for (const element of form.querySelectorAll("[data-script]")) element.hidden = false;
  for (const element of form.querySelectorAll("[data-plain]")) element.hidden = true;
  const plain = at("id_files");
  const folder = at("id_folder");
  at("choose-files").addEventListener("click", () => plain.click());
  at("choose-folder").addEventListener("click", () => folder.click());
  for (const input of [plain, folder]) {
    const take = () => {
      files.add([...input.files].map((file) => [file.webkitRelativePath || file.name, file]));
      input.value = "";
    };
    input.addEventListener("change", take);
    if (input.files.length) take(); // chosen before this script was there
  }
  at("remove-all").addEventListener("click", () => {
    files.clear();
    at("choose-files").focus();
  });
  at("chosen-list").addEventListener("click", remove);
  const plans = at("id_template");
  let ticked = false; // by a template and not by the person, whose tick stays
  plans.addEventListener("change", () => {
    const creative = "noSources" in plans.selectedOptions[0].dataset;
    const box = at("id_no_sources");
    if (creative ? !box.checked : ticked) box.checked = ticked = creative;
  });
  at("cancel").addEventListener("click", () => sending?.abort());
  form.addEventListener("submit", submit);
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  window.addEventListener("beforeunload", (event) => {
    if (sending) event.preventDefault();
  });
  window.addEventListener("pageshow", (event) => {
    if (event.persisted && sent) location.reload();
  });
  dropping();
}

function dropping() {
  const zone = at("drop");
  const carriesFiles = (event) => event.dataTransfer?.types.includes("Files") && event.target !== at("id_plan_file");
  document.addEventListener("dragover", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    zone.classList.add("over");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) zone.classList.remove("over");
  });
  document.addEventListener("drop", async (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    zone.classList.remove("over");
    try {
      files.add(await dropped(event.dataTransfer));
    } catch {
      tell(["Something that was dropped could not be read. Choose it with the buttons instead."]);
    }
  });
}

function remove(event) {
  const button = event.target.closest("button[data-path]");
  if (!button) return;
  const rows = [...at("chosen-list").querySelectorAll("button")];
  const place = rows.indexOf(button);
  files.remove(button.dataset.path);
  const left = at("chosen-list").querySelectorAll("button");
  (left[Math.min(place, left.length - 1)] ?? at("choose-files")).focus();
}

function refresh() {
  const problem = files.problem();
  const more = files.show(at("chosen-list"));
  at("chosen").hidden = !files.size && !files.leftOut();
  at("chosen-sum").textContent = files.size ? `${files.sum()} of ${inUnits(files.limits.bytes)}` : "No files";
  say("chosen-problem", problem);
  say("left-out", files.leftOut());
  unreadable.look(files.entries(), (text) => say("unreadable", text));
  say("chosen-more", more > 0 ? `and ${more.toLocaleString("en")} more` : "");
}

function say(id, text) {
  at(id).textContent = text;
  at(id).hidden = !text;
}

function tell(problems) {
  const box = at("problems");
  box.hidden = !problems.length;
  box.querySelector("ul").replaceChildren(
    ...problems.map((text) => Object.assign(document.createElement("li"), { textContent: text })),
  );
  if (problems.length) box.focus();
}

async function submit(event) {
  event.preventDefault();
  if (sending) return;
  const problem = at("id_request").value.trim() ? files.problem() : "Write what is to be done; the request is empty.";
  tell(problem ? [problem] : []);
  if (problem) return;
  if (staleToken && !(await freshToken())) return;
  const data = new FormData(form);
  data.delete("files");
  data.delete("folder");
  for (const [path, file] of files.entries()) {
    data.append("files", file, file.name);
    data.append("paths", path);
  }
  for (const path of files.secrets()) data.append("left_out", path); // for the history: the files stay here
  send(data);
}

// After signing in again the form needs the new session's token; the files stay where they are.
async function freshToken() {
  try {
    const page = new DOMParser().parseFromString(await (await fetch(form.action)).text(), "text/html");
    const token = page.querySelector("#new-run [name=csrfmiddlewaretoken]");
    if (!token) throw new Error("signed out");
    form.querySelector("[name=csrfmiddlewaretoken]").value = token.value;
    staleToken = false;
    return true;
  } catch {
    tell(["You are not signed in. Sign in in another tab, then submit again; your text and your files are still here."]);
    return false;
  }
}

function send(data) {
  const request = new XMLHttpRequest();
  sending = request;
  busy(true);
  request.open("POST", form.action);
  request.setRequestHeader("Accept", "application/json");
  request.upload.addEventListener("progress", (event) => progress(event.loaded, event.total));
  request.addEventListener("load", () => done(request));
  request.addEventListener("error", () => stop(["The upload did not get through: the server cannot be reached, or a file was moved or changed after you chose it. Your text and your files are still here; submit again."]));
  request.addEventListener("abort", () => stop([]));
  request.send(data);
}

function progress(loaded, total) {
  const share = total ? Math.floor((100 * loaded) / total) : 0;
  at("upload-bar").value = share;
  at("upload-share").textContent = `${share} %`;
  const text = loaded < total ? `Sending ${inUnits(total)}` : "Storing the files and starting the run";
  if (at("upload-text").textContent !== text) at("upload-text").textContent = text;
}

function done(request) {
  let answer = null;
  try {
    answer = JSON.parse(request.responseText);
  } catch {
    answer = null;
  }
  if (request.status === 201 && answer) {
    sending = null;
    sent = true;
    at("upload-text").textContent = "Opening the run";
    location.assign(answer.location);
  } else if (answer?.errors) {
    stop(answer.errors);
  } else if (request.status === 403 || request.status === 200) {
    staleToken = true;
    stop(["You are no longer signed in here. Sign in in another tab, then submit again; your text and your files are still here."]);
  } else {
    stop([`The server could not take the run (error ${request.status}). Nothing was changed; your text and your files are still here. Try again in a moment.`]);
  }
}

function stop(problems) {
  sending = null;
  busy(false);
  tell(problems);
}

function busy(on) {
  at("upload").hidden = !on;
  at("cancel").hidden = !on;
  at("submit").disabled = on;
  at("upload-bar").value = 0;
  at("upload-share").textContent = "";
  at("upload-text").textContent = on ? "Sending" : "";
}

enhance();
