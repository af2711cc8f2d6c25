// SPDX-License-Identifier: Apache-2.0
/* ---- edges.js: edges on the canvas, and the one under the pointer ---- */

const COARSE_SCALE = 0.05, CURVE_SCALE = 0.12, ARROW_SCALE = 0.25, STUB_SCALE = 0.15; /* what is worth drawing from which zoom on */
const NEAR_EDGE = 6; /* pixels from an edge that still hit it */

/* A point by how far it is across and along the ranks. */
const point = (across, along) => state.layout.toRight ? [along, across] : [across, along];
const depthOf = (node) => state.layout.toRight ? node.width : node.height;
const alongOf = (node) => state.layout.toRight ? node.x : node.y;

function endsOf(segment) {
  const { across, start, depth, rank } = state.layout;
  const { nodes } = state.graph;
  const rankA = rank[segment.a], rankB = rank[segment.b];
  const from = segment.a < nodes.length ? alongOf(nodes[segment.a]) + depthOf(nodes[segment.a]) / 2 : start[rankA] + depth[rankA];
  const to = segment.b < nodes.length ? alongOf(nodes[segment.b]) - depthOf(nodes[segment.b]) / 2 : start[rankB];
  return { across1: across[segment.a], along1: from, across2: across[segment.b], along2: to,
    end: segment.b < nodes.length ? to : start[rankB] + depth[rankB] };
}

/* From a node or dummy to the next; a dummy is passed straight through its rank. */
function traceSegment(segment) {
  const { across1, along1, across2, along2, end } = endsOf(segment);
  pen.moveTo(...point(across1, along1));
  if (camera.scale < CURVE_SCALE || Math.abs(across1 - across2) < 0.5) {
    pen.lineTo(...point(across2, along2));
  } else {
    const middle = (along1 + along2) / 2;
    pen.bezierCurveTo(...point(across1, middle), ...point(across2, middle), ...point(across2, along2));
  }
  if (end !== along2)
    pen.lineTo(...point(across2, end));
}

function traceArrow(across, along, direction) {
  pen.moveTo(...point(across, along));
  pen.lineTo(...point(across - 4, along - 8 * direction));
  pen.lineTo(...point(across + 4, along - 8 * direction));
  pen.closePath();
}

function acrossRange(box) {
  return state.layout.toRight ? [box.top, box.bottom] : [box.left, box.right];
}

function drawEdges(first, last, box) {
  const arrows = [], [low, high] = acrossRange(box);
  pen.lineWidth = Math.max(1.3, 0.7 / camera.scale);
  pen.strokeStyle = colours.edge;
  pen.beginPath();
  for (let r = first; r <= last; r++)
    for (const segment of state.layout.segments[r]) {
      const a = state.layout.across[segment.a], b = state.layout.across[segment.b];
      if (Math.max(a, b) < low || Math.min(a, b) > high)
        continue;
      traceSegment(segment);
      if (segment.arrow || segment.arrowUp)
        arrows.push(segment);
    }
  pen.stroke();
  if (camera.scale < ARROW_SCALE)
    return;
  pen.fillStyle = colours.edge;
  pen.beginPath();
  for (const segment of arrows) {
    const { across1, along1, across2, along2 } = endsOf(segment);
    if (segment.arrow)
      traceArrow(across2, along2, 1);
    else
      traceArrow(across1, along1, -1);
  }
  pen.fill();
}

/* From far away only what is longer than some pixels, and of that only the bends. */
function drawCoarseEdges(first, last) {
  const { across, rank, start } = state.layout, least = 3 / camera.scale;
  pen.lineWidth = 0.7 / camera.scale;
  pen.strokeStyle = colours.edge;
  pen.beginPath();
  for (const { path } of state.graph.edges) {
    if (!path || rank[path[0]] > last || rank[path[path.length - 1]] < first)
      continue;
    let from = path[0];
    path.forEach((v, i) => {
      const isFar = Math.abs(across[v] - across[from]) + Math.abs(start[rank[v]] - start[rank[from]]) >= least;
      const goesOn = i + 1 < path.length && across[path[i + 1]] === across[v] && across[v] === across[from];
      if (!isFar || goesOn)
        return;
      pen.moveTo(...point(across[from], start[rank[from]]));
      pen.lineTo(...point(across[v], start[rank[v]]));
      from = v;
    });
  }
  pen.stroke();
}

/* Edges too long to be routed are stubs at both ends, and whole when one of these is selected. */
function drawFarStubs(first, last) {
  if (!state.layout.far.length || camera.scale < STUB_SCALE)
    return;
  const { across } = state.layout;
  pen.save();
  pen.setLineDash([3, 4]);
  pen.beginPath();
  for (const edge of state.layout.far) {
    const from = state.graph.nodes[edge.from], to = state.graph.nodes[edge.to];
    if (from.rank >= first && from.rank <= last) {
      const end = alongOf(from) + depthOf(from) / 2;
      pen.moveTo(...point(across[edge.from] + 10, end));
      pen.lineTo(...point(across[edge.from] + 22, end + 14));
    }
    if (to.rank >= first && to.rank <= last) {
      const begin = alongOf(to) - depthOf(to) / 2;
      pen.moveTo(...point(across[edge.to] - 22, begin - 14));
      pen.lineTo(...point(across[edge.to] - 10, begin));
    }
  }
  pen.stroke();
  pen.restore();
}

function traceFar(edge) {
  const from = state.graph.nodes[edge.from], to = state.graph.nodes[edge.to], { across } = state.layout;
  const end = alongOf(from) + depthOf(from) / 2, begin = alongOf(to) - depthOf(to) / 2;
  const side = Math.max(across[edge.from], across[edge.to]) + 200;
  pen.moveTo(...point(across[edge.from], end));
  pen.bezierCurveTo(...point(side, end + 60), ...point(side, begin - 60), ...point(across[edge.to], begin));
}

/* ---- what is chosen ---- */

/* The edges of a node or of a tensor that is selected or under the pointer. */
function chosenEdges() {
  const tensor = state.tensor >= 0 ? state.tensor : state.selected < 0 ? state.hoveredTensor : -1;
  if (tensor >= 0)
    return state.graph.edges.filter((edge) => edge.tensor === tensor);
  const node = state.graph.nodes[state.selected >= 0 ? state.selected : state.hovered];
  return node ? [...node.preds, ...node.succs] : [];
}

function drawChosenEdges() {
  const edges = chosenEdges();
  if (!edges.length)
    return;
  pen.strokeStyle = pen.fillStyle = colours.accent;
  pen.lineWidth = Math.max(2, 1.4 / camera.scale);
  pen.beginPath();
  for (const edge of edges) {
    for (let i = 0; edge.path && i + 1 < edge.path.length; i++)
      traceSegment({ a: edge.path[i], b: edge.path[i + 1] });
    if (!edge.path)
      traceFar(edge);
  }
  pen.stroke();
  pen.beginPath();
  for (const edge of edges.filter(({ path }) => path)) {
    const to = state.graph.nodes[edge.to], direction = edge.from < edge.to ? 1 : -1;
    traceArrow(state.layout.across[edge.to], alongOf(to) - direction * depthOf(to) / 2, direction);
  }
  pen.fill();
}

/* ---- under the pointer ---- */

/* The point of a segment's curve a part of its way along. */
function curveAt({ across1, along1, across2, along2 }, part) {
  const t = part, u = 1 - t, middle = (along1 + along2) / 2;
  return [across1 * (u * u * u + 3 * u * u * t) + across2 * (3 * u * t * t + t * t * t),
    along1 * u * u * u + middle * (3 * u * u * t + 3 * u * t * t) + along2 * t * t * t];
}

const CURVE_STEPS = 16;

function distanceTo(segment, across, along) {
  const ends = endsOf(segment);
  let [lastAcross, lastAlong] = [ends.across1, ends.along1], least = Infinity;
  for (let i = 1; i <= CURVE_STEPS + 1; i++) {
    const [nextAcross, nextAlong] = i <= CURVE_STEPS ? curveAt(ends, i / CURVE_STEPS) : [ends.across2, ends.end];
    const dx = nextAcross - lastAcross, dy = nextAlong - lastAlong, length = dx * dx + dy * dy;
    const t = length ? Math.min(1, Math.max(0, ((across - lastAcross) * dx + (along - lastAlong) * dy) / length)) : 0;
    least = Math.min(least, Math.hypot(across - lastAcross - t * dx, along - lastAlong - t * dy));
    [lastAcross, lastAlong] = [nextAcross, nextAlong];
  }
  return least;
}

/* The tensor of the edge or label at a point of the screen, or -1. */
function tensorAt(px, py) {
  if (camera.scale < CURVE_SCALE || !state.graph.nodes.length)
    return -1;
  const [x, y] = [worldX(px), worldY(py)];
  const [across, along] = state.layout.toRight ? [y, x] : [x, y];
  const [first, last] = ranksBetween(along, along);
  const near = { distance: NEAR_EDGE / camera.scale, tensor: -1 };
  for (let r = first; r <= last; r++) {
    const label = camera.scale >= LABEL_SCALE && labelsOf(r).find((l) => Math.abs(l.x - x) <= l.width / 2 && Math.abs(l.y - y) <= l.height / 2);
    if (label)
      return label.tensor;
    for (const segment of state.layout.segments[r]) {
      const distance = distanceTo(segment, across, along);
      if (distance < near.distance)
        Object.assign(near, { distance, tensor: segment.tensor });
    }
  }
  return near.tensor;
}
