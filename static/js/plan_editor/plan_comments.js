// Keeps comments on a plan in this browser until they are sent, counts them, and says which button they go with.
import { read, write } from "../browser_storage.js";
import { counted } from "../words.js";

const PREFIX = "pev-plan-comments:";

/** @param {PageElement} form */
function keepComments(form) {
  const me = document.body.dataset.user || "";

  const fields = () => [...form.elements].filter((field) => field.matches("textarea"));
  const bar = () => document.querySelector(".plan-bar");
  const key = () => PREFIX + bar().dataset.gate;

  function show() {
    const [approve, reject] = ["approve", "reject"].map((verb) => bar().querySelector(`button[value=${verb}]`));
    const mine = bar().dataset.notBy?.split(" ").includes(me);
    approve.disabled = mine; // a second person has to: whoever submitted the task is told before they try
    approve.setAttribute("aria-describedby", mine ? "plan-second" : "plan-does-approve");
    const count = fields().filter((field) => field.value.trim()).length;
    document.getElementById("comments-count").textContent = count ? `${counted(count, "comment")} to send` : "";
    approve.classList.toggle("primary", !count);
    reject.classList.toggle("primary", Boolean(count));
  }

  function keep() {
    const typed = Object.fromEntries(
      fields()
        .filter((field) => field.value.trim())
        .map((field) => [field.name, field.value]),
    );
    write(key(), Object.keys(typed).length ? typed : null);
    show();
  }

  function start() {
    if (!bar()) return;
    const before = read(key()) ?? {};
    for (const field of fields()) {
      if (field.value || !before[field.name]) continue;
      field.value = before[field.name];
      for (let fold = field.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    }
    show();
  }

  document.addEventListener("input", (event) => {
    if (event.target.form === form) keep();
  });
  document.addEventListener("pev:after-part", start);
  start();
}

const form = document.getElementById("plan-answer");
if (form) keepComments(form);
