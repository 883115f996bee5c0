import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { forgetOld, keys, read, write } from "../js/browser_storage.js";

const DAY = 86_400_000;

class Storage {
  /** @param {string} key */
  getItem(key) {
    return Object.hasOwn(this, key) ? this[key] : null;
  }

  setItem(key, value) {
    this[key] = String(value);
  }

  removeItem(key) {
    delete this[key];
  }
}

beforeEach(() => {
  globalThis.localStorage = new Storage();
});
afterEach(() => {
  delete globalThis.localStorage;
});

test("what is written is read again, and null removes it", () => {
  assert.equal(write("draft:a", { words: "x" }), true);
  assert.deepEqual([read("draft:a"), keys("draft:"), keys("plan:")], [{ words: "x" }, ["draft:a"], []]);
  assert.equal(write("draft:a", null), true);
  assert.deepEqual([read("draft:a"), keys("")], [null, []]);
});

test("what cannot be read counts as missing", () => {
  localStorage.setItem("draft:a", "{");
  assert.equal(read("draft:a"), null);
});

test("old values and those without a time are removed, others are kept", () => {
  const now = Date.now();
  write("draft:old", { at: now - 3 * DAY });
  write("draft:new", { at: now - DAY });
  write("draft:timeless", { words: "x" });
  write("plan:old", { at: 0 });
  localStorage.setItem("draft:broken", "{");
  forgetOld("draft:", 2);
  assert.deepEqual(keys(""), ["draft:new", "plan:old"]);
});

test("a browser that keeps nothing is no error", () => {
  delete globalThis.localStorage;
  assert.deepEqual([read("a"), write("a", 1), keys(""), forgetOld("", 1)], [null, false, [], undefined]);
});
