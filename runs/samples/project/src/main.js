import { due } from "./dates.js";

// TODO: read the path from the arguments
const found = due("dates.json", new Date());
for (const one of found) {
  console.log(`${one.date} ${one.what}`);
}
