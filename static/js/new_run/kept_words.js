// What was typed into a form, kept in this browser until it is submitted: it survives reload, sign-out and a restart.
import { forgetOld, keys, read, write } from "../browser_storage.js";

const PREFIX = "pev-new-run:";
const DAYS = 2;
const OFFERED = 3;
const NEVER = new Set([
  "csrfmiddlewaretoken",
  "token",
  "became",
  "another",
  "files",
  "folder",
  "plan_file",
  "has_draft",
  "begun",
  "run",
  "remove",
  "remove_all",
  "into_file",
]);

export class KeptWords {
  #timer = 0;

  /**
   * @param {PageElement} form
   * @param {() => void} restored
   */
  constructor(form, restored) {
    this.form = form;
    this.key = `${PREFIX}${form.dataset.person}:${form.dataset.kept}`;
    forgetOld(PREFIX, DAYS);
    if (form.dataset.fresh && this.#restore()) {
      this.#changed();
      restored();
    } else if (form.dataset.fresh && !form.dataset.run) {
      this.#offer();
    }
    document.getElementById("start-over")?.addEventListener("submit", () => this.forget());
    const later = () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.keep(), 300);
    };
    form.addEventListener("input", later);
    form.addEventListener("change", later);
    window.addEventListener("pagehide", () => this.#timer && this.keep());
  }

  // Also names the draft in the address, which a reload and a sign-in lead back to.
  keep() {
    this.#timer = 0;
    const values = [];
    for (const field of this.form.elements) {
      if (!field.name || NEVER.has(field.name) || field.tagName === "BUTTON" || field.tagName === "FIELDSET") continue;
      const box = field.type === "checkbox" || field.type === "radio";
      values.push([field.name, box ? field.value : "", box ? field.checked : field.value]);
    }
    if (!write(this.key, { at: Date.now(), values })) return; // the words stay in the page
    this.address();
  }

  address() {
    this.#changed();
    const query = new URLSearchParams(location.search);
    query.set("draft", this.form.dataset.token);
    query.delete("template");
    history.replaceState(null, "", `?${query}`);
  }

  // There is something to throw away.
  #changed() {
    const over = document.getElementById("start-over");
    if (over) over.hidden = false;
  }

  forget() {
    this.#remove();
    history.replaceState(null, "", location.pathname);
  }

  // Back then leads to a form that says which run it became.
  sent() {
    this.#remove();
    history.replaceState(null, "", `?draft=${this.form.dataset.token}`);
  }

  #remove() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    write(this.key, null);
  }

  // Other new runs that were left with words and without files: of those with files the server knows.
  #offer() {
    const mine = `${PREFIX}${this.form.dataset.person}:`;
    const tokens = keys(mine).map((key) => key.slice(mine.length));
    const left = tokens
      .filter(
        (token) =>
          !token.startsWith("again-") && !document.querySelector(`.unfinished a[href$="${CSS.escape(token)}"]`),
      )
      .map((token) => ({ token, kept: read(mine + token) }))
      .map(({ token, kept }) => ({
        token,
        at: kept?.at,
        words: kept?.values?.find((/** @type {any[]} */ [name]) => name === "request")?.[2]?.trim(),
      }))
      .filter(({ words }) => words);
    for (const { token, words } of left.sort((one, other) => other.at - one.at).slice(0, OFFERED)) {
      const line = document.importNode(document.getElementById("left-words").content, true).firstElementChild;
      line.querySelector(".clip").textContent = `“${words.slice(0, 120)}”`;
      line.querySelector("a").search = `?draft=${token}`;
      line.querySelector("button").addEventListener("click", () => {
        write(mine + token, null);
        line.remove();
      });
      this.form.before(line);
    }
  }

  #restore() {
    const kept = read(this.key);
    if (!kept) return false;
    const fields = [...this.form.elements];
    for (const [name, value, state] of kept.values) {
      const field = fields.find((one) => one.name === name && (!value || one.value === value));
      if (!field) continue;
      if (typeof state === "boolean") field.checked = state;
      else field.value = state;
    }
    return true;
  }
}
