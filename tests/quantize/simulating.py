# SPDX-License-Identifier: Apache-2.0
"""Fixed-point tensors in NumPy: what a quantized network computes, written out on the integers of its container."""

from quantizing import np, stored

BITS = {"UFXP_4": 4, "UFXP_8": 8, "UFXP_16": 16, "SFXP_4": 4, "SFXP_8": 8, "SFXP_16": 16, "SFXP_32": 32}


class Fixed:
    """Integers and the encoding of a tensor of the container."""

    def __init__(self, tensor, q=None):
        self.bits, self.signed = BITS[tensor.dtype], tensor.dtype.startswith("S")
        self.scale, self.offset = tensor.encodings[0]
        scales = np.array([scale for scale, _ in tensor.encodings])
        shape = [1] * len(tensor.dims)
        shape[tensor.axis or 0] = len(scales)
        self.scales = scales.reshape(shape) if len(scales) > 1 else scales[0]
        self.q = stored(tensor) if q is None else q

    def real(self):
        return ((self.q.astype("f8") + self.offset) * self.scales).astype("f4")

    def rounded(self, values):
        """Of floats: the quotient is one of float32."""
        q = np.rint((values.astype("f4") / np.float64(self.scale)).astype("f4").astype("f8")) - self.offset
        return self.saturated(q)

    def saturated(self, q):
        low = -2 ** (self.bits - 1) if self.signed else 0
        return np.clip(q, low, low + 2 ** self.bits - 1).astype("i8")


def product(x, weights, bias, out):
    """x · weights, of matrices with output channels last: the sum exact, the rest in double."""
    total = (x.q.astype("i8") + x.offset) @ (weights.q.astype("i8") + weights.offset)
    real = total * x.scale * np.ravel(weights.scales)
    if bias is not None:
        real = real + (bias.q.astype("f8") + bias.offset) * bias.scale
    return out.saturated(np.rint(real / out.scale) - out.offset)
