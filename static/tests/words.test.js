import assert from "node:assert/strict";
import { test } from "node:test";
import { ago, counted, duration, inUnits, nameFor } from "../js/words.js";

test("a noun is in the plural unless there is one", () => {
  assert.deepEqual(
    [0, 1, 2, 1234].map((count) => counted(count, "file")),
    ["0 files", "1 file", "2 files", "1,234 files"],
  );
});

test("a time is shown in the largest unit that fits, and not at all after a week", () => {
  const seconds = [0, 9, 10, 59, 60, 119, 120, 3600, 86_399, 86_400, 604_799, 604_800];
  assert.deepEqual(seconds.map(ago), [
    "just now",
    "just now",
    "10 seconds ago",
    "59 seconds ago",
    "1 minute ago",
    "1 minute ago",
    "2 minutes ago",
    "1 hour ago",
    "23 hours ago",
    "1 day ago",
    "6 days ago",
    null,
  ]);
});

test("a duration has two units at most", () => {
  assert.deepEqual([999, 59_999, 60_000, 3_599_999, 3_600_000, 90_060_000].map(duration), [
    "0 s",
    "59 s",
    "1 min 0 s",
    "59 min 59 s",
    "1 h 0 min",
    "25 h 1 min",
  ]);
});

test("sizes have a decimal below a hundred", () => {
  assert.deepEqual([0, 1, 999, 1000, 1550, 99_400, 999_400, 999_600, 5e9, 2e12].map(inUnits), [
    "0 bytes",
    "1 byte",
    "999 bytes",
    "1 kB",
    "1.6 kB",
    "99.4 kB",
    "999 kB",
    "1 MB",
    "5 GB",
    "2,000 GB",
  ]);
});

test("the reader is called you, with a capital letter at the beginning of a sentence", () => {
  const names = [
    nameFor("bob", "alice", ""),
    nameFor("alice", "alice", " \n"),
    nameFor("alice", "alice", "edited by "),
  ];
  assert.deepEqual(names, ["bob", "You", "you"]);
});
