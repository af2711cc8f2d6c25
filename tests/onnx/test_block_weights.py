# SPDX-License-Identifier: Apache-2.0
"""Weights with a scale per block: floats by default, the model's integers with --block_weights packed. Numbers are those that ONNX
Runtime computed (make_contrib.py), or NumPy."""

import pathlib
import tempfile

from contrib_quant_cases import CASES
from one_node import Case, Const, Const4, as_stored, convert, dlc_tools, execute, np, result, same, write_model
from checks import LONG, Checks

HERE = pathlib.Path(__file__).resolve().parent
PACKED = ("--block_weights", "packed")
REFERENCE, FAST = ("--backend", "reference"), ("--backend", "cpu", "reference")


def results(checks, name, folder, given, outputs, options, backend=REFERENCE):
    """(container, arrays by name of graph output) of folder/model.onnx; None: it failed."""
    case = Case(name, folder / "model.onnx", given, outputs)
    done, dlc = convert(case, folder, options=options)
    if not checks.check(f"convert {name} {options}", done.returncode == 0, done.stderr):
        return None, None
    checks.equal(f"others read {name} {options}", dlc_tools.refusal_of_some(dlc), None)
    done, container = execute(case, dlc, folder, options=backend)
    if not checks.check(f"execute {name} {options} {backend}", done.returncode == 0, done.stderr):
        return None, None
    return container, {output: result(folder, container, output) for output in outputs}


def types(container):
    return {t.dtype for t in container.tensors.values()}


def alike(checks, name, model, within, backends=(REFERENCE,)):
    """The packed form gives what is expected, and on the reference the bits of the float form; of halves, which a bias that is no
    part of a layer rounds once more, nearly. model: as write_model takes one."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        given = write_model(folder / "model.onnx", *model)
        outputs = {f"out{i}": array for i, array in enumerate(model[-1])}
        _, floats = results(checks, name, folder, given, outputs, ())
        for backend in backends:
            container, found = results(checks, name, folder, given, outputs, PACKED, backend)
            for output, array in outputs.items() if found else ():
                stored = as_stored(array, container.tensors[output])
                checks.check(f"{name} {backend}", same(found[output], stored, within), f"found {found[output].tolist()}")
                if backend == REFERENCE and floats:
                    rounded = 2**-10 if array.dtype == "f2" else 0
                    checks.check(f"{name}: the bits of floats", same(found[output], floats[output], rounded), found[output].tolist())
        return container


def test_onnxruntime(checks):
    arrays = np.load(HERE / "contrib_quant.npz")
    for node in CASES:
        if not node.op.endswith(("MatMulNBits", "GatherBlockQuantized")):
            continue
        checks.check(f"numbers of {node.name}", f"{node.name}|{node.digest()}" in arrays["digests"], "run make_contrib.py")
        expected = [arrays[f"{node.name}|{i}"] for i in range(node.compared)]
        container = alike(checks, node.name, (node.opset, node.op, node.inputs, node.attributes, expected), node.within,
                          (REFERENCE, FAST))
        bits = node.attributes.get("bits", 4)
        checks.check(f"{node.name}: stored", container and ("UFXP_8" if bits == 8 else "UFXP_4") in types(container) or "i1" in node.name and
                     "SFXP_4" in types(container), container and types(container))


def blocked(r, shape, axis, block, kind, bits):
    """Integers, scales and zero points, and the reals."""
    low = -(1 << bits - 1) if kind == "i1" else 0
    counts = list(shape)
    counts[axis] = -(-shape[axis] // block)
    q, zero = (r.randint(low, low + (1 << bits), size).astype(kind) for size in (shape, counts))
    scale = r.randint(1, 9, counts).astype("f4") / 8

    def wide(t):
        return np.take(np.repeat(t, block, axis), range(shape[axis]), axis)

    return q, scale, zero, (q.astype("f4") - wide(zero)) * wide(scale), q.astype("f4") * wide(scale)


def test_dequantize(checks):
    """Whole blocks and a shorter last one, along each axis."""
    r = np.random.RandomState(1)
    for kind, bits in (("i1", 4), ("u1", 4), ("i1", 8), ("u1", 8)):
        const = Const4 if bits == 4 else Const
        for shape, axis, block in (((5, 8), 1, 4), ((6, 3), 0, 2), ((3, 7, 2), 1, 3)) if LONG or bits == 4 else (((5, 8), 1, 4),):
            q, scale, zero, centred, plain = blocked(r, shape, axis, block, kind, bits)
            for zeros, expected in ((const(zero, kind), centred), (None, plain)):
                name = f"{kind} of {bits} bits {shape}, blocks of {block} along {axis}, {zeros is not None=}"
                inputs, more = [const(q, kind), Const(scale, "f4"), zeros], {"axis": axis, "block_size": block}
                container = alike(checks, name, (21, "DequantizeLinear", inputs, more, [expected]), 0)
                stored = f"{'S' if kind == 'i1' else 'U'}FXP_{bits}"
                checks.check(f"{name}: stored", container and stored in types(container), container and types(container))


def test_groups(checks):
    """The scale of a column is that of its group; halves are scaled as floats."""
    r = np.random.RandomState(3)
    for bits, kind, columns, more in ((4, "f4", 40, 0), (4, "f4", 40, 8), (8, "f4", 48, 0), (2, "f4", 40, 0), (4, "f2", 48, 0)):
        x, q = (r.randint(-8, 9, (2, columns)) / 4).astype(kind), r.randint(0, 1 << bits, (5, 48))
        scale, zero = (2.0**r.randint(-3, 2, (5, 3))).astype(kind), (r.randint(0, 9, (5, 3)) / 2).astype(kind)
        group = r.randint(0, 3, columns + more).astype("i4")
        per_byte = 8 // bits
        data = sum(q[:, i::per_byte] << i * bits for i in range(per_byte)).astype("u1").reshape(5, 3, 2 * bits)
        w = (q[:, :columns] - zero[:, group[:columns]].astype("f4")) * scale[:, group[:columns]]
        inputs = [x, Const(data, "u1"), Const(scale, kind), Const(zero, kind), Const(group, "i4")]
        attributes = {"K": columns, "N": 5, "bits": bits, "block_size": 16}
        alike(checks, f"groups, {bits} bits, {kind}, {columns}+{more}", (17, "com.microsoft::MatMulNBits", inputs, attributes, [(x @ w.T).astype(kind)]),
              2e-3 if kind == "f2" else 1e-6)


def test_sizes(checks):
    """A container is at most 1.1 times as large as a model whose blocks are of 32 and more."""
    r = np.random.RandomState(4)
    rows, columns = 512, 768
    for bits, block, zeros in ((4, 32, False), (4, 32, True), (4, 128, True), (8, 32, True), (2, 32, False)):
        blocks = columns // block
        inputs = [r.randint(-8, 9, (2, columns)).astype("f4"), Const(r.randint(0, 256, (rows, blocks, block * bits // 8)), "u1"),
                  Const(r.randint(1, 9, (rows, blocks)) / 8, "f4")]
        if zeros:
            inputs.append(Const(r.randint(0, 256, (rows, blocks * bits // 8)), "u1"))
        attributes = {"K": columns, "N": rows, "bits": bits, "block_size": block}
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            write_model(folder / "model.onnx", 17, "com.microsoft::MatMulNBits", inputs, attributes, [np.zeros((2, rows), "f4")])
            done, dlc = convert(Case("size", folder / "model.onnx", {}, {}), folder, options=(*PACKED, "--json"))
            checks.equal(f"size {bits} {block} {zeros}: status", done.returncode, 0)
            of_model, of_container = ((folder / name).stat().st_size for name in ("model.onnx", "model.dlc"))
            most = 1.75 if bits == 2 else 1.1  # two bits are stored as four
            checks.check(f"size, {bits} bits, blocks of {block}, {zeros=}", of_container <= most * of_model, of_container / of_model)
            done, _ = convert(Case("size", folder / "model.onnx", {}, {}), folder, options=("--debug",))
            checks.check(f"note, {bits} bits", "--block_weights packed" in done.stderr, done.stderr)
            checks.check(f"floats, {bits} bits", (folder / "model.dlc").stat().st_size > 4 * rows * columns, "they are not there")


def test_refused(checks):
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        write_model(folder / "model.onnx", 17, "Relu", [np.zeros(3, "f4")], {}, [np.zeros(3, "f4")])
        (folder / "none.json").write_text('{"activation_encodings": {}, "param_encodings": {}}')
        for options, message in ((("--block_weights", "int4"), "there is no such form"),
                                 ((*PACKED, "--dequantize_weights"), "--dequantize_weights leaves none"),
                                 ((*PACKED, "--qdq", "encodings"), "--qdq encodings leaves none"),
                                 ((*PACKED, "--quantization_overrides", folder / "none.json"), "--quantization_overrides leaves none")):
            done, _ = convert(Case("refused", folder / "model.onnx", {}, {}), folder, options=options)
            checks.check(f"{options} are refused", done.returncode != 0 and message in done.stderr, done.stderr)


def main():
    checks = Checks()
    if np is None:
        checks.skip("weights with a scale per block", "python3-numpy is not there")
        checks.finish()
    for test in (test_onnxruntime, test_dequantize, test_groups, test_sizes, test_refused):
        test(checks)
    checks.finish()


main()
