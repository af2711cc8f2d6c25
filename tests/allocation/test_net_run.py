# SPDX-License-Identifier: Apache-2.0
"""Every allocation of net-run fails. What it had written before is whole. The backend is the reference: where memory runs
out within oneDNN, that ends the process."""

import struct

from allocations import main
import models


def make_inputs(folder):
    for name, count in (("x", 32), ("n", 3)):
        (folder / f"{name}.raw").write_bytes(struct.pack(f"<{count}f", *models.floats(count, name)))
    (folder / "list.txt").write_text("x:=x.raw n:=n.raw\nn:=n.raw x:=x.raw\n")
    (folder / "single.txt").write_text("x:=x.raw\n")


def executed(bench, model, inputs, *options):
    bench.every("net-run", "--container", f"{model}.dlc", "--input_list", inputs, "--output_dir", "out", "--backend", "reference", *options,
                pieces=True)


def floats(bench):
    make_inputs(bench.folder)
    models.plain(bench.folder)
    bench.prepare("onnx-to-dlc", "-i", "plain.onnx")
    executed(bench, "plain", "list.txt")
    executed(bench, "plain", "list.txt", "--debug")
    executed(bench, "plain", "list.txt", "--set_output_tensors", "b,f", "--iterations", "2")


def quantized(bench):
    make_inputs(bench.folder)
    models.quantized(bench.folder)
    bench.prepare("onnx-to-dlc", "-i", "quantized.onnx")
    executed(bench, "quantized", "single.txt")
    executed(bench, "quantized", "single.txt", "--use_native_output_files", "--debug")


main(floats, quantized)
