// SPDX-License-Identifier: Apache-2.0
/* ---- search.js: finding ops by name, type, package and tensor ---- */

const MAX_RESULTS = 100;
const searchBox = document.getElementById("search");
const resultsBox = document.getElementById("results-box");
const resultsList = document.getElementById("results");
let found = [];
let active = -1;

/* What a node can be found by, in small letters; made at the first search of a graph. */
function searchText(graph) {
  return graph.searchText ||= graph.nodes.map((node) => {
    const { tensors } = graph.data;
    if (node.kind !== "op")
      return { type: node.kind, own: `${node.title} ${node.name}`.toLowerCase(), tensors: [] };
    const { op } = node;
    const names = [...op.inputs, ...op.outputs].map((t) => typeof t === "number" ? tensors[t].name : t || "");
    const type = [op.type, node.title, op.package || "", op.udo ? "udo" : ""].join(" ").toLowerCase();
    return { type, own: `${type} ${op.name.toLowerCase()}`, tensors: names.map((name) => name.toLowerCase()), names };
  });
}

/* Nodes that have all words: in their type, then those that have some in their name, then in a tensor they touch. */
function findNodes(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length)
    return [];
  const typed = [], own = [], touching = [];
  searchText(state.graph.base).forEach((entry, v) => {
    if (words.every((word) => entry.own.includes(word))) {
      (words.every((word) => entry.type.includes(word)) ? typed : own).push({ v });
      return;
    }
    const rest = words.filter((word) => !entry.own.includes(word));
    const at = entry.tensors.findIndex((name) => rest.every((word) => name.includes(word)));
    if (at >= 0)
      touching.push({ v, tensor: entry.names[at] });
  });
  return [...typed, ...own, ...touching];
}

function resultView({ v, tensor }, i) {
  const node = state.graph.base.nodes[v];
  const item = element("li", { id: `result-${i}`, role: "option", "aria-selected": "false" },
    element("span", { class: "dot", style: `--colour: var(--family-${node.family})` }),
    element("span", null, node.kind === "op" ? node.title : `Graph ${node.kind}`),
    element("span", { class: "name" }, node.name),
    tensor ? element("span", { class: "why" }, `tensor ${tensor}`) : "");
  item.addEventListener("mousedown", (event) => {
    event.preventDefault();
    goToResult(i);
  });
  return item;
}

function showResults() {
  found = findNodes(searchBox.value);
  const empty = !searchBox.value.trim();
  resultsList.replaceChildren(...found.slice(0, MAX_RESULTS).map(resultView));
  const more = found.length - MAX_RESULTS;
  const rest = more > 0 ? `and ${grouped(more)} more` : "";
  document.getElementById("results-more").textContent = found.length ? rest
    : "Nothing has this in its name, type or tensors.";
  resultsBox.hidden = empty;
  searchBox.setAttribute("aria-expanded", String(!empty && found.length > 0));
  chooseResult(found.length ? 0 : -1);
  if (!empty)
    say(`${found.length} found`);
}

function chooseResult(i) {
  resultsList.children[active]?.setAttribute("aria-selected", "false");
  active = i;
  const item = resultsList.children[i];
  if (!item) {
    searchBox.removeAttribute("aria-activedescendant");
    return;
  }
  item.setAttribute("aria-selected", "true");
  item.scrollIntoView({ block: "nearest" });
  searchBox.setAttribute("aria-activedescendant", item.id);
}

function hideResults() {
  resultsBox.hidden = true;
  searchBox.setAttribute("aria-expanded", "false");
}

function goToResult(i) {
  if (!found[i])
    return;
  hideResults();
  selectBase(found[i].v, { centre: true, focus: true });
}

function searchKey(event) {
  const shown = Math.min(found.length, MAX_RESULTS);
  if (event.key === "ArrowDown" && shown)
    chooseResult((active + 1) % shown);
  else if (event.key === "ArrowUp" && shown)
    chooseResult((active + shown - 1) % shown);
  else if (event.key === "Enter")
    goToResult(active);
  else if (event.key === "Escape" && !resultsBox.hidden)
    hideResults();
  else if (event.key === "Escape")
    canvas.focus();
  else
    return;
  event.preventDefault();
  event.stopPropagation();
}

function startSearch() {
  searchBox.addEventListener("input", showResults);
  searchBox.addEventListener("keydown", searchKey);
  searchBox.addEventListener("focus", () => { if (searchBox.value.trim()) showResults(); });
  searchBox.addEventListener("blur", hideResults);
}
