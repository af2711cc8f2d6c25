# SPDX-License-Identifier: Apache-2.0
"""ONNX signal operators, each as a model of one node that is converted and executed; NumPy's sums of sines and cosines
say what must come out. What cannot be converted must be refused with the reason."""

from one_node import Const, gives, np, refuses
from checks import Checks
from onnx_writer import DOUBLE, INT32

NEAR = 2e-6  # of the largest value: a few roundings of float32


def values(*shape, seed=1):
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype("f4")


def numbers(x):
    """Complex numbers of pairs, or of real parts alone."""
    return x[..., 0].astype("c16") if x.shape[-1] == 1 else x[..., 0] + 1j * x[..., 1].astype("f8")


def pairs(y):
    return np.stack([y.real, y.imag], -1).astype("f4")


def transform(x, length, axis, sign=-1):
    """The sums as they are defined; what is missing of the signal is 0."""
    x = np.moveaxis(numbers(x), axis, -1)[..., :length]
    n, k = np.arange(x.shape[-1]), np.arange(length)
    y = (x[..., None, :] * np.exp(sign * 2j * np.pi * k[:, None] * n / length)).sum(-1)
    return np.moveaxis(y / length if sign > 0 else y, -1, axis)


def scalar(value, dtype="i8"):
    return Const(value, dtype)


def test_dft(checks):
    real, both = values(2, 5, 4, 1), values(2, 5, 4, 2)
    for x in (real, both):
        gives(checks, "DFT", 17, [x], pairs(transform(x, 5, 1)), within=NEAR)
        gives(checks, "DFT", 19, [x], pairs(transform(x, 4, 2)), within=NEAR, axis=-2)
        gives(checks, "DFT", 20, [x], pairs(transform(x, 4, 2)), within=NEAR)
        gives(checks, "DFT", 20, [x, None, scalar(0)], pairs(transform(x, 2, 0)), within=NEAR)
        gives(checks, "DFT", 20, [x, None, scalar(1)], pairs(transform(x, 5, 1, 1)), within=NEAR, inverse=1)
        for length in (1, 3, 8):
            gives(checks, "DFT", 17, [x, scalar(length)], pairs(transform(x, length, 1)), within=NEAR)
            gives(checks, "DFT", 20, [x, scalar(length, "i4"), scalar(-3)], pairs(transform(x, length, 1, 1)),
                  within=NEAR, inverse=1)
    # Whole multiples of a quarter turn are exact.
    ones = np.ones((1, 4, 1), "f4")
    gives(checks, "DFT", 20, [ones], np.array([[[4, 0], [0, 0], [0, 0], [0, 0]]], "f4"))


def test_onesided(checks):
    x = values(3, 6, 1)
    for length in (1, 5, 6, 9):
        half = transform(x, length, 1)[:, :length // 2 + 1]
        gives(checks, "DFT", 17, [x, scalar(length)], pairs(half), within=NEAR, onesided=1)
        # The imaginary parts of elements that are their own mirror image do not count.
        odd = pairs(half)
        odd[:, 0, 1] = 0.5
        whole = transform(x, length, 1, -1)
        back = transform(pairs(whole), length, 1, 1).real[..., None].astype("f4")
        gives(checks, "DFT", 20, [odd, scalar(length)], back, within=NEAR, onesided=1, inverse=1)
    even = pairs(transform(x, 6, 1)[:, :4])
    gives(checks, "DFT", 17, [even], x, within=NEAR, onesided=1, inverse=1)
    half = values(2, 4, 2)
    longer = np.concatenate([numbers(half), np.zeros((2, 1))], 1)
    longer[:, 0] = longer[:, 0].real
    mirrored = np.concatenate([longer, longer[:, 1:4][:, ::-1].conj()], 1)
    gives(checks, "DFT", 20, [half, scalar(8)], transform(pairs(mirrored), 8, 1, 1).real[..., None].astype("f4"),
          within=NEAR, onesided=1, inverse=1)
    gives(checks, "DFT", 20, [half.astype("f2")],
          np.fft.irfft(numbers(half.astype("f2")), 6)[..., None].astype("f2"), within=1e-3, onesided=1, inverse=1)


def test_dft_refusals(checks):
    x = values(2, 5, 2)
    refuses(checks, "a onesided transform of complex numbers is not defined", "DFT", 20, [x], onesided=1)
    refuses(checks, "a onesided transform of real numbers is not defined", "DFT", 17, [x[..., :1]], onesided=1, inverse=1)
    refuses(checks, "the last axis is that of the parts", "DFT", 17, [x], axis=-1)
    refuses(checks, "axis 3 is outside a tensor of rank 3", "DFT", 20, [x, None, scalar(3)])
    refuses(checks, "dft_length is 0", "DFT", 20, [x, scalar(0)])
    refuses(checks, "dft_length is 0", "DFT", 20, [x[:, :1]], onesided=1, inverse=1)
    refuses(checks, "has 3 elements instead of 1 or 2", "DFT", 20, [values(2, 5, 3)])
    refuses(checks, "input 1 (dft_length) is not a constant", "DFT", 20, [x, np.array(5)])
    refuses(checks, "a constant of 2000000000 elements", "DFT", 20, [values(1, 5, 1), scalar(200000000)])


def stft(x, step, length, window, bins):
    frames = [x[:, at:at + length] * window[:, None] for at in range(0, x.shape[1] - length + 1, step)]
    return pairs(transform(np.stack(frames, 1), length, 2)[:, :, :bins])


def test_stft(checks):
    real, both = values(2, 23, 1), values(2, 23, 2)
    window, rect = values(7, seed=2), np.ones(7)
    gives(checks, "STFT", 17, [real, scalar(3), None, scalar(7)], stft(real, 3, 7, rect, 4), within=NEAR)
    gives(checks, "STFT", 17, [both, scalar(4), None, scalar(7)], stft(both, 4, 7, rect, 7), within=NEAR, onesided=0)
    for given in (window, Const(window, "f4")):
        gives(checks, "STFT", 17, [real, scalar(5), given], stft(real, 5, 7, window, 4), within=NEAR)
        gives(checks, "STFT", 17, [both, scalar(5, "i4"), given, scalar(7, "i4")], stft(both, 5, 7, window, 7),
              within=NEAR, onesided=0)
    gives(checks, "STFT", 17, [real, scalar(1)], stft(real, 1, 23, np.ones(23), 12), within=NEAR)
    half = real.astype("f2")
    gives(checks, "STFT", 17, [half, scalar(3), None, scalar(7)], stft(half, 3, 7, rect, 4).astype("f2"), within=1e-3)
    refuses(checks, "a onesided transform of complex numbers", "STFT", 17, [both, scalar(3)])
    refuses(checks, "frame_step is 0", "STFT", 17, [real, scalar(0)])
    refuses(checks, "input 1 (frame_step) is missing", "STFT", 17, [real])
    refuses(checks, "frame_length is 6, but the window has 7", "STFT", 17, [real, scalar(3), window, scalar(6)])
    refuses(checks, "a frame of 24 elements does not fit", "STFT", 17, [real, scalar(3), None, scalar(24)])
    refuses(checks, "the signal is [2,23]", "STFT", 17, [real[..., 0], scalar(3)])


def test_windows(checks):
    for op, a0, a1, a2 in (("HannWindow", 0.5, 0.5, 0), ("HammingWindow", 25 / 46, 21 / 46, 0),
                           ("BlackmanWindow", 0.42, 0.5, 0.08)):
        for size in (2, 5, 16):
            for periodic in (0, 1):
                angle = 2 * np.pi * np.arange(size) / (size - 1 + periodic)
                window = a0 - a1 * np.cos(angle) + a2 * np.cos(2 * angle)
                gives(checks, op, 17, [scalar(size)], window.astype("f4"), within=NEAR, periodic=periodic)
    gives(checks, "HannWindow", 17, [scalar(4, "i4")], np.array([0, 0.5, 1, 0.5]), within=NEAR, output_datatype=DOUBLE)
    gives(checks, "HannWindow", 17, [scalar(3)], np.array([0, 1, 0], "i4"), output_datatype=INT32, periodic=0)
    gives(checks, "HammingWindow", 17, [scalar(1)], np.array([4 / 46], "f4"), within=NEAR)
    refuses(checks, "size is -1", "HannWindow", 17, [scalar(-1)])
    refuses(checks, "input 0 (size) is not a constant", "HannWindow", 17, [np.array(4)])
    refuses(checks, "strings are no numbers", "HannWindow", 17, [scalar(4)], output_datatype=8)
    refuses(checks, "99 is not a type", "HannWindow", 17, [scalar(4)], output_datatype=99)


def mel_matrix(bands, length, rate, low, high):
    low, high = (2595 * np.log10(1 + edge / 700) for edge in (low, high))
    edges = low + (high - low) / (bands + 2) * np.arange(bands + 2)
    bins = np.floor((length + 1) * 700 * (10**(edges / 2595) - 1) / rate).astype(int)
    matrix = np.zeros((length // 2 + 1, bands))
    for band in range(bands):
        lower, centre, upper = bins[band:band + 3]
        matrix[lower:centre, band] = (np.arange(lower, centre) - lower) / max(centre - lower, 1)
        matrix[centre:upper, band] = (upper - np.arange(centre, upper)) / max(upper - centre, 1)
        matrix[centre, band] = 1
    return matrix


def test_mel(checks):
    for bands, length, rate, low, high in ((8, 16, 8192, 0, 4096), (5, 400, 16000, 20, 7600), (20, 65, 8000, 125.5, 3800)):
        inputs = [scalar(bands), scalar(length), scalar(rate), Const(low, "f4"), Const(high, "f4")]
        gives(checks, "MelWeightMatrix", 17, inputs, mel_matrix(bands, length, rate, low, high).astype("f4"), within=NEAR)
    inputs = [scalar(2), scalar(16), scalar(8192), Const(0, "f4"), Const(4096, "f4")]
    gives(checks, "MelWeightMatrix", 17, inputs, mel_matrix(2, 16, 8192, 0, 4096).astype("i4"), output_datatype=INT32)
    refuses(checks, "sample_rate is 0", "MelWeightMatrix", 17, [*inputs[:2], scalar(0), *inputs[3:]])
    refuses(checks, "lies outside the spectrum of 9 bins", "MelWeightMatrix", 17, [*inputs[:4], Const(90000, "f4")])
    refuses(checks, "lies outside the spectrum", "MelWeightMatrix", 17, [*inputs[:3], inputs[4], inputs[3]])
    refuses(checks, "is not one frequency", "MelWeightMatrix", 17, [*inputs[:4], Const([1, 2], "f4")])


def main():
    checks = Checks()
    if np is None:
        checks.skip("signal operators", "python3-numpy is not there")
        checks.finish()
    for test in (test_dft, test_onesided, test_dft_refusals, test_stft, test_windows, test_mel):
        test(checks)
    checks.finish()


main()
