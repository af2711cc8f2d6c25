// SPDX-License-Identifier: Apache-2.0
/* ---- camera.js: which part of the drawing is on the screen ---- */

const MIN_SCALE = 0.0005, MAX_SCALE = 3, MARGIN = 48;

/* x, y: the drawing's point in the middle of the screen's free part; the panel covers the rest, right or below. */
const camera = { x: 0, y: 0, scale: 1, width: 1, height: 1, covered: 0, below: 0, motion: 0, goal: null };

const freeWidth = () => camera.width - camera.covered;
const freeHeight = () => camera.height - camera.below;
const screenX = (x) => (x - camera.x) * camera.scale + freeWidth() / 2;
const screenY = (y) => (y - camera.y) * camera.scale + freeHeight() / 2;
const worldX = (x) => (x - freeWidth() / 2) / camera.scale + camera.x;
const worldY = (y) => (y - freeHeight() / 2) / camera.scale + camera.y;

function clampScale(scale) {
  return Math.min(MAX_SCALE, Math.max(MIN_SCALE, scale));
}

/* The drawing cannot be lost: its frame always reaches the middle of the screen. */
function moveCamera(x, y, scale) {
  const { left, right, top, bottom } = state.layout;
  camera.scale = clampScale(scale);
  camera.x = Math.min(right, Math.max(left, x));
  camera.y = Math.min(bottom, Math.max(top, y));
  requestDraw();
}

function zoomAt(px, py, factor) {
  stopMotion();
  const scale = clampScale(camera.scale * factor);
  const x = worldX(px), y = worldY(py);
  const dx = px - freeWidth() / 2, dy = py - freeHeight() / 2;
  moveCamera(x - dx / scale, y - dy / scale, scale);
}

/* From where the view is going to be. */
function zoomBy(factor) {
  if (camera.goal)
    moveCamera(...camera.goal);
  zoomAt(freeWidth() / 2, freeHeight() / 2, factor);
}

function fitScale() {
  const { left, right, top, bottom } = state.layout;
  return clampScale(Math.min((freeWidth() - 2 * MARGIN) / (right - left),
    (freeHeight() - 2 * MARGIN) / (bottom - top), 1.25));
}

function fitGraph() {
  const { left, right, top, bottom } = state.layout;
  glide((left + right) / 2, (top + bottom) / 2, fitScale());
}

/* A large graph begins at its top, where it can be read. */
function firstView() {
  const { left, right, top, bottom } = state.layout;
  const whole = fitScale();
  stopMotion();
  if (whole >= 0.45) {
    moveCamera((left + right) / 2, (top + bottom) / 2, whole);
    return;
  }
  const near = state.layout.rows.slice(0, 8).flat().map((v) => state.graph.nodes[v]);
  if (state.layout.toRight) {
    moveCamera(left + (freeWidth() / 2 - MARGIN) / 0.8, near[0].y, 0.8);
    return;
  }
  const nearLeft = Math.min(...near.map((node) => node.x - node.width / 2));
  const nearRight = Math.max(...near.map((node) => node.x + node.width / 2));
  const scale = clampScale(Math.min(1, Math.max(0.6, (camera.width - 2 * MARGIN) / (nearRight - nearLeft))));
  const fits = (nearRight - nearLeft) * scale < camera.width;
  const x = fits ? (nearLeft + nearRight) / 2 : near[0].x;
  moveCamera(x, top + (freeHeight() / 2 - MARGIN) / scale, scale);
}

/* ---- motion ---- */

function stopMotion() {
  camera.motion++;
  camera.goal = null;
}

function glide(x, y, scale) {
  stopMotion();
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
    moveCamera(x, y, scale);
    return;
  }
  camera.goal = [x, y, scale];
  const motion = camera.motion, start = performance.now();
  const from = { x: camera.x, y: camera.y, scale: camera.scale };
  const step = (now) => {
    if (motion !== camera.motion)
      return;
    const t = Math.min(1, Math.max(0, (now - start) / 220));
    const ease = 1 - (1 - t) ** 3;
    moveCamera(from.x + (x - from.x) * ease, from.y + (y - from.y) * ease,
      from.scale * (scale / from.scale) ** ease);
    if (t < 1)
      requestAnimationFrame(step);
    else
      camera.goal = null;
  };
  requestAnimationFrame(step);
}

/* Brings a node to where it can be read: not at all when it is in view already. */
function reveal(node, centre) {
  const scale = Math.max(camera.scale, 0.7);
  const px = screenX(node.x), py = screenY(node.y);
  const inside = px > 140 && px < freeWidth() - 140 && py > 70 && py < freeHeight() - 70;
  if (centre || !inside || camera.scale < 0.5)
    glide(node.x, node.y, scale);
}
