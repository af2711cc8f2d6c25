// SPDX-License-Identifier: Apache-2.0
/* ---- errors.js: a report of dlc-quantize: ops coloured by how far what they give is from float ---- */

/* By the least signal to error, decibels; the first that an error reaches has it. */
const BANDS = [
  { id: "error-none", label: "Not compared" },
  { id: "error-40", least: 40, label: "40 dB and more" },
  { id: "error-30", least: 30, label: "30 to 40 dB" },
  { id: "error-20", least: 20, label: "20 to 30 dB" },
  { id: "error-10", least: 10, label: "10 to 20 dB" },
  { id: "error-0", least: -Infinity, label: "Less than 10 dB" },
];

const errors = { layers: null }; /* of the report, by tensor; null: there is no report */

function startErrors(model) {
  document.getElementById("errors").hidden = !model.report;
  errors.layers = null;
  if (!model.report)
    return;
  errors.layers = new Map(model.report.layers.map((layer) => [layer.tensor, layer]));
  shade.mode = "errors";
}

function showErrors(shown) {
  if (errors.layers)
    showShade(shown ? "errors" : "kind");
}

function layerOf(tensor) {
  return errors.layers?.get(tensor.name);
}

/* The least signal to error, in decibels, of what a node gives; null: it is not compared. */
function nodeError(graph, node) {
  const tensors = node.kind === "op" ? node.op.outputs.filter((t) => typeof t === "number") : [node.tensor];
  const found = tensors.map((t) => layerOf(graph.data.tensors[t])).filter((layer) => layer?.error);
  return found.length ? Math.min(...found.map((layer) => decibels(layer.error))) : null;
}

function readErrors(base) {
  for (const node of base.nodes)
    node.error = errors.layers ? nodeError(base, node) : null;
}

/* Of the nodes that are drawn, whose groups have the least of theirs. */
function nameErrors(graph) {
  for (const node of graph.nodes) {
    node.band = node.error === null ? BANDS[0] : BANDS.find((band) => node.error >= band.least);
    node.errorText = node.error === null || node.error === Infinity ? "" : `${decibelText(node.error)} dB`;
  }
}

/* Room for the number beside the title. */
const ERROR_ROOM = 54;

function errorRoom(node) {
  return errors.layers && node.errorText ? ERROR_ROOM : 0;
}

/* ---- words ---- */

/* What the report says of a tensor. */
function errorsView(tensor) {
  const layer = layerOf(tensor);
  if (!layer)
    return "";
  return element("details", { open: true, class: "errors" }, element("summary", null, "Quantization error"),
    facts(errorFacts(layer)),
    ...(layer.histogram ? [element("p", { class: "dtype" }, "Float values; the encoding reaches what is shaded."), histogramView(layer)] : []));
}

const MOST_WORST = 10;

function worstView() {
  if (!errors.layers)
    return [];
  const nodes = state.graph.base.nodes.map((node, v) => ({ node, v, text: `${decibelText(node.error)} dB` }))
    .filter(({ node }) => node.kind === "op" && node.error !== null && node.error !== Infinity)
    .sort((a, b) => a.node.error - b.node.error).slice(0, MOST_WORST);
  if (!nodes.length)
    return [];
  return [element("h3", null, "Largest errors"),
    element("table", { "aria-label": "Largest errors" }, element("tbody", null, ...nodes.map(({ text, v }) =>
      element("tr", null, element("th", { scope: "row" }, nodeLink(v)), element("td", { class: "number" }, text)))))];
}
