# SPDX-License-Identifier: Apache-2.0
"""What is done with the TensorFlow models of the corpus: make_corpus.py lets TensorFlow compute these runs, and
tests/tensorflow/test_corpus.py converts, executes and compares."""

import zlib

import numpy as np
from case import random_numbers
from tf_writer import tensor_name

LARGEST_WHOLE = 2048  # elements of an output whose numbers are all kept; of larger ones as many are


class Run:
    """A model with inputs and outputs by name. Frozen inputs are constants of the conversion. sizes: dims of inputs that the
    model leaves open. transposes: how many the container may have. largest: of the inputs' numbers. stored: what the container
    calls inputs and outputs of a function that the signature serves."""

    def __init__(self, name, model, inputs, outputs, frozen=(), signature=None, transposes=0,
                 largest=1, stored=()):
        self.stored = dict(stored)
        self.name, self.model, self.outputs, self.transposes = name, model, outputs, transposes
        self.signature = signature
        self.frozen = {key: np.array(value, np.float32) for key, value in dict(frozen).items()}
        source = np.random.RandomState(zlib.crc32(name.encode()))
        self.inputs = {key: random_numbers(source, dims, np.float32, -largest, largest)
                       for key, dims in inputs.items()}

    def tensor(self, name):
        """Of the container."""
        return self.stored.get(name) or tensor_name(name)

    def options(self):
        """Of tensorflow-to-dlc, but for the frozen inputs, which are files."""
        options = []
        for name, values in self.inputs.items():
            if values.ndim:
                options += ["-d", name, ",".join(map(str, values.shape))]
        if self.signature:
            return [*options, "--saved_model_signature_key", self.signature]
        return options + [option for name in self.outputs for option in ("--out_node", name)]


class Refusal:
    """A conversion that ends with an error whose text has this part; status 2 is that of options that cannot be."""

    def __init__(self, name, model, options, part, status=1):
        self.name, self.model, self.options, self.part, self.status = name, model, options, part, status


def kept(array):
    """The elements of an output that are kept, as a vector."""
    flat = array.reshape(-1)
    if flat.size <= LARGEST_WHOLE:
        return flat
    return flat[np.sort(np.random.RandomState(flat.size).permutation(flat.size)[:LARGEST_WHOLE])]


TIMES = {"serving_default_x": "x:0", "StatefulPartitionedCall": "StatefulPartitionedCall/mul:0"}
HALF_PLUS_TWO = "saved_model/half-plus-two"
RUNS = [
    Run("ae0", "frozen/ae0.pb", {"X": [2, 784]}, ["output"]),
    Run("conv-actions-audio", "frozen/conv-actions-audio.pb", {"Mfcc": [1, 99, 40]}, ["labels_softmax"], largest=16),
    Run("fsrcnn-x2", "frozen/fsrcnn-x2.pb", {"IteratorGetNext": [1, 16, 20, 1]}, ["NCHW_output"], transposes=1),
    Run("fsrcnn-x2-nhwc", "frozen/fsrcnn-x2.pb", {"IteratorGetNext": [1, 16, 20, 1]}, ["NHWC_output"]),
    Run("gru", "frozen/gru.pb", {"X": [1, 784]}, ["output"], frozen={"keep_prob": 1}),
    Run("lstm", "frozen/lstm.pb", {"X": [1, 784]}, ["output"], frozen={"keep_prob": 1}),
    Run("kws-crnn-l", "frozen/kws-crnn-l.pb", {"Mfcc": [1, 49, 10]}, ["labels_softmax"], transposes=1,
        largest=16),
    Run("kws-ds-cnn-s", "frozen/kws-ds-cnn-s.pb", {"Mfcc": [1, 49, 10]}, ["labels_softmax"], largest=16),
    Run("pose-mobilenet-v2-small", "frozen/pose-mobilenet-v2-small.pb", {"image": [1, 224, 224, 3]},
        ["Openpose/concat_stage7"]),
    Run("yeah-world-mnet", "frozen/yeah-world-mnet.pb", {"input_1": [1, 128, 128, 3]}, ["output_0"]),
    Run("batch-norm-selu", "saved_model/batch-norm-selu", {"X": [3, 784]}, ["dnn/batch_normalization_3/batchnorm/add_1"],
        signature="serving_default"),
    Run("half-plus-two", HALF_PLUS_TWO, {"x": [4, 1]}, ["y"], signature="serving_default"),
    Run("half-plus-two regress_x2_to_y3", HALF_PLUS_TWO, {"x2": [4, 1]}, ["y3"], signature="regress_x2_to_y3"),
    Run("half-plus-two-tf2", "saved_model/half-plus-two-tf2", {"serving_default_x": [1]}, ["StatefulPartitionedCall_5"],
        signature="serving_default",
        stored={"serving_default_x": "x:0", "StatefulPartitionedCall_5": "StatefulPartitionedCall/Add:0"}),
    Run("half-plus-two-tf2 regress_x2_to_y3", "saved_model/half-plus-two-tf2", {"regress_x2_to_y3_inputs": [1]},
        ["StatefulPartitionedCall_2"], signature="regress_x2_to_y3",
        stored={"regress_x2_to_y3_inputs": "inputs:0", "StatefulPartitionedCall_2": "StatefulPartitionedCall/Add:0"}),
    Run("half-plus-two-tf2 classify_x2_to_y3", "saved_model/half-plus-two-tf2", {"classify_x2_to_y3_inputs": [1]},
        ["StatefulPartitionedCall"], signature="classify_x2_to_y3",
        stored={"classify_x2_to_y3_inputs": "inputs:0", "StatefulPartitionedCall": "StatefulPartitionedCall/Add:0"}),
    Run("multiple-signatures", "saved_model/multiple-signatures", {"serving_default_x": []}, ["StatefulPartitionedCall"],
        signature="serving_default", stored=TIMES),
    Run("multiple-signatures timestwo", "saved_model/multiple-signatures", {"timestwo_x": []},
        ["StatefulPartitionedCall_1"], signature="timestwo",
        stored={"timestwo_x": "x:0", "StatefulPartitionedCall_1": "StatefulPartitionedCall/mul:0"}),
    Run("times-three-float", "saved_model/times-three-float", {"serving_default_x": []}, ["StatefulPartitionedCall"],
        signature="serving_default", stored=TIMES),
    Run("regression", "checkpoint/regression/model.meta", {"X": [5]}, ["Add"]),
]

PARSES = ["regress_x_to_y", "classify_x_to_y", "regress_x_to_y2"]
REFUSALS = [
    *(Refusal(f"{model} with its audio operators", f"frozen/{model}.pb", ["--out_node", "labels_softmax"],
              "op DecodeWav is not supported: it reads an audio file: cut the graph behind it")
      for model in ("conv-actions-audio", "kws-crnn-l", "kws-ds-cnn-s")),
    *(Refusal(f"half-plus-two {key}", HALF_PLUS_TWO, ["--saved_model_signature_key", key, "-d", "tf_example", "1"],
              "op ParseExample is not supported") for key in PARSES),
    *(Refusal(f"half-plus-two-tf2 {key}", "saved_model/half-plus-two-tf2",
              ["--saved_model_signature_key", key, "-d", f"{key}_inputs", "1"], "op ParseExampleV2 is not supported")
      for key in PARSES),
    Refusal("half-plus-two with a signature that is not there", HALF_PLUS_TWO,
            ["--saved_model_signature_key", "serving_defualt"], "did you mean serving_default?", 2),
    Refusal("half-plus-two with a tag that is not there", HALF_PLUS_TWO, ["--saved_model_tag", "train"],
            "the tags of its graphs are: serve", 2),
]
