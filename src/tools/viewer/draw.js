// SPDX-License-Identifier: Apache-2.0
/* ---- draw.js: the part of the drawing that is in view, on a canvas ---- */

const TITLE_FONT = '600 13px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif';
const NAME_FONT = '11px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif';
const NODE_HEIGHT = 44, MIN_WIDTH = 104, MAX_WIDTH = 230, PADDING = 14, CORNER = 7;
const TEXT_SCALE = 0.4, LABEL_SCALE = 0.62, CURVE_SCALE = 0.12; /* what is worth drawing from which zoom on */

const canvas = document.getElementById("canvas");
const pen = canvas.getContext("2d");
let colours = {};
let drawRequested = false;

function readColours() {
  const style = getComputedStyle(document.documentElement);
  const names = ["bg", "surface", "line", "edge", "text", "muted", "accent", "dots", "udo-surface", "end-surface"];
  for (const family of Object.keys(FAMILY_LABELS))
    names.push(`family-${family}`);
  for (const band of BANDS)
    names.push(band.id, `${band.id}-surface`);
  colours = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

/* ---- sizes ---- */

/* Names are paths: their end says most. */
function shorten(string, width) {
  if (pen.measureText(string).width <= width)
    return string;
  let low = 0, high = string.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pen.measureText(`\u2026${string.slice(string.length - middle)}`).width <= width)
      low = middle;
    else
      high = middle - 1;
  }
  return `\u2026${string.slice(string.length - low)}`;
}

function measureNodes(nodes) {
  pen.font = TITLE_FONT;
  for (const node of nodes)
    node.titleWidth = pen.measureText(node.title.slice(0, 60)).width;
  pen.font = NAME_FONT;
  for (const node of nodes) {
    const badge = node.family === "udo" ? 34 : 0;
    const name = node.name.length > 60 ? MAX_WIDTH : pen.measureText(node.name).width;
    const wanted = Math.max(node.titleWidth + badge + errorRoom(node), Math.min(name, 170)) + 2 * PADDING + 4;
    node.width = Math.ceil(Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, wanted)));
    node.height = NODE_HEIGHT;
  }
}

/* ---- a frame ---- */

function requestDraw() {
  if (drawRequested)
    return;
  drawRequested = true;
  requestAnimationFrame(() => {
    drawRequested = false;
    drawFrame();
    drawMap();
  });
}

function resizeCanvas() {
  const ratio = window.devicePixelRatio || 1;
  const box = canvas.parentElement.getBoundingClientRect();
  camera.width = Math.max(1, box.width);
  camera.height = Math.max(1, box.height);
  canvas.width = Math.round(camera.width * ratio);
  canvas.height = Math.round(camera.height * ratio);
  requestDraw();
}

/* The first and last rank that a band of the drawing meets. */
function ranksBetween(top, bottom) {
  const starts = state.layout.rowTop;
  const search = (y) => {
    let low = 0, high = starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (starts[middle] <= y)
        low = middle + 1;
      else
        high = middle;
    }
    return low - 1;
  };
  return [Math.max(0, search(top) - 1), Math.min(starts.length - 1, search(bottom))];
}

function drawFrame() {
  const ratio = window.devicePixelRatio || 1;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.fillStyle = colours.bg;
  pen.fillRect(0, 0, camera.width, camera.height);
  drawDots();
  if (!state.graph.nodes.length)
    return;
  const box = { left: worldX(0), right: worldX(camera.width), top: worldY(0), bottom: worldY(camera.height) };
  const [first, last] = ranksBetween(box.top, box.bottom);
  pen.save();
  pen.translate(freeWidth() / 2, freeHeight() / 2);
  pen.scale(camera.scale, camera.scale);
  pen.translate(-camera.x, -camera.y);
  drawEdges(first, last, box);
  drawFarStubs(first, last);
  drawChosenEdges();
  if (camera.scale >= LABEL_SCALE)
    drawLabels(first, last, box);
  for (let r = first; r <= last; r++)
    for (const v of state.layout.rows[r]) {
      const node = state.graph.nodes[v];
      if (node.x + node.width / 2 >= box.left && node.x - node.width / 2 <= box.right)
        drawNode(node, v);
    }
  pen.restore();
}

/* A faint grid that shows motion. */
function drawDots() {
  const step = 32 * camera.scale;
  if (step < 16)
    return;
  pen.fillStyle = colours.dots;
  const startX = screenX(Math.floor(worldX(0) / 32) * 32), startY = screenY(Math.floor(worldY(0) / 32) * 32);
  for (let x = startX; x < camera.width; x += step)
    for (let y = startY; y < camera.height; y += step)
      pen.fillRect(x, y, 2, 2);
}

/* ---- edges ---- */

function endsOf(segment) {
  const { x, rowTop, rowHeight, rank } = state.layout;
  const nodes = state.graph.nodes;
  const topRank = rank[segment.a], bottomRank = rank[segment.b];
  const top = segment.a < nodes.length ? nodes[segment.a].y + nodes[segment.a].height / 2
    : rowTop[topRank] + rowHeight[topRank];
  const bottom = segment.b < nodes.length ? nodes[segment.b].y - nodes[segment.b].height / 2 : rowTop[bottomRank];
  return { x1: x[segment.a], y1: top, x2: x[segment.b], y2: bottom,
    end: segment.b < nodes.length ? bottom : rowTop[bottomRank] + rowHeight[bottomRank] };
}

/* From a node or dummy to the next; a dummy is passed straight down through its row. */
function traceSegment(segment) {
  const { x1, y1, x2, y2, end } = endsOf(segment);
  pen.moveTo(x1, y1);
  if (camera.scale < CURVE_SCALE || Math.abs(x1 - x2) < 0.5) {
    pen.lineTo(x2, y2);
  } else {
    const middle = (y1 + y2) / 2;
    pen.bezierCurveTo(x1, middle, x2, middle, x2, y2);
  }
  if (end !== y2)
    pen.lineTo(x2, end);
}

function traceArrow(x, y, direction) {
  pen.moveTo(x, y);
  pen.lineTo(x - 4, y - 8 * direction);
  pen.lineTo(x + 4, y - 8 * direction);
  pen.closePath();
}

function drawEdges(first, last, box) {
  const arrows = [];
  pen.lineWidth = Math.max(1.2, 0.6 / camera.scale);
  pen.strokeStyle = colours.edge;
  pen.beginPath();
  for (let r = first; r <= last; r++)
    for (const segment of state.layout.segments[r]) {
      const a = state.layout.x[segment.a], b = state.layout.x[segment.b];
      if (Math.max(a, b) < box.left || Math.min(a, b) > box.right)
        continue;
      traceSegment(segment);
      if (segment.arrow || segment.arrowUp)
        arrows.push(segment);
    }
  pen.stroke();
  if (camera.scale < 0.25)
    return;
  pen.fillStyle = colours.edge;
  pen.beginPath();
  for (const segment of arrows) {
    const { x1, y1, x2, y2 } = endsOf(segment);
    if (segment.arrow)
      traceArrow(x2, y2, 1);
    else
      traceArrow(x1, y1, -1);
  }
  pen.fill();
}

/* Edges too long to be routed are stubs at both ends, and whole when one of these is selected. */
function drawFarStubs(first, last) {
  if (!state.layout.far.length || camera.scale < 0.15)
    return;
  pen.save();
  pen.setLineDash([3, 4]);
  pen.beginPath();
  for (const edge of state.layout.far) {
    const from = state.graph.nodes[edge.from], to = state.graph.nodes[edge.to];
    if (from.rank >= first && from.rank <= last) {
      pen.moveTo(from.x + 10, from.y + from.height / 2);
      pen.lineTo(from.x + 22, from.y + from.height / 2 + 14);
    }
    if (to.rank >= first && to.rank <= last) {
      pen.moveTo(to.x - 22, to.y - to.height / 2 - 14);
      pen.lineTo(to.x - 10, to.y - to.height / 2);
    }
  }
  pen.stroke();
  pen.restore();
}

function traceFar(edge) {
  const from = state.graph.nodes[edge.from], to = state.graph.nodes[edge.to];
  pen.moveTo(from.x, from.y + from.height / 2);
  const side = Math.max(from.x + from.width, to.x + to.width);
  pen.bezierCurveTo(side, from.y + 60, side, to.y - 60, to.x, to.y - to.height / 2);
}

function drawChosenEdges() {
  const node = state.graph.nodes[state.selected >= 0 ? state.selected : state.hovered];
  if (!node)
    return;
  pen.strokeStyle = pen.fillStyle = colours.accent;
  pen.lineWidth = Math.max(2, 1.4 / camera.scale);
  pen.beginPath();
  const arrows = [];
  for (const edge of [...node.preds, ...node.succs]) {
    if (!edge.path) {
      traceFar(edge);
      continue;
    }
    for (let i = 0; i + 1 < edge.path.length; i++)
      traceSegment({ a: edge.path[i], b: edge.path[i + 1] });
    arrows.push(edge);
  }
  pen.stroke();
  pen.beginPath();
  for (const edge of arrows) {
    const to = state.graph.nodes[edge.to], direction = edge.from < edge.to ? 1 : -1;
    traceArrow(to.x, to.y - direction * to.height / 2, direction);
  }
  pen.fill();
}

/* The dims of a tensor, once, where it leaves its writer. */
function drawLabels(first, last, box) {
  pen.font = NAME_FONT;
  pen.textBaseline = "middle";
  pen.textAlign = "center";
  for (let r = first; r <= last; r++)
    for (const segment of state.layout.segments[r]) {
      if (!segment.first)
        continue;
      const { x1, y1, x2, y2 } = endsOf(segment);
      const x = (x1 + x2) / 2, y = (y1 + y2) / 2 - 2;
      if (x < box.left - 100 || x > box.right + 100)
        continue;
      const label = segment.label ??= dimsText(state.graph.data.tensors[segment.tensor]);
      const width = segment.labelWidth ??= pen.measureText(label).width + 8;
      pen.fillStyle = colours.bg;
      pen.fillRect(x - width / 2, y - 8, width, 15);
      pen.fillStyle = colours.muted;
      pen.fillText(label, x, y);
    }
}

/* ---- nodes ---- */

function traceBox(x, y, width, height, radius) {
  pen.beginPath();
  pen.roundRect(x, y, width, height, radius);
}

function drawNode(node, v) {
  const { width, height } = node;
  const x = node.x - width / 2, y = node.y - height / 2;
  const colour = colours[colourOf(node)];
  const isEnd = node.kind !== "op";
  if (camera.scale < 0.14) {
    pen.fillStyle = v === state.selected ? colours.accent : colour;
    pen.fillRect(x, y, width, height);
    return;
  }
  traceBox(x, y, width, height, isEnd ? height / 2 : CORNER);
  pen.fillStyle = colours[surfaceOf(node)];
  pen.fill();
  if (!isEnd) {
    pen.save();
    pen.clip();
    pen.fillStyle = colour;
    pen.fillRect(x, y, 5, height);
    pen.restore();
    traceBox(x, y, width, height, CORNER);
  }
  outlineNode(node, v, colour);
  if (camera.scale >= TEXT_SCALE)
    writeNode(node, x + PADDING, isEnd ? 0 : 2);
  else
    writeLarge(node);
}

function outlineNode(node, v, colour) {
  const chosen = v === state.selected;
  pen.lineWidth = chosen ? Math.max(2.5, 2 / camera.scale) : v === state.hovered || node.family === "udo" ? 1.6 : 1;
  pen.strokeStyle = chosen || v === state.hovered ? colours.accent
    : node.family === "udo" || node.kind !== "op" ? colour : colours.line;
  pen.stroke();
}

function writeNode(node, left, shift) {
  const space = node.width - 2 * PADDING - shift;
  pen.textAlign = "left";
  pen.textBaseline = "alphabetic";
  pen.font = TITLE_FONT;
  pen.fillStyle = colours.text;
  const badge = node.family === "udo" ? 34 : 0;
  pen.fillText(node.shownTitle ??= shorten(node.title, space - badge - errorRoom(node)), left + shift, node.y - 3);
  writeError(node);
  if (node.family === "udo")
    drawBadge(node);
  pen.font = NAME_FONT;
  pen.fillStyle = colours.muted;
  pen.fillText(node.shownName ??= shorten(node.name, space), left + shift, node.y + 13);
}

function drawBadge(node) {
  const right = node.x + node.width / 2 - 9;
  pen.font = '600 10px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif';
  pen.fillStyle = colours["family-udo"];
  traceBox(right - 30, node.y - 15, 30, 15, 4);
  pen.fill();
  pen.fillStyle = colours["udo-surface"];
  pen.textAlign = "center";
  pen.fillText("UDO", right - 15, node.y - 4);
  pen.textAlign = "left";
}

/* From further away the title alone, as large as the box lets it be. */
function writeLarge(node) {
  if (camera.scale < 0.2)
    return;
  const size = Math.min(24, 13 * (node.width - 20) / Math.max(1, node.titleWidth));
  if (size * camera.scale < 4)
    return;
  pen.font = TITLE_FONT.replace("13px", `${size.toFixed(1)}px`);
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillStyle = colours.text;
  pen.fillText(node.title.length > 30 ? `${node.title.slice(0, 29)}\u2026` : node.title, node.x + 2, node.y + 1);
}

/* The node at a point of the screen, or -1. */
function nodeAt(px, py) {
  const x = worldX(px), y = worldY(py);
  const [first, last] = ranksBetween(y, y);
  for (let r = first; r <= last; r++)
    for (const v of state.layout.rows[r] || []) {
      const node = state.graph.nodes[v];
      if (Math.abs(node.x - x) <= node.width / 2 && Math.abs(node.y - y) <= node.height / 2)
        return v;
    }
  return -1;
}

/* ---- the map ---- */

const map = document.getElementById("map");
const mapPen = map.getContext("2d");
let mapPicture = null; /* nodes alone; the frame of the view comes over it */

function sizeMap() {
  const { left, right, top, bottom } = state.layout;
  const width = right - left, height = bottom - top;
  const scale = Math.min(170 / width, Math.max(90, camera.height * 0.45) / height);
  map.cssWidth = Math.max(56, width * scale);
  map.cssHeight = Math.max(56, height * scale);
  map.style.width = `${map.cssWidth}px`;
  map.style.height = `${map.cssHeight}px`;
  map.width = Math.round(map.cssWidth * 2);
  map.height = Math.round(map.cssHeight * 2);
}

/* Both axes have a scale of their own: a long, narrow graph stays readable. */
const mapX = (x) => 6 + (x - state.layout.left) / (state.layout.right - state.layout.left) * (map.cssWidth - 12);
const mapY = (y) => 6 + (y - state.layout.top) / (state.layout.bottom - state.layout.top) * (map.cssHeight - 12);

function paintMap() {
  sizeMap();
  mapPicture = document.createElement("canvas");
  mapPicture.width = map.width;
  mapPicture.height = map.height;
  const brush = mapPicture.getContext("2d");
  brush.scale(2, 2);
  for (const udo of [false, true])
    for (const node of state.graph.nodes) {
      if ((node.family === "udo") !== udo)
        continue;
      const x = mapX(node.x - node.width / 2), y = mapY(node.y - node.height / 2);
      brush.fillStyle = colours[colourOf(node)];
      const thin = udo ? 2.5 : 1;
      brush.fillRect(x, y, Math.max(thin, mapX(node.x + node.width / 2) - x),
        Math.max(thin, (mapY(node.y + node.height / 2) - y) * 0.8));
    }
}

function drawMap() {
  const whole = fitScale() >= 0.45 && camera.scale <= fitScale() * 1.05;
  map.hidden = whole || !state.graph.nodes.length;
  if (map.hidden || !mapPicture)
    return;
  mapPen.setTransform(1, 0, 0, 1, 0, 0);
  mapPen.clearRect(0, 0, map.width, map.height);
  mapPen.drawImage(mapPicture, 0, 0);
  mapPen.scale(2, 2);
  const left = Math.max(1, mapX(worldX(0))), right = Math.min(map.cssWidth - 1, mapX(worldX(freeWidth())));
  const top = Math.max(1, mapY(worldY(0))), bottom = Math.min(map.cssHeight - 1, mapY(worldY(camera.height)));
  mapPen.strokeStyle = colours.accent;
  mapPen.lineWidth = 1.5;
  mapPen.strokeRect(left, top, Math.max(4, right - left), Math.max(4, bottom - top));
}

function lookAtMap(event) {
  const box = map.getBoundingClientRect();
  const { left, right, top, bottom } = state.layout;
  stopMotion();
  moveCamera(left + (event.clientX - box.left - 6) / (map.cssWidth - 12) * (right - left),
    top + (event.clientY - box.top - 6) / (map.cssHeight - 12) * (bottom - top), camera.scale);
}
