# SPDX-License-Identifier: Apache-2.0
"""Each test of Meson's has a name of its own, so that `meson test NAME` is that test alone."""

import collections
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import BUILD, SOURCE, Checks  # noqa: E402


def main():
    checks = Checks()
    # Written when Meson configures: asking `meson introspect` would do so again.
    tests = json.loads((BUILD / "meson-info" / "intro-tests.json").read_text())
    times = collections.Counter(test["name"] for test in tests)
    checks.equal("names that several tests have", sorted(name for name in times if times[name] > 1), [])
    checks.check("there are tests", len(tests) > 200, len(tests))
    checks.check("docs/testing.md says so", "meson test -C BUILD NAME" in (SOURCE / "docs" / "testing.md").read_text())
    checks.finish()


main()
