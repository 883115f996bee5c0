import { readFileSync } from "node:fs";

// TODO: skip days without a value
const rows = readFileSync(process.argv[2], "utf8").trim().split("\n");
console.log(rows.reduce((sum, row) => sum + Number(row.split(",")[1]), 0));
