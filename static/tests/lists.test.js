import assert from "node:assert/strict";
import { test } from "node:test";
import { isShortcut, nextPlace } from "../js/lists.js";

test("a list is entered at its first or its last item, and not left", () => {
  assert.deepEqual([nextPlace(-1, 1, 3), nextPlace(-1, -1, 3)], [0, 2]);
  assert.deepEqual([nextPlace(0, 1, 3), nextPlace(2, 1, 3), nextPlace(2, -1, 3), nextPlace(0, -1, 3)], [1, 2, 1, 0]);
});

test("keys with Control, Command or Alt belong to the browser", () => {
  assert.equal(isShortcut({ ctrlKey: false, metaKey: false, altKey: false, shiftKey: true }), false);
  for (const key of ["ctrlKey", "metaKey", "altKey"]) assert.equal(Boolean(isShortcut({ [key]: true })), true);
});
