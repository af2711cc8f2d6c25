# SPDX-License-Identifier: Apache-2.0
"""Symbolic links beside a model: those that lead out of its folder are refused, unless --follow_links is given, whatever file
of the model is one. What they led to is the same file, so the container must be the same."""

import json
import os
import pathlib
import shutil
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "jobs")]
import job_models  # noqa: E402
from checks import Checks, run  # noqa: E402

try:
    import numpy as np
    from tf_bundle_writer import save_bundle
    from tf_writer import Graph, Shape, meta_graph, save_meta_graph, save_saved_model, signature
except ImportError as error:
    if error.name != "numpy":
        raise
    np = None


def variable_graph():
    g = Graph()
    x = g.placeholder("x", np.float32, [1, 4])
    v = g.node("VariableV2", [], name="v", dtype=np.float32, shape=Shape([4]))
    y = g.node("Add", [x, g.node("Identity", [v])], name="y")
    return g, {"serving_default": signature({"x": (x, [1, 4])}, {"y": (y, [1, 4])})}


def external(folder):
    (folder / "data").mkdir()
    job_models.external_model(folder / "model.onnx", "data/w.bin")


def saved_model(folder):
    save_saved_model(folder, meta_graph(*variable_graph()))
    (folder / "variables").mkdir()
    save_bundle(folder / "variables" / "variables", {"v": np.ones(4, np.float32)})


def checkpoint(folder):
    save_meta_graph(folder / "model.meta", variable_graph()[0])
    save_bundle(folder / "model", {"v": np.ones(4, np.float32)})


# Command, what writes the model, what is given with -i, and the files and folders that may be links.
SHARD = "data-00000-of-00001"
MODELS = [
    ("onnx-to-dlc", external, "model.onnx", "onnx-external-path", ["data", "data/w.bin"]),
    ("tensorflow-to-dlc", saved_model, "", "model-folder",
     ["saved_model.pb", "variables", "variables/variables.index", f"variables/variables.{SHARD}"]),
    ("tensorflow-to-dlc", saved_model, "saved_model.pb", "model-folder",
     ["variables", "variables/variables.index", f"variables/variables.{SHARD}"]),
    ("tensorflow-to-dlc", checkpoint, "model.meta", "model-folder", ["model.index", f"model.{SHARD}"]),
]


class Conversion:
    def __init__(self, checks, base, name, write, given):
        self.checks, self.base, self.name, self.given = checks, base, name, given
        self.folder = base / "in" / "model"
        self.folder.mkdir(parents=True)
        write(self.folder)
        self.expected = self.convert("plain")

    def run(self, *options, cwd=None):
        """The path that is given, which is recorded, is always the same."""
        out = self.base / "out.dlc"
        out.unlink(missing_ok=True)
        path = f"model/{self.given}"
        return run(self.name, "-i", path, "-o", out, "--json", *options, cwd=cwd or self.folder.parent), out

    def convert(self, label, *options, cwd=None):
        done, out = self.run(*options, cwd=cwd)
        there = self.checks.check(label, done.returncode == 0 and out.exists(), done.stderr)
        return out.read_bytes() if there else None

    def same(self, label, *options, cwd=None):
        self.checks.check(f"{label}: the same container", self.convert(label, *options, cwd=cwd) == self.expected)

    def refused(self, label, code, *options, cwd=None):
        done, out = self.run(*options, cwd=cwd)
        errors = [d for d in map(json.loads, done.stderr.splitlines()) if d["severity"] == "error"]
        self.checks.equal(f"{label}: status", done.returncode, 1)
        self.checks.equal(f"{label}: errors", [d["code"] for d in errors], [code])
        self.checks.check(f"{label}: says so", errors and "leads out of the model's folder" in errors[0]["message"], done.stderr)
        self.checks.check(f"{label}: hint", errors and ("--follow_links" in errors[0]["hint"]), done.stderr)
        self.checks.check(f"{label}: no container", not out.exists())


def try_link(c, part, code):
    """Puts the part elsewhere, with a link in its place."""
    label = f"{c.name} {c.given or 'folder'}, {part}"
    here, outside = c.folder / part, c.base / "outside"
    inside = here.with_name("other")
    here.rename(inside)
    here.symlink_to("other")
    c.same(f"{label}, a link that stays")
    inside.rename(outside)
    for target in (outside, os.path.relpath(outside, here.parent)):
        here.unlink()
        here.symlink_to(target)
        c.refused(f"{label} -> {target}", code)
        c.same(f"{label} -> {target}, followed", "--follow_links")
    here.unlink()
    outside.rename(here)


def try_farm(c, code):
    """All files are links, as in the sandbox of a build system."""
    farm = c.base / "farm"
    shutil.copytree(c.folder, farm / "model", copy_function=lambda source, target: os.symlink(source, target))
    c.refused(f"{c.name} {c.given}, farm", code, cwd=farm)
    c.same(f"{c.name} {c.given}, farm, followed", "--follow_links", cwd=farm)


def try_paths(c):
    """What the command line names may be a link, and lead through links."""
    (c.base / "link").mkdir()
    (c.base / "link" / "model").symlink_to(c.folder)
    c.same(f"{c.name} {c.given}, the folder by a link", cwd=c.base / "link")
    if c.given:
        shutil.copytree(c.folder, c.base / "beside" / "model")
        given = c.base / "beside" / "model" / c.given
        given.unlink()
        given.symlink_to(c.folder / c.given)
        c.same(f"{c.name} {c.given}, the file is a link", cwd=c.base / "beside")


def try_text(checks, base):
    """Paths that the model itself gives never lead out."""
    folder = base / "model"
    (folder / "data").mkdir(parents=True)
    for location in ("../outside", str(base / "outside"), "data/../../outside"):
        job_models.external_model(folder / "model.onnx", location)  # writes the file, too
        done = run("onnx-to-dlc", "-i", folder / "model.onnx", "-o", base / "out.dlc", "--follow_links")
        checks.check(f"{location} is refused", done.returncode == 1 and "leads out of" in done.stderr, done.stderr)
        checks.check(f"{location}: no container", not (base / "out.dlc").exists())


def main():
    checks = Checks()
    for name, write, given, code, parts in MODELS:
        if name == "tensorflow-to-dlc" and np is None:
            checks.skip(f"{name} {given}", "python3-numpy is not there")
            continue
        with tempfile.TemporaryDirectory() as base:
            c = Conversion(checks, pathlib.Path(base).resolve(), name, write, given)
            for part in parts:
                try_link(c, part, code)
            try_farm(c, code)
            try_paths(c)
    with tempfile.TemporaryDirectory() as base:
        try_text(checks, pathlib.Path(base).resolve())
    checks.finish()


main()
