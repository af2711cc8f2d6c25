// SPDX-License-Identifier: Apache-2.0
/* ---- panel.js: the details of a node, and the overview. Names go into the page as text, never as markup ---- */

const panel = document.getElementById("panel");

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

/* ---- an op ---- */

function panelHead(title, badge) {
  return element("div", { class: "panel-head" }, element("h2", { id: "panel-title" }, title), badge,
    element("button", { type: "button", class: "close", "aria-label": "Close", title: "Close (Escape)",
      onclick: closePanel }, "\u00d7"), copyButton("Copy link", () => location.href));
}

function nameView(name) {
  return element("p", { class: "name" }, name, copyButton("Copy name", () => name));
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
    nameView(op.name),
    groupPathView(node),
    facts([["Type", op.type], ["Package", op.package], ["Id", String(op.id)],
      ["MACs", Number(op.macs) ? grouped(op.macs) + share(op.macs, total.macs) : null],
      ["Parameters", Number(op.parameters) ? grouped(op.parameters) + share(op.parameters, total.parameters) : null],
      ["Execution", op.executable ? "net-run has a kernel" : "net-run has no kernel"]]),
    ...changesView(op),
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
  const links = node.kind === "input" ? linksView("to", state.graph.base.readers[node.tensor])
    : linksView("from", [state.graph.base.writer[node.tensor]]);
  return [panelHead(`Graph ${node.kind}`, ""), tensorView(tensor, links)];
}

function showNode(v) {
  const node = state.graph.nodes[v];
  openPanel(node.kind === "op" ? opView(node) : node.kind === "group" ? groupView(node) : endView(node));
}

/* An edge's tensor. */
function showTensor(t) {
  const { base, data } = state.graph;
  openPanel([panelHead("Tensor", ""), tensorView(data.tensors[t], linksView("from", [base.writer[t]]), linksView("to", base.readers[t]))]);
}

/* ---- the overview ---- */

function countTypes(ops) {
  const types = new Map();
  for (const op of ops) {
    const key = op.udo ? `${op.package}: ${titleOf(op)}` : titleOf(op);
    const row = types.get(key) || { key, ops: 0, macs: 0, parameters: 0, family: familyOf(op) };
    row.ops++;
    row.macs += Number(op.macs);
    row.parameters += Number(op.parameters);
    types.set(key, row);
  }
  return [...types.values()].sort((a, b) => b.ops - a.ops || (a.key < b.key ? -1 : 1));
}

function typeTable(ops) {
  const numbers = (row) => [grouped(row.ops), row.macs ? shortNumber(row.macs) : "\u2013",
    row.parameters ? shortNumber(row.parameters) : "\u2013"];
  const cells = (row) => numbers(row).map((text) => element("td", { class: "number" }, text));
  const rows = countTypes(ops).map((row) => element("tr", null, element("th", { scope: "row" },
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
    nameView(model.file),
    ...changeList(),
    facts([["Container", `version ${model.format}, parameters as ${model.params_format}`], ["Graph", graph.name],
      ["Ops", grouped(graph.ops.length)], ["Tensors", grouped(graph.tensors.length)],
      ["Parameters", graph.counted ? grouped(graph.parameters) : "not known"],
      ["MACs", graph.counted ? grouped(graph.macs) : "not known"],
      ["Memory (estimate)", Number(graph.memory) ? bytesText(graph.memory) : null],
      ["Compared", model.report && `${grouped(model.report.inferences)} sets of inputs`]]),
    ...worstView(),
    element("h3", null, "Ops by type"), typeTable(graph.ops),
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
  document.getElementById("encodings").setAttribute("aria-pressed", "false");
  panel.replaceChildren(...content.filter(Boolean));
  panel.scrollTop = 0;
  panel.hidden = false;
  document.getElementById("overview").setAttribute("aria-pressed", "false");
  coverStage(true);
}

function closePanel() {
  document.getElementById("encodings").setAttribute("aria-pressed", "false");
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
