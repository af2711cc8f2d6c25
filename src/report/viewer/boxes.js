// SPDX-License-Identifier: Apache-2.0
/* ---- boxes.js: nodes on the canvas: a bar in their colour with the title, below it the name and the weights ---- */

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif';
const TITLE_FONT = `600 13px ${FONT}`, NAME_FONT = `11px ${FONT}`, BADGE_FONT = `600 10px ${FONT}`;
const BAR = 23, NAME_HEIGHT = 21, ROW_HEIGHT = 15, END_HEIGHT = 44;
const MIN_WIDTH = 104, MAX_WIDTH = 230, PADDING = 12, CORNER = 7, BADGE_ROOM = 36;
const OUTLINE = 1.8; /* pixels: wherever it lies, it has a pixel nearly for itself */
const TEXT_SCALE = 0.4, SOLID_SCALE = 0.14; /* text from here on; below the other, boxes are spots of a colour */

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

const textWidths = new Map();

function textWidth(text) {
  if (!textWidths.has(text))
    textWidths.set(text, pen.measureText(text).width);
  return textWidths.get(text);
}

function rowWidth(row) {
  return Math.min(textWidth(row.label.slice(-20)), 110) + (row.value ? textWidth(row.value) + 14 : 0);
}

function measureNodes(nodes) {
  textWidths.clear();
  pen.font = TITLE_FONT;
  for (const node of nodes)
    node.titleWidth = textWidth(node.title.slice(0, 60));
  textWidths.clear();
  pen.font = NAME_FONT;
  for (const node of nodes) {
    const name = node.name.length > 60 ? MAX_WIDTH : pen.measureText(node.name).width;
    const title = node.titleWidth + (node.family === "udo" ? BADGE_ROOM : 0) + errorRoom(node);
    const wanted = Math.max(title, Math.min(name, 170), ...node.rows.map(rowWidth)) + 2 * PADDING;
    node.width = Math.ceil(Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, wanted)));
    node.height = isEnd(node) ? END_HEIGHT : BAR + NAME_HEIGHT + (node.rows.length ? node.rows.length * ROW_HEIGHT + 5 : 0);
  }
}

const isEnd = (node) => node.kind === "input" || node.kind === "output";

/* ---- drawing ---- */

function drawNode(node, v) {
  const x = node.x - node.width / 2, y = node.y - node.height / 2;
  const colour = colours[colourOf(node)], chosen = v === state.selected;
  const isReadable = camera.scale >= TEXT_SCALE;
  if (node.kind === "group")
    drawStack(node, x, y, colour);
  tracePlate(node, x, y);
  pen.fillStyle = isReadable ? colours[surfaceOf(node)] : colour;
  pen.fill();
  if (isReadable && !isEnd(node)) {
    pen.beginPath();
    pen.roundRect(x, y, node.width, BAR, [CORNER, CORNER, 0, 0]);
    pen.fillStyle = colour;
    pen.fill();
  }
  tracePlate(node, x, y);
  pen.lineWidth = (chosen ? 3 : OUTLINE) * Math.max(1, 1 / camera.scale);
  pen.strokeStyle = chosen || v === state.hovered ? colours.accent : colour;
  if (node.change === "removed")
    pen.setLineDash([5, 4]);
  pen.stroke();
  pen.setLineDash([]);
  if (isReadable)
    writeNode(node, x, y, colour);
  else
    writeLarge(node, colour);
}

function tracePlate(node, x, y) {
  pen.beginPath();
  pen.roundRect(x, y, node.width, node.height, isEnd(node) ? node.height / 2 : CORNER);
}

/* A group lies on others. */
function drawStack(node, x, y, colour) {
  for (const shift of [6, 3]) {
    pen.beginPath();
    pen.roundRect(x + shift, y + shift, node.width, node.height, CORNER);
    pen.fillStyle = colours[surfaceOf(node)];
    pen.fill();
    pen.lineWidth = Math.max(1, 1 / camera.scale);
    pen.strokeStyle = colour;
    pen.stroke();
  }
}

/* From afar: spots of whole pixels, never so small that their colour is lost; of several at one place one. UDOs lie above others,
 * and what is selected above all. */
function drawSpots(nodes) {
  const painted = new Set();
  pen.save();
  pen.setTransform(pixelRatio(), 0, 0, pixelRatio(), 0, 0);
  for (const isUdo of [false, true])
    for (const node of nodes)
      if ((node.family === "udo") === isUdo)
        drawSpot(node, colours[colourOf(node)], 3, painted);
  const chosen = state.graph.nodes[state.selected];
  if (chosen)
    drawSpot(chosen, colours.accent, 7, new Set());
  pen.restore();
}

function drawSpot(node, colour, least, painted) {
  const width = Math.max(least, Math.round(node.width * camera.scale)), height = Math.max(least - 1, Math.round(node.height * camera.scale));
  const left = Math.round(screenX(node.x) - width / 2), top = Math.round(screenY(node.y) - height / 2);
  const place = `${left} ${top} ${node.family === "udo"}`;
  if (painted.has(place))
    return;
  painted.add(place);
  pen.fillStyle = colour;
  pen.fillRect(left, top, width, height);
}

function writeNode(node, x, y, colour) {
  const space = node.width - 2 * PADDING, left = x + PADDING, right = x + node.width - PADDING;
  const end = isEnd(node), badge = node.family === "udo" && !end ? BADGE_ROOM : 0;
  pen.textAlign = "left";
  pen.textBaseline = "alphabetic";
  pen.font = TITLE_FONT;
  pen.fillStyle = end ? colours.text : inkOn(colour);
  pen.fillText(node.shownTitle ??= shorten(node.title, space - badge - errorRoom(node)), left, end ? node.y - 3 : y + 16);
  if (shade.mode === "errors" && node.errorText)
    writeRight(node.errorText, right - badge, end ? node.y - 3 : y + 16, NAME_FONT);
  if (badge)
    drawBadge(node, right, y);
  pen.font = NAME_FONT;
  pen.fillStyle = colours.muted;
  pen.fillText(node.shownName ??= shorten(node.name, space), left, end ? node.y + 13 : y + BAR + 15);
  pen.fillStyle = colours.text;
  node.rows.forEach((row, i) => writeRow(row, left, right, y + BAR + NAME_HEIGHT + i * ROW_HEIGHT + 11, space));
}

function writeRight(text, right, y, font) {
  pen.font = font;
  pen.textAlign = "right";
  pen.fillText(text, right, y);
  pen.textAlign = "left";
}

function writeRow(row, left, right, y, space) {
  row.shownValue ??= shorten(row.value, space - 30);
  row.shownLabel ??= shorten(row.label, space - pen.measureText(row.shownValue).width - 8);
  pen.fillText(row.shownLabel, left, y);
  if (row.shownValue)
    writeRight(row.shownValue, right, y, NAME_FONT);
}

function drawBadge(node, right, y) {
  pen.beginPath();
  pen.roundRect(right - 28, y + 4, 31, 15, 4);
  pen.fillStyle = colours["udo-surface"];
  pen.fill();
  pen.font = BADGE_FONT;
  pen.fillStyle = colours.text;
  pen.textAlign = "center";
  pen.fillText("UDO", right - 12.5, y + 15);
  pen.textAlign = "left";
}

/* From further away the title alone, as large as the box lets it be. */
function writeLarge(node, colour) {
  const size = Math.min(26, 13 * (node.width - 16) / Math.max(1, node.titleWidth));
  if (size * camera.scale < 4)
    return;
  pen.font = TITLE_FONT.replace("13px", `${size.toFixed(1)}px`);
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillStyle = inkOn(colour);
  pen.fillText(node.title.length > 30 ? `${node.title.slice(0, 29)}\u2026` : node.title, node.x, node.y + 1);
}

/* The node at a point of the screen, or -1. */
function nodeAt(px, py) {
  const x = worldX(px), y = worldY(py), along = state.layout.toRight ? x : y;
  const [first, last] = ranksBetween(along, along);
  for (let r = first; r <= last; r++)
    for (const v of state.layout.rows[r] || []) {
      const node = state.graph.nodes[v];
      if (Math.abs(node.x - x) <= node.width / 2 && Math.abs(node.y - y) <= node.height / 2)
        return v;
    }
  return -1;
}
