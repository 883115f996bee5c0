// Says of chosen files which cannot be read yet, by the bytes they begin with and the server's own table of kinds.
// The server decides when they are sent: here nothing is said of what is in doubt.
const MAX_LOOKED = 300; // files whose beginning is read: some megabytes at most
const MAX_NAMED = 8;

export class Unreadable {
  #table;
  #labels = new WeakMap(); // by File: a list that grows is not read again
  #turn = 0;

  constructor(table) {
    const bytes = (hex) => hex.match(/../g).map((pair) => parseInt(pair, 16));
    const signatures = table.signatures.map((one) => ({ ...one, parts: one.parts.map(([at, hex]) => [at, bytes(hex)]) }));
    this.#table = { ...table, signatures, zip: bytes(table.zip) };
  }

  // Calls `tell` with a sentence, or "", once the files were looked at; a later call ends an earlier one.
  async look(entries, tell) {
    const turn = ++this.#turn;
    const files = [...entries];
    const found = [];
    for (const [path, file] of files.slice(0, MAX_LOOKED)) {
      if (!this.#labels.has(file)) this.#labels.set(file, await this.#label(file).catch(() => "")); // moved since
      if (turn !== this.#turn) return;
      const label = this.#labels.get(file);
      if (label) found.push(`${path} (${label})`);
    }
    tell(found.length ? sentence(found, files.length) : "");
  }

  async #label(file) {
    const { head, signatures, zip } = this.#table;
    const start = await bytesOf(file.slice(0, head));
    const nul = start.includes(0);
    const signature = signatures.find((one) => one.parts.every(([at, magic]) => holds(start, at, magic)) && (nul || !one.binary));
    if (!nul && isUtf8(start)) return signature?.inAscii ? signature.label : "";
    if (signature) return holds(start, 0, zip) ? this.#inZip(file, start, signature) : signature.label;
    return nul && !this.#isUtf16(file, start) ? "not text" : "";
  }

  async #inZip(file, start, signature) {
    const end = await bytesOf(file.slice(-this.#table.tail));
    const names = [start, end].map((bytes) => new TextDecoder("latin1").decode(bytes));
    return this.#table.inZip.find(([name]) => names.some((text) => text.includes(name)))?.[1] ?? signature.label;
  }

  #isUtf16(file, start) {
    if (holds(start, 0, [0xff, 0xfe]) || holds(start, 0, [0xfe, 0xff]) || holds(start, 0, [0, 0, 0xfe, 0xff])) return true;
    const zeros = (side) => start.filter((byte, at) => at % 2 === side && byte === 0).length;
    return file.size % 2 === 0 && Math.max(zeros(0), zeros(1)) >= (this.#table.minLatin * start.length) / 2;
  }
}

async function bytesOf(blob) {
  return new Uint8Array(await blob.arrayBuffer());
}

function holds(bytes, at, magic) {
  return magic.every((byte, place) => bytes[at + place] === byte);
}

function isUtf8(bytes) {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true }); // its last letter may be cut
    return true;
  } catch {
    return false;
  }
}

function sentence(found, total) {
  const of = total > MAX_LOOKED ? `the first ${MAX_LOOKED}` : total;
  const more = found.length > MAX_NAMED ? ` and ${found.length - MAX_NAMED} more` : "";
  const one = found.length === 1;
  return `${found.length} of ${of} file${total === 1 ? "" : "s"} cannot be read yet: ${found.slice(0, MAX_NAMED).join(", ")}${more}. ${
    one ? "It will be an open point unless you exclude it." : "They will be open points unless you exclude them."}`;
}
