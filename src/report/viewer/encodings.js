// SPDX-License-Identifier: Apache-2.0
/* ---- encodings.js: how tensors are quantized ---- */

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

/* ---- the list of all ---- */

const MAX_ROWS = 400;

function quantizedTensors() {
  return state.graph.data.tensors.map((tensor, t) => ({ tensor, t })).filter(({ tensor }) => tensor.quantization);
}

/* The range of all encodings that the page has of a tensor. */
function reachOf({ encodings }) {
  return { min: Math.min(...encodings.map((e) => Number(e.min))), max: Math.max(...encodings.map((e) => Number(e.max))) };
}

/* A range as a bar on an axis on which large numbers are close together; its middle is zero. */
function reachBar({ min, max }, most) {
  const at = (value) => 60 + 58 * Math.sign(value) * Math.log1p(1000 * Math.abs(value) / most) / Math.log1p(1000);
  return drawn("svg", { class: "reach-bar", viewBox: "0 0 120 12", "aria-hidden": "true" },
    drawn("line", { x1: 60, x2: 60, y1: 0, y2: 12 }),
    drawn("rect", { x: at(min), y: 3, width: Math.max(1.5, at(max) - at(min)), height: 6, rx: 2 }));
}

function encodingRow({ tensor, t }, most) {
  const { quantization } = tensor, reach = reachOf(quantization);
  const [first] = quantization.encodings;
  return element("tr", null,
    element("th", { scope: "row" }, element("button", { type: "button", class: "link", onclick: () => selectTensor(t) }, tensor.name),
      reachBar(reach, most)),
    element("td", { class: "number" }, String(first.bitwidth)),
    element("td", { class: "number" }, quantization.count > 1 ? `${quantization.count} channels` : realText(first.scale),
      element("div", { class: "dtype" }, `${realText(reach.min)} to ${realText(reach.max)}`)));
}

function encodingList() {
  const found = quantizedTensors();
  const most = Math.max(1e-30, ...found.map(({ tensor }) => reachOf(tensor.quantization))
    .flatMap(({ min, max }) => [Math.abs(min), Math.abs(max)]).filter(Number.isFinite));
  const more = found.length - MAX_ROWS;
  return [panelHead("Quantization", ""),
    facts([["Quantized tensors", `${grouped(found.length)} of ${grouped(state.graph.data.tensors.length)}`],
      ["By channel", String(found.filter(({ tensor }) => tensor.quantization.count > 1).length)]]),
    element("table", { "aria-label": "Encodings of all tensors", class: "encodings" }, element("thead", null, element("tr", null,
      element("th", { scope: "col" }, "Tensor, range"), element("th", { scope: "col", class: "number" }, "Bits"),
      element("th", { scope: "col", class: "number" }, "Scale"))),
    element("tbody", null, ...found.slice(0, MAX_ROWS).map((row) => encodingRow(row, most)))),
    more > 0 ? element("p", { class: "none" }, `and ${grouped(more)} more`) : ""];
}

function toggleEncodings() {
  const button = document.getElementById("encodings");
  if (button.getAttribute("aria-pressed") === "true") {
    closePanel();
    return;
  }
  if (button.hidden)
    return;
  deselect();
  openPanel(encodingList());
  button.setAttribute("aria-pressed", "true");
}
