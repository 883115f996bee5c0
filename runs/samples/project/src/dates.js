import { readFileSync } from "node:fs";

const WEEK = 7 * 24 * 60 * 60 * 1000;

export function due(path, today) {
  const dates = JSON.parse(readFileSync(path, "utf8"));
  return dates.filter((one) => new Date(one.date) - today < WEEK);
}
