# SPDX-License-Identifier: Apache-2.0
"""Integers of four bits, two in a byte: what is stored, that readers take it, and that numbers are those of unpacked ones."""

import tempfile

from quantizing import FLOAT, Bench, Model, np, stored
from checks import Checks, run


def layers(rng):
    """x → Conv of 5 channels → FullyConnected of 3 features of 45 → y: rows of odd lengths."""
    m = Model(opset=13)
    for name, shape in (("v", [5, 3, 1, 1]), ("g", [3, 45])):
        m.tensor(name, FLOAT, shape, rng.uniform(-1, 1, shape).astype("f4").ravel().tolist())
    m.input("x", FLOAT, [1, 3, 3, 3])
    m.node("Conv", ["x", "v"], ["c"])
    m.node("Flatten", ["c"], ["f"])
    m.node("Gemm", ["f", "g"], ["y"], transB=1)
    m.output("y", FLOAT, [1, 3])
    return m


def packed(rows):
    """Each row by itself, the first of two in the low half."""
    found = b""
    for row in rows:
        halves = [int(value) & 15 for value in row] + [0] * (len(row) % 2)
        found += bytes(low | high << 4 for low, high in zip(halves[::2], halves[1::2]))
    return found


def both(b, *options):
    plain = b.quantize("--weights_bitwidth", "4", *options)
    expected = b.results(b.path("q.dlc"), "--use_native_output_files")
    shown = run("dlc-info", "-i", b.path("q.dlc")).stdout
    q = b.quantize("--weights_bitwidth", "4", "--pack_4_bit_weights", *options)
    for name in ("v", "g_permute"):
        wide = stored(plain.tensors[name])
        rows = wide.reshape(-1, wide.shape[-1]) if options else wide.reshape(1, -1)
        b.checks.equal(f"{name} {options}", (q.tensors[name].dtype, q.tensors[name].data),
                       ("SFXP_4" if options else "UFXP_4", packed(rows)))
    for backend in ("reference", "cpu"):
        found = b.results(b.path("q.dlc"), "--use_native_output_files", "--backend", *dict.fromkeys((backend, "reference")))
        b.checks.equal(f"results of {backend} {options}", [line["y.raw"].tolist() for line in found],
                       [line["y.raw"].tolist() for line in expected])
    info = run("dlc-info", "-i", b.path("q.dlc"))
    b.checks.equal(f"report {options}", (info.returncode, info.stdout.count("\n")), (0, shown.count("\n")))


def main():
    checks = Checks()
    checks.equal("the public example", packed([(10, 4)]), bytes([0b01001010]))
    with tempfile.TemporaryDirectory() as folder:
        b = Bench(checks, folder)
        rng = np.random.default_rng(8)
        b.convert(layers(rng))
        b.inputs(rng.uniform(-1, 1, (1, 3, 3, 3)))
        both(b)
        both(b, "--use_per_channel_quantization", "--use_per_row_quantization")
    checks.finish()


main()
