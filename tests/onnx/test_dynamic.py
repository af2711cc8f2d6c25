# SPDX-License-Identifier: Apache-2.0
"""Models that quantize while they run: products of floats by default, the model's own integers with --keep_integer_ops."""

import pathlib
import tempfile

from one_node import Case, Const, convert, gives, np, refuses, run_model
from checks import Checks
from onnx_writer import FLOAT, INT8, INT32, UINT8, Model
from quantized_models import f4, quantized, spread

KEPT, DEQUANTIZED = ("--keep_integer_ops",), ("--io_layout", "model", "--dequantize_weights")


def dynamic(x):
    """What DynamicQuantizeLinear gives: integers, scale, zero point."""
    top, bottom = np.maximum(x.max(), f4(0)), np.minimum(x.min(), f4(0))
    scale = (top - bottom) / f4(255)
    zero = np.clip(np.round(0 - bottom / scale), 0, 255).astype("u1")
    return quantized(x, scale, zero, "u1"), scale, zero


def ops(container):
    return container and [o.type for o in container.ops]


def weights(container):
    """The type of the layer's."""
    layer = container and next(o for o in container.ops if o.type in ("FullyConnected", "Conv2d"))
    return layer and container.tensors[layer.inputs[1]].dtype


def product(x, w, w_zero, w_scale, op="MatMulInteger", bias=None, swapped=False, apart=False, **attributes):
    """x → DynamicQuantizeLinear → op → Cast → Mul by both scales [→ Add] → y"""
    m = Model(opset=13)
    m.input("x", FLOAT, x.shape)
    m.tensor("w", INT8 if w.dtype.kind == "i" else UINT8, w.shape, raw=w.tobytes())
    m.tensor("w_zero", INT8 if w.dtype.kind == "i" else UINT8, np.shape(w_zero), np.ravel(w_zero).tolist())
    m.tensor("w_scale", FLOAT, np.shape(w_scale), np.ravel(w_scale).tolist())
    m.node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"])
    m.node(op, ["q", "w", "z", "w_zero"], ["sum"], **attributes)
    m.node("Cast", ["sum"], ["wide"], to=FLOAT)
    if apart:
        m.node("Mul", ["wide", "s"], ["half"])
        m.node("Mul", ["half", "w_scale"], ["scaled" if bias is not None else "y"])
    else:
        m.node("Mul", ["w_scale", "s"] if swapped else ["s", "w_scale"], ["both"])
        m.node("Mul", ["both", "wide"] if swapped else ["wide", "both"], ["scaled" if bias is not None else "y"])
    if bias is not None:
        m.tensor("bias", FLOAT, bias.shape, raw=bias.tobytes())
        m.node("Add", ["scaled", "bias"], ["y"])
    return m


def exact(x, w, w_zero, w_scale):
    q, scale, zero = dynamic(x)
    total = (q.astype("i4") - zero) @ (w.astype("i4") - np.asarray(w_zero, "i4"))
    return total.astype("f4") * (scale * f4(w_scale))


def test_products(checks):
    rng = np.random.default_rng(1)
    for i, (columns, swapped, apart, biased) in enumerate(((False, False, False, False), (True, True, False, True),
                                                           (False, False, True, True), (True, False, False, False))):
        x, w = spread(rng, 2, 3, 12), rng.integers(-128, 127, (12, 5)).astype("i1")
        w_zero = rng.integers(-9, 9, 5 if columns else ()).astype("i1")
        w_scale = spread(rng, *([5] if columns else []), low=0.01, high=0.1)
        bias = spread(rng, 5) if biased else None
        m = product(x, w, w_zero, w_scale, bias=bias, swapped=swapped, apart=apart)
        m.output("y", FLOAT, [2, 3, 5])
        more = 0 if bias is None else bias
        floats = x.astype("f8") @ ((w.astype("f8") - w_zero) * w_scale) + more
        c = run_model(checks, f"float product {i}", m, {"x": x}, {"y": floats.astype("f4")}, ("--io_layout", "model"), 2e-6 * np.abs(floats).max())
        checks.equal(f"float product {i}: ops", ops(c), ["Reshape", "FullyConnected", "Reshape"])
        centred = w.astype("i4") - w_zero
        checks.equal(f"float product {i}: weights", weights(c), "SFXP_8" if -128 <= centred.min() and centred.max() < 128 else "UFXP_8")
        c = run_model(checks, f"dequantized product {i}", m, {"x": x}, {"y": floats.astype("f4")}, DEQUANTIZED, 2e-6 * np.abs(floats).max())
        checks.equal(f"dequantized product {i}: weights", weights(c), "FLOAT_32")
        c = run_model(checks, f"kept product {i}", m, {"x": x}, {"y": exact(x, w, w_zero, w_scale) + more}, KEPT, 1e-5)
        checks.check(f"kept product {i}: integers", c and any(t.dtype == "INT_32" for t in c.tensors.values()), ops(c))


def test_zeros_of_columns(checks):
    """Bytes with a zero point per column, which span more than a byte together, stay bytes."""
    rng = np.random.default_rng(5)
    x, w, zero = spread(rng, 2, 80), rng.integers(0, 256, (80, 6)).astype("u1"), (np.arange(6) * 50).astype("u1")
    w[0], w[1], scale = 255, 0, spread(rng, 6, low=0.01, high=0.1)
    m = product(x, w, zero, scale)
    m.output("y", FLOAT, [2, 6])
    floats = x.astype("f8") @ ((w.astype("f8") - zero) * scale)
    c = run_model(checks, "zero points of columns", m, {"x": x}, {"y": floats.astype("f4")}, step=2e-6 * np.abs(floats).max())
    checks.equal("zero points of columns: weights", weights(c), "UFXP_8")
    layer = c and next(o for o in c.ops if o.type == "FullyConnected")
    encodings = layer and c.tensors[layer.inputs[1]].encodings
    checks.equal("zero points of columns: encodings", encodings and [f4(s) for s, _ in encodings], list(scale))
    checks.equal("zero points of columns: zero points", encodings and [-offset for _, offset in encodings], zero.tolist())


def test_conv(checks):
    rng = np.random.default_rng(2)
    x, w = spread(rng, 1, 3, 6, 5), rng.integers(0, 255, (4, 3, 1, 1)).astype("u1")
    m = product(x, w, np.uint8(100), f4(0.03), "ConvInteger")
    m.output("y", FLOAT, [1, 4, 6, 5])
    floats = np.einsum("nchw,oc->nohw", x.astype("f8"), (w[:, :, 0, 0].astype("f8") - 100) * np.float32(0.03))
    c = run_model(checks, "float conv", m, {"x": x}, {"y": floats.astype("f4")}, step=2e-6 * np.abs(floats).max())
    checks.equal("float conv: ops", ops(c), ["Conv2d"])
    checks.equal("float conv: weights", weights(c), "UFXP_8")


def test_stored_integers(checks):
    """Large weights of integer products are bytes in the container, with the numbers of the model; those that span more than a byte
    are not."""
    rng = np.random.default_rng(7)
    x, columns = spread(rng, 2, 40), np.arange(30) * 8
    for kind, zero, stored in (("i1", np.int8(0), "INT_8"), ("u1", np.uint8(0), "UINT_8"), ("u1", np.uint8(128), "INT_8"),
                               ("u1", np.uint8(100), "UINT_8"), ("i1", np.int8(5), "UINT_8"), ("u1", columns.astype("u1"), "INT_32")):
        info = np.iinfo(kind)
        w = rng.integers(info.min, info.max + 1, (40, 30)).astype(kind)
        w[0, :2] = info.min, info.max
        m, name = product(x, w, zero, f4(0.02)), f"stored {kind} {np.ravel(zero)[-1]}"
        m.output("y", FLOAT, [2, 30])
        c = run_model(checks, name, m, {"x": x}, {"y": exact(x, w, zero, f4(0.02))}, KEPT, 1e-5)
        computed = c and {name for o in c.ops for name in o.outputs}
        found = c and [t.dtype for t in c.tensors.values() if t.dims == [40, 30] and t.name not in computed]
        checks.equal(name, found, [stored])
    image, w = spread(rng, 1, 3, 6, 5), rng.integers(-128, 128, (64, 3, 3, 3)).astype("i1")
    q, scale, zero = dynamic(image)
    windows = np.lib.stride_tricks.sliding_window_view(q.astype("i4") - zero, (3, 3), (2, 3))
    total = np.einsum("nchwij,ocij->nohw", windows, w.astype("i4"))
    m = product(image, w, np.int8(0), f4(0.02), "ConvInteger")
    m.output("y", FLOAT, [1, 64, 4, 3])
    c = run_model(checks, "stored filter", m, {"x": image}, {"y": total.astype("f4") * (scale * f4(0.02))}, KEPT, 1e-4)
    checks.check("stored filter", c and any(t.dtype == "INT_8" and t.dims == [3, 3, 3, 64] for t in c.tensors.values()), ops(c))


def test_integers_in_use(checks):
    """Who reads the sums, or scales them by something else, gets the model's integers."""
    rng = np.random.default_rng(3)
    x, w = spread(rng, 2, 12), rng.integers(-128, 127, (12, 5)).astype("i1")
    q, scale, zero = dynamic(x)
    total = (q.astype("i4") - zero) @ w.astype("i4")
    m = product(x, w, np.int8(0), f4(0.02))
    m.output("sum", INT32, [2, 5])
    m.output("y", FLOAT, [2, 5])
    run_model(checks, "sums in use", m, {"x": x}, {"sum": total, "y": total.astype("f4") * (scale * f4(0.02))}, step=1e-6)
    m = Model(opset=13)
    m.input("x", FLOAT, x.shape)
    m.tensor("w", INT8, w.shape, raw=w.tobytes())
    m.tensor("other", FLOAT, [], [0.02])
    m.node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"])
    m.node("MatMulInteger", ["q", "w", "z"], ["sum"])
    m.node("Cast", ["sum"], ["wide"], to=FLOAT)
    m.node("Mul", ["wide", "other"], ["y"])
    m.output("y", FLOAT, [2, 5])
    run_model(checks, "another scale", m, {"x": x}, {"y": total.astype("f4") * f4(0.02)})
    checks.equal("notes", note_of(product(x, w, np.int8(0), f4(0.02))), 1)


def joined(op, x, w, w_zero, w_scale, bias):
    """x → op of com.microsoft → y, with DynamicQuantizeLinear before it where the op does not quantize."""
    m = Model(opset=13)
    m.opsets.append(("com.microsoft", 1))
    m.input("x", FLOAT, x.shape)
    m.tensor("w", INT8, w.shape, raw=w.tobytes())
    m.tensor("w_zero", INT8, np.shape(w_zero), np.ravel(w_zero).tolist())
    m.tensor("w_scale", FLOAT, np.shape(w_scale), np.ravel(w_scale).tolist())
    m.tensor("bias", FLOAT, bias.shape, raw=bias.tobytes())
    if op == "DynamicQuantizeMatMul":
        m.node(op, ["x", "w", "w_scale", "w_zero", "bias"], ["y"], domain="com.microsoft")
    else:
        m.node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"])
        m.node(op, ["q", "w", "s", "w_scale", "z", "w_zero", "bias"], ["y"], domain="com.microsoft")
    m.output("y", FLOAT, [*x.shape[:-1], w.shape[1]])
    return m


def test_joined(checks):
    rng = np.random.default_rng(4)
    for op in ("DynamicQuantizeMatMul", "MatMulIntegerToFloat"):
        for columns in ((), (5,)):
            x, w = spread(rng, 2, 12), rng.integers(-128, 127, (12, 5)).astype("i1")
            w_zero, w_scale, bias = rng.integers(-9, 9, columns).astype("i1"), spread(rng, *columns, low=0.01, high=0.1), spread(rng, 5)
            m, name = joined(op, x, w, w_zero, w_scale, bias), f"{op} {columns}"
            floats = x.astype("f8") @ ((w.astype("f8") - w_zero) * w_scale) + bias
            c = run_model(checks, name, m, {"x": x}, {"y": floats.astype("f4")}, step=2e-6 * np.abs(floats).max())
            checks.equal(f"{name}: ops", ops(c), ["FullyConnected"])
            run_model(checks, f"{name} kept", m, {"x": x}, {"y": exact(x, w, w_zero, w_scale) + bias}, KEPT, 1e-5)
    x, w, zero = np.ones((2, 3), "u1"), Const(np.ones((3, 4)), "i1"), Const(0, "i1")
    for op, inputs, message in (
            ("MatMulIntegerToFloat", [x, w, f4([1, 2]), f4(1)], "a_scale has several elements"),
            ("MatMulIntegerToFloat", [x, w, f4(1), f4([[1]])], "b_scale is float32[1,1]"),
            ("DynamicQuantizeMatMul", [x, w, f4(1), zero], "A is of type uint8")):
        refuses(checks, message, f"com.microsoft::{op}", 17, inputs)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_lstm(checks):
    """Of floats: the gates are those of ONNX's LSTM (input, output, forget, cell)."""
    rng = np.random.default_rng(5)
    steps, batch, width, hidden = 3, 2, 4, 3
    x, bias = spread(rng, steps, batch, width, low=-1, high=1), spread(rng, 1, 8 * hidden, low=-1, high=1)
    for per_column in (False, True):
        shape, kinds = (1, 4 * hidden) if per_column else (1,), []
        inputs = [x]
        for rows in (width, hidden):
            w = rng.integers(-128, 127, (1, rows, 4 * hidden)).astype("i1")
            scale, zero = spread(rng, *shape, low=0.005, high=0.02), np.zeros(shape, "i1")
            inputs.append(Const(w, "i1"))
            kinds.append((w[0].astype("f8") * scale.reshape(-1), scale, zero))
        inputs += [Const(bias, "f4"), None, None, None, None]
        for _, scale, zero in kinds:
            inputs += [Const(scale, "f4"), Const(zero, "i1")]
        h, c, y = np.zeros((batch, hidden)), np.zeros((batch, hidden)), []
        for t in range(steps):
            gates = x[t] @ kinds[0][0] + h @ kinds[1][0] + bias[0, :4 * hidden] + bias[0, 4 * hidden:]
            i, o, f, cell = np.split(gates, 4, 1)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(cell)
            h = sigmoid(o) * np.tanh(c)
            y.append(h)
        expected = [np.array(y)[:, None].astype("f4"), h[None].astype("f4"), c[None].astype("f4")]
        gives(checks, "com.microsoft::DynamicQuantizeLSTM", 17, inputs, expected, 1e-5, hidden_size=hidden)
    good = list(inputs)
    good[1] = Const(np.ones((4, 12)), "i1")
    refuses(checks, "not of three axes of bytes", "com.microsoft::DynamicQuantizeLSTM", 17, good, hidden_size=hidden)
    good[1], good[8] = inputs[1], Const(np.ones((1, 7)), "f4")
    refuses(checks, "a scale is [1,7] for weights [1,4,12]", "com.microsoft::DynamicQuantizeLSTM", 17, good, hidden_size=hidden)



def lstm_by_numpy(x, w, r, bias):
    """One direction; w and r are floats by column."""
    h, c, y = np.zeros((x.shape[1], r.shape[0])), np.zeros((x.shape[1], r.shape[0])), []
    for step in x:
        i, o, f, cell = np.split(step @ w + h @ r + bias, 4, 1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(cell)
        h = sigmoid(o) * np.tanh(c)
        y.append(h)
    return np.array(y)


def test_lstm_weights(checks):
    """Bytes of the model stay what is stored, with one encoding where one scale says it all."""
    rng = np.random.default_rng(6)
    steps, batch, width, hidden = 2, 1, 40, 36
    x = spread(rng, steps, batch, width, low=-1, high=1)
    for per_column in (False, True):
        m, names, reals = Model(opset=17, domains=("com.microsoft",)), [], []
        m.input("x", FLOAT, x.shape)
        for k, rows in enumerate((width, hidden)):
            q = rng.integers(0, 255, (2, rows, 4 * hidden)).astype("u1")
            shape = (2, 4 * hidden) if per_column else (2,)
            scale, zero = spread(rng, *shape, low=0.002, high=0.01), rng.integers(99, 150, shape).astype("u1")
            m.tensor(f"q{k}", UINT8, q.shape, raw=q.tobytes())
            m.tensor(f"s{k}", FLOAT, shape, raw=scale.tobytes())
            m.tensor(f"z{k}", UINT8, shape, raw=zero.tobytes())
            wide = (2, 1, -1)
            reals.append((q.astype("f8") - zero.reshape(wide)) * scale.reshape(wide))
            names += [f"s{k}", f"z{k}"]
        m.node("DynamicQuantizeLSTM", ["x", "q0", "q1", "", "", "", "", "", *names], ["y"], domain="com.microsoft", hidden_size=hidden,
               direction="bidirectional")
        m.output("y", FLOAT, [steps, 2, batch, hidden])
        y = [lstm_by_numpy(x[::turn], reals[0][d], reals[1][d], 0)[::turn] for d, turn in enumerate((1, -1))]
        c = run_model(checks, f"lstm {per_column=}", m, {"x": x}, {"y": np.stack(y, 1).astype("f4")}, (), 1e-5)
        layer = c and next(o for o in c.ops if o.type == "Lstm")
        types = layer and sorted({c.tensors[layer.inputs[i]].dtype for i in (1, 2, 3, 4, 5, 6, 16, 17)})
        checks.equal(f"lstm {per_column=}: weights", types, ["UFXP_8"])
    c = run_model(checks, "lstm of floats", m, {"x": x}, {"y": np.stack(y, 1).astype("f4")}, ("--dequantize_weights",), 1e-5)
    checks.equal("lstm of floats: types", c and sorted({t.dtype for t in c.tensors.values()}), ["FLOAT_32"])


def note_of(m):
    with tempfile.TemporaryDirectory() as folder:
        m.output("y", FLOAT, [2, 5])
        m.save(f"{folder}/model.onnx")
        done, _ = convert(Case("note", pathlib.Path(folder) / "model.onnx", {}, {}), pathlib.Path(folder), options=("--debug",))
        return (done.stdout + done.stderr).count("targets quantize nothing while a model runs")


def main():
    checks = Checks()
    if np is None:
        checks.skip("quantization while a model runs", "python3-numpy is not there")
        checks.finish()
    for test in (test_products, test_zeros_of_columns, test_conv, test_stored_integers, test_integers_in_use, test_joined, test_lstm, test_lstm_weights):
        test(checks)
    checks.finish()


main()
