# SPDX-License-Identifier: Apache-2.0
"""scripts/changed-sources.py: sources that differ, and those that include what does; all when nobody knows."""

import contextlib
import importlib.util
import io
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from checks import BUILD, Checks  # noqa: E402


def script():
    spec = importlib.util.spec_from_file_location("changed_sources", ROOT / "scripts" / "changed-sources.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def chosen(module, base, changed):
    """What it prints when those files differ from that commit."""
    module.landed, module.changed_files = lambda: base, lambda _: set(changed)
    module.sys = type("Sys", (), {"argv": ["changed-sources.py", str(BUILD)], "stderr": io.StringIO()})
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        module.main()
    return output.getvalue().split()


def main():
    checks, module = Checks(), script()
    every = sorted(path.relative_to(ROOT).as_posix() for folder in ("src", "converters") for path in (ROOT / folder).rglob("*.c"))
    checks.equal("nothing has changed", chosen(module, "abc", []), [])
    checks.equal("a test has changed", chosen(module, "abc", ["tests/ir/test_ir.c", "docs/testing.md"]), [])
    checks.equal("a source has changed", chosen(module, "abc", ["src/ir/npy.c"]), ["src/ir/npy.c"])
    readers = chosen(module, "abc", ["src/ir/npy.h"])
    including = [name for name in every if '#include "ir/npy.h"' in (ROOT / name).read_text()]
    checks.check("those that include a header", set(including) <= set(readers) and len(readers) < len(every) / 4, readers)
    checks.check("there are some", including)
    for name in ("meson.build", ".clang-tidy", "scripts/analyze.sh", "proto/onnx.proto"):
        checks.equal(f"{name} has changed", chosen(module, "abc", [name]), every)
    checks.equal("no landed commit is known", chosen(module, None, []), every)
    checks.finish()


main()
