# SPDX-License-Identifier: Apache-2.0
"""Random nodes of operators on quantized integers, with what their definitions give: sums of integers, one product with the
scales, rounded to even."""

from one_node import Const, np

MICROSOFT = "com.microsoft::"


class Drawn:
    """expected: (least, greatest) array of integers that are right, which differ where the exact value is so near to the
    middle of two integers that roundings of float32 may decide."""

    def __init__(self, op, inputs, exact, scale, zero, dtype, opset=17, **attributes):
        self.op, self.inputs, self.opset, self.attributes = op, inputs, opset, attributes
        near = 0 if power_of_two(exact, scale) else 2e-6 * np.maximum(np.abs(exact / scale), 8)
        self.expected = [saturated(exact / scale + way * near, zero, dtype) for way in (-1, 1)]


def power_of_two(exact, scale):
    """Nothing is rounded before the end."""
    return np.log2(scale) % 1 == 0 and np.all(exact * 2.0**20 % 1 == 0) and np.all(np.abs(exact) < 2.0**20)


def saturated(steps, zero, dtype):
    limits = np.iinfo(dtype)
    return np.clip(np.rint(steps) + zero, limits.min, limits.max).astype(dtype)


class Tensor:
    """Integers, with one scale and zero point or several along an axis; real: what they stand for, exactly."""

    def __init__(self, r, shape, dtype, channels=None, symmetric=False, exact=None):
        limits = np.iinfo(dtype)
        count = 1 if channels is None else shape[channels]
        exact = r.rand() < 0.5 if exact is None else exact
        self.scale = (2.0**r.randint(-6, 1, count) if exact else r.uniform(0.004, 0.1, count)).astype("f4")
        self.zero = np.zeros(count, dtype) if symmetric else r.randint(limits.min, limits.max + 1, count).astype(dtype)
        self.q = r.randint(limits.min, limits.max + 1, shape).astype(dtype)
        spread = [-1 if i == channels else 1 for i in range(len(shape))]
        self.real = (self.q.astype("f8") - self.zero.reshape(spread)) * self.scale.astype("f8").reshape(spread)
        self.whole = channels is None

    def numbers(self):
        """Scale and zero point, as constants."""
        dims = () if self.whole else (-1,)
        return [Const(self.scale.reshape(dims), "f4"), Const(self.zero.reshape(dims), self.zero.dtype.str[1:])]

    def known(self):
        return Const(self.q, self.q.dtype.str[1:])


def kind(r):
    return ["u1", "i1"][r.randint(2)]


def result(r, exact, dtype):
    """Scale and zero point with which most of the values are no ends of the range."""
    scale = np.float32(2.0**np.round(np.log2(max(np.abs(exact).max(), 0.1) / 120)) if r.rand() < 0.5 else
                       max(np.abs(exact).max(), 0.1) / 120 * r.uniform(0.5, 1.5))
    limits = np.iinfo(dtype)
    zero = int(r.randint(limits.min // 2, limits.max // 2 + 1))
    return scale, zero, [Const(scale, "f4"), Const(zero, dtype)]


def dims(r, rank=None, most=5):
    return [int(r.randint(1, most + 1)) for _ in range(rank or r.randint(1, 5))]


def finish(r, op, inputs, exact, dtype, **attributes):
    scale, zero, numbers = result(r, exact, dtype)
    return Drawn(op, [*inputs, *numbers], exact, float(scale), zero, dtype, **attributes)


def convolution(x, w, group, stride, pad, apart):
    """[N, C, H, W] and [O, C / group, h, w]"""
    x = np.pad(x, ((0, 0), (0, 0), (pad[0], pad[2]), (pad[1], pad[3])))
    reach = [(w.shape[2 + i] - 1) * apart[i] + 1 for i in range(2)]
    rows, columns = [(x.shape[2 + i] - reach[i]) // stride[i] + 1 for i in range(2)]
    y, each, out = np.zeros((x.shape[0], w.shape[0], rows, columns)), w.shape[1], w.shape[0] // group
    for g in range(group):
        part, weights = x[:, g * each:(g + 1) * each], w[g * out:(g + 1) * out]
        for i in range(w.shape[2]):
            for k in range(w.shape[3]):
                piece = part[:, :, i * apart[0]:, k * apart[1]:][:, :, :(rows - 1) * stride[0] + 1:stride[0],
                                                                 :(columns - 1) * stride[1] + 1:stride[1]]
                y[:, g * out:(g + 1) * out] += np.einsum("nchw,oc->nohw", piece, weights[:, :, i, k])
    return y


def draw_conv(r):
    group, last = int(r.choice([1, 1, 2, 3])), r.rand() < 0.25
    each, out = (1, 1) if r.rand() < 0.3 else (int(r.randint(1, 4)), int(r.randint(1, 4)))
    exact, dtype = r.rand() < 0.5, kind(r)
    x = Tensor(r, [int(r.randint(1, 3)), group * each, 7, 6], kind(r), exact=exact)
    w = Tensor(r, [group * out, each, int(r.randint(1, 4)), int(r.randint(1, 4))], kind(r),
               0 if r.rand() < 0.5 else None, symmetric=r.rand() < 0.5, exact=exact)
    more = {"group": group, "strides": r.randint(1, 3, 2).tolist(), "pads": r.randint(0, 2, 4).tolist(),
            "dilations": r.randint(1, 3, 2).tolist()}
    y = convolution(x.real, w.real, group, more["strides"], more["pads"], more["dilations"])
    bias = [r.randint(-20000, 20000, group * out).astype("i4")] if r.rand() < 0.6 else []
    for b in bias:
        y += (b * (x.scale.astype("f8") * w.scale.astype("f8"))).reshape(-1, 1, 1)
    image = x.q
    if last:
        image, y, more["channels_last"] = image.transpose(0, 2, 3, 1), y.transpose(0, 2, 3, 1), 1
    scale, zero, numbers = result(r, y, dtype)
    inputs = [np.ascontiguousarray(image), *x.numbers(), w.known(), *w.numbers(), *numbers, *(Const(b, "i4") for b in bias)]
    op = MICROSOFT + "QLinearConv" if last or r.rand() < 0.2 else "QLinearConv"
    return Drawn(op, inputs, y, float(scale), zero, dtype, **more)


def draw_matmul(r):
    exact, known = r.rand() < 0.5, r.rand() < 0.7
    lead = dims(r, r.randint(1, 3), 3) if r.rand() < 0.5 else []
    m, k, n = dims(r, 3, 9)
    a = Tensor(r, [*lead, m, k], kind(r), exact=exact)
    rank = 2 if known or not lead else len(lead) + 2
    b = Tensor(r, [*lead, k, n][-rank:], kind(r), rank - 1 if known and r.rand() < 0.5 else None, exact=exact)
    y = np.matmul(a.real, b.real)
    numbers = b.numbers()
    if not b.whole and r.rand() < 0.5:  # of a matrix of one row
        numbers = [Const(n.array.reshape([1] * (rank - 1) + [-1]), n.array.dtype) for n in numbers]
    return finish(r, "QLinearMatMul", [a.q, *a.numbers(), b.known() if known else b.q, *numbers], y, kind(r), opset=int(r.choice([10, 21])))


def draw_gemm(r):
    exact = r.rand() < 0.5
    m, k, n = dims(r, 3, 9)
    trans_a, trans_b = int(r.rand() < 0.3), int(r.rand() < 0.5)
    dtype = kind(r)
    a = Tensor(r, [k, m] if trans_a else [m, k], dtype, exact=exact)
    b = Tensor(r, [n, k] if trans_b else [k, n], kind(r), (0 if trans_b else 1) if r.rand() < 0.5 else None, exact=exact)
    alpha = float(r.choice([1, 1, 0.5, 2]))
    scale = alpha * a.scale.astype("f8") * b.scale.astype("f8")
    y = alpha * ((a.real.T if trans_a else a.real) @ (b.real.T if trans_b else b.real))
    c = r.randint(-9000, 9000, n).astype("i4") if r.rand() < 0.6 else None
    if c is not None:
        y = y + c * scale
    inputs = [a.q, *a.numbers(), b.known(), *b.numbers(), None if c is None else Const(c, "i4")]
    return finish(r, MICROSOFT + "QGemm", inputs, y, dtype, transA=trans_a, transB=trans_b, alpha=alpha)


def draw_binary(op, function):
    def draw(r):
        dtype, exact, shape = kind(r), r.rand() < 0.5, dims(r)
        other = [n if r.rand() < 0.7 else 1 for n in shape][r.randint(0, len(shape)):]
        a, b = Tensor(r, shape, dtype, exact=exact), Tensor(r, other, dtype, exact=exact)
        inputs = [a.q, *a.numbers(), b.known() if r.rand() < 0.4 else b.q, *b.numbers()]
        return finish(r, MICROSOFT + op, inputs, function(a.real, b.real), dtype)
    return draw


def draw_unary(op, function, **choices):
    def draw(r):
        dtype = kind(r)
        x = Tensor(r, dims(r), dtype, exact=False)
        more = {name: values[r.randint(len(values))] for name, values in choices.items()}
        return finish(r, MICROSOFT + op, [x.q, *x.numbers()], function(x.real, **more), dtype, **more)
    return draw


def draw_concat(r):
    dtype, shape = kind(r), dims(r, r.randint(1, 5))
    axis, parts = int(r.randint(len(shape))), []
    same = r.rand() < 0.3
    for _ in range(r.randint(2, 5)):
        shape[axis] = int(r.randint(1, 4))
        parts.append(Tensor(r, list(shape), dtype))
        if same:
            first = parts[0]
            parts[-1].scale, parts[-1].zero = first.scale, first.zero
            parts[-1].real = (parts[-1].q.astype("f8") - first.zero) * first.scale.astype("f8")
    y = np.concatenate([p.real for p in parts], axis)
    scale, zero, numbers = result(r, y, dtype)
    if same:
        scale, zero, numbers = parts[0].scale[0], int(parts[0].zero[0]), parts[0].numbers()
    inputs = [*numbers]
    for p in parts:
        inputs += [p.q, *p.numbers()]
    return Drawn(MICROSOFT + "QLinearConcat", inputs, y, float(scale), zero, dtype, axis=axis)


def draw_where(r):
    dtype, shape, exact = kind(r), dims(r), r.rand() < 0.5
    a, b = Tensor(r, shape, dtype, exact=exact), Tensor(r, shape, dtype, exact=exact)
    choice = r.rand(*shape) < 0.5
    inputs = [choice, a.q, *a.numbers(), b.q, *b.numbers()]
    return finish(r, MICROSOFT + "QLinearWhere", inputs, np.where(choice, a.real, b.real), dtype)


def draw_global_pool(r):
    last = int(r.randint(2))
    shape, dtype = [*dims(r, 2), 3, 4], kind(r)
    x = Tensor(r, [shape[0], 3, 4, shape[1]] if last else shape, dtype)
    y = x.real.mean((1, 2) if last else (2, 3), keepdims=True)
    return finish(r, MICROSOFT + "QLinearGlobalAveragePool", [x.q, *x.numbers()], y, dtype, channels_last=last)


def draw_pool(r):
    last, dtype = int(r.randint(2)), kind(r)
    x = Tensor(r, [int(r.randint(1, 3)), int(r.randint(1, 4)), 6, 7], dtype)
    kernel, stride, pads, counts = r.randint(1, 4, 2).tolist(), r.randint(1, 3, 2).tolist(), [0, 0, 0, 0], int(r.randint(2))
    if min(kernel) > 1:
        pads = r.randint(0, 2, 4).tolist()
    ones = np.ones_like(x.real)
    each = np.eye(x.q.shape[1])[:, :, None, None] * np.ones(kernel)
    total = convolution(x.real, each, 1, stride, pads, [1, 1])
    count = np.prod(kernel) if counts else convolution(ones, each, 1, stride, pads, [1, 1])
    y, image = total / count, x.q
    if last:
        y, image = y.transpose(0, 2, 3, 1), np.ascontiguousarray(image.transpose(0, 2, 3, 1))
    return finish(r, MICROSOFT + "QLinearAveragePool", [image, *x.numbers()], y, dtype, kernel_shape=kernel, strides=stride,
                  pads=pads, count_include_pad=counts, channels_last=last)


def draw_mean(r):
    shape, dtype = dims(r, r.randint(2, 5)), kind(r)
    x = Tensor(r, shape, dtype)
    axes, keep = r.permutation(len(shape))[:r.randint(1, len(shape) + 1)].tolist(), int(r.randint(2))
    y = np.array(x.real.mean(tuple(axes), keepdims=bool(keep)))
    return finish(r, MICROSOFT + "QLinearReduceMean", [x.q, *x.numbers()], y, dtype, axes=axes, keepdims=keep)


def draw_softmax(r):
    shape, dtype, opset = dims(r, r.randint(1, 4), 6), kind(r), int(r.choice([1, 13]))
    x = Tensor(r, shape, dtype, exact=False)
    axis = int(r.randint(len(shape)))
    over = tuple(range(axis, len(shape))) if opset < 13 else axis
    e = np.exp(x.real - x.real.max(over, keepdims=True))
    node = finish(r, MICROSOFT + "QLinearSoftmax", [x.q, *x.numbers()], e / e.sum(over, keepdims=True), dtype, axis=axis)
    node.attributes["opset"] = opset
    return node


DRAWS = {
    "QGemm": draw_gemm,
    "QLinearAdd": draw_binary("QLinearAdd", np.add),
    "QLinearAveragePool": draw_pool,
    "QLinearConcat": draw_concat,
    "QLinearConv": draw_conv,
    "QLinearGlobalAveragePool": draw_global_pool,
    "QLinearLeakyRelu": draw_unary("QLinearLeakyRelu", lambda x, alpha: np.where(x < 0, np.float32(alpha) * x, x), alpha=[0.01, 0.25]),
    "QLinearMatMul": draw_matmul,
    "QLinearMul": draw_binary("QLinearMul", np.multiply),
    "QLinearReduceMean": draw_mean,
    "QLinearSigmoid": draw_unary("QLinearSigmoid", lambda x: 1 / (1 + np.exp(-x))),
    "QLinearSoftmax": draw_softmax,
    "QLinearWhere": draw_where,
}
