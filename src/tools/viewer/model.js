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
const FAMILY_LABELS = { udo: "User-defined op", end: "Graph input, output", other: "Other" };
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

function attribute(op, name) {
  return op.attributes.find((a) => a.name === name && typeof a.value === "string");
}

/* What an op does, in a word: the kind of an elementwise op or activation rather than its collective type. */
function titleOf(op) {
  const kind = attribute(op, "eltwise_type") || attribute(op, "neuron_type") || attribute(op, "udo_type");
  if (!kind)
    return op.type;
  return kind.value.replace(/^Element_?Wise_?/i, "") || op.type;
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
    graph.nodes.push({ kind: "op", op, title: titleOf(op), name: op.name, family: familyOf(op), preds: [], succs: [] });
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
  graph.nodes.push({ kind, tensor, title, name: graph.data.tensors[tensor].name, family: "end", preds: [], succs: [] });
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
