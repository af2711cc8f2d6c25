// SPDX-License-Identifier: Apache-2.0
/* ---- panel.js: the details of a node, and the overview. Names go into the page as text, never as markup ---- */

const panel = document.getElementById("panel");

/* Nested brackets along the dims. */
function valuesText(values, dims, elements) {
  if (!values.length)
    return elements === 0 ? "[ ]" : "";
  const shown = values.map((v) => typeof v === "number" ? v : String(v));
  if (elements > values.length)
    return `${shown.join(", ")}, \u2026`;
  if (!dims.length)
    return String(shown[0]);
  const nest = (axis, start, size) => {
    const inner = size / dims[axis];
    const parts = Array.from({ length: dims[axis] }, (_, i) =>
      axis + 1 < dims.length ? nest(axis + 1, start + i * inner, inner) : shown[start + i]);
    return `[${parts.join(", ")}]`;
  };
  return nest(0, 0, shown.length);
}

function attributeText(a) {
  if (a.dims)
    return a.values ? valuesText(a.values, a.dims, a.elements) : "no data";
  return String(a.value);
}

function attributeRows(attributes, prefix) {
  return attributes.flatMap((a) => {
    if (a.nested)
      return attributeRows(a.nested, `${prefix}${a.name}.`);
    const type = a.dtype ? a.dims ? `${a.dtype} ${dimsText(a)}` : a.dtype : "";
    return [element("tr", null, element("th", { scope: "row" }, prefix + a.name),
      element("td", null, attributeText(a), type && element("div", { class: "dtype" }, type)))];
  });
}

function attributeTable(label, attributes) {
  return element("table", { "aria-label": label }, element("tbody", null, ...attributeRows(attributes, "")));
}

/* ---- tensors ---- */

function histogram(statistics) {
  const space = "http://www.w3.org/2000/svg";
  const bins = statistics.bins.map(Number);
  const most = Math.max(...bins);
  const picture = document.createElementNS(space, "svg");
  const add = (tag, attributes) => {
    const made = document.createElementNS(space, tag);
    for (const [name, value] of Object.entries(attributes))
      made.setAttribute(name, value);
    picture.append(made);
  };
  picture.setAttribute("class", "histogram");
  picture.setAttribute("viewBox", "0 0 320 64");
  picture.setAttribute("preserveAspectRatio", "none");
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", `Histogram from ${realText(statistics.min)} to ${realText(statistics.max)}, ` +
    `mean ${realText(statistics.mean)}, standard deviation ${realText(statistics.std)}`);
  bins.forEach((count, i) => {
    const height = count ? Math.max(1.5, 62 * count / most) : 0;
    add("rect", { x: i * 10 + 0.75, y: 63 - height, width: 8.5, height });
  });
  add("line", { x1: 0, x2: 320, y1: 63.5, y2: 63.5 });
  return picture;
}

function statisticsView(tensor) {
  const s = tensor.statistics;
  if (!s.finite)
    return [element("p", { class: "none" }, "No element is a finite number.")];
  const other = Number(tensor.elements) - Number(s.finite);
  return [
    histogram(s),
    element("div", { class: "range" }, element("span", null, realText(s.min)), element("span", null, realText(s.max))),
    facts([["Mean", realText(s.mean)], ["Std. deviation", realText(s.std)],
      ["Zeros", grouped(s.zeros) + share(s.zeros, tensor.elements)],
      ["NaN or infinite", other ? grouped(other) : null]]),
  ];
}

function encodingsView(quantization) {
  const rows = quantization.encodings.map((e, i) => element("tr", null,
    ...(quantization.axis >= 0 ? [element("th", { scope: "row" }, String(i))] : []),
    ...[e.bitwidth, e.scale, e.offset, e.min, e.max].map((v) => element("td", { class: "number" }, realText(v)))));
  const heads = [...(quantization.axis >= 0 ? ["Channel"] : []), "Bits", "Scale", "Offset", "Min", "Max"];
  const table = element("table", { "aria-label": "Encodings" },
    element("thead", null, element("tr", null, ...heads.map((head, i) =>
      element("th", { scope: "col", class: i || quantization.axis < 0 ? "number" : "" }, head)))),
    element("tbody", null, ...rows));
  const more = quantization.count - quantization.encodings.length;
  const title = quantization.axis >= 0 ? `Encodings of ${quantization.count} channels along axis ${quantization.axis}`
    : "Encoding";
  return element("details", { open: quantization.count === 1 }, element("summary", null, title), table,
    more > 0 ? element("p", { class: "none" }, `and ${more} more`) : "");
}

const MAX_LINK = 38;

function nodeLink(v) {
  const node = state.graph.nodes[v];
  const name = node.name.length > MAX_LINK ? `\u2026${node.name.slice(-MAX_LINK)}` : node.name;
  return element("button", { type: "button", class: "link", title: node.name,
    onclick: () => selectNode(v, { centre: true, focus: true }) },
  node.kind === "op" ? `${node.title} \u00b7 ${name}` : `Graph ${node.kind}`);
}

const MAX_LINKS = 12;

function linksView(label, nodes) {
  const others = [...new Set(nodes)].filter((v) => v >= 0 && v !== state.selected);
  if (!others.length)
    return "";
  const more = others.length - MAX_LINKS;
  return element("div", { class: "links" }, label, ...others.slice(0, MAX_LINKS).map(nodeLink),
    more > 0 ? `and ${more} more` : "");
}

function tensorView(tensor, ...links) {
  const kinds = { APP_WRITE: "graph input", APP_READ: "graph output", STATIC: "constant", NATIVE: "" };
  const kind = kinds[tensor.kind] ?? tensor.kind;
  const size = Number(tensor.bytes) ? bytesText(tensor.bytes) : "";
  const shape = [`${tensor.dtype} [${tensor.dims.join(", ")}]`, kind, size];
  const view = element("div", { class: "tensor" },
    element("div", { class: "title" }, tensor.name),
    element("div", { class: "shape" }, shape.filter(Boolean).join(" \u00b7 ")));
  if (tensor.statistics)
    view.append(...statisticsView(tensor));
  if (tensor.values && !(Number(tensor.elements) > tensor.values.length && tensor.statistics))
    view.append(element("p", { class: "values" }, (tensor.quantization ? "as stored: " : "") +
      valuesText(tensor.values, tensor.dims, tensor.elements)));
  if (tensor.quantization)
    view.append(encodingsView(tensor.quantization));
  view.append(errorsView(tensor));
  view.append(...links.filter(Boolean));
  return view;
}

function operandView(operand, isInput) {
  if (operand === null)
    return element("div", { class: "tensor none" }, "absent");
  if (typeof operand === "string")
    return element("div", { class: "tensor" }, element("div", { class: "title" }, operand),
      element("div", { class: "shape" }, "not described by the graph"));
  const tensor = state.graph.data.tensors[operand];
  if (!isInput)
    return tensorView(tensor, linksView("to", state.graph.readers[operand]));
  const edge = state.graph.nodes[state.selected].preds.find((e) => e.tensor === operand);
  return tensorView(tensor, edge ? linksView("from", [edge.from]) : "");
}

/* ---- an op ---- */

function panelHead(title, badge) {
  return element("div", { class: "panel-head" }, element("h2", { id: "panel-title" }, title), badge,
    element("button", { type: "button", class: "close", "aria-label": "Close", title: "Close (Escape)",
      onclick: closePanel }, "\u00d7"));
}

function badgeOf(family) {
  const attributes = { class: `badge ${family}`, style: `--colour: var(--family-${family})` };
  return element("span", attributes, FAMILY_LABELS[family]);
}

function opView(node) {
  const { op } = node;
  const own = op.attributes.filter((a) => !a.supplemental), more = op.attributes.filter((a) => a.supplemental);
  const total = state.graph.data;
  return [
    panelHead(node.title, badgeOf(node.family)),
    element("p", { class: "name" }, op.name),
    facts([["Type", op.type], ["Package", op.package], ["Id", String(op.id)],
      ["MACs", Number(op.macs) ? grouped(op.macs) + share(op.macs, total.macs) : null],
      ["Parameters", Number(op.parameters) ? grouped(op.parameters) + share(op.parameters, total.parameters) : null],
      ["Execution", op.executable ? "net-run has a kernel" : "net-run has no kernel"]]),
    own.length ? element("h3", null, "Params") : "",
    own.length ? attributeTable("Params", own) : "",
    element("h3", null, "Inputs"),
    ...(op.inputs.length ? op.inputs.map((operand) => operandView(operand, true))
      : [element("p", { class: "none" }, "none")]),
    op.params.length ? element("h3", null, "Weights") : "",
    ...op.params.map((tensor) => tensorView(tensor)),
    element("h3", null, "Outputs"),
    ...op.outputs.map((operand) => operandView(operand, false)),
    more.length ? element("details", null, element("summary", null, "Supplemental params"),
      attributeTable("Supplemental params", more)) : "",
  ];
}

function endView(node) {
  const tensor = state.graph.data.tensors[node.tensor];
  const links = node.kind === "input" ? linksView("to", state.graph.readers[node.tensor])
    : linksView("from", [state.graph.writer[node.tensor]]);
  return [panelHead(`Graph ${node.kind}`, ""), tensorView(tensor, links)];
}

function showNode(v) {
  const node = state.graph.nodes[v];
  openPanel(node.kind === "op" ? opView(node) : endView(node));
}

/* ---- the overview ---- */

function countTypes(ops) {
  const types = new Map();
  for (const op of ops) {
    const key = op.udo ? `${op.package}: ${titleOf(op)}` : op.type;
    const row = types.get(key) || { key, ops: 0, macs: 0, parameters: 0, family: familyOf(op) };
    row.ops++;
    row.macs += Number(op.macs);
    row.parameters += Number(op.parameters);
    types.set(key, row);
  }
  return [...types.values()].sort((a, b) => b.ops - a.ops || (a.key < b.key ? -1 : 1));
}

function typeTable(graph) {
  const numbers = (row) => [grouped(row.ops), row.macs ? shortNumber(row.macs) : "\u2013",
    row.parameters ? shortNumber(row.parameters) : "\u2013"];
  const cells = (row) => numbers(row).map((text) => element("td", { class: "number" }, text));
  const rows = countTypes(graph.ops).map((row) => element("tr", null, element("th", { scope: "row" },
    element("span", { class: "dot", style: `--colour: var(--family-${row.family}); display: inline-block` }),
    ` ${row.key}`), ...cells(row)));
  return element("table", { "aria-label": "Ops by type" },
    element("thead", null, element("tr", null, element("th", { scope: "col" }, "Type"),
      ...["Ops", "MACs", "Params"].map((head) => element("th", { scope: "col", class: "number" }, head)))),
    element("tbody", null, ...rows));
}

function pairTable(label, pairs) {
  return element("table", { "aria-label": label }, element("tbody", null, ...pairs.map(([key, value]) =>
    element("tr", null, element("th", { scope: "row" }, key), element("td", null, value)))));
}

function overviewView() {
  const { model } = state, graph = state.graph.data;
  return [
    panelHead("Overview", ""),
    element("p", { class: "name" }, model.file),
    facts([["Container", `version ${model.format}, parameters as ${model.params_format}`], ["Graph", graph.name],
      ["Ops", grouped(graph.ops.length)], ["Tensors", grouped(graph.tensors.length)],
      ["Parameters", graph.counted ? grouped(graph.parameters) : "not known"],
      ["MACs", graph.counted ? grouped(graph.macs) : "not known"],
      ["Memory (estimate)", Number(graph.memory) ? bytesText(graph.memory) : null],
      ["Compared", model.report && `${grouped(model.report.inferences)} sets of inputs`]]),
    ...worstView(),
    element("h3", null, "Ops by type"), typeTable(graph),
    element("h3", null, "Graph inputs"), ...graph.inputs.map((t) => tensorView(graph.tensors[t])),
    element("h3", null, "Graph outputs"), ...graph.outputs.map((t) => tensorView(graph.tensors[t])),
    element("h3", null, "Metadata"), pairTable("Metadata", model.metadata),
    element("h3", null, "Entries of the file"),
    pairTable("Entries of the file", model.entries.map(([name, size]) => [name, bytesText(size)])),
  ];
}

function showOverview() {
  openPanel(overviewView());
  document.getElementById("overview").setAttribute("aria-pressed", "true");
}

/* ---- opening and closing ---- */

function openPanel(content) {
  panel.replaceChildren(...content.filter(Boolean));
  panel.scrollTop = 0;
  panel.hidden = false;
  document.getElementById("overview").setAttribute("aria-pressed", "false");
  coverStage(true);
}

function closePanel() {
  const held = panel.contains(document.activeElement);
  panel.hidden = true;
  document.getElementById("overview").setAttribute("aria-pressed", "false");
  coverStage(false);
  if (held)
    canvas.focus();
}

/* The graph moves out of the way, but only as far as the panel hides it. */
function coverStage(covered) {
  document.getElementById("stage").classList.toggle("with-panel", covered);
  const wide = camera.width > 720;
  camera.covered = covered && wide ? panel.offsetWidth : 0;
  camera.below = covered && !wide ? panel.offsetHeight : 0;
  requestDraw();
}
