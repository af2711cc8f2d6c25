#!/usr/bin/python3
"""Seeds for a fuzz target: tests/fuzz/make_seeds.py TARGET FOLDER. Nothing for targets that need none.

The fuzz_dlc_* get the containers of their version, of testdata/ and of the real ones, where these are to be had. Large
weights teach a fuzzer nothing and make it slow. So an entry of these over 64 KiB other than the model is left out; version 3
does not need its params, and containers without their weights are inputs like any other.

fuzz_run gets the graphs of graphs.txt, which have every operator, and containers; fuzz_round_trip containers and bytes of
which it makes graphs.

fuzz_tensorflow gets the graphs of the cases of tests/reference and some of functions and user-defined ops, fuzz_pbtxt some
short texts."""

import pathlib
import random
import struct
import sys
import zipfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "reference")]
import mutations  # noqa: E402
from checks import SHARED  # noqa: E402

TESTDATA = TESTS.parent / "testdata"
LARGE = 1 << 16
LARGEST_GRAPH = 1 << 13

TEXTS = (
    "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' value {\n"
    "shape { dim { size: -1 } dim { size: 3 name: \"n\" } } } } } # comment\nversions { producer: 0x1F }",
    "node < name: \"a\\303\\251\\x41\\u00e9\\U0001F600\\ud83d\\ude00\" 'b'; input: [ 'x', '^y' ], device: '/cpu:0' >",
    "node [ { attr { value { tensor { dtype: 1 float_val: [ 1, .5, -1e3f, inf, -nan ] half_val: 017 bool_val: [ t, false, 1 ]\n"
    "tensor_content: '\\000\\377\\n' uint64_val: 18446744073709551615 } } } }, { } ]",
    "meta_graphs { meta_info_def { tags: 'serve' [a.b/c.D] { e: f } } graph_def { library { function { signature { name: 'f'\n"
    "output_arg { name: 'y' type: DT_HALF } } ret { key: 'y' value: 'n:z:0' } } } } unknown: [ { a: -1 }, < > ] }",
)


def containers(folder, version=None):
    for path in [*sorted((SHARED / "corpus" / "dlc").glob("*.dlc")), *sorted(TESTDATA.glob("*.dlc"))]:
        data = path.read_bytes()
        entries = mutations.entries_of(data)
        model = next(data[entry.start:entry.start + entry.size] for entry in entries if entry.name == "model")
        if version and struct.unpack_from("<HH", model, 2) != version:
            continue
        with zipfile.ZipFile(folder / path.name, "w") as seed:
            for entry in entries:
                if entry.size <= LARGE or entry.name == "model":
                    seed.writestr(zipfile.ZipInfo(entry.name), data[entry.start:entry.start + entry.size])


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


def calls():
    """A call in a call, whose inner nodes have several outputs, and ops that the target's config claims."""
    import numpy as np
    from tf_writer import Func, Graph
    g = Graph()
    x = g.placeholder("x", np.float32, [2, 4])
    inner = g.function("inner", {"x": np.float32})
    parts = inner.node("Split", [inner.const(np.int32(0)), inner.args["x"]], num_split=2)
    scaled = inner.node("MyScale", [parts, inner.const(np.float32(2))], outputs={"out": np.float32}, alpha=0.5, axis=1)
    inner.returns(y=scaled, z=parts[1])
    outer = g.function("outer", {"a": np.float32})
    called = outer.node("inner", [outer.args["a"]], outputs={"y": np.float32, "z": np.float32})
    outer.returns(r=outer.node("AddV2", [called, called[1]]))
    y = g.node("PartitionedCall", [x], f=Func("outer"), Tin=[np.float32], Tout=[np.float32], outputs={"out": np.float32})
    split = g.node("MySplit", [y], outputs={"a": np.float32, "b": np.float32}, sizes=[1, 1])
    g.node("Softmax", [split[1]])
    return g


def graphs(folder):
    from case import cases_of, families
    for family in families():
        for number, case in enumerate(cases_of(family)):
            data = case.bytes()
            if len(data) <= LARGEST_GRAPH:
                (folder / f"{family}-{number}").write_bytes(data)
    (folder / "calls").write_bytes(calls().bytes())


def texts(folder):
    for number, text in enumerate(TEXTS):
        (folder / f"text-{number}").write_text(text)


def main():
    target, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    {"fuzz_dlc_v3": lambda folder: containers(folder, (3, 0)), "fuzz_dlc_v4_0": lambda folder: containers(folder, (4, 0)),
     "fuzz_dlc_v4_1": lambda folder: containers(folder, (4, 1)), "fuzz_round_trip": to_round_trip, "fuzz_run": to_run,
     "fuzz_tensorflow": graphs, "fuzz_pbtxt": texts}.get(target, lambda _: None)(folder)


main()
