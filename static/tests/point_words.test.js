import assert from "node:assert/strict";
import { test } from "node:test";
import { wordsOfPoints } from "../js/gates/point_words.js";

const item = (checked) => ({ checked, isRow: false });
const row = (checked) => ({ checked, isRow: true });

test("without a tick nothing is said", () => {
  assert.equal(wordsOfPoints([item(false), row(false)], "Redo"), "");
  assert.equal(wordsOfPoints([], "Redo"), "");
});

test("points and table rows are counted apart", () => {
  assert.equal(wordsOfPoints([item(true)], "Redo"), "1 of 1 point goes back with “Redo”. ");
  assert.equal(wordsOfPoints([item(true), item(false), row(false)], "Redo"), "1 of 2 points goes back with “Redo”. ");
  assert.equal(
    wordsOfPoints([item(true), item(true), row(true)], "Redo"),
    "2 of 2 points and 1 of 1 table row go back with “Redo”. ",
  );
});
