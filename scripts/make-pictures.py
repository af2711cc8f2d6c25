#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures of README from real runs: docs/images/session.svg, a recording of a terminal that plays in a browser, and
docs/images/viewer.png, a page of dlc-viewer (with Chromium). --check: only whether the recording shows what the commands print now.
usage: make-pictures.py BUILD [--check]"""

import html
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
COMMANDS = [
    "onnx-to-dlc -i digits.onnx",
    "dlc-info -i digits.dlc | tail -n 2",
    "echo digit.raw > inputs.txt",
    "net-run --container digits.dlc --input_list inputs.txt",
    "python3 ../near.py output/Result_0/scores.raw digit-onnxruntime.txt",
    "dlc-viewer -i digits.dlc -s digits.html",
]
COLUMNS, CELL, LINE, MARGIN, BAR = 88, 8.4, 19, 18, 34  # characters; pixels
TYPED, READ, LINES, PAUSE = 0.02, 0.4, 0.06, 4  # seconds: a character, before what is printed, a line of it, at the end
SHADES = {"command": "#e7ebf2", "output": "#b6c2d4", "prompt": "#7fd1a0"}


def run_all(build, folder):
    """[(command, lines of what it printed on both streams)]"""
    shutil.copytree(ROOT / "examples" / "digits", folder / "digits")
    shutil.copy(ROOT / "examples" / "near.py", folder)
    path = os.pathsep.join([f"{build}/converters", f"{build}/src/tools", "/usr/bin", "/bin"])
    runs = []
    for command in COMMANDS:
        done = subprocess.run(["sh", "-c", command], cwd=folder / "digits", env={**os.environ, "PATH": path, "LC_ALL": "C.UTF-8"},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            sys.exit(f"make-pictures.py: {command}\n{done.stdout}")
        runs.append((command, done.stdout.splitlines()))
    return runs


# ---- the recording ----


def wrapped(line):
    return [line[i:i + COLUMNS] for i in range(0, len(line), COLUMNS)] or [""]


def timed(runs):
    """[(kind, text, seconds from which it is there, seconds that it is typed for)], and when all is there"""
    rows, now = [], 0.8
    for command, lines in runs:
        typing = TYPED * len(command)
        rows.append(("command", command, now, typing))
        now += typing + (READ if lines else 0.3)
        for line in lines:
            for i, part in enumerate(wrapped(line)):
                rows.append(("output" if i == 0 else "more", part, now, 0))
            now += LINES
        now += READ
    return rows, now


def text_element(row, y, kind, text, x=0):
    shade = SHADES["command" if kind == "command" else "output"]
    length = f' textLength="{len(text) * CELL:.1f}"' if text else ""
    return f'<text data-kind="{kind}" x="{MARGIN + x * CELL:.1f}" y="{y}" fill="{shade}"{length}>{html.escape(text, quote=False)}</text>'


def recording(runs):
    rows, end = timed(runs)
    whole = end + PAUSE
    width, height = round(COLUMNS * CELL + 2 * MARGIN), round(BAR + len(rows) * LINE + MARGIN)
    styles, body = [], []
    for i, (kind, text, start, typing) in enumerate(rows):
        y = BAR + (i + 1) * LINE - 5
        at = 100 * start / whole
        styles.append(f"@keyframes r{i}{{0%,{max(0, at - 0.01):.2f}%{{opacity:0}}{at:.2f}%,100%{{opacity:1}}}}#r{i}{{animation:r{i} {whole:.1f}s infinite}}")
        line = text_element(i, y, kind, text, 2 if kind == "command" else 0)
        if typing:
            typed = 100 * (start + typing) / whole
            styles.append(f"@keyframes t{i}{{0%,{at:.2f}%{{width:0;animation-timing-function:steps({len(text)})}}"
                          f"{typed:.2f}%,100%{{width:{len(text) * CELL:.1f}px}}}}#t{i}{{animation:t{i} {whole:.1f}s infinite}}")
            body.append(f'<clipPath id="c{i}"><rect id="t{i}" x="{MARGIN + 2 * CELL:.1f}" y="{y - LINE}" width="{len(text) * CELL:.1f}" '
                        f'height="{LINE + 6}"/></clipPath>')
            prompt = f'<text x="{MARGIN}" y="{y}" fill="{SHADES["prompt"]}">$</text>'
            line = f'{prompt}<g clip-path="url(#c{i})">{line}</g>'
        body.append(f'<g id="r{i}">{line}</g>')
    lights = "".join(f'<circle cx="{20 + 18 * i}" cy="17" r="5.5" fill="{colour}"/>' for i, colour in enumerate(("#e0645c", "#e2b04a", "#5fb563")))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
            f'aria-labelledby="title">\n<!-- SPDX-License-Identifier: Apache-2.0; made by scripts/make-pictures.py -->\n'
            f'<title id="title">A terminal: a model is converted, shown and executed, and its numbers are compared</title>\n'
            f"<style>text{{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}}\n"
            + "\n".join(styles) + "\n@media (prefers-reduced-motion:reduce){*{animation:none!important}}</style>\n"
            f'<rect width="{width}" height="{height}" rx="10" fill="#161b24"/>\n{lights}\n' + "\n".join(body) + "\n</svg>\n")


def shown(svg):
    """What a recording shows, as run_all gives it."""
    runs = []
    for kind, text in re.findall(r'<text data-kind="(\w+)"[^>]*>(.*?)</text>', svg):
        text = html.unescape(text)
        if kind == "command":
            runs.append((text, []))
        elif kind == "output":
            runs[-1][1].append(text)
        else:
            runs[-1][1][-1] += text
    return runs


# ---- the page ----


def photograph(container, picture):
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    import browser  # pylint: disable=import-outside-toplevel
    if browser.missing():
        sys.exit(f"make-pictures.py: {browser.missing()}")
    with browser.Browser(1280, 890) as b:
        b.open(container.with_suffix(".html"), "#node=c2")
        b.wait_for("return document.documentElement.dataset.drawn")
        b.settle()
        b.run("document.activeElement.blur()")
        b.settle()
        b.screenshot(picture)


def main():
    build, check = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:] == ["--check"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        runs = run_all(build, folder)
        if check:
            old = shown((IMAGES / "session.svg").read_text(encoding="utf-8"))
            for was, now in itertools.zip_longest(old, runs):
                if was != now:
                    sys.exit(f"make-pictures.py: docs/images/session.svg shows\n{was}\nand it is\n{now}\n"
                             "Make it anew: scripts/make-pictures.py BUILD")
            return
        IMAGES.mkdir(exist_ok=True)
        (IMAGES / "session.svg").write_text(recording(runs), encoding="utf-8")
        if shown((IMAGES / "session.svg").read_text(encoding="utf-8")) != runs:
            sys.exit("make-pictures.py: the recording does not show what was printed")
        photograph(folder / "digits" / "digits.dlc", IMAGES / "viewer.png")


main()
