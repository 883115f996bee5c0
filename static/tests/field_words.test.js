import assert from "node:assert/strict";
import { test } from "node:test";
import { problemOf } from "../js/field_words.js";

/** @param {object} parts */
const field = (parts) => ({
  type: "text",
  min: "",
  max: "",
  step: "",
  title: "",
  validationMessage: "what the browser says",
  validity: {},
  ...parts,
});

test("a field that is right has no problem", () => {
  assert.equal(problemOf(field({ validity: { valid: true } })), "");
});

test("a field that is empty says what to do", () => {
  assert.equal(problemOf(field({ validity: { valueMissing: true } })), "Fill this in.");
  assert.equal(problemOf(field({ type: "select-one", validity: { valueMissing: true } })), "Choose one.");
});

test("a number that is out of bounds says the bound", () => {
  const number = { type: "number", min: "0.13", max: "5", step: "0.01" };
  assert.equal(problemOf(field({ ...number, validity: { rangeUnderflow: true } })), "Enter at least 0.13.");
  assert.equal(problemOf(field({ ...number, validity: { rangeOverflow: true } })), "Enter at most 5.");
  assert.equal(problemOf(field({ ...number, validity: { stepMismatch: true } })), "Enter a multiple of 0.01.");
  assert.equal(problemOf(field({ ...number, step: "1", validity: { stepMismatch: true } })), "Enter a whole number.");
  assert.equal(problemOf(field({ ...number, validity: { badInput: true } })), "Enter a number.");
});

test("what a page says itself comes first, and what the browser says last", () => {
  const own = field({ validationMessage: "Say what should be different.", validity: { customError: true } });
  assert.equal(problemOf(own), "Say what should be different.");
  assert.equal(problemOf(field({ validity: { patternMismatch: true } })), "what the browser says");
  assert.equal(problemOf(field({ title: "Letters only.", validity: { patternMismatch: true } })), "Letters only.");
});
