// Moves around in the drawing of a plan: arrow keys go along its lines, and the step under way stays in view.

/** @type {Record<string, [axis: string, sign: number]>} */
const ARROWS = { ArrowLeft: ["x", -1], ArrowRight: ["x", 1], ArrowUp: ["y", -1], ArrowDown: ["y", 1] };
const UNDER_WAY = ["waiting", "running", "judged"];
/** @param {Element} element */
const shown = (element) => element.getClientRects().length > 0;
const graphs = () => [...document.querySelectorAll("[data-graph]")];
/** @param {PageElement} drawing */
const nodes = (drawing) => [...drawing.querySelectorAll(".node")];

/** @param {PageElement} node */
function middle(node) {
  const box = node.getBoundingClientRect();
  return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
}

/**
 * @param {PageElement} node
 * @param {PageElement[]} others
 */
function nearest(node, others) {
  const from = middle(node);
  /** @param {PageElement} other */
  const distance = (other) => Math.hypot(middle(other).x - from.x, middle(other).y - from.y);
  return others.toSorted((one, other) => distance(one) - distance(other))[0];
}

/**
 * @param {PageElement} drawing
 * @param {PageElement} node
 * @param {string} side
 * @param {string} other
 */
function linked(drawing, node, side, other) {
  const ends = [...drawing.querySelectorAll(`path[data-${side}~="${node.dataset.step}"]`)].flatMap((line) =>
    line.dataset[other].split(" "),
  );
  return nodes(drawing).filter((one) => ends.includes(one.dataset.step));
}

/**
 * Those of the same rank, on this side of the node.
 * @param {PageElement} drawing
 * @param {PageElement} node
 * @param {boolean} down
 * @param {number} sign
 */
function beside(drawing, node, down, sign) {
  const from = middle(node);
  const along = down ? "y" : "x";
  const across = down ? "x" : "y";
  return nodes(drawing).filter((one) => {
    const at = middle(one);
    return Math.abs(at[along] - from[along]) < 2 && Math.sign(at[across] - from[across]) === sign;
  });
}

document.addEventListener("keydown", (event) => {
  const node = event.target.closest?.(".graph-drawing .node");
  const arrow = ARROWS[event.key];
  if (!node || !arrow || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const drawing = node.closest(".graph-drawing");
  const down = drawing.dataset.flow === "down";
  const [axis, sign] = arrow;
  const follows = axis === (down ? "y" : "x");
  const [side, other] = sign > 0 ? ["from", "to"] : ["to", "from"];
  const next = nearest(node, follows ? linked(drawing, node, side, other) : beside(drawing, node, down, sign));
  event.preventDefault(); // the drawing would scroll away from the node
  next?.focus();
});

/** @param {PageElement} node */
function light(node) {
  for (const line of document.querySelectorAll(".edges path[data-lit]")) line.removeAttribute("data-lit");
  if (!node) return;
  const step = node.dataset.step;
  const lines = node.closest(".graph-drawing").querySelectorAll(`path[data-from~="${step}"], path[data-to~="${step}"]`);
  for (const line of lines) line.setAttribute("data-lit", "");
}

/** @param {{ target: any }} event */
const nodeAt = (event) => event.target.closest?.(".graph-drawing .node");
document.addEventListener("focusin", (event) => light(nodeAt(event)));
document.addEventListener("pointerover", (event) => light(nodeAt(event) ?? nodeAt({ target: document.activeElement })));

/**
 * Scrolls the drawing only, never the page, and not while somebody is in it.
 * @param {PageElement} graph
 */
function follow(graph) {
  if (graph.matches(":hover, :focus-within")) return;
  const drawn = [...graph.querySelectorAll(".node")].filter(shown);
  const current = UNDER_WAY.map((status) => drawn.find((node) => node.dataset.status === status)).find(Boolean);
  if (!current) return;
  const box = graph.getBoundingClientRect();
  const at = current.getBoundingClientRect();
  if (at.top >= box.top && at.bottom <= box.bottom) return;
  graph.scrollTop += at.top - box.top - (box.height - at.height) / 2;
}

function followAll() {
  graphs().forEach(follow);
}

new MutationObserver(followAll).observe(document.body, { subtree: true, attributeFilter: ["data-status"] });
document.addEventListener("toggle", followAll, true);
document.addEventListener("htmx:after:swap", followAll);
followAll();
