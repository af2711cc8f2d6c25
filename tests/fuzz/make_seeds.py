#!/usr/bin/python3
"""Seeds for a fuzz target: tests/fuzz/make_seeds.py TARGET FOLDER. Nothing for targets that need none.

fuzz_dlc gets real containers, where they are to be had. Large weights teach a fuzzer nothing and make it slow. So an entry
over 64 KiB other than the model is left out; version 3 does not need its params, and containers without their weights are
inputs like any other. testdata/ has one whole small container of each version.

fuzz_tensorflow gets the graphs of the cases of tests/reference and some of functions and user-defined ops, fuzz_saved_model
folders of saved models in all their forms, fuzz_pbtxt some short texts."""

import pathlib
import sys
import zipfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "reference")]
import mutations  # noqa: E402
import onnx_seeds  # noqa: E402
import small_seeds  # noqa: E402
import tf_seeds  # noqa: E402
from checks import SHARED  # noqa: E402

LARGE = 1 << 16


def containers(folder):
    for path in sorted((SHARED / "corpus" / "dlc").glob("*.dlc")):
        data = path.read_bytes()
        with zipfile.ZipFile(folder / path.name, "w") as seed:
            for entry in mutations.entries_of(data):
                if entry.size <= LARGE or entry.name == "model":
                    seed.writestr(zipfile.ZipInfo(entry.name), data[entry.start:entry.start + entry.size])


def locations(folder):
    paths = ("w", "data/w", "./data//deep/w", "in", "in2", "dir/w", "data/back", "data/round/w", "out", "data/out", "up/secret",
             "outdir/w", "abs", "absin", "root", "again", "gone", "self", "one", "pipe", "inpipe", "data", "../secret", "/w", ".")
    for number, path in enumerate(paths):
        for what, texts in (("", (path,)), ("-range", (path, "8", "", path, "12", "4"))):
            (folder / f"{number}{what}").write_bytes("\0".join(texts).encode())


def main():
    target, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    makers = {
        "fuzz_dlc": containers,
        "fuzz_external": locations,
        "fuzz_input_list": small_seeds.input_lists,
        "fuzz_onnx": onnx_seeds.write_models,
        "fuzz_pbtxt": tf_seeds.write_texts,
        "fuzz_saved_model": tf_seeds.write_saved_models,
        "fuzz_shape_rule": small_seeds.shape_rules,
        "fuzz_tensor_file": small_seeds.tensor_files,
        "fuzz_tensorflow": tf_seeds.write_graphs,
        "fuzz_udo_json": small_seeds.json_configs,
        "fuzz_udo_xml": small_seeds.xml_configs,
    }
    makers.get(target, lambda _: None)(folder)


main()
