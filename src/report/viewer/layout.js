// SPDX-License-Identifier: Apache-2.0
/* ---- layout.js: a layered drawing (Sugiyama, Tagawa, Toda 1981) in time that is nearly linear ----
 *
 * Ranks by longest paths; an edge over several ranks goes through a dummy vertex in each, shared by all edges of the
 * same tensor; order within ranks by barycenters, keeping the order with the fewest crossings; x as place.js says. */

const ROW_GAP = 48;        /* of a drawing downwards; one to the right leaves room for the labels: */
const LEAST_GAP = 56, MOST_GAP = 190;
const MAX_DUMMIES = 40000; /* beyond, the longest edges are drawn as stubs, */
const NEAR_RANKS = 4;      /* unless they end this near */
const ORDER_ROUNDS = 6;

/* Wants node.width and node.height; sets node.x, node.y (the centre), node.rank, node.place (position in its rank), and
 * gives the rows of vertices, the segments by the rank in which they begin, and the size. Ranks follow each other downwards, or
 * to the right; "across" is the other direction, in which the vertices of a rank lie beside each other. */
function layoutGraph(graph, toRight) {
  const ranks = assignRanks(graph);
  const net = makeNet(graph, ranks);
  net.breadth = (v) => toRight ? net.nodes[v].height : net.nodes[v].width;
  net.depth = (v) => toRight ? net.nodes[v].width : net.nodes[v].height;
  orderRows(net);
  const across = placeRows(net);
  return finishLayout(graph, net, across, toRight);
}

/* Where an edge goes in the drawing: always from the earlier op to the later one, so that a cycle does no harm. */
const upper = (edge) => Math.min(edge.from, edge.to);
const lower = (edge) => Math.max(edge.from, edge.to);

function assignRanks(graph) {
  const n = graph.nodes.length;
  const ranks = new Int32Array(n), ins = new Int32Array(n), outs = new Int32Array(n);
  const below = graph.nodes.map(() => []), above = graph.nodes.map(() => []);
  for (const edge of graph.edges) {
    above[lower(edge)].push(upper(edge));
    below[upper(edge)].push(lower(edge));
    ins[lower(edge)]++;
    outs[upper(edge)]++;
  }
  for (let v = 0; v < n; v++)
    for (const u of above[v])
      ranks[v] = Math.max(ranks[v], ranks[u] + 1);
  sinkFree(ranks, above, below, ins, outs);
  return ranks;
}

/* What has more edges down than up comes close to its readers; so does what depends on graph inputs alone that have
 * room below them, as the past of a decoder's layers does. */
function sinkFree(ranks, above, below, ins, outs) {
  const n = ranks.length;
  const lowest = (v, of) => below[v].reduce((least, w) => Math.min(least, of[w] - 1), Infinity);
  const latest = ranks.slice();
  for (let v = n - 1; v >= 0; v--)
    if (outs[v])
      latest[v] = lowest(v, latest);
  const free = new Uint8Array(n);
  for (let v = 0; v < n; v++)
    free[v] = latest[v] > ranks[v] && above[v].every((u) => free[u]);
  for (let v = n - 1; v >= 0; v--)
    if (outs[v] > ins[v] || (outs[v] && free[v] && outs[v] >= ins[v]))
      ranks[v] = lowest(v, ranks);
}

/* Edges of a tensor, from one writer: they share dummies. */
function tensorGroups(graph, ranks) {
  const groups = new Map();
  for (const edge of graph.edges) {
    const key = `${upper(edge)} ${edge.tensor}`;
    let group = groups.get(key);
    if (!group)
      groups.set(key, group = { top: upper(edge), tensor: edge.tensor, edges: [], bottom: 0 });
    group.edges.push(edge);
    group.bottom = Math.max(group.bottom, ranks[lower(edge)]);
  }
  return [...groups.values()];
}

/* Groups that would need too many dummies, the longest first. */
function farGroups(groups, ranks) {
  const far = new Set();
  const span = (group) => group.bottom - ranks[group.top] - 1;
  let total = groups.reduce((sum, group) => sum + span(group), 0);
  for (const group of [...groups].sort((a, b) => span(b) - span(a))) {
    if (total <= MAX_DUMMIES)
      break;
    total -= span(group);
    far.add(group);
  }
  return far;
}

function makeNet(graph, ranks) {
  const net = { nodes: graph.nodes, rank: Array.from(ranks), up: [], down: [], segments: [], far: [] };
  for (let v = 0; v < graph.nodes.length; v++) {
    net.up.push([]);
    net.down.push([]);
  }
  const groups = tensorGroups(graph, ranks);
  const far = farGroups(groups, ranks);
  for (const group of groups) {
    const isFar = (edge) => far.has(group) && ranks[lower(edge)] - ranks[group.top] > NEAR_RANKS;
    for (const edge of group.edges.filter(isFar)) {
      edge.path = null;
      net.far.push(edge);
    }
    addGroup(net, group.top, group.tensor, group.edges.filter((edge) => !isFar(edge)));
  }
  net.rows = [];
  net.rank.forEach((rank, v) => (net.rows[rank] ||= []).push(v));
  for (let i = 0; i < net.rows.length; i++)
    net.rows[i] ||= [];
  return net;
}

function addGroup(net, top, tensor, edges) {
  const chain = [top];
  const chainRank = net.rank[top];
  let first = true;
  for (const edge of edges.sort((a, b) => net.rank[lower(a)] - net.rank[lower(b)])) {
    const steps = net.rank[lower(edge)] - chainRank;
    while (chain.length < steps) {
      const dummy = net.rank.push(chainRank + chain.length) - 1;
      net.up.push([]);
      net.down.push([]);
      addSegment(net, chain[chain.length - 1], dummy, tensor, null, first);
      first = false;
      chain.push(dummy);
    }
    addSegment(net, chain[steps - 1], lower(edge), tensor, edge, first);
    first = false;
    edge.path = chain.slice(0, steps).concat(lower(edge));
  }
}

function addSegment(net, a, b, tensor, edge, first) {
  net.down[a].push(b);
  net.up[b].push(a);
  net.segments.push({ a, b, tensor, first, arrow: edge && edge.to === b, arrowUp: edge && edge.to !== b });
}

/* ---- order ---- */

/* Neighbours in the drawing are neighbours in a walk along the edges. */
function firstOrder(net) {
  const seen = new Uint8Array(net.rank.length);
  const rows = net.rows.map(() => []);
  for (const start of net.rows.flat()) {
    const stack = [start];
    while (stack.length) {
      const v = stack.pop();
      if (seen[v])
        continue;
      seen[v] = 1;
      rows[net.rank[v]].push(v);
      for (let i = net.down[v].length - 1; i >= 0; i--)
        stack.push(net.down[v][i]);
    }
  }
  net.rows = rows;
}

function orderRows(net) {
  firstOrder(net);
  const place = new Float64Array(net.rank.length);
  const note = (row) => row.forEach((v, i) => { place[v] = i; });
  net.rows.forEach(note);
  let best = net.rows.map((row) => row.slice());
  let least = crossings(net, place);
  for (let round = 0; round < ORDER_ROUNDS && least > 0; round++) {
    const downwards = round % 2 === 0;
    const rows = downwards ? net.rows : [...net.rows].reverse();
    for (const row of rows) {
      sortRow(row, downwards ? net.up : net.down, place, round % 4 >= 2);
      note(row);
    }
    const count = crossings(net, place);
    if (count < least) {
      least = count;
      best = net.rows.map((row) => row.slice());
    }
  }
  net.rows = best;
}

function sortRow(row, neighbours, place, lastFirst) {
  const key = new Map();
  for (const v of row) {
    const around = neighbours[v];
    key.set(v, around.length ? around.reduce((sum, u) => sum + place[u], 0) / around.length : place[v]);
  }
  const sign = lastFirst ? -1 : 1;
  row.sort((a, b) => key.get(a) - key.get(b) || sign * (place[a] - place[b]));
}

/* Counts inversions with a binary indexed tree (Barth, Juenger, Mutzel 2002). */
function crossings(net, place) {
  let count = 0;
  for (let r = 0; r + 1 < net.rows.length; r++) {
    const size = net.rows[r + 1].length;
    const tree = new Int32Array(size + 1);
    let inserted = 0;
    for (const v of net.rows[r]) {
      const ends = net.down[v].map((w) => place[w]);
      for (const end of ends) {
        let before = 0;
        for (let i = end + 1; i > 0; i -= i & -i)
          before += tree[i];
        count += inserted - before;
      }
      for (const end of ends) {
        inserted++;
        for (let i = end + 1; i <= size; i += i & -i)
          tree[i]++;
      }
    }
  }
  return count;
}

/* ---- the result ---- */

/* How far the ranks are apart, which labels between them need when these stand along the way. */
function rankGaps(graph, net, segments, toRight) {
  return net.rows.map((_, r) => toRight ? segments[r].filter((segment) => segment.first).reduce((most, segment) =>
    Math.min(MOST_GAP, Math.max(most, labelWidth(graph, segment.tensor) + 30)), LEAST_GAP) : ROW_GAP);
}

function finishLayout(graph, net, across, toRight) {
  const isNode = (v) => v < net.nodes.length;
  const segments = net.rows.map(() => []);
  for (const segment of net.segments)
    segments[net.rank[segment.a]].push(segment);
  const gaps = rankGaps(graph, net, segments, toRight);
  const start = [], depth = [];
  let along = 0, low = Infinity, high = -Infinity;
  net.rows.forEach((row, r) => {
    start.push(along);
    depth.push(row.reduce((most, v) => Math.max(most, isNode(v) ? net.depth(v) : 0), 24));
    along += depth[r] + gaps[r];
  });
  net.rank.forEach((rank, v) => {
    const half = isNode(v) ? net.breadth(v) / 2 : 0;
    low = Math.min(low, across[v] - half);
    high = Math.max(high, across[v] + half);
  });
  graph.nodes.forEach((node, v) => {
    const middle = start[net.rank[v]] + depth[net.rank[v]] / 2;
    Object.assign(node, { rank: net.rank[v], x: toRight ? middle : across[v], y: toRight ? across[v] : middle });
  });
  const rows = net.rows.map((row) => row.filter(isNode));
  rows.forEach((row) => row.forEach((v, i) => { net.nodes[v].place = i; }));
  const end = Math.max(along - (gaps[gaps.length - 1] || 0), 1);
  if (!Number.isFinite(low))
    [low, high] = [0, 1];
  return { toRight, across, rank: net.rank, rows, start, depth, gaps, segments, far: net.far, labels: [],
    left: toRight ? 0 : low, right: toRight ? end : high, top: toRight ? low : 0, bottom: toRight ? high : end };
}
