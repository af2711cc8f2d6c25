// SPDX-License-Identifier: Apache-2.0
/* ---- parts.js: what the pages share: elements, numbers, light and dark. A page's script has themeChanged ---- */

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {}))
    if (name === "onclick")
      made.addEventListener("click", value);
    else if (value !== false && value !== null && value !== undefined)
      made.setAttribute(name, value === true ? "" : value);
  made.append(...children.filter((child) => child || child === 0));
  return made;
}

function facts(rows) {
  const list = element("dl", { class: "facts" });
  for (const [term, value] of rows)
    if (value !== null && value !== undefined && value !== "")
      list.append(element("dt", null, term), element("dd", null, value));
  return list;
}

function drawn(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes))
    made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/* ---- numbers ---- */

function grouped(number) {
  return typeof number === "number" ? number.toLocaleString("en-US") : String(number);
}

const UNITS = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

function shortNumber(number) {
  const value = Number(number);
  const unit = UNITS.find(([size]) => value >= size);
  return unit ? `${(value / unit[0]).toPrecision(3)} ${unit[1]}` : String(number);
}

function bytesText(bytes) {
  const value = Number(bytes);
  for (const [size, unit] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]])
    if (value >= size)
      return `${(value / size).toPrecision(3)} ${unit}`;
  return `${value} bytes`;
}

function realText(number) {
  return typeof number === "number" ? String(Number(number.toPrecision(5))) : String(number);
}

function share(part, whole) {
  return Number(whole) > 0 ? ` (${(100 * Number(part) / Number(whole)).toPrecision(3)} %)` : "";
}

/* ---- errors of quantized tensors, by a report of dlc-quantize ---- */

/* Infinities are words in JSON. */
function decibels(error) {
  if (!error)
    return null;
  return typeof error.sqnr === "number" ? error.sqnr : error.sqnr === "inf" ? Infinity : -Infinity;
}

function decibelText(value) {
  if (value === null)
    return "\u2013";
  return value === Infinity ? "exact" : value === -Infinity ? "\u2212\u221e" : value.toFixed(1);
}

function partText(layer) {
  return layer.saturated ? `${Number((100 * layer.saturated / layer.values).toPrecision(2))} %` : "0";
}

/* Rows for facts() */
function errorFacts(layer) {
  const text = (error) => error && `${decibelText(decibels(error))} dB`;
  return [["In the network", text(layer.error)], ["The op alone", layer.node ? text(layer.own) : null],
    ["Rounding alone", text(layer.rounding)], ["Cosine", layer.error && realText(layer.error.cosine)],
    ["Largest error", layer.error && realText(layer.error.max_error)],
    ["Compared with", layer.cut_off_as && `${layer.cut_off_as}, which cuts this off`],
    ["Float values", layer.histogram && `${realText(layer.min)} to ${realText(layer.max)}`],
    ["Saturated", layer.encodings && `${grouped(layer.saturated)} (${partText(layer)})`],
    ["Levels used", layer.levels && String(layer.levels)]];
}

function histogramView({ histogram, min, max }) {
  const beside = 8, { bins } = histogram, most = Math.max(...bins);
  const picture = drawn("svg", { class: "histogram", viewBox: "0 0 640 150", preserveAspectRatio: "none", role: "img",
    "aria-label": `Histogram of float values from ${realText(min)} to ${realText(max)}` });
  picture.append(drawn("rect", { class: "reach", x: beside * 10, y: 0, width: (bins.length - 2 * beside) * 10, height: 150 }));
  bins.forEach((count, i) => {
    const height = count ? Math.max(1.5, 146 * Math.log1p(count) / Math.log1p(most)) : 0;
    const isOutside = i < beside || i >= bins.length - beside;
    picture.append(drawn("rect", { class: isOutside ? "outside" : "", x: i * 10 + 0.75, y: 149 - height, width: 8.5, height }));
  });
  picture.append(drawn("line", { x1: 0, x2: 640, y1: 149.5, y2: 149.5 }));
  return picture;
}

/* ---- light and dark ---- */

/* Pages opened from a disk may have no storage; the choice is forgotten then. */
function storedTheme(value) {
  try {
    if (value)
      localStorage.setItem("dlc-viewer-theme", value);
    return localStorage.getItem("dlc-viewer-theme");
  } catch {
    return null;
  }
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  document.getElementById("theme").textContent = theme === "dark" ? "Light" : "Dark";
  themeChanged();
}

function toggleTheme() {
  const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  storedTheme(theme);
  setTheme(theme);
}

function startTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => setTheme(storedTheme() || (system.matches ? "dark" : "light"));
  system.addEventListener("change", follow);
  follow();
}
