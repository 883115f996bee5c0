import assert from "node:assert/strict";
import { test } from "node:test";
import { nextBatch, sortOut } from "../js/new_run/batches.js";

const RULES = { junk: /(^|\/)(node_modules)(\/|$)/i, secrets: /(^|\/)\.env$/i, maxBytes: 1000 };
const file = (size) => ({ size });

test("files are sent, left out or refused", () => {
  const kept = file(1);
  const sorted = sortOut(
    [
      ["a/node_modules", null],
      ["node_modules/x.js", file(1)],
      ["project/.env", file(1)],
      [".env", kept],
      ["big.txt", file(1001)],
      ["a\u0308.txt", kept],
    ],
    RULES,
  );
  assert.deepEqual(sorted, {
    send: [
      [".env", kept],
      ["\u00e4.txt", kept],
    ],
    junk: ["node_modules", "node_modules"],
    secrets: ["project/.env"],
    refused: ["“big.txt” has 1 kB; one file may have 1 kB."],
  });
});

test("a batch ends before it is too large, and never empty", () => {
  const queue = [9_000_000, 4_000_000, 4_000_000, 1].map((size, place) => [String(place), file(size)]);
  assert.deepEqual(nextBatch(queue), { batch: queue.slice(0, 1), bytes: 9_000_000 });
  assert.deepEqual(nextBatch(queue.slice(1)), { batch: queue.slice(1, 3), bytes: 8_000_000 });
  assert.deepEqual(nextBatch([]), { batch: [], bytes: 0 });
});

test("a batch has a hundred files at most", () => {
  const queue = Array.from({ length: 150 }, (_, place) => [String(place), file(1)]);
  assert.equal(nextBatch(queue).batch.length, 100);
});
