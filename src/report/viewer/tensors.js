// SPDX-License-Identifier: Apache-2.0
/* ---- tensors.js: what is known of a tensor ---- */

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

/* Bars over the range of the numbers; where the tensor is quantized as a whole, over the range of its encoding, too, which is
 * shaded. */
function histogram(statistics, encoding) {
  const bins = statistics.bins.map(Number), most = Math.max(...bins);
  const [min, max] = [Number(statistics.min), Number(statistics.max)];
  const low = encoding ? Math.min(min, encoding.min) : min, high = encoding ? Math.max(max, encoding.max) : max;
  const at = (value) => high > low ? 320 * (value - low) / (high - low) : 0;
  const step = high > low ? (at(max) - at(min)) / bins.length : 320 / bins.length;
  const picture = drawn("svg", { class: "histogram", viewBox: "0 0 320 64", preserveAspectRatio: "none", role: "img",
    "aria-label": `Histogram from ${realText(statistics.min)} to ${realText(statistics.max)}, mean ${realText(statistics.mean)}, ` +
      `standard deviation ${realText(statistics.std)}` + (encoding ? `; the encoding reaches from ${realText(encoding.min)} to ` +
      `${realText(encoding.max)}` : "") });
  if (encoding)
    picture.append(drawn("path", { class: "reach",
      d: `M${at(encoding.min)} 0H${at(encoding.max)}V64H${at(encoding.min)}Z` }));
  bins.forEach((count, i) => {
    const height = count ? Math.max(1.5, 62 * count / most) : 0;
    picture.append(drawn("rect", { x: at(min) + (i + 0.075) * step, y: 63 - height, width: step * 0.85, height }));
  });
  picture.append(drawn("line", { x1: 0, x2: 320, y1: 63.5, y2: 63.5 }));
  return [picture, element("div", { class: "range" }, element("span", null, realText(low)), element("span", null, realText(high)))];
}

function statisticsView(tensor) {
  const s = tensor.statistics;
  if (!s.finite)
    return [element("p", { class: "none" }, "No element is a finite number.")];
  const other = Number(tensor.elements) - Number(s.finite);
  return [
    ...histogram(s, tensor.quantization?.count === 1 ? tensor.quantization.encodings[0] : null),
    facts([["Range", `${realText(s.min)} to ${realText(s.max)}`], ["Mean", realText(s.mean)], ["Std. deviation", realText(s.std)],
      ["Zeros", grouped(s.zeros) + share(s.zeros, tensor.elements)],
      ["NaN or infinite", other ? grouped(other) : null]]),
  ];
}

const MAX_LINK = 38;

/* To a node of the base graph, drawn or folded. */
function nodeLink(b) {
  const node = state.graph.base.nodes[b];
  const name = node.name.length > MAX_LINK ? `\u2026${node.name.slice(-MAX_LINK)}` : node.name;
  return element("button", { type: "button", class: "link", title: node.name,
    onclick: () => selectBase(b, { centre: true, focus: true }) },
  node.kind === "op" ? `${node.title} \u00b7 ${name}` : `Graph ${node.kind}`);
}

const MAX_LINKS = 12;

function linksView(label, nodes) {
  const others = [...new Set(nodes)].filter((b) => b >= 0 && b !== state.graph.nodes[state.selected]?.base);
  if (!others.length)
    return "";
  const more = others.length - MAX_LINKS;
  return element("div", { class: "links" }, label, ...others.slice(0, MAX_LINKS).map(nodeLink),
    more > 0 ? `and ${more} more` : "");
}

/* What is known of the elements. */
function valuesView(tensor) {
  const view = element("div", { class: "elements" });
  if (tensor.statistics)
    view.append(...statisticsView(tensor));
  if (tensor.values && !(Number(tensor.elements) > tensor.values.length && tensor.statistics))
    view.append(element("p", { class: "values" }, (tensor.quantization ? "as stored: " : "") +
      valuesText(tensor.values, tensor.dims, tensor.elements)));
  return view;
}

/* Reads the values of a constant that the model left for later: (its number) => a promise of its members. */
const later = { read: null };

function laterView(tensor) {
  const view = element("div", { class: "elements none" }, `reading ${bytesText(tensor.bytes)}\u2026`);
  later.read(tensor.later).then((members) => {
    Object.assign(tensor, members);
    delete tensor.later;
    view.replaceWith(valuesView(tensor));
  }, (failure) => { view.textContent = failure.message; });
  return view;
}

function tensorView(tensor, ...links) {
  const kinds = { APP_WRITE: "graph input", APP_READ: "graph output", STATIC: "constant", NATIVE: "" };
  const kind = kinds[tensor.kind] ?? tensor.kind;
  const size = Number(tensor.bytes) ? bytesText(tensor.bytes) : "";
  const shape = [`${tensor.dtype} [${tensor.dims.join(", ")}]`, kind, size];
  const view = element("div", { class: "tensor" },
    element("div", { class: "title" }, tensor.name, copyButton("Copy name", () => tensor.name)),
    element("div", { class: "shape" }, shape.filter(Boolean).join(" \u00b7 ")));
  view.append(tensor.later === undefined ? valuesView(tensor) : laterView(tensor));
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
    return tensorView(tensor, linksView("to", state.graph.base.readers[operand]));
  const { base } = state.graph.nodes[state.selected];
  const edge = state.graph.base.nodes[base].preds.find((e) => e.tensor === operand);
  return tensorView(tensor, edge ? linksView("from", [edge.from]) : "");
}
