// The files of a new run: chosen or dropped, and sent into its draft in batches. The server draws the list.
import { counted } from "../words.js";
/** @typedef {import("./batches.js").Chosen} Chosen */
import { nextBatch, sortOut } from "./batches.js";

const MAX_LEFT_OUT = 200;
const LOOK_AGAIN = 700;
const UNREACHABLE = "Not sent: the server cannot be reached, or a file was moved or changed after you chose it.";
const SIGNED_OUT = "Not sent: you are signed out here. Sign in in another tab, then try again.";
/** @param {string} id */
const at = (id) => document.getElementById(id);

/**
 * Every file below what was dropped, as [path, File]. Folders are walked; entries must be taken before the first wait.
 * @param {DataTransfer} transfer
 * @param {RegExp} junk
 * @returns {Promise<Chosen[]>}
 */
async function dropped(transfer, junk) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files].map((file) => [file.name, file]);
  /** @type {Chosen[]} */
  const found = [];
  for (const entry of entries) await walk(entry, "", found, junk);
  return found;
}

/**
 * @param {any} entry
 * @param {string} above
 * @param {Chosen[]} found
 * @param {RegExp} junk
 */
async function walk(entry, above, found, junk) {
  const path = above + entry.name;
  if (junk.test(path)) {
    found.push([path, null]);
  } else if (entry.isFile) {
    found.push([path, await new Promise((resolve, reject) => entry.file(resolve, reject))]);
  } else {
    const reader = entry.createReader();
    for (;;) {
      const batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
      if (!batch.length) return;
      for (const child of batch) await walk(child, `${path}/`, found, junk);
    }
  }
}

export class DraftFiles {
  /** @type {[string, File][]} */
  #queue = [];
  #secrets = new Set();
  #junk = new Set();
  #total = 0;
  #sent = 0;
  /** @type {Promise<void> | null} */
  #running = null;
  #look = 0;

  /**
   * @param {PageElement} form
   * @param {object} calls
   * @param {() => void} calls.changed when the first file is on its way, and after each answer
   * @param {() => Promise<boolean>} calls.freshToken gets the token of a session that was begun again
   */
  constructor(form, { changed, freshToken }) {
    this.form = form;
    this.changed = changed;
    this.freshToken = freshToken;
    this.secretPaths = new RegExp(form.dataset.secrets, "i");
    this.junkPaths = new RegExp(form.dataset.junk, "i");
    this.#choosing();
    this.#followReading();
    this.#dropping();
    at("send-again").addEventListener("click", () => this.#again());
    window.addEventListener("online", () => this.#queue.length && this.#again());
    this.form.addEventListener("click", (event) => this.#removing(event));
    window.addEventListener("beforeunload", (event) => {
      if (this.#running) event.preventDefault();
    });
  }

  get count() {
    return Number(at("draft-files").dataset.count);
  }

  // Resolves once nothing is on its way: true if all of it arrived.
  async settled() {
    await this.#running;
    return !this.#queue.length;
  }

  #choosing() {
    const pickers = [
      ["choose-files", "id_files"],
      ["choose-folder", "id_folder"],
    ];
    for (const [button, id] of pickers) {
      const input = at(id);
      at(button).addEventListener("click", () => input.click());
      const take = () => {
        this.add(Array.from(input.files, (file) => [file.webkitRelativePath || file.name, file]));
        input.value = "";
      };
      input.addEventListener("change", take);
      if (input.files.length) take(); // chosen before this script was there
    }
  }

  #dropping() {
    const zone = at("drop");
    /** @param {DragEvent} event */
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
        this.add(await dropped(event.dataTransfer, this.junkPaths));
      } catch {
        this.#tell("Something that was dropped could not be read. Choose it with the buttons instead.", false);
      }
    });
  }

  /** @param {Chosen[]} chosen */
  add(chosen) {
    const sorted = sortOut(chosen, {
      junk: this.junkPaths,
      secrets: this.secretPaths,
      maxBytes: Number(this.form.dataset.maxFileBytes),
    });
    this.#queue.push(...sorted.send);
    for (const path of sorted.junk) this.#junk.add(path);
    for (const path of sorted.secrets) this.#secrets.add(path);
    this.#total = this.#sent + this.#queue.reduce((sum, [, file]) => sum + file.size, 0);
    at("junk").hidden = !this.#junk.size;
    at("junk").textContent = `Left out, because they are rarely needed: ${[...this.#junk].join(", ")}.`;
    this.#tell(sorted.refused.slice(0, 5).join(" "), false);
    if (this.#queue.length || this.#secrets.size) this.changed();
    this.#pump();
  }

  #pump() {
    this.#running ??= this.#sendAll().finally(() => {
      this.#running = null;
      this.#progress(0);
      this.changed();
    });
  }

  #again() {
    this.#tell("", false);
    this.freshToken().then((fresh) => (fresh ? this.#pump() : this.#tell(SIGNED_OUT, true)));
  }

  async #sendAll() {
    this.#progress(0);
    while (this.#queue.length || this.#secrets.size) {
      const { batch, bytes } = nextBatch(this.#queue);
      const secrets = [...this.#secrets].slice(0, MAX_LEFT_OUT);
      const data = new FormData();
      for (const [path, file] of batch) {
        data.append("files", file, file.name);
        data.append("paths", path);
      }
      for (const path of secrets) data.append("left_out", path); // for the history: the files stay here
      if (!(await this.post(data))) return;
      this.#queue.splice(0, batch.length);
      this.#secrets.clear();
      this.#sent += bytes;
      this.changed();
    }
    this.#sent = this.#total = 0;
  }

  /** @param {number} loaded */
  #progress(loaded) {
    const busy = this.#running !== null || this.#queue.length > 0;
    const share = this.#total ? Math.min(100, Math.floor((100 * (this.#sent + loaded)) / this.#total)) : 0;
    at("sending-bar").value = String(busy ? share : 0);
    const left = this.#queue.length;
    at("sending").textContent =
      busy && left
        ? `Sending ${counted(left, "file")}, ${share} %`
        : "Files are sent at once and kept for a day until you submit";
  }

  /**
   * Sends something to the draft and shows its list as the answer has it. Resolves to the answer, or to null where it has
   * to be tried again.
   * @param {FormData} data
   * @returns {Promise<any>}
   */
  post(data) {
    data.set("csrfmiddlewaretoken", this.form.querySelector("[name=csrfmiddlewaretoken]").value);
    if (this.form.dataset.run) data.set("run", this.form.dataset.run);
    return new Promise((resolve) => {
      const request = new XMLHttpRequest();
      request.open("POST", this.form.dataset.draft);
      request.setRequestHeader("Accept", "application/json");
      request.upload.addEventListener("progress", (event) => this.#progress(event.loaded));
      request.addEventListener("load", () => resolve(this.#answered(request)));
      request.addEventListener("error", () => resolve(this.#tell(UNREACHABLE, true)));
      request.send(data);
    });
  }

  /** @param {XMLHttpRequest} request */
  #answered(request) {
    let answer = null;
    try {
      answer = JSON.parse(request.responseText);
    } catch {
      const signedOut = request.status === 403 || request.status === 200;
      return this.#tell(signedOut ? SIGNED_OUT : `Not sent: the server answered with error ${request.status}.`, true);
    }
    if (answer.html) this.#draw(answer.html);
    const refused = answer.errors?.length > 0;
    this.#tell(refused ? answer.errors.join(" ") : "", false);
    if (refused) this.#queue.length = 0; // it would be refused again
    return answer;
  }

  /** @param {string} html */
  #draw(html) {
    at("draft-files").outerHTML = html;
    this.#followReading();
  }

  // Documents are read in the background: the list is drawn again when one more of them is.
  #followReading() {
    clearTimeout(this.#look);
    const before = Number(at("draft-files").dataset.reading);
    if (!before) return;
    this.#look = setTimeout(async () => {
      const answer = await fetch(this.form.dataset.draft, { headers: { Accept: "application/json" } }).then(
        (got) => (got.ok ? got.json() : null),
        /** @returns {any} */
        () => null,
      );
      const here = document.activeElement?.closest?.("#draft-files button");
      if (answer && answer.reading !== Number(at("draft-files").dataset.reading)) {
        at("draft-files").outerHTML = answer.html;
        if (here)
          at("draft-files")
            .querySelector(`button[name="${here.name}"][value="${CSS.escape(here.value)}"]`)
            ?.focus();
      }
      this.#followReading();
    }, LOOK_AGAIN);
  }

  /**
   * @param {string} text
   * @param {boolean} again
   */
  #tell(text, again) {
    at("not-sent").hidden = !text;
    at("not-sent").querySelector("p").textContent = text;
    at("send-again").hidden = !again;
    return /** @type {any} */ (null);
  }

  /** @param {Event & { target: PageElement }} event */
  async #removing(event) {
    const button = event.target.closest("#draft-files button");
    if (!button) return;
    event.preventDefault();
    const buttons = () => [...at("draft-files").querySelectorAll(".remove")];
    const place = buttons().indexOf(button.closest("li")?.querySelector(".remove"));
    const data = new FormData();
    data.set(button.name, button.value);
    const choice = button.previousElementSibling;
    if (choice?.matches("select")) data.set(choice.name, choice.value);
    if (!(await this.post(data))) return;
    const left = buttons();
    (left[Math.min(place, left.length - 1)] ?? at("choose-files")).focus();
    this.changed();
  }
}
