// SPDX-License-Identifier: Apache-2.0
/* ---- keep.js: pictures of the whole drawing as files, and texts for the clipboard ---- */

const PICTURE_MARGIN = 24, MOST_PIXELS = 12000, MOST_AREA = 6e7, LEAST_PICTURE_SCALE = 0.15;

const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c])
  .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
const rounded = (number) => Math.round(number * 100) / 100;

/* Takes what the drawing does with a canvas, and writes it as SVG. */
class SvgPen {
  constructor(measuring) {
    Object.assign(this, { measuring, parts: [], path: "", dash: "", depths: [0], fillStyle: "", strokeStyle: "", lineWidth: 1, font: "",
      textAlign: "left", textBaseline: "alphabetic" });
  }

  measureText(text) {
    this.measuring.font = this.font;
    return this.measuring.measureText(text);
  }

  beginPath() { this.path = ""; }
  moveTo(x, y) { this.path += `M${rounded(x)} ${rounded(y)}`; }
  lineTo(x, y) { this.path += `L${rounded(x)} ${rounded(y)}`; }
  bezierCurveTo(...at) { this.path += `C${at.map(rounded).join(" ")}`; }
  closePath() { this.path += "Z"; }
  setLineDash(dash) { this.dash = dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : ""; }

  roundRect(x, y, width, height, radii) {
    const [a, b, c, d] = (Array.isArray(radii) ? radii : [radii, radii, radii, radii]).map((r) => Math.min(r, width / 2, height / 2));
    const arc = (r, dx, dy) => r ? `a${r} ${r} 0 0 1 ${rounded(dx)} ${rounded(dy)}` : "";
    this.path += `M${rounded(x + a)} ${rounded(y)}h${rounded(width - a - b)}${arc(b, b, b)}v${rounded(height - b - c)}` +
      `${arc(c, -c, c)}h${rounded(c + d - width)}${arc(d, -d, -d)}v${rounded(d + a - height)}${arc(a, a, -a)}Z`;
  }

  stroke() {
    this.parts.push(`<path d="${this.path}" fill="none" stroke="${this.strokeStyle}" stroke-width="${rounded(this.lineWidth)}"${this.dash}/>`);
  }

  fill() { this.parts.push(`<path d="${this.path}" fill="${this.fillStyle}"/>`); }

  fillRect(x, y, width, height) {
    this.parts.push(`<rect x="${rounded(x)}" y="${rounded(y)}" width="${rounded(width)}" height="${rounded(height)}" fill="${this.fillStyle}"/>`);
  }

  fillText(text, x, y) {
    const [, weight, size] = /^(\d+ )?([\d.]+)px/.exec(this.font);
    const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign];
    const lower = this.textBaseline === "middle" ? Number(size) * 0.36 : 0;
    this.parts.push(`<text x="${rounded(x)}" y="${rounded(y + lower)}" font-size="${size}"${weight ? ` font-weight="${weight.trim()}"` : ""} ` +
      `text-anchor="${anchor}" fill="${this.fillStyle}">${escaped(text)}</text>`);
  }

  save() { this.depths.push(0); }
  restore() { this.parts.push("</g>".repeat(this.depths.pop())); }
  group(transform) {
    this.depths[this.depths.length - 1]++;
    this.parts.push(`<g transform="${transform}">`);
  }
  translate(x, y) { this.group(`translate(${rounded(x)} ${rounded(y)})`); }
  scale(x, y) { this.group(`scale(${x} ${y})`); }

  text(width, height, title) {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
      `font-family="${escaped(FONT)}">\n<title>${escaped(title)}</title>\n${this.parts.join("\n")}\n</svg>\n`;
  }
}

/* Draws all with another pen; the page's own view and selection stay as they are. */
function drawPicture(otherPen, scale, width, height) {
  const view = { ...camera }, chosen = { selected: state.selected, hovered: state.hovered, tensor: state.tensor,
    hoveredTensor: state.hoveredTensor }, own = pen;
  const { left, right, top, bottom } = state.layout;
  try {
    pen = otherPen;
    Object.assign(camera, { x: (left + right) / 2, y: (top + bottom) / 2, scale, width, height, covered: 0, below: 0 });
    Object.assign(state, { selected: -1, hovered: -1, tensor: -1, hoveredTensor: -1 });
    pen.fillStyle = colours.bg;
    pen.fillRect(0, 0, width, height);
    drawScene();
  } finally {
    pen = own;
    Object.assign(camera, view);
    Object.assign(state, chosen);
  }
}

function pictureSize() {
  const { left, right, top, bottom } = state.layout;
  return [right - left + 2 * PICTURE_MARGIN, bottom - top + 2 * PICTURE_MARGIN];
}

function svgPicture() {
  const [width, height] = pictureSize().map(Math.ceil), svg = new SvgPen(pen);
  drawPicture(svg, 1, width, height);
  return svg.text(width, height, `${state.model.file}: ${state.graph.data.name}`);
}

/* Twice the size of the screen's if that is not too large; null: it could not be read. */
function pngPicture() {
  const [width, height] = pictureSize();
  const scale = Math.min(2, MOST_PIXELS / width, MOST_PIXELS / height, Math.sqrt(MOST_AREA / (width * height)));
  if (scale < LEAST_PICTURE_SCALE)
    return null;
  const picture = document.createElement("canvas");
  picture.width = Math.ceil(width * scale);
  picture.height = Math.ceil(height * scale);
  drawPicture(picture.getContext("2d"), scale, picture.width, picture.height);
  return picture;
}

/* ---- files ---- */

function download(blob, extension) {
  const link = element("a", { href: URL.createObjectURL(blob), download: `${state.model.file.replace(/\.dlc$/, "")}.${extension}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  notice(`${link.download} is saved`);
}

function saveSvg() {
  download(new Blob([svgPicture()], { type: "image/svg+xml" }), "svg");
}

function savePng() {
  const picture = pngPicture();
  if (picture)
    picture.toBlob((blob) => download(blob, "png"), "image/png");
  else
    notice("The drawing is too large for a PNG that can be read: fold groups, or save it as SVG");
}

/* ---- the clipboard ---- */

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = element("textarea", { class: "unseen", "aria-hidden": "true" }, text);
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  notice("Copied");
}

function copyIcon() {
  return drawn("svg", { viewBox: "0 0 16 16", width: 13, height: 13, "aria-hidden": "true", class: "icon" },
    drawn("rect", { x: 5.5, y: 5.5, width: 8, height: 8, rx: 1.5 }), drawn("path", { d: "M10.5 2.5h-7a1 1 0 0 0-1 1v7" }));
}

/* text: a function that gives it. */
function copyButton(label, text) {
  return element("button", { type: "button", class: "copy", title: label, "aria-label": label, onclick: () => copy(text()) }, copyIcon());
}

/* ---- a line that goes away ---- */

let noticeTimer = 0;

function notice(words) {
  const box = document.getElementById("notice");
  box.textContent = words;
  box.hidden = false;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => { box.hidden = true; }, 2500);
}
