// SPDX-License-Identifier: Apache-2.0
/* ---- place.js: where the vertices of a rank lie across, with edges as straight as can be (Brandes, Koepf 2001) ----
 *
 * Four times, for up and down, left and right: each vertex is put in line with the median of its neighbours in the rank
 * before, where lines do not cross; the lines are then packed. A vertex gets the middle of its four places. */

const NODE_GAP = 26, DUMMY_GAP = 14, DUMMY_WIDTH = 4;

function placeRows(net) {
  const n = net.nodes.length;
  const width = (v) => v < n ? net.breadth(v) : DUMMY_WIDTH;
  const gap = (a, b) => (width(a) + width(b)) / 2 + (a < n && b < n ? NODE_GAP : DUMMY_GAP);
  const crossed = crossedSegments(net);
  const places = [];
  for (const down of [true, false])
    for (const left of [true, false]) {
      let rows = down ? net.rows : [...net.rows].reverse();
      if (!left)
        rows = rows.map((row) => [...row].reverse());
      const lines = alignRows(rows, down ? net.up : net.down, crossed, net.rank.length);
      const x = packLines(rows, lines, gap);
      places.push({ left, x: left ? x : x.map((at) => -at) });
    }
  return middlePlaces(places);
}

/* ---- lines ---- */

const segmentKey = (a, b) => Math.min(a, b) * 2 ** 26 + Math.max(a, b);

function positions(rows, count) {
  const position = new Int32Array(count);
  for (const row of rows)
    row.forEach((v, i) => { position[v] = i; });
  return position;
}

/* Segments that cross one between two dummies: they give way, so that long edges are straight. */
function crossedSegments(net) {
  const n = net.nodes.length, crossed = new Set();
  const position = positions(net.rows, net.rank.length);
  for (let r = 1; r < net.rows.length; r++) {
    const row = net.rows[r];
    let low = 0, scanned = 0;
    row.forEach((v, i) => {
      const inner = v >= n ? net.up[v].find((u) => u >= n) : undefined;
      if (inner === undefined && i + 1 < row.length)
        return;
      const high = inner === undefined ? net.rows[r - 1].length : position[inner];
      for (; scanned <= i; scanned++)
        for (const u of net.up[row[scanned]])
          if ((position[u] < low || position[u] > high) && !(u >= n && row[scanned] >= n))
            crossed.add(segmentKey(u, row[scanned]));
      low = high;
    });
  }
  return crossed;
}

/* The first vertex of each vertex's line. */
function alignRows(rows, neighbours, crossed, count) {
  const position = positions(rows, count);
  const root = Int32Array.from({ length: count }, (_, v) => v);
  const next = root.slice();
  for (const row of rows) {
    let last = -1;
    for (const v of row) {
      const around = [...neighbours[v]].sort((a, b) => position[a] - position[b]);
      const middle = (around.length - 1) / 2;
      for (let i = Math.floor(middle); around.length && i <= Math.ceil(middle); i++) {
        const u = around[i];
        if (next[v] !== v || position[u] <= last || crossed.has(segmentKey(u, v)))
          continue;
        next[u] = v;
        next[v] = root[v] = root[u];
        last = position[u];
      }
    }
  }
  return root;
}

/* ---- packing ---- */

/* Lines as far to the left as the distances allow, then those with room as far to the right. */
function packLines(rows, root, gap) {
  const count = root.length;
  const before = Array.from({ length: count }, () => []), after = Array.from({ length: count }, () => []);
  const waiting = new Int32Array(count);
  for (const row of rows)
    for (let i = 1; i < row.length; i++) {
      const a = root[row[i - 1]], b = root[row[i]], distance = gap(row[i - 1], row[i]);
      before[b].push([a, distance]);
      after[a].push([b, distance]);
      waiting[b]++;
    }
  const x = new Float64Array(count);
  const order = [];
  for (let v = 0; v < count; v++)
    if (root[v] === v && !waiting[v])
      order.push(v);
  for (let i = 0; i < order.length; i++) {
    const v = order[i];
    for (const [u, distance] of before[v])
      x[v] = Math.max(x[v], x[u] + distance);
    for (const [w] of after[v])
      if (--waiting[w] === 0)
        order.push(w);
  }
  for (const v of order.reverse()) {
    const room = after[v].reduce((least, [w, distance]) => Math.min(least, x[w] - distance), Infinity);
    if (room < Infinity)
      x[v] = Math.max(x[v], room);
  }
  return x.map((_, v) => x[root[v]]);
}

/* The drawings are laid over the narrowest one, the left ones at its left edge, the right ones at its right. */
function middlePlaces(places) {
  for (const place of places) {
    place.low = place.x.reduce((a, b) => Math.min(a, b), Infinity);
    place.high = place.x.reduce((a, b) => Math.max(a, b), -Infinity);
  }
  const narrowest = places.reduce((a, b) => b.high - b.low < a.high - a.low ? b : a);
  for (const place of places)
    place.shift = place.left ? narrowest.low - place.low : narrowest.high - place.high;
  return places[0].x.map((_, v) => {
    const four = places.map((place) => place.x[v] + place.shift).sort((a, b) => a - b);
    return (four[1] + four[2]) / 2;
  });
}
