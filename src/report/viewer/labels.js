// SPDX-License-Identifier: Apache-2.0
/* ---- labels.js: the dims of tensors beside their edges, where they hide neither each other nor an op ---- */

const LABEL_HEIGHT = 15, LABEL_SPACE = 3;
const LABEL_PLACES = [0.5, 0.34, 0.66, 0.22, 0.78]; /* parts of the way between two ranks, best first */

function labelText(graph, tensor) {
  return dimsText(graph.data.tensors[tensor]);
}

const labelWidths = new Map();

function labelWidth(graph, tensor) {
  const text = labelText(graph, tensor);
  if (!labelWidths.has(text)) {
    pen.font = NAME_FONT;
    labelWidths.set(text, pen.measureText(text).width + 8);
  }
  return labelWidths.get(text);
}

/* Where a segment is a part of the way through the gap between its ranks. */
function throughGap(segment, r, part) {
  const { start, depth, gaps } = state.layout;
  const ends = endsOf(segment), along = start[r] + depth[r] + part * gaps[r];
  if (along <= ends.along1 || along >= ends.along2)
    return [along <= ends.along1 ? ends.across1 : ends.across2, along];
  let low = 0, high = 1;
  for (let i = 0; i < 20; i++) {
    const middle = (low + high) / 2;
    if (curveAt(ends, middle)[1] < along)
      low = middle;
    else
      high = middle;
  }
  return [curveAt(ends, low)[0], along];
}

function overlap(a, b) {
  return Math.abs(a.x - b.x) < (a.width + b.width) / 2 + LABEL_SPACE && Math.abs(a.y - b.y) < (a.height + b.height) / 2 + 1;
}

function placeLabel(segment, r, placed) {
  const width = labelWidth(state.graph, segment.tensor);
  for (const part of LABEL_PLACES) {
    const [x, y] = point(...throughGap(segment, r, part));
    const label = { x, y, width, height: LABEL_HEIGHT, tensor: segment.tensor, text: labelText(state.graph, segment.tensor) };
    if (fitsGap(label, r) && !placed.some((other) => overlap(label, other)))
      return label;
  }
  return null;
}

function fitsGap(label, r) {
  const { toRight, start, depth, gaps } = state.layout;
  const half = (toRight ? label.width : label.height) / 2, along = toRight ? label.x : label.y;
  return along - half >= start[r] + depth[r] && along + half <= start[r] + depth[r] + gaps[r];
}

/* Those of the tensors that leave a rank: a tensor has one label, where it leaves its writer. One that finds no place is
 * left out; its edge tells when it is pointed at. */
function labelsOf(r) {
  if (!state.layout.labels[r]) {
    const placed = [];
    for (const segment of state.layout.segments[r].filter(({ first }) => first)) {
      const label = placeLabel(segment, r, placed);
      if (label)
        placed.push(label);
    }
    state.layout.labels[r] = placed;
  }
  return state.layout.labels[r];
}

function drawLabels(first, last, box) {
  const chosen = state.tensor >= 0 ? state.tensor : state.hoveredTensor;
  pen.font = NAME_FONT;
  pen.textBaseline = "middle";
  pen.textAlign = "center";
  for (let r = first; r <= last; r++)
    for (const { x, y, width, height, tensor, text } of labelsOf(r)) {
      if (x < box.left - 100 || x > box.right + 100)
        continue;
      pen.fillStyle = colours.bg;
      pen.fillRect(x - width / 2, y - height / 2, width, height);
      pen.fillStyle = tensor === chosen ? colours.accent : colours.muted;
      pen.fillText(text, x, y + 0.5);
    }
}
