// SPDX-License-Identifier: Apache-2.0
/* ---- main.js: selection, keys, pointers, and the start ---- */

/* graph is what is drawn of state.graphs' base graph; selected and hovered are positions of its nodes, tensor and hoveredTensor of
 * the graph's tensors; -1: none. */
const state = { model: null, graphs: [], graph: null, layout: null, toRight: false, selected: -1, hovered: -1, tensor: -1,
  hoveredTensor: -1 };

function say(words) {
  document.getElementById("said").textContent = words;
}

function describe(node) {
  const udo = node.family === "udo" ? "user-defined op " : "";
  if (node.kind === "group")
    return `folded group ${node.name}, ${node.members.length} ops; ${node.preds.length} in, ${node.succs.length} out`;
  const kind = node.kind === "op" ? udo + node.title : `graph ${node.kind}`;
  const error = errors.layers && node.errorText ? `; ${node.errorText} signal to error` : "";
  const change = state.model.compared && node.kind === "op" && node.change !== "same" ? `; ${node.change}` : "";
  return `${kind}, ${node.name}${error}${change}; ${node.preds.length} in, ${node.succs.length} out`;
}

/* ---- selection ---- */

function selectNode(v, { centre = false, focus = false } = {}) {
  if (v < 0) {
    deselect();
    closePanel();
    return;
  }
  Object.assign(state, { selected: v, tensor: -1 });
  writeAddress();
  const node = state.graph.nodes[v];
  showNode(v);
  reveal(node, centre);
  say(describe(node));
  if (focus)
    canvas.focus();
  requestDraw();
}

function deselect() {
  Object.assign(state, { selected: -1, tensor: -1 });
  writeAddress();
  requestDraw();
}

function selectTensor(t) {
  Object.assign(state, { selected: -1, tensor: t });
  writeAddress();
  showTensor(t);
  const end = state.graph.edges.find((edge) => edge.tensor === t);
  if (end)
    reveal(state.graph.nodes[end.from], false);
  const tensor = state.graph.data.tensors[t];
  say(`tensor ${tensorWords(tensor)}`);
  requestDraw();
}

/* Of the nodes at the other ends of edges, the one that lies nearest across: the one straight ahead. */
function along(edges, end) {
  const from = state.graph.nodes[state.selected];
  const ends = edges.map((edge) => edge[end]);
  return ends.reduce((best, v) => {
    const [across, along] = state.layout.toRight ? ["y", "x"] : ["x", "y"];
    const gap = (u, axis) => Math.abs(state.graph.nodes[u][axis] - from[axis]);
    const distance = (u) => gap(u, across) + 0.1 * gap(u, along);
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
  const next = { on: () => along(node.succs, "to"), back: () => along(node.preds, "from"), before: () => beside(-1),
    after: () => beside(1) }[meaningOf(key)]();
  if (next >= 0)
    selectNode(next);
  else
    say({ on: "no reader", back: "no writer" }[meaningOf(key)] || "end of the row");
}

/* Arrows point as the drawing does. */
function meaningOf(key) {
  return state.layout.toRight
    ? { ArrowRight: "on", ArrowLeft: "back", ArrowUp: "before", ArrowDown: "after" }[key]
    : { ArrowDown: "on", ArrowUp: "back", ArrowLeft: "before", ArrowRight: "after" }[key];
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
  else if (event.key === "Enter" && (state.selected >= 0 || state.tensor >= 0))
    readSelected();
  else if (event.key === "Enter")
    moveSelection("ArrowDown");
  else
    return;
  event.preventDefault();
}

function readSelected() {
  if (panel.hidden)
    state.tensor >= 0 ? showTensor(state.tensor) : showNode(state.selected);
  panel.focus();
}

function back() {
  if (!panel.hidden && panel.contains(document.activeElement))
    canvas.focus();
  else if (state.selected >= 0 || state.tensor >= 0 || !panel.hidden)
    selectNode(-1);
}

const SHORTCUTS = {
  "/": () => { searchBox.focus(); searchBox.select(); },
  "?": () => document.getElementById("help-box").showModal(),
  "+": () => zoomBy(1.25),
  "=": () => zoomBy(1.25),
  "-": () => zoomBy(0.8),
  0: () => actualSize(),
  f: fitGraph,
  t: () => toggleTheme(),
  o: () => toggleOverview(),
  e: () => showErrors(shade.mode !== "errors"),
  c: () => showChanges(shade.mode !== "changes"),
  q: () => toggleEncodings(),
  g: () => toggleGroup(),
  "[": () => foldMore(),
  "]": () => foldLess(),
  h: () => turn(),
  Escape: back,
};

function actualSize() {
  stopMotion();
  moveCamera(camera.x, camera.y, 1);
  foldLegend();
}

/* The legend, unless it covers no box. */
function foldLegend() {
  const legend = document.getElementById("legend"), { left, right, top, bottom } = legend.getBoundingClientRect();
  const covers = ({ x, y, width, height }) =>
    x + width / 2 > left && x - width / 2 < right && y + height / 2 > top && y - height / 2 < bottom;
  if (boxes().some(covers))
    legend.open = false;
}

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

function themeChanged() {
  readColours();
  if (state.layout) {
    paintMap();
    requestDraw();
  }
}

/* ---- graphs ---- */

function showGraph(index) {
  if (!state.graphs[index]) {
    const base = buildGraph(state.model.graphs[index]);
    readErrors(base);
    findGroups(base);
    base.folded = firstFolded(base);
    state.graphs[index] = base;
  }
  showView(state.graphs[index]);
  searchBox.value = "";
  document.getElementById("encodings").hidden = !quantizedTensors().length;
  firstView();
}

/* A base graph with its groups folded as they are, laid out. */
function showView(base) {
  const began = performance.now();
  const graph = base.view ||= viewGraph(base, base.folded);
  if (graph.layout?.toRight !== state.toRight) {
    nameErrors(graph);
    measureNodes(graph.nodes);
    graph.layout = layoutGraph(graph, state.toRight);
    graph.layout.milliseconds = performance.now() - began;
  }
  Object.assign(state, { graph, layout: graph.layout, selected: -1, hovered: -1, tensor: -1, hoveredTensor: -1 });
  const { data } = graph, folded = graph.nodes.filter((node) => node.kind === "group").length;
  canvas.setAttribute("aria-label", `Graph ${data.name}: ${data.ops.length} ops${folded ? `, ${folded} groups folded` : ""}`);
  closePanel();
  showLegend();
  showFolding();
  paintMap();
}

/* Downwards or to the right. */
function turn() {
  const node = state.graph.nodes[state.selected], { tensor } = state;
  state.toRight = !state.toRight;
  document.getElementById("turn").setAttribute("aria-pressed", String(state.toRight));
  showView(state.graph.base);
  firstView();
  if (node)
    selectNode(state.graph.nodes.indexOf(node), { centre: true });
  else if (tensor >= 0)
    selectTensor(tensor);
}

function nameGraphs() {
  const { model } = state;
  const choice = document.getElementById("graph");
  document.title = `${model.file} \u2013 DLC viewer`;
  document.getElementById("file").replaceChildren(model.file, element("small", null, `DLC ${model.format}`));
  document.getElementById("graph-choice").hidden = model.graphs.length < 2;
  choice.replaceChildren(...model.graphs.map((graph, i) => element("option", { value: i }, graph.name || `graph ${i}`)));
  choice.value = model.shown;
}

function chooseGraph(index) {
  document.getElementById("graph").value = index;
  showGraph(index);
}

function toggleOverview() {
  const button = document.getElementById("overview");
  if (button.getAttribute("aria-pressed") === "true") {
    closePanel();
    return;
  }
  deselect();
  showOverview();
}

function startButtons() {
  const click = (id, action) => document.getElementById(id).addEventListener("click", action);
  click("zoom-in", () => zoomBy(1.25));
  click("zoom-out", () => zoomBy(0.8));
  click("fit", fitGraph);
  click("actual", actualSize);
  click("turn", turn);
  click("errors", () => showErrors(shade.mode !== "errors"));
  click("changes", () => showChanges(shade.mode !== "changes"));
  click("fold", foldMore);
  click("unfold", foldLess);
  click("save-png", savePng);
  click("save-svg", saveSvg);
  click("encodings", toggleEncodings);
  click("overview", toggleOverview);
  click("theme", toggleTheme);
  click("help", () => document.getElementById("help-box").showModal());
  const choice = document.getElementById("graph");
  choice.addEventListener("change", () => {
    showGraph(Number(choice.value));
    writeAddress();
  });
}

/* For scripts (window.dlcViewer): where a node is on the screen, by name, */
function where(name) {
  const node = state.graph.nodes.find((candidate) => candidate.name === name);
  return node ? onScreen(node) : null;
}

function onScreen({ x, y, width, height }) {
  const box = canvas.getBoundingClientRect();
  return { x: box.left + screenX(x), y: box.top + screenY(y), width: width * camera.scale, height: height * camera.scale };
}

/* all nodes, */
function boxes() {
  return state.graph.nodes.map((node) => ({ name: node.name, kind: node.kind, colour: colours[colourOf(node)],
    surface: colours[surfaceOf(node)], ...onScreen(node) }));
}

/* and the labels of all edges, with the number of those that found no place. */
function labels() {
  const ranks = state.layout.segments.map((_, r) => r);
  const placed = ranks.flatMap((r) => labelsOf(r).map((label) => ({ text: label.text, ...onScreen(label) })));
  return { placed, hidden: state.layout.segments.flat().filter((segment) => segment.first).length - placed.length };
}

/* Shows a model, the first or another one. */
function openModel(model) {
  const isFirst = !state.model;
  Object.assign(state, { model, graphs: [], graph: null });
  shade.mode = "kind";
  startChanges(model);
  startErrors(model);
  if (isFirst)
    resizeCanvas();
  nameGraphs();
  showGraph(model.shown);
  followAddress();
  drawFrame();
  drawMap();
  if (isFirst)
    startPage();
}

function startPage() {
  startAddress();
  startSearch();
  startButtons();
  startPointers();
  canvas.addEventListener("keydown", canvasKey);
  document.addEventListener("keydown", pageKey);
  new ResizeObserver(() => {
    resizeCanvas();
    paintMap();
  }).observe(canvas.parentElement);
  window.dlcViewer = { where, boxes, labels, picture: svgPicture, drawNow: drawFrame, background: () => colours.bg,
    layoutTime: () => state.layout.milliseconds };
  /* A task after the first frame: the drawing is on the screen. */
  requestAnimationFrame(() => setTimeout(() => {
    document.documentElement.dataset.drawn = String(Math.round(performance.now()));
  }));
}

startTheme();
/* A page that opens containers itself has none at its beginning. */
const firstModel = readModel();
if (firstModel)
  openModel(firstModel);
