/**
 * A button that is no part of a form's answer.
 * @param {string} words
 * @param {string} className
 * @param {() => void} action called on each click
 */
export function button(words, className, action) {
  const element = document.createElement("button");
  element.type = "button";
  element.className = className;
  element.textContent = words;
  element.addEventListener("click", action);
  return element;
}
