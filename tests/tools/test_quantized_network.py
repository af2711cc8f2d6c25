# SPDX-License-Identifier: Apache-2.0
"""net-run on a quantized network of the vendor's tools, DeepLab with int8 activations, whose Concat has a range of its own.

Its classes are, pixel by pixel, those of the definition of fixed-point arithmetic written out in NumPy. They are compared with those
of ONNX Runtime, too, which quantizes and dequantizes around each op and sums in float32: of a million results of a convolution 0 to
50 fall on the other side of a tie, and each changes others from there on. ONNX Runtime agrees with itself as far as with us: with the
same sums in another order (channels permuted, or the picture and all filters turned around) its own classes are equal in 99.75 to
99.79 % of the first picture and in 98.7 to 99.0 % of the second one."""

import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SHARED, Checks, run, share_of  # noqa: E402
from dlc_reader import read_container  # noqa: E402

FOLDER = SHARED / "corpus" / "fidelity" / "deeplab-int8"
CONTAINER = FOLDER / "quantized_deeplab.v4.0.dlc"
IMAGES = share_of(("2007_000033", "2007_000129"), 2, "images")


class Simulation:
    """Integers of the network's tensors, one op after the other; images are [channels, height, width]."""

    def __init__(self, container, image):
        self.container, self.q = container, {}
        self.give("sub_7:0", image.transpose(2, 0, 1))
        for op in container.ops[:-1]:
            getattr(self, f"compute_{op.type}")(op)

    def encoding(self, name):
        return self.container.tensors[name].encodings[0]

    def give(self, name, reals):
        """Rounds: the quotient of float32 values is one of float32."""
        scale, offset = self.encoding(name)
        quotient = (reals.astype("f4") / np.float64(scale)).astype("f4").astype("f8")
        self.q[name] = np.clip(np.rint(quotient) - offset, 0, 255)

    def real(self, name):
        scale, offset = self.encoding(name)
        return ((self.q[name] + offset) * scale).astype("f4")

    def constant(self, name):
        tensor = self.container.tensors[name]
        return np.frombuffer(tensor.data, "u1").astype("f8").reshape(tensor.dims) + self.encoding(name)[1]

    def compute_Conv2d(self, op):
        """The sum exact, the rest in double."""
        name, (weights, bias), out = op.inputs[0], op.inputs[1:], op.outputs[0]
        w = self.constant(weights)
        param = {key: np.frombuffer(op.params[key].tensor.data, "u4").astype(int) for key in ("pad_amount", "stride", "dilation")}
        pads, stride, dilation = param["pad_amount"], param["stride"], param["dilation"]
        x = np.pad(self.q[name] + self.encoding(name)[1], ((0, 0), pads[:2], pads[2:]))
        height, width = self.container.tensors[out].dims[1:3]
        total = 0
        for i, j in np.ndindex(*w.shape[:2]):
            top, left = i * dilation[0], j * dilation[1]
            part = x[:, top:top + (height - 1) * stride[0] + 1:stride[0], left:left + (width - 1) * stride[1] + 1:stride[1]]
            if op.type == "Conv2d":
                total = total + (w[i, j].T @ part.reshape(len(part), -1)).reshape(-1, height, width)
            else:
                total = total + part * w[i, j, 0][:, None, None]
        real = total * self.encoding(name)[0] * self.encoding(weights)[0]
        real += (self.constant(bias) * self.encoding(bias)[0])[:, None, None]
        scale, offset = self.encoding(out)
        self.q[out] = np.clip(np.rint(real / scale) - offset, 0, 255)

    compute_DepthWiseConv2d = compute_Conv2d

    def compute_Neuron(self, op):
        values = np.maximum(self.real(op.inputs[0]), 0)
        self.give(op.outputs[0], np.minimum(values, op.params["max_value"].value) if "max_value" in op.params else values)

    def compute_Eltwise_Binary(self, op):
        self.give(op.outputs[0], self.real(op.inputs[0]) + self.real(op.inputs[1]))

    def compute_Pool(self, op):
        self.give(op.outputs[0], self.real(op.inputs[0]).astype("f8").mean(axis=(1, 2), keepdims=True))

    def compute_Concat(self, op):
        self.give(op.outputs[0], np.concatenate([self.real(name) for name in op.inputs]))

    def compute_Resize(self, op):
        """Corners stay corners. (Between 65 and 513 elements, places are multiples of an eighth.)"""
        values = self.real(op.inputs[0]).astype("f8")
        for axis, count in enumerate(self.container.tensors[op.outputs[0]].dims[1:3], 1):
            last = values.shape[axis] - 1
            place = np.arange(count) * last / (count - 1)
            low = np.floor(place).astype(int)
            part = (place - low).reshape([-1 if i == axis else 1 for i in range(3)])
            values = np.take(values, low, axis) * (1 - part) + np.take(values, np.minimum(low + 1, last), axis) * part
        self.give(op.outputs[0], values)


def main():
    checks = Checks()
    if not FOLDER.is_dir():
        checks.skip("deeplab-int8", f"{FOLDER} is not there")
        checks.finish()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        images = {image: np.load(FOLDER / f"{image}_input.npy") for image in IMAGES}
        for image, values in images.items():
            values.tofile(folder / f"{image}.raw")
        (folder / "list.txt").write_text("".join(f"{folder / image}.raw\n" for image in IMAGES))
        done = run("net-run", "--container", CONTAINER, "--input_list", folder / "list.txt", "--output_dir", folder / "out")
        checks.equal("status", (done.returncode, done.stderr), (0, ""))
        container = read_container(CONTAINER, in_order=False)
        for i, (image, values) in enumerate(images.items()):
            found = np.fromfile(folder / "out" / f"Result_{i}" / "ArgMax:0.raw", "f4").reshape(513, 513)
            expected = Simulation(container, values[0]).q["ResizeBilinear_3:0"].argmax(axis=0)
            checks.equal(f"{image}: pixels that differ", np.count_nonzero(found != expected), 0)
            equal = np.mean(found == np.load(FOLDER / f"{image}_classes.npy"))
            checks.check(f"{image}: pixels as float32 sums have them", equal >= 0.985, equal)
    checks.finish()


main()
