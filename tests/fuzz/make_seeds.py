#!/usr/bin/python3
"""Seeds for a fuzz target: tests/fuzz/make_seeds.py TARGET FOLDER. Nothing for targets that need none.

fuzz_dlc gets real containers, where they are to be had. Large weights teach a fuzzer nothing and make it slow. So an entry
over 64 KiB other than the model is left out; version 3 does not need its params, and containers without their weights are
inputs like any other. testdata/ has one whole small container of each version.

fuzz_tensorflow gets the graphs of the cases of tests/reference and some of functions and user-defined ops, fuzz_pbtxt some
short texts."""

import pathlib
import sys
import zipfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "reference")]
import mutations  # noqa: E402
import small_seeds  # noqa: E402
from checks import SHARED  # noqa: E402

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


def containers(folder):
    for path in sorted((SHARED / "corpus" / "dlc").glob("*.dlc")):
        data = path.read_bytes()
        with zipfile.ZipFile(folder / path.name, "w") as seed:
            for entry in mutations.entries_of(data):
                if entry.size <= LARGE or entry.name == "model":
                    seed.writestr(zipfile.ZipInfo(entry.name), data[entry.start:entry.start + entry.size])


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
    makers = {
        "fuzz_dlc": containers,
        "fuzz_input_list": small_seeds.input_lists,
        "fuzz_pbtxt": texts,
        "fuzz_shape_rule": small_seeds.shape_rules,
        "fuzz_tensor_file": small_seeds.tensor_files,
        "fuzz_tensorflow": graphs,
        "fuzz_udo_json": small_seeds.json_configs,
        "fuzz_udo_xml": small_seeds.xml_configs,
    }
    makers.get(target, lambda _: None)(folder)


main()
