// SPDX-License-Identifier: Apache-2.0
/* ---- model.js: the container's graphs as nodes and edges ---- */

/* The families that share a colour; the first whose pattern fits an op's type has it. */
const FAMILIES = [
  { id: "compute", label: "Convolution, matrix, recurrent", types: /conv|fullyconnected|matmul|gemm|lstm|gru|rnn/i },
  { id: "activation", label: "Activation", types: /neuron|relu|softmax|sigmoid|tanh|gelu|^elu|swish|clip/i },
  { id: "norm", label: "Normalization, pooling", types: /norm|pool|lrn/i },
  { id: "shape", label: "Shape and movement",
    types: new RegExp("reshape|transpose|permute|concat|split|slice|gather|scatter|pad|tile|expand|resize|space|cast|" +
      "convert|pack|squeeze|shuffle|flatten|identity|crop|quantize|upsample", "i") },
  { id: "math", label: "Arithmetic, reduction",
    types: /eltwise|elementwise|reduce|cumul|arg|topk|compare|logical|batched|cross|scale|sum/i },
];
const FAMILY_LABELS = { udo: "User-defined op", end: "Graph input, output", group: "Folded group", other: "Other" };
for (const family of FAMILIES)
  FAMILY_LABELS[family.id] = family.label;

function familyOf(op) {
  if (op.udo)
    return "udo";
  if (op.type === "Input")
    return "end";
  const found = FAMILIES.find((family) => family.types.test(op.type));
  return found ? found.id : "other";
}

/* Params that say which op of a collective type it is. */
const SELECTORS = ["eltwise_type", "neuron_type", "pool_type", "reduce_type", "arg_type", "udo_type"];

function selectorOf(op) {
  return op.attributes.find((a) => SELECTORS.includes(a.name) && typeof a.value === "string")?.value;
}

/* What an op does, in a word: the kind of an elementwise op, pooling or activation rather than its collective type. */
function titleOf(op) {
  const kind = selectorOf(op) || op.type;
  const pool = /^Pool(Max|Avg)(2d|3d)$/.exec(kind);
  if (pool)
    return `${pool[1]}Pool${pool[2] === "2d" ? "" : pool[2]}`;
  return kind.replace(/^Element_?Wise_?/i, "") || op.type;
}

/* ---- weights, as rows of the op's box ---- */

const MOST_ROWS = 4;

/* The last part of a path says which of an op's weights it is. */
function lastPart(name) {
  const part = name.split("/").filter(Boolean).pop() || name;
  return part.replace(/:\d+/, "").replace(/\.nhwc$/, "").split(".").pop() || name;
}

/* Exporters number the weights whose names they lost. */
function weightLabel(tensor, op, position) {
  const label = lastPart(tensor.name);
  const role = /conv|fullyconnected/i.test(op.type) ? [null, "weights", "bias"][position] : null;
  return /^\d+$/.test(label) && role ? role : label;
}

function weightRow({ tensor, label }) {
  const isSmall = Number(tensor.elements) === 1 && tensor.values?.length === 1;
  const value = tensor.values?.[0];
  return { label,
    value: isSmall ? `= ${typeof value === "number" ? realText(value) : value}` : `\u27e8${dimsText(tensor)}\u27e9` };
}

function weightRows(data, op) {
  const inputs = op.inputs.map((t, position) => ({ tensor: data.tensors[t], position }));
  const weights = [...inputs.filter(({ tensor }) => tensor?.kind === "STATIC"), ...op.params.map((tensor) => ({ tensor }))]
    .map(({ tensor, position }) => ({ tensor, label: weightLabel(tensor, op, position) }));
  const rows = weights.slice(0, weights.length > MOST_ROWS ? MOST_ROWS - 1 : MOST_ROWS).map(weightRow);
  if (rows.length < weights.length)
    rows.push({ label: `and ${weights.length - rows.length} more`, value: "" });
  return rows;
}

function readModel() {
  return JSON.parse(document.getElementById("model").textContent);
}

/* A graph as the other parts use it: nodes (ops, and the graph's inputs and outputs), edges between them, and for each
 * tensor the node that writes it and those that read it. */
function buildGraph(data) {
  const graph = {
    data,
    nodes: [],
    edges: [],
    writer: new Array(data.tensors.length).fill(-1),
    readers: data.tensors.map(() => []),
  };
  const written = new Set();
  for (const op of data.ops)
    for (const tensor of op.outputs)
      if (typeof tensor === "number")
        written.add(tensor);
  for (const tensor of data.inputs)
    if (!written.has(tensor))
      graph.writer[tensor] = addEnd(graph, "input", tensor);
  const firstOp = graph.nodes.length;
  for (const op of data.ops)
    graph.nodes.push({ kind: "op", op, title: titleOf(op), name: op.name, family: familyOf(op), change: op.change,
      rows: weightRows(data, op), preds: [], succs: [] });
  data.ops.forEach((op, i) => connectOp(graph, op, firstOp + i));
  for (const tensor of data.outputs) {
    const node = addEnd(graph, "output", tensor);
    connect(graph, tensor, node);
  }
  graph.edges = graph.edges.filter((edge) => finishEdge(graph, edge));
  return graph;
}

function addEnd(graph, kind, tensor) {
  const title = kind === "input" ? "Input" : "Output";
  graph.nodes.push({ kind, tensor, title, name: graph.data.tensors[tensor].name, family: "end", change: "same",
    rows: [], preds: [], succs: [] });
  return graph.nodes.length - 1;
}

/* An op reads what was written last before it: layers of version 3 may work in place. */
function connectOp(graph, op, node) {
  for (const tensor of new Set(op.inputs))
    if (typeof tensor === "number")
      connect(graph, tensor, node);
  for (const tensor of op.outputs)
    if (typeof tensor === "number")
      graph.writer[tensor] = node;
}

function connect(graph, tensor, node) {
  graph.readers[tensor].push(node);
  graph.edges.push({ from: graph.writer[tensor], to: node, tensor });
}

/* Tensors that are written after they are read have their writer only now. False: there is nothing to draw. */
function finishEdge(graph, edge) {
  if (edge.from < 0)
    edge.from = graph.writer[edge.tensor];
  if (edge.from < 0 || edge.from === edge.to)
    return false;
  graph.nodes[edge.from].succs.push(edge);
  graph.nodes[edge.to].preds.push(edge);
  return true;
}

/* ---- words ---- */

function dimsText(tensor) {
  return tensor.dims.length ? tensor.dims.join("\u00d7") : "scalar";
}
