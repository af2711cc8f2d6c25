# SPDX-License-Identifier: Apache-2.0
"""ONNX LSTM, GRU and RNN, each as a model of one node that is converted and executed; the operators' equations, written
here step by step, say what must come out. What cannot be converted must be refused with the reason."""

from one_node import Const, gives, np, refuses
from checks import Checks

NEAR = 3e-6  # of the largest value: a few roundings of float32
STEPS, BATCH, IN, UNITS = 4, 3, 2, 5


def values(*shape, seed):
    return (np.random.RandomState(seed).uniform(-1, 1, shape)).astype("f4")


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def same(x):
    return x


def lstm_cell(w, r, b, p, functions, clip, couple, _):
    f, g, last = functions

    def step(x, h, c):
        i, o, forget, new = np.split(x @ w.T + h @ r.T + b[0] + b[1], 4, -1)
        i = f(clip(i + p[0] * c))
        forget = 1 - i if couple else f(clip(forget + p[2] * c))
        c = forget * c + i * g(clip(new))
        return f(clip(o + p[1] * c)) * last(c), c

    return step


def gru_cell(w, r, b, _, functions, clip, __, linear):
    f, g = functions

    def step(x, h, c):
        (xz, xr, xn), (rz, rr, rn) = np.split(x @ w.T + b[0], 3, -1), np.split(r, 3)
        bz, br, bn = np.split(b[1], 3)
        z, reset = f(clip(xz + h @ rz.T + bz)), f(clip(xr + h @ rr.T + br))
        new = g(clip(xn + (reset * (h @ rn.T + bn) if linear else (reset * h) @ rn.T + bn)))
        return (1 - z) * new + z * h, c

    return step


def rnn_cell(w, r, b, _, functions, clip, __, ___):
    return lambda x, h, c: (functions[0](clip(x @ w.T + h @ r.T + b[0] + b[1])), c)


CELLS = {"LSTM": (4, lstm_cell, [sigmoid, np.tanh, np.tanh]), "GRU": (3, gru_cell, [sigmoid, np.tanh]),
         "RNN": (1, rnn_cell, [np.tanh])}


class Layer:
    """The inputs of a node, and what it gives."""

    def __init__(self, op, directions=1, bias=True, state=False, cell=False, peepholes=False, lengths=None):
        gates = CELLS[op][0]
        self.op, self.directions, self.lengths = op, directions, lengths
        self.x = values(STEPS, BATCH, IN, seed=1)
        self.w = values(directions, gates * UNITS, IN, seed=2)
        self.r = values(directions, gates * UNITS, UNITS, seed=3)
        self.b = values(directions, 2 * gates * UNITS, seed=4) if bias else None
        self.h = values(directions, BATCH, UNITS, seed=5) if state else None
        self.c = values(directions, BATCH, UNITS, seed=6) if cell else None
        self.p = values(directions, 3 * UNITS, seed=7) if peepholes else None

    def inputs(self, constant=True, layout=0, known_lengths=True):
        def weights(array):
            return Const(array, "f4") if constant and array is not None else array

        def turned(array):
            return array if array is None or not layout else np.ascontiguousarray(array.transpose(1, 0, 2))

        lengths = self.lengths and (Const(self.lengths, "i4") if known_lengths else np.array(self.lengths, "i4"))
        found = [turned(self.x), *map(weights, (self.w, self.r, self.b)), lengths, turned(self.h)]
        if self.op == "LSTM":
            found += [turned(self.c), weights(self.p)]
        while found[-1] is None:
            found.pop()
        return found

    def run(self, reverse=(False, True), functions=None, clip=same, couple=False, linear=False, layout=0):
        """Y, Y_h and for LSTM Y_c; functions: one list for each direction."""
        gates, cell, default = CELLS[self.op]
        none = np.zeros((self.directions, BATCH, UNITS))
        bias = np.zeros((self.directions, 2 * gates * UNITS)) if self.b is None else self.b
        peepholes = np.zeros((self.directions, 3 * UNITS)) if self.p is None else self.p
        y, last = np.zeros((STEPS, self.directions, BATCH, UNITS)), [none.copy(), none.copy()]
        for d in range(self.directions):
            step = cell(self.w[d].astype("f8"), self.r[d], np.split(bias[d], 2), np.split(peepholes[d], 3),
                        functions[d] if functions else default, clip, couple, linear)
            for item in range(BATCH):
                h, c = (none if s is None else s for s in (self.h, self.c))
                h, c = h[d, item], c[d, item]
                times = range(self.lengths[item] if self.lengths else STEPS)
                for t in reversed(times) if reverse[d] else times:
                    h, c = step(self.x[t, item], h, c)
                    y[t, d, item] = h
                if times:
                    last[0][d, item], last[1][d, item] = h, c
        found = [y.transpose(2, 0, 1, 3) if layout else y]
        found += [state.transpose(1, 0, 2) if layout else state for state in last[:2 if self.op == "LSTM" else 1]]
        return [np.ascontiguousarray(array, "f4") for array in found]


def test_layers(checks):
    """The default forms, which are layers of the container."""
    for op, version in (("LSTM", 1), ("LSTM", 14), ("GRU", 3), ("GRU", 22), ("RNN", 1), ("RNN", 14)):
        for bias in (False, True):
            layer = Layer(op, bias=bias)
            gives(checks, op, version, layer.inputs(), layer.run(), within=NEAR, hidden_size=UNITS)
        layer = Layer(op, state=True, cell=op == "LSTM")
        gives(checks, op, version, layer.inputs(constant=False), layer.run((True,)), within=NEAR, direction="reverse")
        layer = Layer(op, 2, state=True)
        gives(checks, op, version, layer.inputs(), layer.run(), within=NEAR, direction="bidirectional")
    layer = Layer("LSTM", 2, cell=True, peepholes=True)
    gives(checks, "LSTM", 14, layer.inputs(), layer.run(), within=NEAR, direction="bidirectional")
    layer = Layer("GRU", 2)
    gives(checks, "GRU", 14, layer.inputs(), layer.run(linear=True), within=NEAR, direction="bidirectional",
          linear_before_reset=1)


def test_layouts(checks):
    for op in CELLS:
        layer = Layer(op, 2, state=True, cell=True)
        gives(checks, op, 14, layer.inputs(layout=1), layer.run(layout=1), within=NEAR, direction="bidirectional",
              layout=1)
        gives(checks, op, 14, layer.inputs(layout=1), layer.run(layout=1, clip=lambda x: np.clip(x, -9, 9)),
              within=NEAR, direction="bidirectional", layout=1, clip=9.0)


def test_unrolled(checks):
    half = np.float32(0.4)
    for op in CELLS:
        layer = Layer(op, state=True, cell=op == "LSTM", peepholes=op == "LSTM")
        gives(checks, op, 7, layer.inputs(), layer.run(clip=lambda x: np.clip(x, -half, half)), within=NEAR, clip=0.4)
    layer = Layer("LSTM", state=True, peepholes=True)
    gives(checks, "LSTM", 7, layer.inputs(), layer.run(couple=True), within=NEAR, input_forget=1)
    for linear in (0, 1):
        for bias in (False, True):
            layer = Layer("GRU", bias=bias)
            gives(checks, "GRU", 7, layer.inputs(), layer.run(linear=linear, clip=lambda x: np.clip(x, -half, half)),
                  within=NEAR, clip=0.4, linear_before_reset=linear)


def test_lengths(checks):
    """Steps past an item's length leave its state; Y is 0 there, and the states of an item without steps are 0."""
    for op in CELLS:
        for lengths in ([2, 4, 3], [1, 0, 2], [STEPS] * BATCH):
            layer = Layer(op, 2, state=True, cell=True, lengths=lengths)
            for known in (True, False):
                gives(checks, op, 14, layer.inputs(known_lengths=known), layer.run(), within=NEAR,
                      direction="bidirectional")
    layer = Layer("RNN", lengths=[1, 5, 2])
    refuses(checks, "sequence_lens has the length 5, but there are 4 steps", "RNN", 14, layer.inputs())


FUNCTIONS = {
    "Relu": (0, 0, lambda x, a, b: np.maximum(x, 0)),
    "Tanh": (0, 0, lambda x, a, b: np.tanh(x)),
    "Sigmoid": (0, 0, lambda x, a, b: sigmoid(x)),
    "Affine": (1, 1, lambda x, a, b: a * x + b),
    "LeakyRelu": (1, 0, lambda x, a, b: np.where(x >= 0, x, a * x)),
    "ThresholdedRelu": (1, 0, lambda x, a, b: np.where(x >= a, x, 0)),
    "ScaledTanh": (1, 1, lambda x, a, b: a * np.tanh(b * x)),
    "HardSigmoid": (1, 1, lambda x, a, b: np.clip(a * x + b, 0, 1)),
    "Elu": (1, 0, lambda x, a, b: np.where(x >= 0, x, a * (np.exp(x) - 1))),
    "Softsign": (0, 0, lambda x, a, b: x / (1 + np.abs(x))),
    "Softplus": (0, 0, lambda x, a, b: np.log(1 + np.exp(x))),
}
DEFAULTS = {"LeakyRelu": (0.01, 0), "ThresholdedRelu": (1, 0), "HardSigmoid": (0.2, 0.5), "Elu": (1, 0)}


def with_values(name, alpha, beta):
    return lambda x: FUNCTIONS[name][2](x, alpha, beta)


def test_functions(checks):
    layer = Layer("RNN")
    for name, (takes_alpha, takes_beta, _) in FUNCTIONS.items():
        given = {"activation_alpha": [0.25]} if takes_alpha else {}
        given.update({"activation_beta": [0.75]} if takes_beta else {})
        gives(checks, "RNN", 14, layer.inputs(), layer.run(functions=[[with_values(name, 0.25, 0.75)]]), within=NEAR,
              activations=[name], **given)
    for name, (alpha, beta) in DEFAULTS.items():
        gives(checks, "RNN", 14, layer.inputs(), layer.run(functions=[[with_values(name, alpha, beta)]]), within=NEAR,
              activations=[name])
    # A sum that is the threshold itself stays.
    gives(checks, "RNN", 14, [np.array([[[1]], [[0.5]]], "f4"), Const([[[1]]], "f4"), Const([[[0]]], "f4")],
          np.array([1, 0], "f4").reshape(2, 1, 1, 1), activations=["ThresholdedRelu"])
    names = ["HardSigmoid", "Softsign", "LeakyRelu", "sigmoid", "ScaledTanh", "TANH"]
    functions = [[with_values("HardSigmoid", 0.25, 0.5), with_values("Softsign", 0, 0), with_values("LeakyRelu", 0.1, 0)],
                 [sigmoid, with_values("ScaledTanh", 2, 0.5), np.tanh]]
    layer = Layer("LSTM", 2, peepholes=True)
    gives(checks, "LSTM", 14, layer.inputs(), layer.run(functions=functions), within=NEAR, direction="bidirectional",
          activations=names, activation_alpha=[0.25, 0.1, 2.0], activation_beta=[0.5, 0.5])
    layer = Layer("GRU")
    gives(checks, "GRU", 14, layer.inputs(), layer.run(functions=[[np.tanh, sigmoid]]), within=NEAR,
          activations=["Tanh", "Sigmoid"])


def test_outputs(checks):
    """Outputs that the model does not name cost nothing; one step is a sequence, too."""
    layer = Layer("LSTM", cell=True)
    gives(checks, "LSTM", 14, layer.inputs(), layer.run()[:1], within=NEAR)
    one = layer.inputs()
    one[0] = one[0][:1]
    y = layer.run()[0][:1]
    gives(checks, "LSTM", 14, one, [y, y[0]], within=NEAR)
    gives(checks, "LSTM", 14, one, [y, y[0]], within=NEAR, clip=50.0)


def test_refusals(checks):
    layer = Layer("LSTM")
    inputs = layer.inputs()
    for message, attributes in (
            ('direction "both" is not known', {"direction": "both"}),
            ("layout is 2", {"layout": 2}),
            ("the threshold 0 is not positive", {"clip": 0.0}),
            ("hidden_size is 4, but R has 5 columns", {"hidden_size": 4}),
            ("there are 2 activation functions instead of 3", {"activations": ["Tanh", "Tanh"]}),
            ('the activation function "Sine" is not known', {"activations": ["Sine", "Tanh", "Tanh"]}),
            ("activation_alpha has no value for the function Affine", {"activations": ["Tanh", "Affine", "Tanh"]}),
            ("activation_alpha has 3 values, but 1 functions take one",
             {"activations": ["Tanh", "Elu", "Tanh"], "activation_alpha": [0.5, 0.5, 0.5]}),
            ("W has the shape [1,20,2] instead of [2,20,2]", {"direction": "bidirectional"})):
        refuses(checks, message, "LSTM", 14, inputs, **attributes)
    long = [np.zeros((1000, 1, 2), "f4"), *inputs[1:]]
    refuses(checks, "its 1000 steps would be unrolled to more than 4000 nodes", "LSTM", 14, long, clip=1.0)
    refuses(checks, "initial_h has the shape [1,4,5] instead of [1,3,5]", "GRU", 14,
            [*Layer("GRU").inputs(), None, np.zeros((1, 4, 5), "f4")])
    for op in CELLS:
        refuses(checks, "a sequence without steps is not supported", op, 14,
                [np.zeros((0, 1, 2), "f4"), *Layer(op).inputs()[1:]])


def main():
    checks = Checks()
    if np is None:
        checks.skip("recurrent operators", "python3-numpy is not there")
        checks.finish()
    for test in (test_layers, test_layouts, test_unrolled, test_lengths, test_functions, test_outputs, test_refusals):
        test(checks)
    checks.finish()


main()
