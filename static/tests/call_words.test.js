import assert from "node:assert/strict";
import { test } from "node:test";
import { doing, who } from "../js/run/call_words.js";

const call = { role: "executor", name: "Read", attempt: 1, text: "", thinking: "", tool: "", silent_s: 0, at: 0 };

test("a call is named by its role, its step and a repeated attempt", () => {
  assert.equal(who(call, "AI review"), "Working · Read");
  assert.equal(who({ ...call, attempt: 2 }, "AI review"), "Working · Read · attempt 2");
  assert.equal(who({ ...call, role: "planner", name: "" }, "AI review"), "Planning");
  assert.equal(who({ ...call, role: "verifier" }, "Offline review"), "Offline review · Read");
  assert.equal(who({ ...call, role: "other" }, ""), "other · Read");
});

test("what a call does, and for how long it is silent", () => {
  assert.equal(doing(call, 900), "begins");
  assert.equal(doing(call, 5_900), "waiting for the first word for 5 s");
  assert.equal(doing({ ...call, thinking: "x" }, 2_900), "thinks");
  assert.equal(doing({ ...call, thinking: "x", text: "y", silent_s: 1 }, 2_000), "writes, silent for 3 s");
  assert.equal(doing({ ...call, text: "y", tool: "read_file" }, 0), "uses “read file”");
});
