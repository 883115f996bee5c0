import assert from "node:assert/strict";
import { test } from "node:test";
import { answerTo } from "../js/form_words.js";

test("what the server says itself is shown as it is", () => {
  for (const status of [200, 204, 409, 422]) assert.equal(answerTo(status), null);
});

test("words that did not arrive are said to be kept", () => {
  for (const status of [0, 401, 403, 404, 413, 429, 500, 503]) {
    assert.match(answerTo(status).words, /^Not sent: .* kept/);
  }
  assert.match(answerTo(0).words, /no connection/);
});

test("only who is signed out is shown the way to sign in", () => {
  assert.deepEqual(
    [0, 401, 403, 500].filter((status) => answerTo(status).signIn),
    [401],
  );
});
