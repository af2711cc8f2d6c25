// SPDX-License-Identifier: Apache-2.0
/* ---- address.js: what is selected stands behind the page's address: #node=NAME, #tensor=NAME, and graph=NAME before it ---- */

function addressOf() {
  const node = state.graph.nodes[state.selected], parts = [];
  if (state.graphs.indexOf(state.graph.base) !== state.model.shown)
    parts.push(["graph", state.graph.data.name]);
  if (state.tensor >= 0)
    parts.push(["tensor", state.graph.data.tensors[state.tensor].name]);
  else if (node && node.kind !== "group")
    parts.push(["node", node.name]);
  return parts.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&");
}

function writeAddress() {
  const hash = addressOf();
  if (hash !== location.hash.slice(1))
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
}

function readAddress() {
  return Object.fromEntries(location.hash.slice(1).split("&").filter(Boolean).map((part) => {
    const at = part.indexOf("=");
    try {
      return [part.slice(0, at), decodeURIComponent(part.slice(at + 1))];
    } catch {
      return [part.slice(0, at), ""];
    }
  }));
}

/* Shows what the address names. */
function followAddress() {
  const { graph, node, tensor } = readAddress();
  const index = graph === undefined ? state.model.shown : state.model.graphs.findIndex((data) => data.name === graph);
  if (index >= 0 && state.graphs[index] !== state.graph.base)
    chooseGraph(index);
  if (node !== undefined) {
    const b = state.graph.base.nodes.findIndex((candidate) => candidate.name === node);
    if (b >= 0)
      selectBase(b, { centre: true });
    else
      notice(`There is no op ${node}`);
  } else if (tensor !== undefined) {
    const t = state.graph.data.tensors.findIndex((candidate) => candidate.name === tensor);
    if (t >= 0)
      selectTensor(t);
    else
      notice(`There is no tensor ${tensor}`);
  }
}

function startAddress() {
  addEventListener("hashchange", () => {
    if (addressOf() !== location.hash.slice(1))
      followAddress();
  });
}
