# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms, and the complex numbers between them."""

import numpy as np
from case import Cases
from tf_writer import DType, Tensor

CASES = Cases()
F32, I32 = np.float32, np.int32
COMPLEX = DType("complex64")


def lengths(c, *values):
    return c.const(np.array(values, I32))


def pair(c, z):
    """Real and imaginary parts: graphs do not give complex numbers."""
    return c.node("Real", [z]), c.node("Imag", [z])


def complex_of(c, dims, constant=False):
    return c.node("Complex", [c.either(constant, dims), c.either(constant, dims)])


def real_transforms():
    for dims, length in (([8], 8), ([2, 8], 8), ([3, 7], 7), ([2, 3, 9], 9), ([2, 10], 6), ([4, 1], 1), ([2, 5], 1), ([1, 64], 60)):
        for constant in (False, True):
            c = CASES.new(f"RFFT of {dims} as {length}{', constant' * constant}")
            c.gives(*pair(c, c.node("RFFT", [c.either(constant, dims), lengths(c, length)])))
    for dims, length in (([5], 8), ([2, 5], 8), ([3, 4], 7), ([2, 3, 7], 12), ([2, 10], 6), ([4, 1], 1), ([3, 2], 2), ([3, 5], 9)):
        for constant in (False, True):
            c = CASES.new(f"IRFFT of {dims} as {length}{', constant' * constant}")
            c.gives(c.node("IRFFT", [complex_of(c, dims, constant), lengths(c, length)]))
    for dims, sizes in (([4, 6], (4, 6)), ([2, 5, 7], (5, 7)), ([2, 5, 4], (5, 3)), ([2, 6, 8], (4, 6))):
        c = CASES.new(f"RFFT2D of {dims} as {sizes}")
        c.gives(*pair(c, c.node("RFFT2D", [c.input(dims), lengths(c, *sizes)])))
        c = CASES.new(f"IRFFT2D of {dims} as {sizes}")
        c.gives(c.node("IRFFT2D", [complex_of(c, dims), lengths(c, *sizes)]))
    c = CASES.new("RFFT3D")
    c.gives(*pair(c, c.node("RFFT3D", [c.input([2, 3, 4, 5]), lengths(c, 3, 4, 5)])))
    c = CASES.new("IRFFT3D")
    c.gives(c.node("IRFFT3D", [complex_of(c, [2, 3, 4, 3]), lengths(c, 3, 4, 5)]))


def complex_transforms():
    for op, dims in (("FFT", [6]), ("FFT", [2, 7]), ("FFT2D", [3, 4]), ("FFT2D", [2, 3, 4]), ("FFT3D", [2, 3, 4])):
        for inverse in ("", "I"):
            c = CASES.new(f"{inverse}{op} of {dims}")
            c.gives(*pair(c, c.node(inverse + op, [complex_of(c, dims)])))
    c = CASES.new("the transform of text and width of a network that mixes by it")
    x = c.node("Cast", [c.input([2, 4, 6])], SrcT=F32, DstT=COMPLEX)
    c.gives(c.node("Real", [c.node("FFT2D", [x])]))


def numbers():
    dims = [3, 4]
    for op in ("AddV2", "Sub", "Mul"):
        c = CASES.new(f"{op} of complex numbers")
        c.gives(*pair(c, c.node(op, [complex_of(c, dims), complex_of(c, [4])], T=COMPLEX)))
    for op in ("Conj", "Exp"):
        c = CASES.new(f"{op} of complex numbers")
        c.gives(*pair(c, c.node(op, [complex_of(c, dims)], T=COMPLEX)))
    for op in ("ComplexAbs", "Angle"):
        c = CASES.new(f"{op} of complex numbers")
        c.gives(c.node(op, [complex_of(c, dims)]))
    c = CASES.new("ComplexAbs of numbers whose squares are none")
    parts = np.array([3e25, -4e25, 3e-25, 4e-25, 0, -5, 1e38, 1e-30], F32)
    size = c.node("ComplexAbs", [c.node("Complex", [c.input(parts), c.input(parts[[1, 0, 3, 2, 4, 4, 7, 6]])])])
    c.gives(c.node("Div", [size, c.const(np.array([1e25, 1e25, 1e-25, 1e-25, 1, 1, 1e38, 1e38], F32))]))
    c = CASES.new("Angle of numbers on the axes")
    c.gives(c.node("Angle", [c.node("Complex", [c.input(np.array([1, -1, 0, 0, 0], F32)), c.input(np.array([0, 0, 1, -1, 0], F32))])]))
    c = CASES.new("Complex of shapes that broadcast")
    c.gives(*pair(c, c.node("Complex", [c.input([3, 1]), c.input([4])])))
    c = CASES.new("Cast of complex numbers to real ones")
    c.gives(c.node("Cast", [complex_of(c, dims)], SrcT=COMPLEX, DstT=F32))


def constants():
    """As exporters write twiddle factors."""
    for form in ("content", "values", "splat"):
        for name, dims in (("complex64", [2, 3]), ("complex64", []), ("complex128", [2, 2])):
            c = CASES.new(f"a constant of {name}, {dims}, in the form {form}")
            z = np.asarray(c.random(dims) + 1j * c.random(dims), name)
            if form == "splat":
                z = np.full(dims, 1.5 - 2j, name)
            parts = {"T": DType(name), "Tout": F32 if name == "complex64" else np.float64}
            z = c.node("Const", [], value=Tensor(z, form), dtype=DType(name))
            c.gives(*(c.node(part, [z], **parts) for part in ("Real", "Imag")))
    c = CASES.new("a constant whose last number stands for the rest")
    z = c.node("Const", [], value=Tensor(np.array([1 + 2j, 3 - 4j, 3 - 4j, 3 - 4j], np.complex64), "splat"), dtype=COMPLEX)
    c.gives(*pair(c, c.node("Mul", [z, complex_of(c, [4])], T=COMPLEX)))
    c = CASES.new("a transform by a matrix of complex constants, as MFCC has it")
    spectrum = c.node("RFFT", [c.input([2, 8]), lengths(c, 8)])
    turn = c.node("Const", [], value=Tensor(np.exp(-1j * np.arange(5) * np.pi / 8).astype(np.complex64)), dtype=COMPLEX)
    turned = c.node("Mul", [spectrum, turn], T=COMPLEX)
    c.gives(c.node("ComplexAbs", [turned]), c.node("Real", [turned]))


def infinite():
    c = CASES.new("ComplexAbs of infinite parts")
    parts = np.array([np.inf, -np.inf, np.inf, np.inf, 1, np.nan, np.nan], F32)
    others = np.array([1, np.inf, -np.inf, np.nan, -np.inf, np.inf, 0], F32)
    c.gives(c.node("ComplexAbs", [c.node("Complex", [c.input(parts), c.input(others)])]))


def moved():
    """What moves elements takes complex numbers, too."""
    c = CASES.new("complex numbers on their way")
    z = complex_of(c, [2, 3, 4])
    z = c.node("Transpose", [z, c.const(np.array([0, 2, 1], I32))], T=COMPLEX)
    z = c.node("Reshape", [z, c.const(np.array([2, 2, -1], I32))], T=COMPLEX)
    z = c.node("ExpandDims", [z, c.const(np.array(1, I32))], T=COMPLEX)
    z = c.node("Squeeze", [z], T=COMPLEX, squeeze_dims=[1])
    z = c.node("ConcatV2", [z, complex_of(c, [2, 2, 1]), c.const(np.array(2, I32))], T=COMPLEX, N=2)
    z = c.node("StridedSlice", [z, *(c.const(np.array(v, I32)) for v in ([0, 0, 1], [2, 2, 7], [1, 1, 2]))], T=COMPLEX)
    z = c.node("Pad", [c.node("Identity", [z], T=COMPLEX), c.const(np.array([[0, 0], [1, 0], [0, 2]], I32))], T=COMPLEX)
    c.gives(*pair(c, z))


def spectrograms():
    """As tf.signal.stft and linear_to_mel_weight_matrix write them, in short: frames, a window, magnitudes, mel bands."""
    c = CASES.new("a mel spectrogram")
    at = np.arange(9)[:, None] * 16 + np.arange(32)
    frames = c.node("GatherV2", [c.input([2, 160]), c.const(at.astype(I32)), c.const(np.array(1, I32))])
    window = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(32) / 32)).astype(F32)
    framed = c.node("Pad", [c.node("Mul", [frames, c.const(window)]), c.const(np.array([[0, 0], [0, 0], [0, 32]], I32))])
    spectrum = c.node("RFFT", [framed, lengths(c, 64)])
    mel = c.node("Reshape", [c.node("ComplexAbs", [spectrum]), c.const(np.array([18, 33], I32))])
    mel = c.node("MatMul", [mel, c.const(c.random([33, 5], low=0, high=1))])
    c.gives(c.node("Log", [c.node("AddV2", [mel, c.const(np.array(1e-3, F32))])]))
    c = CASES.new("a cosine transform by complex numbers")
    n = 6
    padded = c.node("Pad", [c.input([2, n]), c.const(np.array([[0, 0], [0, n]], I32))])
    spectrum = c.node("RFFT", [padded, lengths(c, 2 * n)])
    part = c.node("StridedSlice", [spectrum, *(c.const(np.array(v, I32)) for v in ([0, 0], [0, n], [1, 1]))], T=COMPLEX,
                  begin_mask=1, end_mask=1)
    turn = c.node("Complex", [c.const(np.zeros(n, F32)), c.const((-np.arange(n) * np.pi / (2 * n)).astype(F32))])
    factor = c.node("Mul", [c.node("Complex", [c.const(np.array(2, F32)), c.const(np.array(0, F32))]),
                            c.node("Exp", [turn], T=COMPLEX)], T=COMPLEX)
    c.gives(c.node("Real", [c.node("Mul", [part, factor], T=COMPLEX)]))


def refused():
    c = CASES.new("a complex graph output")
    c.node("RFFT", [c.input([8]), lengths(c, 8)])
    c.refused("is made of complex numbers: a container holds tensors alone")
    c = CASES.new("complex numbers for an operator that has no form for them")
    c.node("Sqrt", [complex_of(c, [3])], T=COMPLEX)
    c.refused("input 0 is made of complex numbers instead of a tensor")
    c = CASES.new("a transform of computed length")
    c.node("Real", [c.node("RFFT", [c.input([8]), c.input(np.array([8], I32))])])
    c.refused("input 1 (fft_length) is not a constant")
    c = CASES.new("a transform of other axes than there are")
    c.node("Real", [c.node("RFFT2D", [c.input([8]), lengths(c, 8, 8)])])
    c.refused("an input of rank 1 does not have 2 axes")
    c = CASES.new("a transform of more elements than there are")
    c.node("Real", [c.node("RFFT", [c.input([8]), lengths(c, 9)])])
    c.refused("a transform of 8 elements to 9 is not possible")
    c = CASES.new("a transform to nothing")
    c.node("Real", [c.node("RFFT", [c.input([8]), lengths(c, 0)])])
    c.refused("a transform of 8 elements to 0 is not possible")
    c = CASES.new("a transform of doubles")
    c.node("Real", [c.node("RFFT", [c.input([8], np.float64), lengths(c, 8)], Treal=np.float64, Tcomplex=DType("complex128"))],
           T=DType("complex128"), Tout=np.float64)
    c.refused("a transform of float64, not float32, is not supported")


real_transforms()
complex_transforms()
numbers()
constants()
infinite()
moved()
spectrograms()
refused()
