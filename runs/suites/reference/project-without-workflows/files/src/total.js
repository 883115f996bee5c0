import { sum } from "./sum.js";

// TODO: skip days without a value
export const total = (rows) => sum(rows.map((row) => Number(row.split(",")[1])));
