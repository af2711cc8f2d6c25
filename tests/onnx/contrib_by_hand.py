# SPDX-License-Identifier: Apache-2.0
"""What operators of ONNX Runtime give that its CPU has no kernel of: their definitions in NumPy."""

import math

from one_node import np


def wide(node):
    return [None if array is None else array.astype("f8") for array in node.arrays()]


def softmax(x, axes):
    e = np.exp(x - x.max(axes, keepdims=True))
    return e / e.sum(axes, keepdims=True)


def bias_softmax(node):
    x, bias = wide(node)
    axis = node.attributes.get("axis", 1) % x.ndim
    return [softmax(x + bias, tuple(range(axis, x.ndim)))]


def bias_add(node):
    x, bias, skip = wide(node)
    return [x + bias + skip]


def bias_split_gelu(node):
    x, bias = wide(node)
    left, right = np.split(x + bias, 2, axis=-1)
    return [left * right / 2 * (1 + np.vectorize(math.erf)(right / math.sqrt(2)))]


def group_norm(node):
    x, gamma, beta, *skips = wide(node)
    attributes = node.attributes
    last, groups, epsilon = attributes.get("channels_last", 1), attributes["groups"], attributes.get("epsilon", 1e-5)
    x = x if last else x.transpose(0, 2, 3, 1)
    n, h, w, c = x.shape
    if skips:
        skip = skips[0].reshape(n, 1, 1, c) if skips[0].size == n * c else skips[0] if last else skips[0].transpose(0, 2, 3, 1)
        x = x + skip + (skips[1] if len(skips) > 1 else 0)
    apart = x.reshape(n, h, w, groups, c // groups)
    centred = apart - apart.mean((1, 2, 4), keepdims=True)
    y = (centred / np.sqrt((centred**2).mean((1, 2, 4), keepdims=True) + epsilon)).reshape(x.shape) * gamma + beta
    y = y / (1 + np.exp(-y)) if attributes["activation"] else y
    return [value if last else value.transpose(0, 3, 1, 2) for value in ((y, x) if skips else (y,))]


def nhwc_conv(node):
    """Window by window."""
    x, w, *bias = wide(node)
    attributes = node.attributes
    groups, (v, u), (dy, dx) = (attributes.get(name, absent) for name, absent in
                                (("group", 1), ("strides", [1, 1]), ("dilations", [1, 1])))
    top, left, bottom, right = attributes.get("pads", [0] * 4)
    x = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)))
    outs, ins, h, k = w.shape
    rows, columns = (x.shape[1] - dy * (h - 1) - 1) // v + 1, (x.shape[2] - dx * (k - 1) - 1) // u + 1
    y = np.zeros((x.shape[0], rows, columns, outs)) + (bias[0] if bias else 0)
    for out in range(outs):
        first = out // (outs // groups) * ins
        for i in range(rows):
            for j in range(columns):
                window = x[:, i * v:i * v + dy * (h - 1) + 1:dy, j * u:j * u + dx * (k - 1) + 1:dx, first:first + ins]
                y[:, i, j, out] += np.einsum("nhwc,chw->n", window, w[out])
    return [y]


def multi_head(node):
    """MultiHeadAttention of operands that are packed into one or two tensors, with a bias."""
    q, k, _, bias, *_ = [*wide(node), None, None, None]
    heads = node.attributes["num_heads"]
    if k is None:
        q, k, v = (part.reshape(*part.shape[:2], -1) for part in np.moveaxis(q, 3, 0))
    else:
        k, v = (part.reshape(*part.shape[:2], -1) for part in np.moveaxis(k, 3, 0))
    parts = [q, k, v]
    if bias is not None:
        ends = np.cumsum([part.shape[2] for part in parts])[:2]
        parts = [part + more for part, more in zip(parts, np.split(bias, ends))]
    q, k, v = (part.reshape(*part.shape[:2], heads, -1).transpose(0, 2, 1, 3) for part in parts)
    y = softmax(q @ k.transpose(0, 1, 3, 2) / math.sqrt(q.shape[3]), (3,)) @ v
    return [y.transpose(0, 2, 1, 3).reshape(*y.shape[::2], -1)]


# ---- QONNX ----

ROUNDINGS = {"ROUND": np and np.round, "HALF_EVEN": np and np.round, "CEIL": np and np.ceil, "FLOOR": np and np.floor,
             "UP": lambda x: np.copysign(np.ceil(abs(x)), x), "DOWN": np and np.trunc,
             "HALF_UP": lambda x: np.copysign(np.floor(abs(x) + 0.5), x),
             "HALF_DOWN": lambda x: np.copysign(np.ceil(abs(x) - 0.5), x)}


def single(node):
    return [array.astype("f4") for array in node.arrays()]


def quant(node):
    """Integers between bounds by the number of bits, in float32."""
    x, scale, zero, bits = single(node)
    signed, narrow = node.attributes["signed"], node.attributes["narrow"]
    q = x / scale + zero
    if bits == 1 and signed:
        q = np.where(q >= 0, 1, -1)
    else:
        low = -2.0**(bits - 1) + narrow if signed else 0
        high = 2.0**(bits - 1) - 1 if signed else 2.0**bits - 1 - narrow
        q = ROUNDINGS[node.attributes.get("rounding_mode", "ROUND").upper()](np.clip(q, np.float32(low), np.float32(high)))
    return [(q - zero) * scale]


def bipolar_quant(node):
    x, scale = single(node)
    return [np.where(x >= 0, scale, -scale)]


def trunc_2(node):
    x, scale, zero, _, out, bits = single(node)
    signed, narrow = node.attributes.get("signed", 1), node.attributes.get("narrow", 0)
    power = np.float32(2.0**np.round(np.log2(out / scale)))
    low = -2.0**(bits - 1) + narrow if signed else 0
    high = 2.0**(bits - 1) - 1 if signed else 2.0**bits - 1 - narrow
    q = np.clip(np.round(x / scale + zero) / power, np.float32(low), np.float32(high))
    return [(ROUNDINGS[node.attributes.get("rounding_mode", "FLOOR").upper()](q) - zero / power) * out]


def trunc(node):
    x, scale, zero, bits, kept = single(node)
    q = np.round(x / scale + zero) / np.float32(2.0**(bits - kept))
    return [(ROUNDINGS[node.attributes.get("rounding_mode", "FLOOR").upper()](q) - zero) * scale]
