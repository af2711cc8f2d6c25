// SPDX-License-Identifier: Apache-2.0
/* ---- draw.js: the part of the drawing that is in view, on a canvas ---- */

const LABEL_SCALE = 0.62; /* labels from this zoom on */

const canvas = document.getElementById("canvas");
let pen = canvas.getContext("2d"); /* or that of a picture that is saved (keep.js) */
let drawRequested = false;

function pixelRatio() {
  return window.devicePixelRatio || 1;
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
  const ratio = pixelRatio();
  const box = canvas.parentElement.getBoundingClientRect();
  camera.width = Math.max(1, box.width);
  camera.height = Math.max(1, box.height);
  canvas.width = Math.round(camera.width * ratio);
  canvas.height = Math.round(camera.height * ratio);
  requestDraw();
}

/* The first and last rank that a band of the drawing meets, along the ranks. */
function ranksBetween(low, high) {
  const { start } = state.layout;
  const search = (along) => {
    let from = 0, to = start.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (start[middle] <= along)
        from = middle + 1;
      else
        to = middle;
    }
    return from - 1;
  };
  return [Math.max(0, search(low) - 1), Math.min(start.length - 1, search(high))];
}

function drawFrame() {
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.fillStyle = colours.bg;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.setTransform(pixelRatio(), 0, 0, pixelRatio(), 0, 0);
  drawDots();
  if (state.graph.nodes.length)
    drawScene();
}

function isIn(node, box) {
  return node.x + node.width / 2 >= box.left && node.x - node.width / 2 <= box.right &&
    node.y + node.height / 2 >= box.top && node.y - node.height / 2 <= box.bottom;
}

/* What the camera sees. */
function drawScene() {
  const box = { left: worldX(0), right: worldX(camera.width), top: worldY(0), bottom: worldY(camera.height) };
  const [first, last] = state.layout.toRight ? ranksBetween(box.left, box.right) : ranksBetween(box.top, box.bottom);
  pen.save();
  pen.translate(freeWidth() / 2, freeHeight() / 2);
  pen.scale(camera.scale, camera.scale);
  pen.translate(-camera.x, -camera.y);
  if (camera.scale < COARSE_SCALE)
    drawCoarseEdges(first, last);
  else
    drawEdges(first, last, box);
  drawFarStubs(first, last);
  drawChosenEdges();
  if (camera.scale >= LABEL_SCALE)
    drawLabels(first, last, box);
  const seen = state.layout.rows.slice(first, last + 1).flat().filter((v) => isIn(state.graph.nodes[v], box));
  if (camera.scale < SOLID_SCALE)
    drawSpots(seen.map((v) => state.graph.nodes[v]));
  else
    seen.forEach((v) => drawNode(state.graph.nodes[v], v));
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
