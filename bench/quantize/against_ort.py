#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Quantizes networks with dlc-quantize and with ONNX Runtime's static quantizer, and says how far each one's results are from its
own float results: the ratio of signal to error (SQNR, decibels). Both get the same calibration inputs, and other inputs after
that. 8 bits, weights per channel (and per row of matrices), 32-bit biases, ranges from minimum to maximum.
usage: against_ort.py [--build FOLDER] [--models FOLDER] [--report FOLDER] [--seeds N...] [--optimizations WORD...] [--names NAME...]
(Python with onnx and onnxruntime). With several seeds, figures are means over them; with optimizations, these are tried as well.

Inputs are of the range of the model's sample: pictures that are smooth, or sequences of the sample's numbers."""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.version_converter
import onnxruntime as ort
from onnxruntime.quantization import (CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType,
                                      quantize_static)
from onnxruntime.quantization.shape_inference import quant_pre_process

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "tests" / "support")]
from dlc_reader import read_container  # noqa: E402

NAMES = ("first/mnist", "first/rfb320", "first/blazeface-nhwc", "first/yunet", "first/fastestdet", "first/ppocr-cls",
         "first/ppocrv4-det", "first/ppocrv4-rec-en", "second/espcn-float", "second/self-attention-mnist",
         "second/retinaface-mnet025", "second/bert-toy", "first/transformer-mlm")
CALIBRATED, TRIED, WAVES = 8, 4, 12


def picture(rng, shape, low, high):
    """Waves over the two longest axes, different in each channel but not much."""
    axes = sorted(sorted(range(len(shape)), key=lambda i: -shape[i])[:2])
    grid = np.meshgrid(*(np.linspace(0, 1, shape[i]) for i in axes), indexing="ij")
    others = [shape[i] for i in range(len(shape)) if i not in axes]
    planes = []
    common = rng.normal(size=(WAVES, 4))
    for _ in range(int(np.prod(others))):
        waves = common + rng.normal(size=common.shape) * 0.2
        planes.append(sum(a / (1 + k) * np.sin(2 * np.pi * (k * 0.7 * (u * grid[0] + v * grid[1]) + p))
                          for k, (a, u, v, p) in enumerate(waves, 1)))
    whole = np.stack(planes).reshape(*others, *(shape[i] for i in axes))
    order = [i for i in range(len(shape)) if i not in axes] + axes
    whole = whole.transpose(np.argsort(order))
    whole = (whole - whole.min()) / (whole.max() - whole.min())
    return (low + whole * (high - low)).astype("f4")


def make_input(rng, sample):
    if sample.dtype == np.float32 and sample.ndim >= 3:
        return picture(rng, sample.shape, sample.min(), sample.max())
    return rng.permutation(sample.ravel()).reshape(sample.shape)


class Given(CalibrationDataReader):
    def __init__(self, sets):
        self.sets = iter(sets)

    def get_next(self):
        return next(self.sets, None)


def sqnr(signal, other):
    error = np.square(signal.astype("f8") - other).sum()
    return 10 * np.log10(np.square(signal.astype("f8")).sum() / error) if error else np.inf


def worst(floats, found):
    """{output: SQNR over all inputs}."""
    return {name: sqnr(np.concatenate([line[name].ravel() for line in floats]),
                       np.concatenate([line[name].ravel() for line in found])) for name in floats[0]}


class Network:
    def __init__(self, options, name, folder, seed):
        self.options, self.folder = options, folder
        source = options.models / name
        self.model = folder / "model.onnx"
        self.write_model(source / "model.onnx")
        session = ort.InferenceSession(str(self.model), providers=["CPUExecutionProvider"])
        rng = np.random.default_rng(seed)
        names = [i.name for i in session.get_inputs()]
        samples = {key: np.load(source / f"input_{i}.npy") for i, key in enumerate(names)}
        self.sets = [{key: make_input(rng, array) for key, array in samples.items()} for _ in range(CALIBRATED + TRIED)]

    def write_model(self, path):
        """ONNX Runtime's encodings per channel need opset 13, and constants that are not inputs as well."""
        model = onnx.load(path)
        if model.opset_import[0].version < 13:
            model = onnx.version_converter.convert_version(model, 13)
        model.ir_version = max(model.ir_version, 7)
        constants = {tensor.name for tensor in model.graph.initializer}
        inputs = [i for i in model.graph.input if i.name not in constants]
        del model.graph.input[:]
        model.graph.input.extend(inputs)
        for i, given in enumerate(model.graph.input):
            shape = onnx.helper.make_tensor_type_proto(1, np.load(path.parent / f"input_{i}.npy").shape).tensor_type.shape
            given.type.tensor_type.shape.CopyFrom(shape)
        onnx.save(model, self.model)

    def theirs(self):
        ready, fixed = str(self.folder / "ready.onnx"), str(self.folder / "fixed.onnx")
        quant_pre_process(str(self.model), ready, skip_symbolic_shape=True)
        quantize_static(ready, fixed, Given(self.sets[:CALIBRATED]), quant_format=QuantFormat.QDQ, per_channel=True,
                        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
                        calibrate_method=CalibrationMethod.MinMax)
        found = []
        for path in (str(self.model), fixed):
            session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
            outputs = [o.name for o in session.get_outputs()]
            found.append([dict(zip(outputs, session.run(outputs, given))) for given in self.sets[CALIBRATED:]])
        return worst(*found)

    def command(self, name, *words):
        where = {"onnx-to-dlc": "converters"}.get(name, "src/tools")
        done = subprocess.run([str(self.options.build / where / name), *map(str, words)], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{name}: {done.stderr.strip()}")

    def write_list(self, path, sets, dims):
        lines = []
        for i, given in enumerate(sets):
            words = []
            for k, (name, array) in enumerate(given.items()):
                if list(array.shape) != list(dims[name]):
                    array = np.moveaxis(array, 1, -1)
                file = self.folder / f"{path.stem}-{i}-{k}.raw"
                array.astype("<f4").tofile(file)
                words.append(f"{name}:={file}")
            lines.append(" ".join(words))
        path.write_text("\n".join(lines) + "\n")

    def results(self, container):
        out = self.folder / f"{container.stem}-results"
        self.command("net-run", "--container", container, "--input_list", self.folder / "tried.txt", "--output_dir", out)
        return [{path.name: np.fromfile(path, "<f4") for path in sorted((out / f"Result_{i}").rglob("*.raw"))}
                for i in range(TRIED)]

    def ours(self, *options, report=None):
        floats, fixed = self.folder / "floats.dlc", self.folder / "fixed.dlc"
        self.command("onnx-to-dlc", "--quiet", "-i", self.model, "-o", floats)
        dims = {t.name: t.dims for t in read_container(floats).tensors.values() if t.kind == "APP_WRITE"}
        self.write_list(self.folder / "calibrated.txt", self.sets[:CALIBRATED], dims)
        self.write_list(self.folder / "tried.txt", self.sets[CALIBRATED:], dims)
        more = ["--report", report, "--report_list", self.folder / "tried.txt"] if report else []
        self.command("dlc-quantize", "--input_dlc", floats, "--input_list", self.folder / "calibrated.txt", "--output_dlc",
                     fixed, "--bias_bitwidth", "32", "--use_per_channel_quantization", "--use_per_row_quantization",
                     *options, *more)
        return worst(self.results(floats), self.results(fixed))


def attempt(work):
    """(worst output, mean of the outputs), or why there are none."""
    try:
        found = list(work().values())
        return min(found), np.mean(found)
    except Exception as error:  # whatever stops a quantizer is its result
        return f"{type(error).__name__}: {str(error)[:150]}"


def text_of(found):
    """Of results for several seeds."""
    failed = [each for each in found if isinstance(each, str)]
    return failed[0] if failed else "%.1f | %.1f" % tuple(np.mean(found, axis=0))


def quantizers(options, network, name):
    report = options.report / f"{pathlib.Path(name).name}.json" if options.report else None
    yield lambda: network.ours(report=report)
    if options.optimizations:
        yield lambda: network.ours("--optimizations", *options.optimizations)
    yield network.theirs


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--models", type=pathlib.Path, default=ROOT.parent / "shared" / "corpus" / "onnx")
    parser.add_argument("--report", type=pathlib.Path, help="where reports of dlc-quantize go, one for each network")
    parser.add_argument("--seeds", type=int, nargs="+", default=[17])
    parser.add_argument("--optimizations", nargs="+", default=[])
    parser.add_argument("--names", nargs="+", default=NAMES)
    options = parser.parse_args()
    ort.set_default_logger_severity(3)
    print(f"ONNX Runtime {ort.__version__}; decibels of the worst output | mean of the outputs")
    for name in options.names:
        found = []
        for seed in options.seeds:
            with tempfile.TemporaryDirectory() as folder:
                network = Network(options, name, pathlib.Path(folder), seed)
                found.append([attempt(work) for work in quantizers(options, network, name)])
        print(f"| {pathlib.Path(name).name} | {' | '.join(text_of(each) for each in zip(*found))} |", flush=True)


main()
