// SPDX-License-Identifier: Apache-2.0
/* ---- report.js: the page of dlc-quantize --report. Names go into the page as text, never as markup ---- */

const report = JSON.parse(document.getElementById("model").textContent);
const computed = report.layers.map((layer, index) => ({ ...layer, index })).filter((layer) => layer.node !== null);
const constants = report.layers.filter((layer) => layer.kind === "constant");
const worst = new Set(report.worst.slice(0, 10));
const sorting = { key: "order", down: false };

/* ---- the summary ---- */

function showSummary() {
  const { floats, quantized } = report.constant_bytes;
  const outputs = report.layers.filter((layer) => layer.kind === "output" && layer.error);
  const tiles = outputs.slice(0, 4).map((layer) => tile(`${decibelText(decibels(layer.error))} dB`, `output ${layer.tensor}`));
  const least = report.layers[report.worst[0]];
  if (least)
    tiles.push(tile(`${decibelText(decibels(least.error))} dB`, `the worst layer: ${least.tensor}`));
  tiles.push(tile(`${bytesText(floats)} \u2192 ${bytesText(quantized)}`, "constants"),
    tile(grouped(report.inferences), "sets of inputs compared"));
  document.getElementById("tiles").append(...tiles);
  document.getElementById("file").textContent = `Quantization of ${report.floats.split("/").pop()}`;
}

/* ---- the chart ---- */

const WIDTH = 1140, HEIGHT = 300, LEFT = 42, TOP = 14, BOTTOM = 18;

function showChart() {
  const values = computed.flatMap((layer) => [decibels(layer.error), decibels(layer.own)]).filter(Number.isFinite);
  const high = Math.max(10, ...values), low = Math.min(0, ...values);
  const step = (WIDTH - LEFT - 10) / Math.max(1, computed.length);
  const x = (place) => LEFT + (place + 0.5) * step;
  const y = (value) => TOP + (high - Math.min(high, Math.max(low, value))) / (high - low) * (HEIGHT - TOP - BOTTOM);
  const chart = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img",
    "aria-label": `Signal to error of ${computed.length} layers` });
  for (let line = Math.ceil(low / 10) * 10; line <= high; line += 10)
    chart.append(drawn("line", { class: "grid", x1: LEFT, x2: WIDTH - 10, y1: y(line), y2: y(line) }),
      drawn("text", { class: "axis", x: LEFT - 6, y: y(line) + 4, "text-anchor": "end" }, String(line)));
  const size = Math.min(3.5, Math.max(1.2, step / 3));
  chart.append(drawn("polyline", { class: "curve",
    points: computed.map((layer, place) => `${x(place)},${y(decibels(layer.error))}`).join(" ") }));
  computed.forEach((layer, place) => {
    if (layer.own)
      chart.append(drawn("circle", { class: "spot own", cx: x(place), cy: y(decibels(layer.own)), r: size }));
    chart.append(drawn("circle", { class: "spot", cx: x(place), cy: y(decibels(layer.error)), r: size }));
  });
  computed.forEach((layer, place) => {
    const column = drawn("rect", { class: "column", x: x(place) - step / 2, y: TOP, width: step, height: HEIGHT - TOP - BOTTOM,
      "data-layer": layer.index });
    column.addEventListener("pointerenter", () => point(layer));
    column.addEventListener("click", () => choose(layer));
    chart.append(column);
  });
  document.getElementById("chart").append(chart);
}

function point(layer) {
  document.getElementById("pointed").textContent = `${layer.op} ${layer.tensor}: ${decibelText(decibels(layer.error))} dB, ` +
    `alone ${decibelText(decibels(layer.own))} dB`;
}

/* ---- a layer ---- */

function detailView(layer) {
  const e = layer.encodings;
  const view = [element("h3", null, `${layer.op}: ${layer.tensor}`),
    facts([["Node", layer.node], ["Type", layer.dtype], ...errorFacts(layer),
      ["Encoding", e && `${e.bitwidth} bits, ${realText(e.min)} to ${realText(e.max)}, scale ${realText(e.least_scale)}, ` +
        `offset ${e.least_offset}`]])];
  if (layer.histogram)
    view.push(element("p", { class: "note" }, "Float values (heights are logarithms); the encoding reaches what is shaded."),
      histogramView(layer));
  const from = layer.inputs.map((i) => report.layers[i]).filter((other) => other.kind !== "constant");
  if (from.length)
    view.push(element("p", { class: "note" }, "Reads ", ...from.map((other) =>
      `${other.tensor} (${decibelText(decibels(other.error))} dB) `)));
  return view;
}

function choose(layer) {
  const detail = document.getElementById("detail");
  for (const column of document.querySelectorAll(".column"))
    column.classList.toggle("chosen", Number(column.dataset.layer) === layer.index);
  detail.replaceChildren(...detailView(layer));
  detail.hidden = false;
  detail.scrollIntoView({ block: "nearest" });
}

/* ---- tables ---- */

const COLUMNS = [["order", "#", (l) => l.index, (l) => String(l.index)],
  ["error", "SQNR dB", (l) => decibels(l.error), (l) => decibelText(decibels(l.error))],
  ["own", "Own dB", (l) => decibels(l.own), (l) => decibelText(decibels(l.own))],
  ["cosine", "Cosine", (l) => l.error?.cosine, (l) => l.error ? l.error.cosine.toFixed(6) : "\u2013"],
  ["saturated", "Saturated", (l) => (l.saturated || 0) / l.values, partText],
  ["levels", "Levels", (l) => l.levels, (l) => l.levels === undefined ? "\u2013" : String(l.levels)]];

function sortBy(key) {
  sorting.down = sorting.key === key && !sorting.down;
  sorting.key = key;
  showLayers();
}

function rowOf(layer) {
  return element("tr", { class: worst.has(layer.index) ? "bad" : "" },
    ...COLUMNS.map(([, , , text]) => element("td", { class: "number" }, text(layer))), element("td", null, layer.op),
    element("td", { class: "name" }, element("button", { type: "button", onclick: () => choose(layer) }, layer.tensor)));
}

function showLayers() {
  const words = document.getElementById("filter").value.toLowerCase();
  const [, , value] = COLUMNS.find(([key]) => key === sorting.key);
  const order = (l) => value(l) ?? Infinity;
  const rows = computed.filter((l) => `${l.op} ${l.tensor} ${l.node}`.toLowerCase().includes(words))
    .sort((a, b) => (order(a) < order(b) ? -1 : order(a) > order(b) ? 1 : 0) * (sorting.down ? -1 : 1));
  const heads = COLUMNS.map(([key, title]) => element("th", { scope: "col", class: "number",
    "aria-sort": sorting.key === key ? sorting.down ? "descending" : "ascending" : null },
  element("button", { type: "button", onclick: () => sortBy(key) }, title)));
  document.getElementById("layers").replaceChildren(
    element("thead", null, element("tr", null, ...heads, element("th", { scope: "col" }, "Op"),
      element("th", { scope: "col" }, "Tensor"))),
    element("tbody", null, ...rows.map(rowOf)));
}

function showConstants() {
  const heads = ["SQNR dB", "Saturated", "Values", "Type", "Encodings", "Tensor"];
  const rows = constants.map((l) => element("tr", null,
    ...[decibelText(decibels(l.error)), partText(l), grouped(l.values)].map((text) => element("td", { class: "number" }, text)),
    ...[l.dtype, l.encodings ? String(l.encodings.count) : "none", l.tensor].map((text) => element("td", null, text))));
  document.getElementById("constants").append(element("thead", null, element("tr", null,
    ...heads.map((head, i) => element("th", { scope: "col", class: i < 3 ? "number" : "" }, head)))),
  element("tbody", null, ...rows));
}

document.getElementById("theme").addEventListener("click", toggleTheme);
document.getElementById("filter").addEventListener("input", showLayers);
startTheme();
showSummary();
showChart();
showLayers();
showConstants();
