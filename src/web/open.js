// SPDX-License-Identifier: Apache-2.0
/* ---- open.js: containers that are dropped on the page, or chosen ---- */

/* A worker reads one container, or a pair; for others there is another one, whose memory is empty. */
const opening = { worker: null, next: null, files: [], nextFiles: [], waiting: new Map() };

function startWorker() {
  opening.next?.terminate();
  const source = URL.createObjectURL(new Blob([document.getElementById("worker").textContent], { type: "text/javascript" }));
  opening.next = new Worker(source);
  URL.revokeObjectURL(source);
  opening.next.onmessage = ({ data }) => workerSays(data);
  opening.next.onerror = (event) => showFailure(`The reader does not work in this browser: ${event.message || "no WebAssembly"}`);
}

function workerSays(data) {
  const waiting = opening.waiting.get(data.number);
  if (data.total !== undefined)
    showWords(`reading: ${Math.floor(100 * data.done / (data.total || 1))} %`);
  else if (waiting)
    data.error === undefined ? waiting.resolve(JSON.parse(data.values)) : waiting.reject(new Error(data.error));
  else if (data.error !== undefined)
    showFailure(data.error);
  else
    showOpened(data);
  opening.waiting.delete(data.number);
}

later.read = (number) => new Promise((resolve, reject) => {
  opening.waiting.set(number, { resolve, reject });
  opening.worker.postMessage({ values: number });
});

/* What was open until now goes only when the new one is there. */
function takeOver() {
  opening.worker?.terminate();
  for (const { reject } of opening.waiting.values())
    reject(new Error("another container was opened"));
  opening.waiting.clear();
  Object.assign(opening, { worker: opening.next, next: null, files: opening.nextFiles });
}

function showOpened({ model, warnings }) {
  takeOver();
  if (state.model)
    history.replaceState(null, "", location.pathname + location.search);
  document.body.classList.add("opened");
  startCard.hidden = true;
  swapButton.hidden = opening.files.length < 2;
  openModel(JSON.parse(model));
  showWarnings(warnings);
  say(`${state.model.file} is open`);
}

/* Two files: what the first one became in the second. */
function openFiles(files) {
  if (files.length > 2) {
    showFailure("Open one container, or two to compare them");
    return;
  }
  showCard(`reading ${files.map((file) => file.name).join(" and ")}\u2026`);
  opening.nextFiles = files;
  startWorker();
  opening.next.postMessage({ files: [...files].reverse() });
}

/* ---- what the page says ---- */

const words = element("p", { class: "words", role: "status" });
const failure = element("pre", { class: "failure", role: "alert", hidden: true });
const chooser = element("input", { type: "file", id: "chooser", multiple: true, class: "unseen", "aria-label": "Containers to open" });
const startCard = element("section", { class: "start", "aria-label": "Open a container" },
  element("h2", null, "Drop a .dlc container here"),
  element("p", null, "Two of them are compared. Files are read on this machine, and nothing of them leaves it."),
  element("button", { type: "button", id: "choose", onclick: () => chooser.click() }, "Choose files"),
  words, failure,
  element("button", { type: "button", id: "back", hidden: true, onclick: () => { startCard.hidden = true; } }, "Back"));
const openButton = element("button", { type: "button", id: "open", title: "Open one container, or two to compare them",
  onclick: () => chooser.click() }, "Open");
const swapButton = element("button", { type: "button", id: "swap", title: "Compare the other way round", hidden: true,
  onclick: () => openFiles([...opening.files].reverse()) }, "Swap");
const warningBox = element("details", { class: "warnings", id: "warnings", hidden: true });

function showWords(text) {
  words.textContent = text;
}

function showCard(text) {
  startCard.hidden = false;
  failure.hidden = true;
  document.getElementById("back").hidden = true;
  showWords(text);
}

function showFailure(text) {
  showCard("");
  failure.textContent = text;
  failure.hidden = false;
  document.getElementById("back").hidden = !state.model;
}

function showWarnings(text) {
  const lines = text.trimEnd();
  warningBox.hidden = !lines;
  warningBox.replaceChildren(element("summary", null, "Warnings"), element("pre", null, lines),
    element("button", { type: "button", onclick: () => { warningBox.hidden = true; } }, "Close"));
}

/* ---- dropping ---- */

function startDropping() {
  addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("over");
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget)
      document.body.classList.remove("over");
  });
  addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("over");
    if (event.dataTransfer.files.length)
      openFiles([...event.dataTransfer.files]);
  });
  chooser.addEventListener("change", () => {
    if (chooser.files.length)
      openFiles([...chooser.files]);
    chooser.value = "";
  });
}

document.querySelector(".buttons").prepend(openButton, swapButton);
document.getElementById("stage").append(startCard, warningBox);
document.body.append(chooser);
startDropping();
document.documentElement.dataset.ready = "true";
