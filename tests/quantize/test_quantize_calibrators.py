# SPDX-License-Identifier: Apache-2.0
"""Ranges that calibrators choose, against the formulas of docs/quantizing.md, written out in NumPy: of an input, and of weights per
tensor and per channel. Errors of integers are computed at many points of each bin, not by integrals."""

import tempfile

from quantizing import FLOAT, Bench, Model, f32, np, read_container, whole
from checks import Checks

BINS, POINTS = 2048, 16


def middle(bits, most):
    return f32(max(most, 1e-4) / (2 ** (bits - 1) - 1)), -2 ** (bits - 1)


def around(bits, most):
    return f32(max(most, 1e-4) / (2 ** (bits - 1) - 1)), 0


class Values:
    """Values, their bins, and the reals that encodings give."""

    def __init__(self, values, bits, grid):
        self.values, self.bits, self.grid = np.sort(np.asarray(values, "f8").ravel()), bits, grid
        self.low, self.high = min(self.values[0], 0.0), max(self.values[-1], 0.0)
        self.most = max(-self.low, self.high)
        exponent = -149
        while np.floor(self.high / 2.0 ** exponent) - np.floor(self.low / 2.0 ** exponent) >= BINS:
            exponent += 1
        self.width = 2.0 ** exponent
        self.some = self.values[self.values != 0]
        self.bins, self.counts = np.unique(np.floor(self.some / self.width), return_counts=True)

    def range(self, low, high):
        return (low, high) if self.grid is whole else (-max(-low, high), max(-low, high))

    def encoding(self, low, high):
        return self.grid(self.bits, low, high) if self.grid is whole else self.grid(self.bits, max(-low, high))

    def loss(self, encoding, weight):
        """The sum of squared errors when the values of a bin lie evenly in it, those beyond the integers weighing more."""
        scale, offset = encoding
        ends = (-(2 ** (self.bits - 1) - 1), 2 ** (self.bits - 1) - 1) if self.grid is around else (offset, offset + 2 ** self.bits - 1)
        begin, end = np.maximum(self.bins * self.width, self.low), np.minimum((self.bins + 1) * self.width, self.high)
        x = begin[:, None] + (end - begin)[:, None] * (np.arange(POINTS) + 0.5) / POINTS
        error = np.square(x - scale * np.clip(np.rint(x / scale), *ends))
        error *= np.where((x < scale * ends[0]) | (x > scale * ends[1]), weight, 1)
        return float((error.mean(axis=1) * self.counts).sum())


def best(v, ranges, weight):
    """The encodings that are tried, and the least loss of them."""
    tried = {v.encoding(*v.range(*pair)) for pair in ranges}
    return tried, min(v.loss(encoding, weight) for encoding in tried)


def mse(v):
    if v.grid is not whole:
        return best(v, [(-v.most * i / 128, v.most * i / 128) for i in range(1, 129)], 1)
    coarse = [(i, k) for i in range(8, 129, 8) for k in range(8, 129, 8)]
    ends = min(coarse, key=lambda pair: (v.loss(v.encoding(v.low * pair[0] / 128, v.high * pair[1] / 128), 1), -sum(pair)))
    near = [(i, k) for i in range(ends[0] - 7, ends[0] + 8) for k in range(ends[1] - 7, ends[1] + 8) if 0 < i <= 128 and 0 < k <= 128]
    return best(v, [(v.low * i / 128, v.high * k / 128) for i, k in coarse + near], 1)


def sqnr(v):
    if v.grid is not whole:
        return best(v, [(-v.most * k / 100, v.most * k / 100) for k in range(1, 101)], 3)
    steps = 2 ** v.bits - 1
    pairs = [(v.low, v.high)]
    for k in range(1, 18):
        for i in range(21):
            scale, offset = k / 16 * (v.high - v.low) / steps, int(-steps + steps * i / 20)
            pairs.append((max(v.low, scale * offset), min(v.high, scale * (offset + steps))))
    return best(v, pairs, 3)


def percentile(v, p):
    """The outer edge of the bin of the first value that is not cut off."""
    cut = int(np.floor(len(v.values) * (100 - p) / 100))
    first, last = v.values[cut], v.values[-1 - cut]
    low = max(np.floor(first / v.width) * v.width, v.low) if first < 0 else 0.0
    high = min((np.floor(last / v.width) + 1) * v.width, v.high) if last > 0 else 0.0
    return v.encoding(*v.range(low, high))


def divergence(counts, below, above, levels):
    seen = counts.copy()
    seen[0] += below
    seen[-1] += above
    level = np.arange(len(counts)) * levels // len(counts)
    q = np.zeros(len(counts))
    for one in range(levels):
        filled = (level == one) & (counts > 0)
        q[filled] = counts[level == one].sum() / max(filled.sum(), 1)
    p, q = seen / seen.sum(), np.maximum(q / max(counts.sum(), 1), 1e-9)
    return float((p[p > 0] * np.log(p[p > 0] / q[p > 0])).sum()) if counts.sum() else np.inf


def windows(counts, zero, levels):
    """(divergence, begin, end) of each window that is tried."""
    begin, end = 0, len(counts)
    step = max(1, len(counts) // 128)
    while end - begin >= levels:
        yield divergence(counts[begin:end], counts[:begin].sum(), counts[end:].sum(), levels), begin, end
        low = counts[begin:begin + step].sum() if zero - begin >= step else np.inf
        high = counts[end - step:end].sum() if end - zero >= step else np.inf
        if np.isinf(low) and np.isinf(high):
            return
        begin, end = (begin + step, end) if low < high else (begin, end - step)


def entropy(v):
    first = int(np.floor(v.low / v.width))
    counts = np.zeros(int(np.floor(v.high / v.width)) - first + 1)
    counts[(v.bins - first).astype(int)] = v.counts
    if v.grid is whole:
        _, begin, end = min(windows(counts, -first, 256), key=lambda found: found[0])
        return v.encoding(max((first + begin) * v.width, v.low), min((first + end) * v.width, v.high))
    below, above = counts[:-first][::-1], counts[-first:]
    folded = np.zeros(max(len(below), len(above)))
    folded[:len(below)] += below
    folded[:len(above)] += above
    _, _, end = min(windows(folded, 0, 128), key=lambda found: found[0])
    return v.encoding(*v.range(0, min(end * v.width, v.most)))


def adjusted(v):
    """The finest scale with which zero is an integer and both ends have one."""
    if v.grid is not whole or v.low == 0 or v.high == 0:
        return v.encoding(*v.range(v.low, v.high))
    steps = 2 ** v.bits - 1
    scale, zero = min((max(-v.low / z, v.high / (steps - z)), z) for z in range(1, steps))
    return f32(scale), -zero


def near(found, expected):
    return found[1] == expected[1] and abs(found[0] - expected[0]) <= 1e-6 * expected[0]


def compare(checks, label, name, found, v):
    if name in ("mse", "sqnr"):
        weight = 1 if name == "mse" else 3
        tried, least = (mse if name == "mse" else sqnr)(v)
        checks.check(f"{label} is one that is tried", any(near(found, one) for one in tried), found)
        checks.check(f"{label} loses least", v.loss(found, weight) <= least * 1.003, (v.loss(found, weight), least))
        return
    expected = {"percentile": lambda: percentile(v, 99.5), "entropy": lambda: entropy(v), "adjusted": lambda: adjusted(v)}[name]()
    checks.check(label, near(found, expected), (found, expected))


def samples():
    rng = np.random.default_rng(11)
    normal = rng.standard_normal(3000)
    tailed = rng.standard_t(2, 3000)
    return {"normal": normal, "heavy tails": tailed, "a relu's": np.maximum(tailed, 0), "negative": -np.abs(normal) - 0.25,
            "mostly one side": np.where(tailed < 0, tailed * 0.01, tailed), "few": np.array([-0.3, 0.0, 0.0, 2.0, 2.0, 0.7])}


def model(values, weights):
    m = Model(opset=13)
    m.tensor("w", FLOAT, list(weights.shape), weights.ravel().tolist())
    m.input("x", FLOAT, [1, weights.shape[1], 1, len(values) // weights.shape[1]])
    m.node("Conv", ["x", "w"], ["y"])
    m.output("y", FLOAT, [1, weights.shape[0], 1, len(values) // weights.shape[1]])
    return m


NAMES = ("mse", "sqnr", "percentile", "entropy", "adjusted")


def activations(b):
    for label, values in samples().items():
        values = values.astype("f4")
        b.convert(model(values, np.ones((1, 1, 1, 1), "f4")))
        b.inputs(values)
        for name in NAMES:
            for bits, grid, options in ((8, whole, ()), (8, middle, ("--act_quantizer_schema", "symmetric")),
                                        (16, whole, ("--act_bitwidth", "16"))):
                if bits == 16 and name == "entropy":
                    continue
                found = b.quantize("--act_quantizer_calibration", name, "--percentile_calibration_value", "99.5", *options)
                compare(b.checks, f"{label} {name} {bits} {grid.__name__}", name, found.tensors["x"].encodings[0],
                        Values(values, bits, grid))


def weights(b):
    w = np.random.default_rng(5).standard_t(2, (3, 40, 1, 1)).astype("f4")
    b.convert(model(np.ones(40), w))
    b.inputs(np.ones(40, "f4"))
    for name in NAMES:
        options = ["--param_quantizer_calibration", name, "--percentile_calibration_value", "99.5"]
        found = b.quantize(*options).tensors["w"].encodings
        compare(b.checks, f"weights {name}", name, found[0], Values(w, 8, whole))
        found = b.quantize(*options, "--use_per_channel_quantization").tensors["w"].encodings
        for channel in range(3):
            compare(b.checks, f"channel {channel} {name}", name, found[channel], Values(w[channel], 8, around))


def spellings(b):
    """Options that mean the same, and what they leave as it is."""
    values = np.random.default_rng(8).standard_t(1.7, 3000).astype("f4")
    w = values.reshape(2, 1500, 1, 1)
    b.convert(model(values, w))
    b.inputs(values)

    def encodings(*options):
        found = b.quantize(*options).tensors
        return found["x"].encodings, found["w"].encodings

    new = {name: encodings("--act_quantizer_calibration", name, "--param_quantizer_calibration", name) for name in ("min-max", "sqnr", "adjusted")}
    b.checks.check("they differ", len({str(found) for found in new.values()}) == 3, new)
    plain, enhanced, other = new["min-max"], new["sqnr"], new["adjusted"]
    for options, expected in ((["--use_enhanced_quantizer"], enhanced), (["--use_enhanced_quantizer", "weights"], (plain[0], enhanced[1])),
                              (["--use_enhanced_quantizer", "activations"], (enhanced[0], plain[1])),
                              (["--act_quantizer", "enhanced"], (enhanced[0], plain[1])),
                              (["--param_quantizer", "enhanced"], (plain[0], enhanced[1])),
                              (["--param_quantizer", "adjusted", "--act_quantizer", "adjusted"], other),
                              (["--use_adjusted_weights_quantizer"], (plain[0], other[1])),
                              (["--act_quantizer", "enhanced", "--act_quantizer_calibration", "min-max"], plain),
                              (["--act_quantizer", "tf", "--param_quantizer", "tf"], plain)):
        b.checks.equal(" ".join(options), encodings(*options), expected)
    done = b.run("--act_quantizer_calibration", "entropy", "--act_bitwidth", "16")
    b.checks.equal("entropy of 16 bits", (done.returncode, done.stderr.count("entropy chooses")), (0, 1))
    b.checks.equal("… is min-max", read_container(b.path("q.dlc")).tensors["x"].encodings, [whole(16, values.min(), values.max())])


def ratios(b):
    """What the calibrators are for: less error than min-max of values with few large ones."""
    values = np.random.default_rng(8).standard_t(1.7, 3000).astype("f4")
    b.convert(model(values, np.ones((1, 1, 1, 1), "f4")))
    b.inputs(values)

    def error(name):
        scale, offset = b.quantize("--act_quantizer_calibration", name).tensors["x"].encodings[0]
        return np.square(values - scale * (np.clip(np.rint(values / scale) - offset, 0, 255) + offset)).sum()

    for name in ("mse", "sqnr"):
        b.checks.check(f"{name} loses less than min-max", error(name) < error("min-max"), (error(name), error("min-max")))


def order(b):
    """The same values in another order and in other parts give the same ranges."""
    values = np.random.default_rng(9).standard_t(1.5, 4000).astype("f4")
    b.convert(model(values[:400], np.ones((1, 1, 1, 1), "f4")))
    for name in ("mse", "entropy"):
        found = []
        for lines in (np.split(values, 10), np.split(values[::-1].copy(), 10), np.split(np.sort(values), 10)):
            b.inputs(*lines)
            found.append(b.quantize("--act_quantizer_calibration", name).tensors["x"].encodings)
        b.checks.equal(f"{name} in any order", found[1:], found[:1] * 2)
        compare(b.checks, f"{name} of ten inputs", name, found[0][0], Values(values, 8, whole))


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        for case in (activations, weights, spellings, ratios, order):
            case(Bench(checks, folder))
    checks.finish()


main()
