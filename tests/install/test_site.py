# SPDX-License-Identifier: Apache-2.0
"""The site of the documentation is made without a warning and without dead links; all guides, manual pages and functions are in it."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import BUILD, COMMAND_FOLDERS, SOURCE, Checks  # noqa: E402

TOOLS = ("doxygen", "mandoc", "pandoc")


def check_pages(checks, site):
    for guide in sorted((SOURCE / "docs").glob("*.md")):
        checks.check(f"guide {guide.stem}", (site / "docs" / f"{guide.stem}.html").is_file())
    for command in COMMAND_FOLDERS:
        page = site / "man" / f"{command}.1.html"
        checks.check(f"manual of {command}", page.is_file() and "--help" in re.sub(r"<[^>]+>", "", page.read_text()).replace("\u2010", "-"))


def check_reference(checks, site):
    """Every function of the public headers has its place in the reference, with a text of its own."""
    headers = "".join(path.read_text() for path in sorted((SOURCE / "include" / "opendlc").glob("*.h")))
    functions = set(re.findall(r"^ODLC_API[^;(]*?(\w+)\(", headers, re.MULTILINE))
    reference = "".join(page.read_text() for page in (site / "api").glob("*_8h.html"))
    checks.equal("functions without a place", [f for f in sorted(functions) if f"&#9670;&nbsp;</a></span>{f}()" not in reference], [])
    checks.check("the example is on the first page", "odlc_conversion_summary" in (site / "api" / "index.html").read_text())
    options = (site / "api" / "structodlc__convert__options.html").read_text()
    checks.check("options of a conversion have their texts", "descriptions of user-defined ops, JSON or XML" in options)


def check_dead_link(checks, folder):
    """A link that leads nowhere is an error: in a copy of the documentation."""
    for name in ("docs", "include", "examples", "scripts"):
        shutil.copytree(SOURCE / name, folder / name)
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE"):
        shutil.copy(SOURCE / name, folder / name)
    with (folder / "docs" / "limits.md").open("a") as file:
        file.write("\n[nowhere](nowhere.md) [no place](security.md#no-such-place)\n")
    done = subprocess.run([sys.executable, folder / "scripts" / "make-site.py", BUILD, folder / "site"], capture_output=True, text=True, check=False)
    checks.equal("status with dead links", done.returncode, 1)
    for link in ("docs/limits.html: nowhere.md", "docs/limits.html: ../docs/security.html#no-such-place"):
        checks.check(f"named: {link}", f"dead link: {link}\n" in done.stderr, done.stderr)


def main():
    checks = Checks()
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        checks.skip("the site", f"{', '.join(missing)} not installed")
        checks.finish()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        site = folder / "site"
        done = subprocess.run([sys.executable, SOURCE / "scripts" / "make-site.py", BUILD, site], capture_output=True, text=True, check=False)
        checks.equal("the site is made", (done.returncode, done.stderr), (0, ""))
        check_pages(checks, site)
        check_reference(checks, site)
        check_dead_link(checks, folder / "copy")
    checks.finish()


main()
