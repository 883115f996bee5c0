import assert from "node:assert/strict";
import { test } from "node:test";
import { lengthProblem } from "../js/text_length.js";

test("a text that fits has no problem, whatever white space is around it", () => {
  assert.equal(lengthProblem("", 3), "");
  assert.equal(lengthProblem("abc", 3), "");
  assert.equal(lengthProblem("  abc\n\n", 3), "");
});

test("it says by how much a text is too long", () => {
  assert.equal(lengthProblem("abcd", 3), "Too long by 1 character; 3 fit. Nothing was cut.");
  assert.equal(lengthProblem("x".repeat(21_500), 20_000), "Too long by 1,500 characters; 20,000 fit. Nothing was cut.");
});

test("an emoji is one character, as for the server", () => {
  assert.equal(lengthProblem("🙂🙂🙂", 3), "");
});
