# SPDX-License-Identifier: Apache-2.0
"""--optimizations of dlc-quantize against NumPy: cle by its rules, the noise that chooses among them, and the float function, which stays; bc by the means of results;
adaround by the sum that docs/quantizing.md defines, which no change of one integer lowers."""

import tempfile

from quantizing import FLOAT, INT64, Bench, Model, np, read_container, stored, whole
from checks import Checks

RELU6 = ("Clip", ["zero", "six"])


def chain(rng, layers, interlayers, shape=(1, 4, 6, 6)):
    """A Conv for each (weights' shape, groups); between two what interlayers say, as (operator, more inputs)."""
    m = Model(opset=13)
    m.tensor("zero", FLOAT, [], [0.0])
    m.tensor("six", FLOAT, [], [6.0])
    m.input("x", FLOAT, list(shape))
    value = "x"
    for i, (dims, groups) in enumerate(layers):
        scale = 10.0 ** rng.uniform(-1, 1, (dims[0], 1, 1, 1))
        m.tensor(f"w{i}", FLOAT, list(dims), (rng.normal(0, 1, dims) * scale).astype("f4").ravel().tolist())
        m.tensor(f"b{i}", FLOAT, [dims[0]], rng.normal(0, 1, dims[0]).astype("f4").tolist())
        m.node("Conv", [value, f"w{i}", f"b{i}"], [f"c{i}"], group=groups, pads=[dims[2] // 2] * 4)
        value = f"c{i}"
        for k, (operator, more, *attributes) in enumerate(interlayers[i] if i < len(interlayers) else []):
            m.node(operator, [value, *more], [f"a{i}{k}"], **(attributes[0] if attributes else {}))
            value = f"a{i}{k}"
    return m, value


def finish(m, value, shape):
    m.output(value, FLOAT, shape)
    return m


def floats(container):
    """The constants of floats, by name."""
    return {name: np.frombuffer(t.data, "<f4").reshape(t.dims).astype("f8")
            for name, t in container.tensors.items() if t.data is not None and t.dtype == "FLOAT_32"}


# ---- cle ----

SYMMETRIC = False  # of the weights at work


def extents(rows):
    """Of each row what a step of its integers follows: the range with zero, or the greatest magnitude."""
    low, high = np.minimum(rows.min(axis=1), 0), np.maximum(rows.max(axis=1), 0)
    return np.maximum(-low, high) if SYMMETRIC else high - low


def out_range(w):
    return extents(w.reshape(-1, w.shape[-1]).T)


def in_range(w):
    if w.shape[2] == 1:  # of a depthwise convolution
        return out_range(w)
    return extents(w.transpose(2, 0, 1, 3).reshape(w.shape[2], -1))


RULES = ((0, 0, 0), (0, .5, -.5), (.5, 0, -.5), (1, 0, 0), (0, 0, -.5), (0, 0, -1), (.5, 0, 0), (.5, 0, -1), (1, 0, -.5), (1, 0, -1))


def convolved(x, w, bias):
    pad = w.shape[0] // 2
    padded = np.pad(x, ((pad, pad), (pad, pad), (0, 0)))
    parts = [(w[i, j], padded[i:i + x.shape[0], j:j + x.shape[1]]) for i in range(w.shape[0]) for j in range(w.shape[1])]
    return bias + sum(part * tap[0] if tap.shape[0] == 1 else part @ tap for tap, part in parts)


def behind(x, between):
    for operator, *_ in between:
        if operator == "MaxPool":
            x = np.max([x[i:i + x.shape[0] - 1, j:j + x.shape[1] - 1] for i in (0, 1) for j in (0, 1)], axis=0)
        else:
            x = np.clip(x, 0, 6 if operator == "Clip" else None)
    return x


def added_noise(w, bias, out, into, variance, noise, per_channel):
    """Variance of errors per channel of the result, of weights and a bias of 8 bits."""
    w, bias = w / out * (into if w.shape[2] == 1 else into[:, None]), bias / out
    rows = w.reshape(-1, w.shape[-1]).T
    extent = extents(rows if per_channel else rows.reshape(1, -1))
    step = np.float32(np.maximum(extent, 1e-4) / (127 if SYMMETRIC else 255)).astype("f8")
    error = np.square(np.rint(w / step) * step - w)
    each = error * (variance if w.shape[2] == 1 else variance[:, None]) + np.square(w) * (noise if w.shape[2] == 1 else noise[:, None])
    low, high = min(bias.min(), 0), max(bias.max(), 0)
    step = float(np.float32((high - low) / 255))
    return each.sum(axis=(0, 1, 2)) + np.square(np.rint(bias / step) * step - bias)


def pair(w, biases, values, i, per_channel):
    """Scales layer i and the next one by the rule with the least noise, with one encoding a layer by the published one; values are what layers read. The rule's number."""
    flat = [v.reshape(-1, v.shape[-1]) for v in values[i:i + 2]]
    x, z = (v.var(axis=0) for v in flat)
    low, high, used = np.minimum(flat[1].min(axis=0), 0), np.maximum(flat[1].max(axis=0), 0), (flat[1] != 0).mean(axis=0)
    alive = high > low
    known = [np.log(np.where(alive, part, 1)) for part in (high - low, out_range(w[i]), in_range(w[i + 1]))]
    found = []
    for rule in RULES:
        powers = sum(power * part for power, part in zip(rule, known))
        s = np.exp(powers - powers[alive].mean())
        s = np.where(alive & (s >= 1e-3) & (s <= 1e3), s, 1)
        step = float(np.float32(((high / s).max() - (low / s).min()) / 65535))  # --act_bitwidth 16
        noise = used * added_noise(w[i], biases[i], s, np.ones(len(x)), x, 0 * x, per_channel) + np.minimum(used * step ** 2 / 12, z / s ** 2)
        ones = np.ones(w[i + 1].shape[-1])
        found.append((added_noise(w[i + 1], biases[i + 1], ones, s, z / s ** 2, noise, per_channel).sum(), s))
    best = min(range(len(RULES)), key=lambda k: found[k][0]) if per_channel else 1
    best = 0 if per_channel and found[best][0] > .875 * found[0][0] else best
    s = found[best][1]
    if best:
        w[i], biases[i] = w[i] / s, biases[i] / s
        w[i + 1] = w[i + 1] * (s if w[i + 1].shape[2] == 1 else s[:, None])
        values[i + 1] = values[i + 1] / s
    return best


PLAIN = [((6, 4, 3, 3), 1), ((5, 6, 1, 1), 1), ((3, 5, 3, 3), 1)]
SEPARABLE = [((6, 4, 1, 1), 1), ((6, 1, 3, 3), 6), ((3, 6, 1, 1), 1)]
RELU = [("Relu", [])]
POOL = [("Relu", []), ("MaxPool", [], {"kernel_shape": [2, 2]})]
# (name, layers, what stands between them, graph outputs beside the last, layers that are scaled together with the next)
EQUALIZED = (("pairs", PLAIN, [RELU, POOL], [], (0, 1)), ("without activation", PLAIN, [[], []], [], (0, 1)),
             ("separable", SEPARABLE, [RELU, RELU], [], (0, 1)), ("depthwise last", SEPARABLE[:2], [RELU], [], (0,)),
             ("Relu6", PLAIN, [[RELU6], RELU], [], (1,)), ("a depthwise layer behind Relu6", SEPARABLE, [[RELU6], RELU], [], (1,)),
             ("a tensor with two readers", PLAIN[:2], [RELU], ["a00"], ()))


def equalized(b, options, name, layers, between, outputs, pairs):
    global SYMMETRIC
    SYMMETRIC = bool(options)
    m, value = chain(np.random.default_rng(len(name)), layers, between)
    for output in outputs:
        m.output(output, FLOAT, [1, 6, 6, 6])
    size = 5 if between[-1] is POOL else 6
    b.convert(finish(m, value, [1, layers[-1][0][0], size, size]))
    x = np.random.default_rng(1).normal(0, 1, (1, 6, 6, 4)) * [.1, 1, 4, 20]
    b.inputs(x)
    before = b.results(b.path("m.dlc"))[0]
    old = floats(read_container(b.path("m.dlc")))
    new = floats(b.quantize("--optimizations", "cle", "--no_weight_quantization", "--act_bitwidth", "16", *options))
    count = len(layers)
    w = [old[f"w{i}"].copy() for i in range(count)]
    biases = [old[f"b{i}"].copy() for i in range(count)]
    values = [x[0]]
    for i in range(count):
        values.append(behind(convolved(values[i], w[i], biases[i]), between[i] if i < len(between) else []))
    rules = [pair(w, biases, values, i, "--use_per_channel_quantization" in options) for i in pairs]
    for i in range(count):
        close = np.allclose(new[f"w{i}"], w[i], rtol=1e-4, atol=0) and np.allclose(new[f"b{i}"], biases[i], rtol=1e-5, atol=0)
        b.checks.check(f"{name}: layer {i}", close)
    b.checks.check(f"{name} {options}: something was to be done", any(rules) or options or not pairs, rules)
    same_function(b, name, layers, between, new, before)
    return rules


def same_function(b, name, layers, between, new, before):
    """The network of the scaled floats gives what that of the model gave."""
    m = Model(opset=13)
    m.tensor("zero", FLOAT, [], [0.0])
    m.tensor("six", FLOAT, [], [6.0])
    m.input("x", FLOAT, [1, 4, 6, 6])
    value = "x"
    for i, (dims, groups) in enumerate(layers):
        m.tensor(f"w{i}", FLOAT, list(dims), new[f"w{i}"].transpose(3, 2, 0, 1).astype("f4").ravel().tolist())
        m.tensor(f"b{i}", FLOAT, [dims[0]], new[f"b{i}"].astype("f4").tolist())
        m.node("Conv", [value, f"w{i}", f"b{i}"], [f"c{i}"], group=groups, pads=[dims[2] // 2] * 4)
        value = f"c{i}"
        for k, (operator, more, *attributes) in enumerate(between[i] if i < len(between) else []):
            m.node(operator, [value, *more], [f"a{i}{k}"], **(attributes[0] if attributes else {}))
            value = f"a{i}{k}"
    size = 5 if between[-1] is POOL else 6
    b.convert(finish(m, value, [1, layers[-1][0][0], size, size]), "scaled.dlc")
    after = b.results(b.path("scaled.dlc"))[0]
    key = next(key for key in before if key.startswith(value))
    error = np.abs(after[key] - before[key]).max() / np.abs(before[key]).max()
    b.checks.check(f"{name}: the same function", error < 1e-5, error)


def given(b):
    """What has an encoding from outside is not scaled."""
    m, value = chain(np.random.default_rng(3), PLAIN[:2], [RELU])
    b.convert(finish(m, value, [1, 5, 6, 6]))
    b.inputs(np.ones((1, 6, 6, 4)))
    for name, section in (("w0", "param_encodings"), ("b0", "param_encodings"), ("a00", "activation_encodings")):
        file = b.path("given.json")
        entry = f'{{"{name}": [{{"bitwidth": 8, "min": -1, "max": 1}}]}}'
        other = "activation_encodings" if section == "param_encodings" else "param_encodings"
        file.write_text(f'{{"{section}": {entry}, "{other}": {{}}}}')
        plain = b.quantize("--quantization_overrides", file)
        scaled = b.quantize("--quantization_overrides", file, "--algorithms", "cle")
        b.checks.equal(f"{name} is given", scaled.tensors["w1"].data, plain.tensors["w1"].data)


def beyond(beta, gamma):
    return np.maximum(beta - 3 * np.abs(gamma), 0)


# (what stands between two layers, pads of the second, how much of each channel's mean and deviation goes)
ABSORBED = ((RELU, 0, beyond), (POOL, 0, beyond), ([], 0, lambda beta, gamma: beta), (POOL[1:], 0, lambda beta, gamma: beta),
            (RELU, 1, lambda beta, gamma: 0 * beta))


def normalized(rng, between, pads):
    """Conv → batch normalization → … → Conv of two groups."""
    m = Model(opset=13)
    for name, dims in (("w0", [6, 4, 1, 1]), ("b0", [6]), ("beta", [6]), ("gamma", [6]), ("mean", [6]), ("w1", [4, 3, 3, 3]), ("b1", [4])):
        m.tensor(name, FLOAT, dims, rng.normal(1 if name == "beta" else 0, .5, dims).astype("f4").ravel().tolist())
    m.tensor("variance", FLOAT, [6], rng.uniform(.2, 2, 6).astype("f4").tolist())
    m.input("x", FLOAT, [1, 4, 6, 6])
    m.node("Conv", ["x", "w0", "b0"], ["c0"])
    m.node("BatchNormalization", ["c0", "gamma", "beta", "mean", "variance"], ["n"])
    value = "n"
    for k, (operator, more, *attributes) in enumerate(between):
        m.node(operator, [value, *more], [f"a{k}"], **(attributes[0] if attributes else {}))
        value = f"a{k}"
    m.node("Conv", [value, "w1", "b1"], ["y"], group=2, pads=[pads] * 4)
    size = 4 + 2 * pads - sum(operator == "MaxPool" for operator, *_ in between)
    m.output("y", FLOAT, [1, 4, size, size])
    return m


def parts(container):
    """Constants of both convolutions, and the first one's beta and gamma."""
    first, second = container.ops[0], container.ops[-1]
    w0, b0, w1, b1 = (floats(container)[name] for op in (first, second) for name in op.inputs[1:])
    beta, gamma = (np.frombuffer(first.params[name].tensor.data, "<f4").astype("f8") for name in ("beta", "gamma"))
    return w0, b0, w1, b1, beta, gamma


def absorbed(b, between, pads, goes, *options):
    """What nearly all values of a channel have goes from one bias to the next, after the scaling."""
    b.convert(normalized(np.random.default_rng(11), between, pads))
    b.inputs(np.random.default_rng(1).normal(0, 1, (1, 6, 6, 4)))
    w0, b0, w1, b1, beta, gamma = (array.copy() for array in parts(read_container(b.path("m.dlc"))))
    per_input = [w1[:, :, i % 3, i // 3 * 2:i // 3 * 2 + 2] for i in range(6)]  # parts of w1
    found = parts(b.quantize("--optimizations", "cle", "--no_weight_quantization", *options))
    s = gamma / found[5]  # equalized() has what it is
    w0, b0, beta, gamma = w0 / s, b0 / s, beta / s, gamma / s
    for part, factor in zip(per_input, s):
        part *= factor
    shift = goes(beta, gamma)
    b0, beta = b0 - shift, beta - shift
    for i, part in enumerate(per_input):
        b1[i // 3 * 2:i // 3 * 2 + 2] += part.sum(axis=(0, 1)) * shift[i]
    case = f"{[operator for operator, *_ in between]}, pads {pads}"
    for name, one, other in zip(("w0", "b0", "w1", "b1", "beta"), found, (w0, b0, w1, b1, beta)):
        b.checks.check(f"{case}: {name}", np.allclose(one, other, rtol=1e-5, atol=1e-6), (one, other))
    b.checks.check(f"{case}: some of it goes", pads or options or 0 < np.count_nonzero(shift) and (goes is not beyond or shift.min() == 0), shift)


# ---- adaround and bc ----

def network(rng, bias=True):
    """x → Conv 3×3 → Relu → depthwise 3×3 → Relu → Conv 1×1 → Reshape → Gemm → Relu → MatMul → y."""
    m = Model(opset=13)
    for name, dims in (("w0", [4, 3, 3, 3]), ("w1", [4, 1, 3, 3]), ("w2", [6, 2, 1, 1]), ("w3", [150, 7]), ("w4", [1, 7, 5])):
        m.tensor(name, FLOAT, dims, rng.normal(0, 1, dims).astype("f4").ravel().tolist())
    for i, size in enumerate((4, 4, 6, 7)):
        m.tensor(f"b{i}", FLOAT, [size], rng.normal(0, .3, size).astype("f4").tolist())
    m.tensor("flat", INT64, [2], [1, 150])
    m.tensor("batch", INT64, [3], [1, 1, 7])
    m.input("x", FLOAT, [1, 3, 5, 5])
    m.node("Conv", ["x", "w0", "b0"], ["c0"], pads=[1] * 4)
    m.node("Relu", ["c0"], ["r0"])
    m.node("Conv", ["r0", "w1", *["b1"][:bias]], ["c1"], pads=[1] * 4, group=4)
    m.node("Relu", ["c1"], ["r1"])
    m.node("Conv", ["r1", "w2", "b2"], ["c2"], group=2)
    m.node("Transpose", ["c2"], ["t"], perm=[0, 2, 3, 1])
    m.node("Reshape", ["t", "flat"], ["f"])
    m.node("Gemm", ["f", "w3", *["b3"][:bias]], ["h"])
    m.node("Relu", ["h"], ["r3"])
    m.node("Reshape", ["r3", "batch"], ["g"])
    m.node("MatMul", ["g", "w4"], ["y"])
    m.output("y", FLOAT, [1, 1, 5])
    return m


def patches(x, side):
    """Rows [positions, side · side, channels] of an image [5, 5, channels] with zeros around."""
    padded = np.pad(x, ((side // 2,) * 2, (side // 2,) * 2, (0, 0)))
    return np.stack([padded[i:i + 5, j:j + 5].reshape(25, -1) for i in range(side) for j in range(side)], axis=1)


class Layer:
    """Rows and weights of a layer, as groups of matrices."""

    def __init__(self, index, groups, side):
        self.index, self.groups, self.side = index, groups, side

    def rows(self, value):
        if self.side == 0:
            return [value.reshape(1, -1)]
        taps = patches(value, self.side)
        return [part.reshape(len(taps), -1) for part in np.split(taps, self.groups, axis=2)]

    def matrices(self, w):
        if self.side == 0:
            return [w]
        return [part.reshape(-1, part.shape[-1]) for part in np.split(w, self.groups, axis=3)]

    def compute(self, value, w, bias):
        found = np.concatenate([x @ m for x, m in zip(self.rows(value), self.matrices(w))], axis=1) + bias
        found = np.maximum(found, 0) if self.index in (0, 1, 3) else found
        return found.reshape(5, 5, -1) if self.side else found


NETWORK = (Layer(0, 1, 3), Layer(1, 4, 3), Layer(2, 2, 1), Layer(3, 1, 0), Layer(4, 1, 0))


def constant(container, layer, index):
    """Reals, integers, scale per channel and limits of a constant, weights of matrices as [inputs, channels]."""
    names = (f"{layer}{index}", f"{layer}{index}_permute")
    tensor = next((container.tensors[name] for name in names if name in container.tensors), None)
    if tensor is None:
        return None
    if tensor.dtype == "FLOAT_32":
        return np.frombuffer(tensor.data, "<f4").reshape(tensor.dims).astype("f8")
    q = stored(tensor).astype("f8")
    scales, offsets = np.array([s for s, _ in tensor.encodings]), np.array([o for _, o in tensor.encodings])
    shape = [1] * q.ndim
    shape[tensor.axis or 0] = len(scales)
    scales = scales.reshape(shape) if len(scales) > 1 else scales[0]
    return (q + (offsets[0] if len(offsets) == 1 else 0)) * scales, q, np.broadcast_to(scales, q.shape)


def turned(container, index, array):
    """FullyConnected has a row for each output channel; the MatMul's constant has three axes, or would be a FullyConnected, too."""
    return array.T if index == 3 else array[0] if index == 4 else array


def rounded_as(floats, values):
    """The values, by the 8-bit encoding of the range that the float network's have."""
    scale, offset = whole(8, min(v.min() for v in floats), max(v.max() for v in floats))
    return [np.clip(np.rint((v / scale).astype("f4")), offset, offset + 255) * scale for v in values]


def passes(container, lines, model, rounds=False):
    """[(layer, rows in float, rows with integers before the layer)] over all lines, groups apart; what layers give, and the inputs, is
    rounded in the latter, or is not."""
    values = {"float": list(lines), "fixed": list(lines)}
    found = []
    for layer in NETWORK:
        if rounds:
            values["fixed"] = rounded_as(values["float"], values["fixed"])
        i = layer.index
        rows = {kind: [np.concatenate(group) for group in zip(*(layer.rows(v) for v in some))] for kind, some in values.items()}
        found.append((layer, rows["float"], rows["fixed"]))
        for kind, source in (("float", model), ("fixed", container)):
            w, bias = constant(source, "w", i), constant(source, "b", i)
            w = w[0] if isinstance(w, tuple) else w
            bias = bias[0] if isinstance(bias, tuple) else 0 if bias is None else bias
            values[kind] = [layer.compute(v, turned(source, i, w), bias) for v in values[kind]]
    return found


def is_least(products, drifts, w, real, scale, down, up):
    """No integer of a matrix that has room can go down or up by one so that the sum of (D·z + e)², and what keeps weights near, gets
    less."""
    ridge = products + np.eye(len(products)) * np.trace(products) / len(products)
    slope = ridge @ (real - w) + drifts
    own = np.diag(ridge)[:, None] * scale ** 2
    gains = [own + 2 * way * scale * slope for way in (-1, 1)]
    return all((gain[room > 0] >= -1e-6 * own.max()).all() for gain, room in zip(gains, (down, up)))


def rounded(b, seed, low, high, *options):
    """Integers are from low to high."""
    rng = np.random.default_rng(seed)
    b.convert(network(rng))
    lines = [rng.uniform(-1, 1, (5, 5, 3)).astype("f4") for _ in range(4)]
    b.inputs(*lines)
    model = read_container(b.path("m.dlc"))
    nearest = b.quantize("--weights_bitwidth", "4", "--bias_bitwidth", "32", *options)
    found = b.quantize("--weights_bitwidth", "4", "--bias_bitwidth", "32", "--optimizations", "adaround", *options)
    again = b.path("q.dlc").read_bytes()
    b.quantize("--weights_bitwidth", "4", "--bias_bitwidth", "32", "--apply_algorithms", "adaround", *options)
    b.checks.equal("the same again", b.path("q.dlc").read_bytes()[-4096:], again[-4096:])
    for layer, x, z in passes(found, [line.astype("f8") for line in lines], model):
        i = layer.index
        w = turned(model, i, constant(model, "w", i))
        real, q, scale = (turned(found, i, part) for part in constant(found, "w", i))
        tensor = found.tensors.get(f"w{i}") or found.tensors[f"w{i}_permute"]
        other = nearest.tensors.get(f"w{i}") or nearest.tensors[f"w{i}_permute"]
        b.checks.equal(f"encodings of w{i}", tensor.encodings, other.encodings)
        b.checks.check(f"w{i} is not the nearest", tensor.data != other.data or i == 2)  # sums of two inputs
        b.checks.check(f"{options} limits of w{i}", q.min() >= low and q.max() <= high, (q.min(), q.max()))
        parts = [layer.matrices(array) for array in (w, real, scale, q - low, high - q)]
        for group, (wg, rg, sg, down, up) in enumerate(zip(*parts)):
            drifts = z[group].T @ ((z[group] - x[group]) @ wg)
            b.checks.check(f"{options} w{i} group {group}", is_least(z[group].T @ z[group], drifts, wg, rg, sg, down, up))


def named(container):
    """Biases that the model has no name for get names like the others'."""
    for i, output in ((1, "c1"), (3, "h"), (4, "y")):
        op = next(op for op in container.ops if output in op.outputs)
        container.tensors[f"b{i}"] = container.tensors[op.inputs[2]]
    return container


def corrected(b, seed, *options):
    """bc alone: each bias is that of the model less the difference of the means, with all that layers before it give rounded."""
    rng = np.random.default_rng(seed)
    b.convert(network(rng, bias=False))
    lines = [rng.uniform(-1, 1, (5, 5, 3)).astype("f4") for _ in range(6)]
    b.inputs(*lines)
    model = read_container(b.path("m.dlc"))
    found = named(b.quantize("--weights_bitwidth", "4", "--bias_bitwidth", "32", "--optimizations", "bc", *options))
    for layer, x, z in passes(found, [line.astype("f8") for line in lines], model, rounds=True):
        i = layer.index
        w, real = turned(model, i, constant(model, "w", i)), turned(found, i, constant(found, "w", i)[0])
        parts = list(zip(x, z, layer.matrices(w), layer.matrices(real)))
        shift = np.concatenate([(zg @ rg - xg @ wg).mean(axis=0) for xg, zg, wg, rg in parts])
        most = np.concatenate([(np.abs(zg) @ np.abs(rg)).mean(axis=0) for _, zg, _, rg in parts])  # rounding of float32 is a part of that
        before = constant(model, "b", i) if i in (0, 2) else 0
        bias = constant(found, "b", i)
        b.checks.check(f"{options} bias {i}", bias is not None and (np.abs(bias[0] - (before - shift)) <= 1e-6 * most).all(),
                       (bias and bias[0], before - shift))
    product = named(b.quantize("--weights_bitwidth", "4", "--bias_bitwidth", "32", "--optimizations", "bc", "--bias_scale", "product",
                               *options))
    for i in range(4):
        (wide, _, scale), (bias, *_) = constant(product, "b", i), constant(found, "b", i)
        b.checks.check(f"{options} bias {i} by the product", np.all(np.abs(wide - bias) <= scale * .501), (wide, bias, scale))


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        b = Bench(checks, folder)
        used = set()
        for case in EQUALIZED:
            equalized(b, (), *case)
            used.update(equalized(b, ["--use_per_channel_quantization"], *case))
        checks.check("several rules were the best", len(used - {0}) > 1, used)
        equalized(b, ["--use_symmetric_quantize_weights"], *EQUALIZED[0])
        for case in ABSORBED:
            absorbed(b, *case)
        absorbed(b, RELU, 0, lambda beta, gamma: 0 * beta, "--act_bitwidth", "16")
        given(b)
        rounded(b, 5, 0, 15)
        rounded(b, 6, -7, 7, "--use_per_channel_quantization", "--use_per_row_quantization")
        rounded(b, 5, 2, 13, "--use_symmetric_quantize_weights", "--restrict_quantization_steps", "-0x6 0x5")
        rounded(b, 6, -6, 5, "--use_per_channel_quantization", "--use_per_row_quantization", "--restrict_quantization_steps", "-0x6 0x5")
        corrected(b, 7)
        corrected(b, 8, "--use_per_channel_quantization")
    checks.finish()


main()
