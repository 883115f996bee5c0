// The presets of a policy: a choice fills the fields, and a field that differs from the choice says so.
/** @param {PageElement} form */
export function presets(form) {
  const values = JSON.parse(form.dataset.presets);
  const shown = form.elements.preset_shown;
  const fields = [...document.getElementById("policy").querySelectorAll("[name]")];
  const chosen = () => form.querySelector("[name=preset]:checked")?.value ?? "balanced";

  function fill() {
    for (const field of fields) {
      const value = values[chosen()][field.name];
      if (field.type === "checkbox") field.checked = Boolean(value);
      else field.value = value ?? "";
    }
    shown.value = chosen();
    mark();
  }

  /** @param {PageElement} field */
  function differs(field) {
    const value = values[chosen()][field.name];
    if (field.type === "checkbox") return field.checked !== Boolean(value);
    if (field.type === "number" && field.value && value !== null) return Number(field.value) !== Number(value);
    return field.value !== String(value ?? "");
  }

  function mark() {
    let changed = 0;
    for (const field of fields) {
      const different = differs(field);
      if (different) changed += 1;
      field.closest(".field").toggleAttribute("data-changed", different);
    }
    document.getElementById("policy-changed").textContent = changed ? `${changed} changed` : "";
  }

  for (const radio of form.querySelectorAll("[name=preset]")) radio.addEventListener("change", fill);
  document.getElementById("policy").addEventListener("input", mark);
  mark();
  return { mark };
}
