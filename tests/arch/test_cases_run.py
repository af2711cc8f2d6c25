# SPDX-License-Identifier: Apache-2.0
"""Every case that is written runs: Check's cases are added to a suite, functions of test scripts are named by something.
Scripts that count checks fail when they made none, and totals of nothing are a failure, too."""

import ast
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SOURCE, Checks  # noqa: E402

CASE = re.compile(r"^START_TEST\((\w+)\)", re.MULTILINE)


def c_cases(checks):
    count = 0
    for path in sorted((SOURCE / "tests").glob("*/*.c")):
        text = path.read_text()
        for case in CASE.findall(text):
            count += 1
            checks.check(f"{path.name}: {case} is added", len(re.findall(rf"\b{case}\b", text)) > 1)
    checks.check("there are cases", count > 500, count)


def names_in(tree):
    """Names that the script reads, or looks up by their text."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def unnamed_functions(text):
    """Those that nothing in the script leads to. Scripts that look functions up by a prefix name that."""
    tree = ast.parse(text)
    names = set(names_in(tree))
    prefixes = tuple(name for name in names if name.endswith("_") and "globals()" in text)
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    return [name for name in functions if name not in names and not (prefixes and name.startswith(prefixes))]


def script_functions(checks):
    scripts = sorted((SOURCE / "tests").glob("*/test_*.py"))
    for path in scripts:
        checks.equal(f"{path.parent.name}/{path.name}: functions that nothing calls", unnamed_functions(path.read_text()), [])
    checks.check("there are scripts", len(scripts) > 80, len(scripts))
    checks.equal("one that nothing calls is found", unnamed_functions("def a():\n  pass\n\n\ndef b():\n  pass\n\n\nb()"), ["a"])


def nothing_is_a_failure(checks):
    script = "import sys; sys.path.insert(0, sys.argv[1]); import checks; checks.Checks().finish()"
    done = subprocess.run([sys.executable, "-c", script, SOURCE / "tests" / "support"], capture_output=True, text=True, check=False)
    checks.equal("status of a script without a check", done.returncode, 1)
    with tempfile.TemporaryDirectory() as folder:
        for output, totals in (("0 passed, 0 failed, 0 skipped\n", "0 passed, 1 failed, 0 skipped\n"),
                               ("100%: Checks: 0, Failures: 0, Errors: 0\n", "0 passed, 1 failed, 0 skipped\n"),
                               ("100%: Checks: 2, Failures: 0, Errors: 0\n", "2 passed, 0 failed, 0 skipped\n"),
                               ("0 passed, 0 failed, 3 skipped\n", "0 passed, 0 failed, 3 skipped\n")):
            log = pathlib.Path(folder, "log.json")
            log.write_text(json.dumps({"name": "t", "stdout": output, "result": "OK"}) + "\n")
            counted = subprocess.run([sys.executable, SOURCE / "scripts" / "count-tests.py", log], capture_output=True,
                                     text=True, check=False)
            checks.equal(f"totals of {output!r}", counted.stdout.splitlines()[-1] + "\n", totals)


def main():
    checks = Checks()
    for part in (c_cases, script_functions, nothing_is_a_failure):
        part(checks)
    checks.finish()


main()
