// SPDX-License-Identifier: Apache-2.0
/* ---- explain.js: what net-run --explain=FILE.json says, as a page ---- */

const document_of = JSON.parse(document.getElementById("model").textContent);
const groups = document_of.steps.filter((step) => step.plugin);
const byId = (id) => document.getElementById(id);
let group = groups[0] && groups[0].plugin;

const shapeText = (dims) => `[${dims.join(",")}]`;
const many = (count, word) => `${grouped(count)} ${word}${count === 1 ? "" : "s"}`;
const isKernel = (step) => step.kind === "kernel";

/* ---- summary ---- */

function showSummary() {
  if (!group) {
    byId("tiles").replaceChildren(tile("none", "of the nodes is executed by a plugin"));
    byId("prepared").hidden = true;
    return;
  }
  const kernels = group.steps.filter(isKernel), far = kernels.filter((step) => step.ddr_operands).length;
  byId("tiles").replaceChildren(
    tile(grouped(group.nodes), group.nodes === 1 ? "node of a plugin" : "nodes, prepared together"),
    tile(`${bytesText(group.peak)} of ${bytesText(group.fast_memory)}`, "most fast memory in use", group.peak > group.fast_memory),
    tile(grouped(kernels.length), `calls of kernels, in ${many(group.steps.length, "step")}`),
    tile(realText(group.end), `when the schedule ends; all costs are ${realText(group.cost)}, and ` +
      `${many(group.kernels_without_cost, "kernel")} told none`),
    tile(grouped(far), "kernels with operands in DDR", far > 0));
}

/* ---- charts ---- */

const WIDTH = 1140, LEFT = 72, RIGHT = 12, INNER = WIDTH - LEFT - RIGHT, LANE = 20;

function unitOf(step) {
  return step.resources.includes("HMX") ? "hmx" : step.resources.includes("HVX") ? "hvx" : "scalar";
}

/* A kernel is a bar in the first lane of its unit that is free. What is narrower than a pixel and behind another such bar
   is not drawn: there may be tens of thousands. */
function lanesOf(kernels) {
  const lanes = [];
  for (const step of [...kernels].sort((a, b) => a.begin - b.begin)) {
    const unit = unitOf(step);
    let lane = lanes.find((other) => other.unit === unit && other.free <= step.begin);
    if (!lane)
      lanes.push(lane = { unit, free: 0, bars: [], pixel: -1 });
    lane.free = step.end;
    const right = group.end > 0 ? Math.ceil(step.end / group.end * INNER) : 0;
    if (right > lane.pixel)
      lane.bars.push(step);
    lane.pixel = right;
  }
  return lanes.sort((a, b) => "hvx hmx scalar".indexOf(a.unit) - "hvx hmx scalar".indexOf(b.unit));
}

function showSchedule() {
  const kernels = group.steps.filter((step) => isKernel(step) && step.end > step.begin), lanes = lanesOf(kernels);
  const height = 34 + Math.max(1, lanes.length) * LANE, x = (time) => LEFT + (group.end > 0 ? time / group.end * INNER : 0);
  const chart = drawn("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img",
    "aria-label": `Schedule of ${many(kernels.length, "kernel")} with a cost, which ends at ${realText(group.end)}` });
  for (let i = 0; i <= 4; i++)
    chart.append(drawn("line", { class: "grid", x1: x(group.end * i / 4), x2: x(group.end * i / 4), y1: 8, y2: height - 22 }),
      drawn("text", { class: "axis", x: x(group.end * i / 4), y: height - 8, "text-anchor": i === 4 ? "end" : i ? "middle" : "start" },
        realText(group.end * i / 4)));
  lanes.forEach((lane, row) => {
    chart.append(drawn("text", { class: "axis", x: 8, y: 8 + row * LANE + 13 }, lane.unit.toUpperCase()));
    for (const step of lane.bars) {
      const bar = drawn("rect", { class: `work ${lane.unit}`, x: x(step.begin), y: 10 + row * LANE,
        width: Math.max(1, x(step.end) - x(step.begin)), height: LANE - 5 });
      bar.addEventListener("pointerenter", () => point(step));
      chart.append(bar);
    }
  });
  byId("schedule").replaceChildren(chart);
}

function showMemory() {
  const height = 190, top = 12, bottom = 24, steps = group.steps, most = Math.max(group.fast_memory, group.peak, 1);
  const y = (bytes) => top + (1 - bytes / most) * (height - top - bottom);
  const columns = new Array(Math.min(INNER, steps.length)).fill(0);
  steps.forEach((step, i) => {
    const column = Math.floor(i * columns.length / steps.length);
    columns[column] = Math.max(columns[column], step.fast_bytes);
  });
  const width = INNER / Math.max(1, columns.length);
  const points = columns.flatMap((bytes, i) => [`${LEFT + i * width},${y(bytes)}`, `${LEFT + (i + 1) * width},${y(bytes)}`]);
  const chart = drawn("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img",
    "aria-label": `Fast memory over ${many(steps.length, "step")}: at most ${bytesText(group.peak)} of ${bytesText(group.fast_memory)}` });
  chart.append(drawn("polygon", { class: "use", points: [`${LEFT},${y(0)}`, ...points, `${LEFT + INNER},${y(0)}`].join(" ") }),
    drawn("line", { class: "budget", x1: LEFT, x2: WIDTH - RIGHT, y1: y(group.fast_memory), y2: y(group.fast_memory) }),
    drawn("text", { class: "axis", x: LEFT - 6, y: y(group.fast_memory) + 4, "text-anchor": "end" }, bytesText(group.fast_memory)),
    drawn("text", { class: "axis", x: LEFT - 6, y: y(0) + 4, "text-anchor": "end" }, "0"),
    drawn("text", { class: "axis", x: WIDTH - RIGHT, y: height - 7, "text-anchor": "end" }, many(steps.length, "step")));
  const reader = drawn("rect", { class: "reader", x: LEFT, y: top, width: INNER, height: height - top - bottom });
  reader.addEventListener("pointermove", (event) => {
    const box = reader.getBoundingClientRect();
    point(steps[Math.min(steps.length - 1, Math.max(0, Math.floor((event.clientX - box.left) / box.width * steps.length)))]);
  });
  chart.append(reader);
  byId("memory").replaceChildren(chart);
}

function point(step) {
  byId("pointed").textContent = `${step.kind} ${step.text}: ${realText(step.begin)} to ${realText(step.end)}, ` +
    `${bytesText(step.fast_bytes)} of fast memory`;
}

/* ---- ops ---- */

/* Tiles are rewritten one after the other: the first one stands for those that are alike. */
function rewritesOf(node, callback) {
  const found = new Map();
  for (const rewrite of group.rewrites.filter((r) => r.node === node && r.callback === callback)) {
    const same = found.get(rewrite.op);
    found.set(rewrite.op, { rewrite, count: same ? same.count + 1 : 1, ...(same && { rewrite: same.rewrite }) });
  }
  return [...found.values()].map(({ rewrite, count }) => element("div", { class: "rewrite" },
    ...[["before", rewrite.before], ["after", rewrite.after]].map(([side, lines]) => element("figure", null,
      element("figcaption", null, `${callback} of ${rewrite.op}${count > 1 ? `, ${grouped(count)} times` : ""}: ${side}`),
      element("pre", { tabindex: 0 }, lines.join("\n"))))));
}

/* Rows and columns of the output, of the first batch and depth. */
function tilesView(tiling) {
  const [, rows, columns] = tiling.output, last = tiling.output.length - 1;
  const flat = tiling.tiles.filter((t) => t.start[0] === 0 && t.start[last] === 0);
  if (tiling.output.length !== 4 || flat.length < 2 || flat.length > 2000)
    return null;
  const size = 160 / Math.max(rows, columns), w = Math.max(columns * size, 6), h = Math.max(rows * size, 6);
  const picture = drawn("svg", { class: "grid-of-tiles", viewBox: `-1 -1 ${w + 2} ${h + 2}`, width: w + 2, height: h + 2, role: "img",
    "aria-label": `${many(flat.length, "tile")} of ${rows} rows and ${columns} columns` });
  for (const { start, extent } of flat)
    picture.append(drawn("rect", { x: start[2] * size, y: start[1] * size, width: extent[2] * size, height: extent[1] * size }));
  return picture;
}

function tilingView(tiling) {
  const words = tiling.count === 1 ? `whole, ${shapeText(tiling.output)}: ${tiling.reason}`
    : `${many(tiling.count, "tile")} of ${shapeText(tiling.tile)}, cut from ${shapeText(tiling.output)}: ${tiling.reason}`;
  const extents = tiling.tiles.map((t) => `${shapeText(t.extent)} at ${shapeText(t.start)}`);
  return [element("p", null, `${tiling.op}: ${words}${tiling.cluster ? `; cut together with all of cluster ${tiling.cluster}` : ""}`),
    tilesView(tiling),
    extents.length ? element("details", null, element("summary", null, "All tiles"),
      element("pre", { tabindex: 0 }, extents.join("\n"))) : null];
}

function kernelView(kernel) {
  const taken = `${many(kernel.slices, "slice")}${kernel.precomputed ? ", precomputed" : ""}, cost ${realText(kernel.cost)}`;
  return [element("p", null, `${kernel.op}, ${many(kernel.count, "time")}`),
    element("ul", { class: "tried" }, ...kernel.tried.map((tried) => tried.reason === null
      ? element("li", null, element("span", { class: "taken" }, tried.kernel), ` is taken: ${taken}`)
      : element("li", null, tried.kernel, element("span", { class: "reason" }, ` is skipped: ${tried.reason}`))))];
}

function titled(title, views) {
  const shown = views.flat().filter((view) => view);
  return shown.length ? [element("h3", null, title), ...shown] : [];
}

function opView(node, isOpen) {
  const tilings = group.tilings.filter((t) => t.node === node), kernels = group.kernels.filter((k) => k.node === node);
  const types = [...new Set([...tilings, ...kernels].map((part) => part.op))].join(", ");
  const cost = kernels.reduce((sum, k) => sum + k.cost, 0), tiles = Math.max(1, ...tilings.map((t) => t.count));
  return element("details", { class: "op", open: isOpen },
    element("summary", null, element("b", null, node === null ? "without a node" : node), " ",
      element("span", null, `${types}; ${many(tiles, "tile")}, cost ${realText(cost)}`)),
    ...titled("Rewrites", [rewritesOf(node, "early_rewrite")]),
    ...titled("Tiles", tilings.map(tilingView)),
    ...titled("Rewrites behind tiling", [rewritesOf(node, "late_rewrite")]),
    ...titled("Kernels", kernels.map(kernelView)));
}

function showOps() {
  const nodes = [...new Set([...group.rewrites, ...group.tilings, ...group.kernels].map((part) => part.node))];
  byId("ops").replaceChildren(...nodes.map((node, i) => opView(node, i < 8)));
}

/* ---- tables ---- */

const MOST_ROWS = 500;

function table(id, heads, rows) {
  byId(id).replaceChildren(
    element("thead", null, element("tr", null, ...heads.map(([head, kind]) => element("th", { scope: "col", class: kind }, head)))),
    element("tbody", null, ...rows.map((row) => element("tr", null,
      ...row.map((cell, i) => element("td", { class: heads[i][1] }, cell))))));
}

function showSteps() {
  const words = byId("filter").value.toLowerCase();
  const found = group.steps.filter((step) => `${step.kind} ${step.text} ${step.node}`.toLowerCase().includes(words));
  byId("shown").textContent = found.length > MOST_ROWS ? `the first ${MOST_ROWS} of ${grouped(found.length)}` : many(found.length, "step");
  table("steps", [["Begin", "number"], ["End", "number"], ["Fast memory", "number"], ["In DDR", "number"], ["Kind", ""], ["Node", "name"],
    ["Op", "name"]],
  found.slice(0, MOST_ROWS).map((step) => [realText(step.begin), realText(step.end), grouped(step.fast_bytes), String(step.ddr_operands),
    step.in_place ? `${step.kind}, in place` : step.kind, step.node ?? "\u2013", step.text]));
}

function showBackends() {
  table("backends", [["Backend", ""], ["Op", "name"], ["Node", "name"]], document_of.steps.map((step) => [step.backend, step.op, step.node]));
  if (document_of.refusals.length)
    table("refusals", [["Backend", ""], ["Node", "name"], ["Op", "name"], ["does not take it because", "name"]],
      document_of.refusals.map((refusal) => [refusal.backend, refusal.node, refusal.op, refusal.reason]));
}

/* ---- all ---- */

function showGroup() {
  showSummary();
  if (!group)
    return;
  showSchedule();
  showMemory();
  showOps();
  showSteps();
}

byId("file").textContent = `Preparation of ${document_of.container.split("/").pop()}`;
byId("theme").addEventListener("click", toggleTheme);
byId("filter").addEventListener("input", showSteps);
byId("choice").hidden = groups.length < 2;
byId("group").append(...groups.map((step, i) => element("option", { value: i }, `${step.op}: ${step.node}`)));
byId("group").addEventListener("change", (event) => {
  group = groups[Number(event.target.value)].plugin;
  showGroup();
});
startTheme();
showGroup();
showBackends();
