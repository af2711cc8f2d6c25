// SPDX-License-Identifier: Apache-2.0
/* ---- map.js: the whole drawing, small, with a frame around what is in view ---- */

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
