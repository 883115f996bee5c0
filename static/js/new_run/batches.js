// Which of the chosen files are sent, and in which batches.
import { inUnits } from "../words.js";

/** @typedef {[path: string, file: File | null]} Chosen a file; without one, a folder that is left out as a whole */

const BATCH_BYTES = 8_000_000;
const BATCH_FILES = 100;

/**
 * Sorts chosen files into those to send, those that are left out, and those that are refused, with the reason.
 * @param {Chosen[]} chosen
 * @param {{ junk: RegExp, secrets: RegExp, maxBytes: number }} rules
 */
export function sortOut(chosen, { junk, secrets, maxBytes }) {
  /** @type {{ send: [string, File][], junk: string[], secrets: string[], refused: string[] }} */
  const sorted = { send: [], junk: [], secrets: [], refused: [] };
  for (const [path, file] of chosen) {
    if (file === null || junk.test(path)) sorted.junk.push(path.match(junk)[2]);
    else if (path.includes("/") && secrets.test(path)) sorted.secrets.push(path);
    else if (file.size > maxBytes)
      sorted.refused.push(`“${path}” has ${inUnits(file.size)}; one file may have ${inUnits(maxBytes)}.`);
    else sorted.send.push([path.normalize("NFC"), file]);
  }
  return sorted;
}

/**
 * The first files of a queue that fit into one request. A file that is larger than a batch goes alone.
 * @param {[string, File][]} queue
 */
export function nextBatch(queue) {
  const batch = [];
  let bytes = 0;
  for (const pair of queue) {
    if (batch.length === BATCH_FILES || (batch.length && bytes + pair[1].size > BATCH_BYTES)) break;
    batch.push(pair);
    bytes += pair[1].size;
  }
  return { batch, bytes };
}
