#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Seeds for a fuzz target: tests/fuzz/make_seeds.py TARGET FOLDER. Nothing for targets that need none.

The fuzz_dlc_* get the containers of their version, of testdata/ and of the real ones, where these are to be had. Large
weights teach a fuzzer nothing and make it slow. So an entry of these over 64 KiB other than the model is left out; version 3
does not need its params, and containers without their weights are inputs like any other.

fuzz_run gets the graphs of graphs.txt, which have every operator, and containers; fuzz_round_trip containers and bytes of
which it makes graphs.

fuzz_tensorflow gets the graphs of the cases of tests/reference and some of functions and user-defined ops, fuzz_saved_model
folders of saved models in all their forms, fuzz_pbtxt some short texts."""

import pathlib
import random
import struct
import sys
import zipfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "reference"), str(TESTS / "tools")]
import dlc_writer  # noqa: E402
import mutations  # noqa: E402
import onnx_seeds  # noqa: E402
import small_seeds  # noqa: E402
import tf_seeds  # noqa: E402
from checks import SHARED  # noqa: E402

TESTDATA = TESTS.parent / "testdata"
LARGE = 1 << 16


def odd_graph():
    """What the vendor's quantizers do: data in another order than the attributes, supplemental tensors (one without data),
    data of nobody, halves in the room of floats, tensors that come together in one of another encoding."""
    g = dlc_writer.Graph("g")
    third, half = (8, 0.0, 85.0, 1 / 3, 0), (8, -5.0, 122.5, 0.5, -10)
    package = dlc_writer.text("packageName", "qti.aisw")
    g.tensor("x", dlc_writer.APP_WRITE, dlc_writer.UFXP_8, [2, 2], half)
    g.tensor("c", dlc_writer.STATIC, dlc_writer.FLOAT_16, [1, 2], data=struct.pack("<2e", 1, -2) + bytes(4))
    g.tensor("t", dlc_writer.NATIVE, dlc_writer.UFXP_8, [2, 2], [third, half], 1)
    g.tensor("y", dlc_writer.APP_READ, dlc_writer.UFXP_8, [3, 2], third)
    params = [dlc_writer.Numbers(name, [2], [1, 0], usage=usage) for name, usage in (("perm", 1), ("beta", 2), ("gamma", 2))]
    g.op("t", "Transpose", ["x"], ["t"], [*params, package])
    g.op("y", "Concat", ["t", "c"], ["y"], [dlc_writer.whole("axis", 0), package])
    g.op_data[0][0] = [g.op_data[0][0][2], g.op_data[0][0][0], {0: "nobody", 1: b"1234"}]
    return g


def odd_container(folder, version):
    path = folder / "odd.dlc"
    dlc_writer.write_container(path, odd_graph())
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            if name.startswith("model"):
                content = content[:2] + struct.pack("<HH", *version) + content[6:]
            archive.writestr(zipfile.ZipInfo(name), content)


def containers(folder, version):
    if version[0] == 4:
        odd_container(folder, version)
    for path in [*sorted((SHARED / "corpus" / "dlc").glob("*.dlc")), *sorted(TESTDATA.glob("*.dlc"))]:
        data = path.read_bytes()
        entries = {entry.name: data[entry.start:entry.start + entry.size] for entry in mutations.entries_of(data)
                   if entry.size <= LARGE or entry.name == "model"}
        found = struct.unpack_from("<HH", entries["model"], 2)
        if found != version and (found, version) != ((4, 0), (4, 1)):
            continue
        with zipfile.ZipFile(folder / path.name, "w") as seed:
            for name, content in entries.items():
                if name.startswith("model") and found != version:  # 4.0 is read alike, and there are more of these
                    content = content[:2] + struct.pack("<HH", *version) + content[6:]
                seed.writestr(zipfile.ZipInfo(name), content)


def locations(folder):
    paths = ("w", "data/w", "./data//deep/w", "in", "in2", "dir/w", "data/back", "data/round/w", "out", "data/out", "up/secret",
             "outdir/w", "abs", "absin", "root", "again", "gone", "self", "one", "pipe", "inpipe", "data", "../secret", "/w", ".")
    for number, path in enumerate(paths):
        for what, texts in (("", (path,)), ("-range", (path, "8", "", path, "12", "4"))):
            (folder / f"{number}{what}").write_bytes("\0".join(texts).encode())


def graph_texts(folder):
    """A graph begins with its name."""
    texts = (pathlib.Path(__file__).parent / "graphs.txt").read_text().split("graph \"")
    for number, rest in enumerate(texts[1:]):
        (folder / f"graph-{number}").write_text(f'graph "{rest}')


def to_run(folder):
    graph_texts(folder)
    containers(folder, (4, 0))


def to_round_trip(folder):
    rng = random.Random(0)
    containers(folder, (4, 0))
    for number in range(16):
        (folder / f"graph-{number}").write_bytes(rng.randbytes(50 << number % 5))


def main():
    target, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    makers = {
        "fuzz_dlc_v3": lambda folder: containers(folder, (3, 0)),
        "fuzz_dlc_v4_0": lambda folder: containers(folder, (4, 0)),
        "fuzz_dlc_v4_1": lambda folder: containers(folder, (4, 1)),
        "fuzz_external": locations,
        "fuzz_input_list": small_seeds.input_lists,
        "fuzz_onnx": onnx_seeds.write_models,
        "fuzz_pbtxt": tf_seeds.write_texts,
        "fuzz_round_trip": to_round_trip,
        "fuzz_run": to_run,
        "fuzz_saved_model": tf_seeds.write_saved_models,
        "fuzz_shape_rule": small_seeds.shape_rules,
        "fuzz_tensor_file": small_seeds.tensor_files,
        "fuzz_tensorflow": tf_seeds.write_graphs,
        "fuzz_udo_json": small_seeds.json_configs,
        "fuzz_udo_xml": small_seeds.xml_configs,
    }
    folder.mkdir(parents=True, exist_ok=True)
    makers.get(target, lambda _: None)(folder)


main()
