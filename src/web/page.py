#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the page that opens containers: that of dlc-viewer without a model, and the worker that reads containers.
usage: page.py OUT.html WORKER.js READER.js FRAME.html PAGE.html STYLE.css... SCRIPT.js..."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "report" / "viewer"))
from embed import MODEL, joined  # noqa: E402

# Nothing may be loaded or sent: all of the page is in the page. Workers of such a page keep to its policy.
POLICY = ("default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; worker-src blob:; style-src 'unsafe-inline'; "
          "img-src data:; connect-src 'none'; form-action 'none'; base-uri 'none'")


def replaced(text, pattern, by):
    text, count = re.subn(pattern, lambda _: by, text, flags=re.DOTALL)
    if count != 1:
        sys.exit(f"page.py: the page must have one {pattern}")
    return text


def main():
    out, worker, reader, *parts = sys.argv[1:]
    code = "\n".join(pathlib.Path(part).read_text(encoding="utf-8") for part in (worker, reader))
    if "</script" in code or "<!--" in code:
        sys.exit(f"page.py: {worker} and {reader} cannot stand in a page")
    text = joined(*parts)
    text = replaced(text, "content=\"default-src 'none'[^\"]*\"", f'content="{POLICY}"')
    text = replaced(text, re.escape(MODEL), "null")
    text = replaced(text, r"(?=<script>)", f'<script type="text/plain" id="worker">\n{code}</script>\n')
    pathlib.Path(out).write_text(text, encoding="utf-8")


main()
