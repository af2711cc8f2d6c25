// SPDX-License-Identifier: Apache-2.0
/* ---- groups.js: groups of ops by the prefixes of their names, and the graph with some of them folded to one node ---- */

const SMALLEST_GROUP = 2;
const FOLD_FROM = 1500, FOLD_TO = 600; /* nodes from which a graph begins folded, and how many it aims to show */

/* A graph's names are paths with one separator. */
function separatorOf(names) {
  const slashes = names.filter((name) => name.slice(1).includes("/")).length;
  return slashes * 2 >= names.length || !names.some((name) => name.includes(".")) ? "/" : ".";
}

/* Sets base.groups: path => group, outer ones first, and node.groups: those of an op, outermost first. */
function findGroups(base) {
  const ops = base.nodes.filter((node) => node.kind === "op");
  const separator = separatorOf(ops.map((node) => node.name));
  const all = new Map();
  for (const node of ops) {
    const parts = node.name.split(separator);
    node.groups = [];
    for (let end = 1; end < parts.length; end++) {
      if (!parts[end - 1])
        continue;
      const path = parts.slice(0, end).join(separator);
      const group = all.get(path) || { path, label: parts[end - 1], size: 0, depth: 0 };
      all.set(path, group);
      group.size++;
      node.groups.push(group);
    }
  }
  const kept = new Map();
  for (const node of ops) {
    node.groups = node.groups.filter((group, i) => group.size >= SMALLEST_GROUP && group.size !== node.groups[i - 1]?.size);
    node.groups.forEach((group, i) => {
      group.depth = i + 1;
      kept.set(group.path, group);
    });
  }
  base.groups = kept;
  base.deepest = Math.max(0, ...[...kept.values()].map((group) => group.depth));
}

function foldedGroup(node, folded) {
  return node.groups?.find((group) => folded.has(group.path));
}

/* The paths of the groups at a depth. */
function groupsAt(base, depth) {
  return new Set([...base.groups.values()].filter((group) => group.depth === depth).map((group) => group.path));
}

function countVisible(base, folded) {
  const seen = new Set();
  let ops = 0;
  for (const node of base.nodes) {
    const group = foldedGroup(node, folded);
    if (group)
      seen.add(group);
    else
      ops++;
  }
  return ops + seen.size;
}

/* What a graph begins with: all ops, or, for thousands, the finest groups that are few. */
function firstFolded(base) {
  if (base.nodes.length < FOLD_FROM)
    return new Set();
  let best = new Set(), least = base.nodes.length;
  for (let depth = base.deepest; depth > 0 && least > FOLD_TO; depth--) {
    const folded = groupsAt(base, depth), count = countVisible(base, folded);
    if (count < least) {
      least = count;
      best = folded;
    }
  }
  return best;
}

/* The graph as it is drawn: nodes of the base graph, with groups in place of what is folded into them. */
function viewGraph(base, folded) {
  const graph = { data: base.data, base, folded, nodes: [], edges: [], viewOf: new Int32Array(base.nodes.length) };
  const madeFor = new Map();
  base.nodes.forEach((node, b) => {
    const group = foldedGroup(node, folded);
    if (group && madeFor.has(group)) {
      graph.viewOf[b] = madeFor.get(group);
      graph.nodes[graph.viewOf[b]].members.push(b);
      return;
    }
    graph.viewOf[b] = graph.nodes.length;
    if (group)
      madeFor.set(group, graph.nodes.length);
    graph.nodes.push(group ? groupNode(group, b) : { ...node, base: b, preds: [], succs: [] });
  });
  for (const node of graph.nodes)
    if (node.kind === "group")
      nameGroup(base, node);
  joinViews(graph);
  return graph;
}

function groupNode(group, first) {
  return { kind: "group", group, title: group.label, name: group.path, family: "group", base: -1, members: [first], rows: [],
    preds: [], succs: [] };
}

function nameGroup(base, node) {
  const counts = new Map();
  for (const b of node.members)
    counts.set(base.nodes[b].title, (counts.get(base.nodes[b].title) || 0) + 1);
  const most = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 3);
  node.rows = [{ label: `${node.members.length} ops`, value: "" },
    ...most.map(([title, count]) => ({ label: title, value: `\u00d7 ${count}` }))];
  const worst = node.members.map((b) => base.nodes[b].error ?? null).filter((error) => error !== null);
  node.error = worst.length ? Math.min(...worst) : null;
  node.change = node.members.every((b) => base.nodes[b].change === base.nodes[node.members[0]].change)
    ? base.nodes[node.members[0]].change : "changed";
  node.family = node.members.some((b) => base.nodes[b].family === "udo") ? "udo" : "group";
}

/* Edges between what is drawn; several of one tensor to one group are one. */
function joinViews(graph) {
  const seen = new Set();
  for (const edge of graph.base.edges) {
    const from = graph.viewOf[edge.from], to = graph.viewOf[edge.to];
    const key = `${from} ${to} ${edge.tensor}`;
    if (from === to || seen.has(key))
      continue;
    seen.add(key);
    const joined = { from, to, tensor: edge.tensor };
    graph.edges.push(joined);
    graph.nodes[from].succs.push(joined);
    graph.nodes[to].preds.push(joined);
  }
}

/* ---- folding ---- */

/* Shows the graph with other groups folded, and the selected node or the group that it went into. */
function foldTo(folded) {
  const { base } = state.graph, node = state.graph.nodes[state.selected];
  const kept = !node ? -1 : node.kind === "group" ? node.members[0] : node.base;
  base.folded = folded;
  base.view = null;
  showView(base);
  if (kept >= 0)
    selectNode(state.graph.viewOf[kept], { centre: true });
  else
    firstView();
  say(`${state.graph.nodes.length} nodes shown`);
}

/* The depth of the groups that are folded now; one more than the deepest when none is. */
function foldDepth() {
  const { base } = state.graph;
  const depths = [...base.folded].map((path) => base.groups.get(path).depth);
  return depths.length ? Math.min(...depths) : base.deepest + 1;
}

function foldMore() {
  const depth = foldDepth() - 1;
  if (depth > 0)
    foldTo(groupsAt(state.graph.base, depth));
}

function foldLess() {
  const depth = foldDepth() + 1;
  if (depth <= state.graph.base.deepest + 1)
    foldTo(groupsAt(state.graph.base, depth));
}

function unfold(group) {
  const { base } = state.graph;
  const inner = [...groupsAt(base, group.depth + 1)].filter((path) => base.nodes.some((node) =>
    node.groups?.includes(group) && node.groups.includes(base.groups.get(path))));
  foldTo(new Set([...base.folded, ...(base.nodes.length < FOLD_FROM ? [] : inner)].filter((path) => path !== group.path)));
}

function fold(group) {
  foldTo(new Set([...state.graph.base.folded, group.path]));
}

/* G: a selected group opens, the innermost group of a selected op closes. */
function toggleGroup() {
  const node = state.graph.nodes[state.selected];
  if (node?.kind === "group")
    unfold(node.group);
  else if (node?.groups?.length)
    fold(node.groups[node.groups.length - 1]);
}

/* The drawn node of a node of the base graph; the groups that hide it open. */
function reachBase(b) {
  const node = state.graph.base.nodes[b];
  if (state.graph.nodes[state.graph.viewOf[b]].kind === "group") {
    const hiding = new Set((node.groups || []).map((group) => group.path));
    state.selected = -1;
    foldTo(new Set([...state.graph.base.folded].filter((path) => !hiding.has(path))));
  }
  return state.graph.viewOf[b];
}

function selectBase(b, how) {
  selectNode(reachBase(b), how);
}

function showFolding() {
  const { base } = state.graph;
  document.getElementById("folding").hidden = !base.deepest;
  document.getElementById("fold").disabled = foldDepth() <= 1;
  document.getElementById("unfold").disabled = foldDepth() > base.deepest;
}

/* ---- the panel ---- */

function groupPathView(node) {
  if (!node.groups?.length)
    return "";
  return element("div", { class: "links" }, "in", ...node.groups.map((group) =>
    element("button", { type: "button", class: "link", title: `Fold ${group.path}`, onclick: () => fold(group) },
      `${group.label} (${group.size})`)));
}

const MAX_MEMBERS = 40;

function groupView(node) {
  const ops = node.members.map((b) => state.graph.base.nodes[b].op);
  const sum = (key) => ops.reduce((total, op) => total + Number(op[key]), 0);
  const more = node.members.length - MAX_MEMBERS;
  const total = state.graph.data;
  return [
    panelHead(node.title, badgeOf("group")),
    nameView(node.name),
    element("p", null, element("button", { type: "button", class: "unfold", onclick: () => unfold(node.group) }, "Unfold (G)")),
    facts([["Ops", grouped(ops.length)],
      ["MACs", sum("macs") ? grouped(sum("macs")) + share(sum("macs"), total.macs) : null],
      ["Parameters", sum("parameters") ? grouped(sum("parameters")) + share(sum("parameters"), total.parameters) : null]]),
    element("h3", null, "Ops by type"), typeTable(ops),
    element("h3", null, "Ops"),
    element("div", { class: "links" }, ...node.members.slice(0, MAX_MEMBERS).map(nodeLink), more > 0 ? `and ${more} more` : ""),
  ];
}
