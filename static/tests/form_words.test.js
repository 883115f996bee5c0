import assert from "node:assert/strict";
import { test } from "node:test";
import { answerTo } from "../js/form_words.js";

test("what the server says itself is shown as it is", () => {
  for (const status of [200, 403, 409, 422]) assert.equal(answerTo(status, { isShown: true }), null);
});

test("words that did not arrive are said to be kept", () => {
  for (const status of [0, 401, 403, 404, 413, 429, 500, 503]) {
    assert.match(answerTo(status).words, /^Not (sent|done): .* kept/);
  }
  assert.match(answerTo(0).words, /no connection/);
});

test("the reason of an error page is said as it is", () => {
  const reason = "You do not have permission to change it.";
  for (const status of [400, 403, 413, 429, 503])
    assert.equal(answerTo(status, { reason }).words, `Not done. ${reason} Your words are kept here.`);
});

test("an answer that cannot be shown is no silence", () => {
  assert.match(answerTo(200).words, /cannot be shown here/);
  assert.match(answerTo(418).words, /refused it \(418\)/);
});

test("only who is signed out is shown the way to sign in", () => {
  assert.deepEqual(
    [0, 401, 403, 500].filter((status) => answerTo(status).signIn),
    [401],
  );
});
