#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the documentation as a site: README, the guides of docs/, the manual pages of a build, the reference of the C API.
usage: make-site.py BUILD OUT     needs pandoc, mandoc and doxygen (scripts/install-packages.sh docs); OUT/index.html is the first page"""

import html
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
STYLE = """
body { margin: 0 auto; max-width: 60rem; padding: 1rem 2rem; font: 16px/1.55 system-ui, sans-serif; color: #1c2128; background: #fff; }
nav { border-bottom: 1px solid #d0d7de; padding-bottom: .5rem; margin-bottom: 1rem; } nav a { margin-right: 1rem; }
a { color: #0b57d0; } pre { background: #f3f4f6; padding: .7rem 1rem; overflow-x: auto; font-size: 13px; line-height: 1.4; }
code { font-family: ui-monospace, monospace; font-size: .92em; } pre code { font-size: inherit; }
table { border-collapse: collapse; display: block; overflow-x: auto; } th, td { border: 1px solid #d0d7de; padding: .3rem .6rem; text-align: left; }
@media (prefers-color-scheme: dark) { body { background: #14171b; color: #e3e6ea; } pre { background: #20252b; } a { color: #8ab4f8; } }
"""
PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title>
<link rel="stylesheet" href="{up}style.css"></head>
<body>
<nav><a href="{up}index.html">OpenDLC</a><a href="{up}index.html#documentation">Guides</a><a href="{up}manual.html">Manual</a><a href="{up}api/index.html">C API</a></nav>
{body}
</body>
</html>
"""
LINK = re.compile(r'(href|src)="([^"#:]*)(#[^"]*)?"')


def pages():
    """{file of the project: page of the site} of what the site shows."""
    found = {ROOT / "README.md": "index.html", **{ROOT / f"{name}.md": f"{name}.html" for name in ("CONTRIBUTING", "CHANGELOG")}}
    return found | {path: f"docs/{path.stem}.html" for path in sorted((ROOT / "docs").glob("*.md"))}


def write_page(out, name, title, body):
    path = out / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(PAGE.format(title=html.escape(title), up="../" * name.count("/"), body=body), encoding="utf-8")


def linked(source, page, target, known):
    """Where a link of a source leads in the site. What is no page of the site is copied into it."""
    path = (source.parent / target).resolve()
    up = "../" * page.count("/")
    if path in known:
        return up + known[path]
    if re.fullmatch(r"[\w-]+\.1", path.name):
        return f"{up}man/{path.name}.html"
    return up + "files/" + path.relative_to(ROOT).as_posix() if path.exists() else target


def copy_into(out, name):
    """A file that is no page, or a folder of them."""
    place = out / "files" / name
    place.parent.mkdir(parents=True, exist_ok=True)
    if (ROOT / name).is_dir():
        shutil.copytree(ROOT / name, place, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copyfile(ROOT / name, place)


def write_guides(out):
    known = pages()
    for source, page in known.items():
        body = subprocess.run(["pandoc", "--from", "gfm", "--to", "html", "--no-highlight", source],
                              capture_output=True, text=True, check=True).stdout

        def replace(link, source=source, page=page):
            attribute, target, anchor = link.groups()
            if target:
                found = linked(source, page, target, known)
                if "files/" in found:
                    copy_into(out, found.split("files/", 1)[1])
                target = found
            return f'{attribute}="{target}{anchor or ""}"'

        title = re.search(r"<h1[^>]*>(.*?)</h1>", body, re.DOTALL)
        write_page(out, page, re.sub(r"<[^>]+>", "", title[1]) if title else page, LINK.sub(replace, body))


def write_manual(out, build):
    rows = []
    for page in sorted((build / "docs").glob("*.1")):
        body = subprocess.run(["mandoc", "-T", "html", "-O", "fragment,man=%N.%S.html", page], capture_output=True, text=True,
                              check=True).stdout
        write_page(out, f"man/{page.name}.html", page.stem, body)
        what = re.search(r"^\w[\w-]* \\- (.*)$", page.read_text(), re.MULTILINE)
        rows.append(f'<li><a href="man/{page.name}.html">{page.stem}</a>: {html.escape(what[1] if what else "")}</li>')
    if not rows:
        sys.exit(f"make-site.py: no manual pages in {build / 'docs'}: build it first")
    write_page(out, "manual.html", "Manual", "<h1>Manual</h1>\n<ul>\n" + "\n".join(rows) + "\n</ul>")


def dead_links(out):
    """Links of the site's own pages that lead to no file, or to no place in it."""
    ids = {path: set(re.findall(r'\bid="([^"]+)"', path.read_text(encoding="utf-8"))) for path in out.rglob("*.html")
           if "api" not in path.relative_to(out).parts}
    for path in ids:
        for _, target, anchor in LINK.findall(path.read_text(encoding="utf-8")):
            place = (path.parent / target).resolve() if target else path
            if not place.exists():
                yield f"{path.relative_to(out)}: {target}"
            elif anchor and place in ids and html.unescape(anchor[1:]) not in ids[place]:
                yield f"{path.relative_to(out)}: {target}{anchor}"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    missing = [tool for tool in ("pandoc", "mandoc", "doxygen") if not shutil.which(tool)]
    if missing:
        sys.exit(f"make-site.py: {', '.join(missing)} not installed (scripts/install-packages.sh docs)")
    build, out = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    (out / "style.css").write_text(STYLE)
    write_guides(out)
    write_manual(out, build)
    subprocess.run([sys.executable, ROOT / "docs" / "make_api.py", out / "api"], check=True)
    dead = list(dead_links(out))
    for link in dead:
        print(f"make-site.py: dead link: {link}", file=sys.stderr)
    print(out / "index.html")
    sys.exit(1 if dead else 0)


main()
