// The list of files chosen for a new run: from pickers and drops, with their paths, sizes and limits.
const SHOWN = 200;
const JUNK = /(^|\/)(\.git|\.hg|\.svn|node_modules|__pycache__|\.venv|\.DS_Store|Thumbs\.db|desktop\.ini)(\/|$)/i;

export function inUnits(bytes) {
  if (bytes < 1000) return `${bytes} byte${bytes === 1 ? "" : "s"}`;
  let amount = bytes;
  for (const unit of ["kB", "MB", "GB"]) {
    amount /= 1000;
    if (amount < 999.5 || unit === "GB") {
      const digits = amount >= 99.5 ? 0 : 1;
      return `${amount.toLocaleString("en", { maximumFractionDigits: digits })} ${unit}`;
    }
  }
}

function count(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

// Every file below what was dropped, as [path, File]. Folders are walked; entries must be taken before the first wait.
export async function dropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files].map((file) => [file.name, file]);
  const found = [];
  for (const entry of entries) await walk(entry, "", found);
  return found;
}

async function walk(entry, above, found) {
  const path = above + entry.name;
  if (JUNK.test(path)) {
    found.push([path, null]);
  } else if (entry.isFile) {
    found.push([path, await new Promise((resolve, reject) => entry.file(resolve, reject))]);
  } else {
    const reader = entry.createReader();
    for (;;) {
      const batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
      if (!batch.length) return;
      for (const child of batch) await walk(child, `${path}/`, found);
    }
  }
}

export class FileList {
  #files = new Map();
  #leftOut = new Set();
  #secrets = new Set();

  // secrets: a regular expression for the paths that a folder brings and that usually hold secrets
  constructor(limits, secrets, changed) {
    this.limits = limits;
    this.secretPaths = secrets;
    this.changed = changed;
  }

  get size() {
    return this.#files.size;
  }

  get bytes() {
    let sum = 0;
    for (const file of this.#files.values()) sum += file.size;
    return sum;
  }

  add(pairs) {
    for (const [path, file] of pairs) {
      if (file === null || JUNK.test(path)) this.#leftOut.add(path.match(JUNK)[2]);
      else if (path.includes("/") && this.secretPaths.test(path)) this.#secrets.add(path);
      else this.#files.set(path.normalize("NFC"), file);
    }
    this.changed();
  }

  remove(path) {
    this.#files.delete(path);
    this.changed();
  }

  clear() {
    this.#files.clear();
    this.#leftOut.clear();
    this.#secrets.clear();
    this.changed();
  }

  entries() {
    return this.#files.entries();
  }

  // What keeps the files from being sent, as a sentence, or "".
  problem() {
    const { files, bytes, fileBytes } = this.limits;
    if (this.size > files) return `${count(this.size, "file")} are more than the ${files.toLocaleString("en")} that a run may have. Remove some, or pack those that belong together.`;
    for (const [path, file] of this.#files) {
      if (file.size > fileBytes) return `“${path}” has ${inUnits(file.size)}; one file may have ${inUnits(fileBytes)}. Remove it or send a part of it.`;
    }
    if (this.bytes > bytes) return `The files have ${inUnits(this.bytes)} together; ${inUnits(bytes)} are allowed. Remove some.`;
    return "";
  }

  sum() {
    return `${count(this.size, "file")}, ${inUnits(this.bytes)}`;
  }

  secrets() {
    return [...this.#secrets].slice(0, SHOWN);
  }

  leftOut() {
    const sentences = [];
    if (this.#leftOut.size) sentences.push(`Left out, as they are rarely meant: ${[...this.#leftOut].join(", ")}.`);
    if (this.#secrets.size) {
      const names = [...this.#secrets].slice(0, 20).join(", ");
      const more = this.#secrets.size > 20 ? ` and ${this.#secrets.size - 20} more` : "";
      sentences.push(`Left out, as they may hold secrets: ${names}${more}. Choose one by itself if it is meant.`);
    }
    return sentences.join(" ");
  }

  // Fills the <ul>; returns how many files are not shown.
  show(list) {
    const rows = [];
    for (const [path, file] of this.#files) {
      if (rows.length === SHOWN) break;
      rows.push(this.#row(path, file));
    }
    list.replaceChildren(...rows);
    return this.size - rows.length;
  }

  #row(path, file) {
    const row = document.createElement("li");
    const name = document.createElement("span");
    name.className = "path";
    name.textContent = path;
    const size = document.createElement("span");
    size.className = file.size > this.limits.fileBytes ? "size too-large" : "size";
    size.textContent = inUnits(file.size);
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button quiet small";
    button.textContent = "Remove";
    button.setAttribute("aria-label", `Remove ${path}`);
    button.dataset.path = path;
    row.append(name, size, button);
    return row;
  }
}
