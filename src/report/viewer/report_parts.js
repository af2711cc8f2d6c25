// SPDX-License-Identifier: Apache-2.0
/* ---- report_parts.js: what pages of reports share ---- */

function themeChanged() {} /* the style does it */

function tile(value, words, isOver) {
  return element("div", { class: "tile" }, element("b", { class: isOver ? "over" : null }, value), element("span", null, words));
}
