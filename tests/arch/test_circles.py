# SPDX-License-Identifier: Apache-2.0
"""No circle of files in a room has more than two units (scripts/circles.py says what a unit is)."""

import pathlib
import sys

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
sys.path[:0] = [str(SCRIPTS.parent / "tests" / "support"), str(SCRIPTS)]
from checks import BUILD, Checks  # noqa: E402
from circles import circles, circles_by_way, label  # noqa: E402

MOST = 2


def finds_them(checks):
    edges = {"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"e"}, "e": {"d"}, "f": {"a"}}
    checks.equal("circles of a graph", circles(edges), [["a", "b", "c"], ["d", "e"]])


def none_is_large(checks):
    for way, (found, edges) in circles_by_way(BUILD).items():
        checks.check(f"units lead to each other by {way}", sum(map(len, edges.values())) > 200)
        checks.equal(f"circles of more than {MOST} units", [label(way, circle) for circle in found if len(circle) > MOST], [])


def main():
    checks = Checks()
    finds_them(checks)
    none_is_large(checks)
    checks.finish()


main()
