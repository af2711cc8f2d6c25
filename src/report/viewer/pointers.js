// SPDX-License-Identifier: Apache-2.0
/* ---- pointers.js: mouse and fingers ---- */

const pointers = new Map();
let moved = 0;

function pointerDown(event) {
  if (event.button !== 0)
    return;
  canvas.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
  if (pointers.size === 1)
    moved = 0;
  stopMotion();
}

function pointerMove(event) {
  const last = pointers.get(event.pointerId);
  if (!last) {
    hoverAt(event.offsetX, event.offsetY);
    return;
  }
  const at = { x: event.offsetX, y: event.offsetY };
  if (pointers.size === 2) {
    const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
    const spread = (p) => Math.max(1, Math.hypot(p.x - other.x, p.y - other.y));
    zoomAt((at.x + other.x) / 2, (at.y + other.y) / 2, spread(at) / spread(last));
  }
  moved += Math.hypot(at.x - last.x, at.y - last.y);
  const portion = 1 / pointers.size;
  if (moved > 4) {
    canvas.classList.add("dragging");
    panBy((last.x - at.x) * portion, (last.y - at.y) * portion);
  }
  pointers.set(event.pointerId, at);
}

function pointerUp(event) {
  const pressed = pointers.delete(event.pointerId);
  canvas.classList.remove("dragging");
  if (pressed && moved <= 4 && event.type === "pointerup")
    selectAt(event.offsetX, event.offsetY);
}

/* An op, or the edge that is there. */
function selectAt(px, py) {
  const v = nodeAt(px, py), tensor = v < 0 ? tensorAt(px, py) : -1;
  if (tensor >= 0)
    selectTensor(tensor);
  else
    selectNode(v);
}

function openAt(event) {
  const node = state.graph.nodes[nodeAt(event.offsetX, event.offsetY)];
  if (node?.kind === "group")
    unfold(node.group);
}

function hoverAt(px, py) {
  const v = nodeAt(px, py);
  hover(v, v < 0 ? tensorAt(px, py) : -1);
}

function hover(v, tensor) {
  if (v === state.hovered && tensor === state.hoveredTensor)
    return;
  Object.assign(state, { hovered: v, hoveredTensor: tensor });
  canvas.classList.toggle("over", v >= 0 || tensor >= 0);
  canvas.title = v >= 0 ? state.graph.nodes[v].name : tensor >= 0 ? tensorWords(state.graph.data.tensors[tensor]) : "";
  requestDraw();
}

function tensorWords(tensor) {
  return `${tensor.name}: ${tensor.dtype} [${tensor.dims.join(", ")}]`;
}

function wheel(event) {
  event.preventDefault();
  const unit = event.deltaMode === 1 ? 18 : 1;
  if (event.ctrlKey || event.metaKey)
    zoomAt(event.offsetX, event.offsetY, Math.exp(-event.deltaY * unit * 0.0045));
  else if (event.shiftKey && !event.deltaX)
    panBy(event.deltaY * unit, 0);
  else
    panBy(event.deltaX * unit, event.deltaY * unit);
}

function startPointers() {
  canvas.addEventListener("pointerdown", pointerDown);
  canvas.addEventListener("pointermove", pointerMove);
  canvas.addEventListener("pointerup", pointerUp);
  canvas.addEventListener("pointercancel", pointerUp);
  canvas.addEventListener("pointerleave", () => hover(-1, -1));
  canvas.addEventListener("dblclick", openAt);
  canvas.addEventListener("wheel", wheel, { passive: false });
  map.addEventListener("pointerdown", (event) => {
    map.setPointerCapture(event.pointerId);
    lookAtMap(event);
  });
  map.addEventListener("pointermove", (event) => { if (event.buttons & 1) lookAtMap(event); });
}
