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

const errors = { layers: null, shown: false }; /* layers: of the report, by tensor; null: there is no report */

function startErrors(model) {
  const button = document.getElementById("errors");
  if (!model.report)
    return;
  errors.layers = new Map(model.report.layers.map((layer) => [layer.tensor, layer]));
  button.hidden = false;
  button.addEventListener("click", () => showErrors(!errors.shown));
  errors.shown = true;
}

function showErrors(shown) {
  if (!errors.layers)
    return;
  errors.shown = shown;
  document.getElementById("errors").setAttribute("aria-pressed", String(shown));
  showLegend();
  paintMap();
  requestDraw();
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

function readErrors(graph) {
  for (const node of graph.nodes) {
    node.error = errors.layers ? nodeError(graph, node) : null;
    node.band = node.error === null ? BANDS[0] : BANDS.find((band) => node.error >= band.least);
    node.errorText = node.error === null || node.error === Infinity ? "" : `${decibelText(node.error)} dB`;
  }
}

/* The names of the colours that a node has now. */
function colourOf(node) {
  return errors.shown ? node.band.id : `family-${node.family}`;
}

function surfaceOf(node) {
  if (errors.shown)
    return `${node.band.id}-surface`;
  return node.family === "udo" ? "udo-surface" : node.family === "end" ? "end-surface" : "surface";
}

/* Room for the number beside the title, and the number. */
const ERROR_ROOM = 54;

function errorRoom(node) {
  return errors.layers && node.errorText ? ERROR_ROOM : 0;
}

function writeError(node) {
  if (!errors.shown || !node.errorText)
    return;
  const badge = node.family === "udo" ? 34 : 0;
  pen.font = NAME_FONT;
  pen.textAlign = "right";
  pen.fillStyle = colours.text;
  pen.fillText(node.errorText, node.x + node.width / 2 - 9 - badge, node.y - 3);
  pen.textAlign = "left";
}

/* ---- words ---- */

function bandLegend(nodes) {
  return BANDS.filter((band) => nodes.some((node) => node.band === band))
    .map((band) => ({ colour: band.id, label: band.label, count: nodes.filter((node) => node.band === band).length }));
}

/* What the report says of a tensor. */
function errorsView(tensor) {
  const layer = layerOf(tensor);
  if (!layer)
    return "";
  return element("details", { open: true, class: "errors" }, element("summary", null, "Quantization error"),
    facts(errorFacts(layer)));
}

const MOST_WORST = 10;

function worstView() {
  if (!errors.layers)
    return [];
  const nodes = state.graph.nodes.map((node, v) => ({ node, v }))
    .filter(({ node }) => node.kind === "op" && node.error !== null && node.error !== Infinity)
    .sort((a, b) => a.node.error - b.node.error).slice(0, MOST_WORST);
  if (!nodes.length)
    return [];
  return [element("h3", null, "Largest errors"),
    element("table", { "aria-label": "Largest errors" }, element("tbody", null, ...nodes.map(({ node, v }) =>
      element("tr", null, element("th", { scope: "row" }, nodeLink(v)), element("td", { class: "number" }, node.errorText)))))];
}
