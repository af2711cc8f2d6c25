# SPDX-License-Identifier: Apache-2.0
"""The faulty configs that docs/udo-config.md shows get exactly the diagnostics that it shows."""

import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SOURCE, Checks, run  # noqa: E402

PAIR = re.compile(r"```(json|xml)\n((?:(?!```).)*)```\n\n```text\n(.*?)```", re.DOTALL)


def main():
    checks = Checks()
    pairs = PAIR.findall((SOURCE / "docs" / "udo-config.md").read_text())
    checks.equal("kinds of the samples", [kind for kind, _, _ in pairs], ["json", "json", "xml"])
    for number, (kind, config, expected) in enumerate(pairs):
        with tempfile.TemporaryDirectory() as name:
            (pathlib.Path(name) / f"ops.{kind}").write_text(config)
            done = run("udo-check", f"ops.{kind}", "--quiet", cwd=name)
            checks.equal(f"sample {number}: status", done.returncode, 1)
            checks.equal(f"sample {number}: diagnostics", done.stderr, expected)
    slips = pairs[0][2]
    for words in ("trailing comma before '}'", "trailing comma before ']'", "missing comma", "unterminated string"):
        checks.check(f"the slips have {words!r}", words in slips)
    checks.finish()


main()
