// SPDX-License-Identifier: Apache-2.0
/* ---- parts.js: what the pages share: elements, numbers, light and dark. A page's script has themeChanged ---- */

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {}))
    if (name === "onclick")
      made.addEventListener("click", value);
    else if (value !== false && value !== null && value !== undefined)
      made.setAttribute(name, value === true ? "" : value);
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

function facts(rows) {
  const list = element("dl", { class: "facts" });
  for (const [term, value] of rows)
    if (value !== null && value !== undefined && value !== "")
      list.append(element("dt", null, term), element("dd", null, value));
  return list;
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
