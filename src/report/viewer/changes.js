// SPDX-License-Identifier: Apache-2.0
/* ---- changes.js: what differs from another container (dlc-diff), in the graph ---- */

const CHANGES = [
  { id: "change-same", label: "Unchanged" },
  { id: "change-changed", label: "Changed" },
  { id: "change-added", label: "New" },
  { id: "change-removed", label: "Gone" },
];

/* Graphs belong together by name, those without a partner in their order: as dlc-diff pairs them. */
function pairGraphs(before, after) {
  const partner = after.map((graph) => before.find((other) => other.name === graph.name) || null);
  const left = before.filter((graph) => !partner.includes(graph));
  return partner.map((found) => found || left.shift() || null);
}

/* Gives ops their `change` and `differences`; ops that are gone come into the graphs. */
function startChanges(model) {
  const button = document.getElementById("changes");
  for (const graph of model.graphs)
    for (const op of graph.ops)
      op.change = "same";
  button.hidden = !model.compared;
  button.setAttribute("aria-pressed", String(!button.hidden));
  if (!model.compared)
    return;
  const partners = pairGraphs(model.compared.graphs, model.graphs);
  model.graphs.forEach((graph, i) => markChanges(model.compared.differences.differences, graph, partners[i]));
  shade.mode = "changes";
}

function showChanges(shown) {
  if (state.model.compared)
    showShade(shown ? "changes" : "kind");
}

function markChanges(records, graph, before) {
  const byLayer = new Map();
  for (const record of records)
    if (record.layer !== null && (record.graph === graph.name || record.graph === before?.name))
      byLayer.set(record.layer, [...(byLayer.get(record.layer) || []), record]);
  const isWhole = (record) => record.category === "layers" && record.subject === "layer";
  const gone = new Set();
  for (const [layer, found] of byLayer)
    if (found.some((record) => isWhole(record) && record.second === null))
      gone.add(layer);
  for (const op of graph.ops) {
    op.differences = byLayer.get(op.name) || [];
    op.change = !before || op.differences.some((record) => isWhole(record) && record.first === null) ? "added"
      : op.differences.length ? "changed" : "same";
  }
  if (before)
    addGone(graph, before, gone);
}

/* Each op that is gone comes behind the op before it; what it gave are tensors of its own, named as they were. */
function addGone(graph, before, gone) {
  const byName = new Map(graph.tensors.map((tensor, i) => [tensor.name, i]));
  const moved = new Map();
  const place = (tensor, isOutput) => {
    if (typeof tensor !== "number")
      return tensor;
    const { name } = before.tensors[tensor];
    if (!moved.has(tensor) && !isOutput && byName.has(name))
      return byName.get(name);
    if (!moved.has(tensor))
      moved.set(tensor, graph.tensors.push(before.tensors[tensor]) - 1);
    return moved.get(tensor);
  };
  const present = new Set(graph.ops.map((op) => op.name));
  let last = null;
  const behind = new Map();
  for (const op of before.ops) {
    if (present.has(op.name)) {
      last = op.name;
    } else if (gone.has(op.name)) {
      const outputs = op.outputs.map((tensor) => place(tensor, true));
      const ghost = { ...op, change: "removed", differences: [], inputs: op.inputs.map((tensor) => place(tensor, false)), outputs };
      behind.set(last, [...(behind.get(last) || []), ghost]);
    }
  }
  graph.ops = [...(behind.get(null) || []), ...graph.ops.flatMap((op) => [op, ...(behind.get(op.name) || [])])];
}

/* ---- words ---- */

const shown = (value) => value === null ? "absent" : value;

function differenceRows(records) {
  return records.map((record) => element("tr", null,
    element("th", { scope: "row" }, record.subject, element("div", { class: "dtype" }, record.category)),
    element("td", null, element("del", null, shown(record.first)), element("div", null, element("ins", null, shown(record.second))),
      record.statistics?.max_absolute !== undefined && element("div", { class: "dtype" },
        `largest difference ${realText(record.statistics.max_absolute)}, cosine ${realText(record.statistics.cosine)}, ` +
        `${grouped(record.statistics.differing)} of ${grouped(record.statistics.elements)} elements`))));
}

function differencesTable(label, records) {
  return element("table", { "aria-label": label }, element("tbody", null, ...differenceRows(records)));
}

/* What changed with an op. */
function changesView(op) {
  if (!state.model.compared || op.change === "same")
    return [];
  if (op.change !== "changed")
    return [element("h3", null, "Changes"), element("p", null, op.change === "added" ? "This op is new." : "This op is gone.")];
  return [element("h3", null, "Changes"), differencesTable("Changes", op.differences)];
}

const MAX_CHANGES = 100;

function changeList() {
  const { model, graph } = state;
  if (!model.compared)
    return [];
  const { differences } = model.compared.differences;
  const nodes = graph.base.nodes.map((node, b) => ({ node, b })).filter(({ node }) => node.kind === "op" && node.change !== "same");
  const whole = differences.filter((record) => record.layer === null);
  const more = nodes.length - MAX_CHANGES;
  return [element("h3", null, `Changes since ${model.compared.file}`),
    differences.length ? facts(CHANGES.slice(1).map((change) => {
      const count = nodes.filter(({ node }) => `change-${node.change}` === change.id).length;
      return [change.label, `${grouped(count)} ${count === 1 ? "op" : "ops"}`];
    }))
      : element("p", null, "The containers are the same."),
    element("div", { class: "links" }, ...nodes.slice(0, MAX_CHANGES).map(({ b }) => nodeLink(b)), more > 0 ? `and ${more} more` : ""),
    whole.length ? differencesTable("Of the whole", whole) : ""];
}
