// Forms of filters: what is empty is left out of the address.

for (const form of document.querySelectorAll("form[data-filters]")) {
  form.addEventListener("formdata", (event) => {
    for (const [name, value] of [...event.formData]) if (!value) event.formData.delete(name);
  });
}
