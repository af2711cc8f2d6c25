// SPDX-License-Identifier: Apache-2.0
/* ---- main.js: selection, keys, pointers, and the start ---- */

const state = { model: null, graphs: [], graph: null, layout: null, selected: -1, hovered: -1 };

function say(words) {
  document.getElementById("said").textContent = words;
}

function describe(node) {
  const udo = node.family === "udo" ? "user-defined op " : "";
  const kind = node.kind === "op" ? udo + node.title : `graph ${node.kind}`;
  const error = errors.layers && node.errorText ? `; ${node.errorText} signal to error` : "";
  return `${kind}, ${node.name}${error}; ${node.preds.length} in, ${node.succs.length} out`;
}

/* ---- selection ---- */

function selectNode(v, { centre = false, focus = false } = {}) {
  state.selected = v;
  if (v < 0) {
    closePanel();
    requestDraw();
    return;
  }
  const node = state.graph.nodes[v];
  showNode(v);
  reveal(node, centre);
  say(describe(node));
  if (focus)
    canvas.focus();
  requestDraw();
}

/* Of the nodes at the other ends of edges, the one that lies nearest in x: the one straight ahead. */
function along(edges, end) {
  const from = state.graph.nodes[state.selected];
  const ends = edges.map((edge) => edge[end]);
  return ends.reduce((best, v) => {
    const distance = (u) => Math.abs(state.graph.nodes[u].x - from.x) + 0.1 * Math.abs(state.graph.nodes[u].y - from.y);
    return best < 0 || distance(v) < distance(best) ? v : best;
  }, -1);
}

function beside(step) {
  const node = state.graph.nodes[state.selected];
  return state.layout.rows[node.rank][node.place + step] ?? -1;
}

function moveSelection(key) {
  if (!state.graph.nodes.length)
    return;
  if (state.selected < 0) {
    const middle = nearestToMiddle();
    selectNode(middle);
    return;
  }
  const node = state.graph.nodes[state.selected];
  const moves = { ArrowDown: () => along(node.succs, "to"), ArrowUp: () => along(node.preds, "from"),
    ArrowLeft: () => beside(-1), ArrowRight: () => beside(1) };
  const next = moves[key]();
  if (next >= 0)
    selectNode(next);
  else
    say({ ArrowDown: "no reader", ArrowUp: "no writer" }[key] || "end of the row");
}

function nearestToMiddle() {
  let best = 0, least = Infinity;
  state.graph.nodes.forEach((node, v) => {
    const distance = Math.hypot(node.x - camera.x, node.y - camera.y);
    if (distance < least) {
      least = distance;
      best = v;
    }
  });
  return best;
}

/* ---- keys ---- */

const PAN_STEP = 80;

function panBy(dx, dy) {
  stopMotion();
  moveCamera(camera.x + dx / camera.scale, camera.y + dy / camera.scale, camera.scale);
}

function canvasKey(event) {
  const arrows = { ArrowDown: [0, 1], ArrowUp: [0, -1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
  if (event.ctrlKey || event.metaKey || event.altKey)
    return;
  if (arrows[event.key] && event.shiftKey)
    panBy(...arrows[event.key].map((d) => d * PAN_STEP));
  else if (arrows[event.key])
    moveSelection(event.key);
  else if (event.key === "PageDown" || event.key === "PageUp")
    panBy(0, (event.key === "PageDown" ? 0.8 : -0.8) * camera.height);
  else if (event.key === "Enter" && state.selected >= 0)
    readSelected();
  else if (event.key === "Enter")
    moveSelection("ArrowDown");
  else
    return;
  event.preventDefault();
}

function readSelected() {
  if (panel.hidden)
    showNode(state.selected);
  panel.focus();
}

function back() {
  if (!panel.hidden && panel.contains(document.activeElement))
    canvas.focus();
  else if (state.selected >= 0 || !panel.hidden)
    selectNode(-1);
}

const SHORTCUTS = {
  "/": () => { searchBox.focus(); searchBox.select(); },
  "?": () => document.getElementById("help-box").showModal(),
  "+": () => zoomBy(1.25),
  "=": () => zoomBy(1.25),
  "-": () => zoomBy(0.8),
  0: () => { stopMotion(); moveCamera(camera.x, camera.y, 1); },
  f: fitGraph,
  t: () => toggleTheme(),
  o: () => toggleOverview(),
  e: () => showErrors(!errors.shown),
  Escape: back,
};

function pageKey(event) {
  const typing = event.target.closest?.("input, select, dialog");
  if (typing || event.ctrlKey || event.metaKey || event.altKey)
    return;
  const action = SHORTCUTS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!action)
    return;
  event.preventDefault();
  action();
}

/* ---- pointers ---- */

const pointers = new Map();
let moved = 0;

function pointerDown(event) {
  if (event.button !== 0)
    return;
  canvas.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
  if (pointers.size === 1)
    moved = 0;
  stopMotion();
}

function pointerMove(event) {
  const last = pointers.get(event.pointerId);
  if (!last) {
    hover(nodeAt(event.offsetX, event.offsetY));
    return;
  }
  const at = { x: event.offsetX, y: event.offsetY };
  if (pointers.size === 2) {
    const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
    const spread = (p) => Math.max(1, Math.hypot(p.x - other.x, p.y - other.y));
    zoomAt((at.x + other.x) / 2, (at.y + other.y) / 2, spread(at) / spread(last));
  }
  moved += Math.hypot(at.x - last.x, at.y - last.y);
  const portion = 1 / pointers.size;
  if (moved > 4) {
    canvas.classList.add("dragging");
    panBy((last.x - at.x) * portion, (last.y - at.y) * portion);
  }
  pointers.set(event.pointerId, at);
}

function pointerUp(event) {
  const pressed = pointers.delete(event.pointerId);
  canvas.classList.remove("dragging");
  if (pressed && moved <= 4 && event.type === "pointerup")
    selectNode(nodeAt(event.offsetX, event.offsetY));
}

function hover(v) {
  if (v === state.hovered)
    return;
  state.hovered = v;
  canvas.classList.toggle("over", v >= 0);
  canvas.title = v >= 0 ? state.graph.nodes[v].name : "";
  requestDraw();
}

function wheel(event) {
  event.preventDefault();
  const unit = event.deltaMode === 1 ? 18 : 1;
  if (event.ctrlKey || event.metaKey)
    zoomAt(event.offsetX, event.offsetY, Math.exp(-event.deltaY * unit * 0.0045));
  else if (event.shiftKey && !event.deltaX)
    panBy(event.deltaY * unit, 0);
  else
    panBy(event.deltaX * unit, event.deltaY * unit);
}

function startPointers() {
  canvas.addEventListener("pointerdown", pointerDown);
  canvas.addEventListener("pointermove", pointerMove);
  canvas.addEventListener("pointerup", pointerUp);
  canvas.addEventListener("pointercancel", pointerUp);
  canvas.addEventListener("pointerleave", () => hover(-1));
  canvas.addEventListener("wheel", wheel, { passive: false });
  map.addEventListener("pointerdown", (event) => {
    map.setPointerCapture(event.pointerId);
    lookAtMap(event);
  });
  map.addEventListener("pointermove", (event) => { if (event.buttons & 1) lookAtMap(event); });
}

function themeChanged() {
  readColours();
  if (state.layout) {
    paintMap();
    requestDraw();
  }
}

/* ---- graphs ---- */

function showGraph(index) {
  const graph = state.graphs[index] ||= buildGraph(state.model.graphs[index]);
  if (!graph.layout) {
    readErrors(graph);
    measureNodes(graph.nodes);
    graph.layout = layoutGraph(graph);
  }
  Object.assign(state, { graph, layout: graph.layout, selected: -1, hovered: -1 });
  canvas.setAttribute("aria-label", `Graph ${graph.data.name}: ${graph.data.ops.length} ops`);
  searchBox.value = "";
  closePanel();
  showLegend();
  firstView();
  paintMap();
}

function familyLegend(nodes) {
  const order = ["udo", ...FAMILIES.map((family) => family.id), "other", "end"];
  return order.map((id) => ({ colour: `family-${id}`, label: FAMILY_LABELS[id],
    count: nodes.filter((node) => node.family === id).length })).filter((row) => row.count);
}

function showLegend() {
  const { nodes } = state.graph;
  document.getElementById("families").replaceChildren(...(errors.shown ? bandLegend(nodes) : familyLegend(nodes)).map((row) =>
    element("li", null, element("span", { class: "dot", style: `--colour: var(--${row.colour})` }), row.label,
      element("span", { class: "count" }, grouped(row.count)))));
}

function startGraphs() {
  const { model } = state;
  const choice = document.getElementById("graph");
  document.title = `${model.file} \u2013 DLC viewer`;
  document.getElementById("file").append(model.file, element("small", null, `DLC ${model.format}`));
  document.getElementById("graph-choice").hidden = model.graphs.length < 2;
  choice.append(...model.graphs.map((graph, i) => element("option", { value: i }, graph.name || `graph ${i}`)));
  choice.value = model.shown;
  choice.addEventListener("change", () => showGraph(Number(choice.value)));
}

function toggleOverview() {
  const button = document.getElementById("overview");
  if (button.getAttribute("aria-pressed") === "true") {
    closePanel();
    return;
  }
  state.selected = -1;
  showOverview();
}

function startButtons() {
  const click = (id, action) => document.getElementById(id).addEventListener("click", action);
  click("zoom-in", () => zoomBy(1.25));
  click("zoom-out", () => zoomBy(0.8));
  click("fit", fitGraph);
  click("overview", toggleOverview);
  click("theme", toggleTheme);
  click("help", () => document.getElementById("help-box").showModal());
}

/* For scripts (window.dlcViewer): where a node is on the screen, by name. */
function where(name) {
  const node = state.graph.nodes.find((candidate) => candidate.name === name);
  const box = canvas.getBoundingClientRect();
  return node ? { x: box.left + screenX(node.x), y: box.top + screenY(node.y) } : null;
}

function start() {
  state.model = readModel();
  startErrors(state.model);
  startTheme();
  resizeCanvas();
  startGraphs();
  showGraph(state.model.shown);
  drawFrame();
  drawMap();
  startSearch();
  startButtons();
  startPointers();
  canvas.addEventListener("keydown", canvasKey);
  document.addEventListener("keydown", pageKey);
  new ResizeObserver(() => {
    resizeCanvas();
    paintMap();
  }).observe(canvas.parentElement);
  window.dlcViewer = { where, drawNow: drawFrame };
  /* A task after the first frame: the drawing is on the screen. */
  requestAnimationFrame(() => setTimeout(() => {
    document.documentElement.dataset.drawn = String(Math.round(performance.now()));
  }));
}

start();
