// SPDX-License-Identifier: Apache-2.0
/* ---- colours.js: what colours say, kinds of ops, errors of a report or changes, and which ones these are ---- */

let colours = {};
const shade = { mode: "kind" }; /* "kind", "errors" or "changes" */
const inks = new Map();

function readColours() {
  const style = getComputedStyle(document.documentElement);
  const names = ["bg", "surface", "edge", "text", "muted", "accent", "dots", "udo-surface", "end-surface"];
  for (const family of Object.keys(FAMILY_LABELS))
    names.push(`family-${family}`);
  for (const band of [...BANDS, ...CHANGES])
    names.push(band.id, `${band.id}-surface`);
  colours = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  inks.clear();
}

function showShade(mode) {
  shade.mode = mode;
  document.getElementById("errors").setAttribute("aria-pressed", String(mode === "errors"));
  document.getElementById("changes").setAttribute("aria-pressed", String(mode === "changes"));
  showLegend();
  paintMap();
  requestDraw();
}

/* The names of the colours that a node has now. */
function colourOf(node) {
  if (shade.mode === "errors")
    return node.band.id;
  return shade.mode === "changes" ? `change-${node.change}` : `family-${node.family}`;
}

function surfaceOf(node) {
  if (shade.mode !== "kind")
    return `${colourOf(node)}-surface`;
  return node.family === "udo" ? "udo-surface" : node.family === "end" ? "end-surface" : "surface";
}

/* Relative luminance, as WCAG 2 defines it, of a colour as #rrggbb. */
function luminance(colour) {
  const parts = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
}

const DARK = "#0f141c", LIGHT = "#ffffff";

function contrastOf(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

/* What can be read better on a colour. */
function inkOn(colour) {
  if (!inks.has(colour))
    inks.set(colour, contrastOf(colour, DARK) > contrastOf(colour, LIGHT) ? DARK : LIGHT);
  return inks.get(colour);
}

/* ---- the legend ---- */

function legendOf(bands, bandOf) {
  const { nodes } = state.graph;
  return bands.map((band) => ({ colour: band.id, label: band.label, count: nodes.filter((node) => bandOf(node) === band.id).length }))
    .filter((row) => row.count);
}

function legendRows() {
  if (shade.mode === "errors")
    return legendOf(BANDS, (node) => node.band.id);
  if (shade.mode === "changes")
    return legendOf(CHANGES, (node) => `change-${node.change}`);
  const order = ["udo", ...FAMILIES.map((family) => family.id), "other", "group", "end"];
  return legendOf(order.map((id) => ({ id: `family-${id}`, label: FAMILY_LABELS[id] })), (node) => `family-${node.family}`);
}

function showLegend() {
  document.getElementById("families").replaceChildren(...legendRows().map((row) =>
    element("li", null, element("span", { class: "dot", style: `--colour: var(--${row.colour})` }), row.label,
      element("span", { class: "count" }, grouped(row.count)))));
}
