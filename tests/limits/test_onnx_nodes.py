# SPDX-License-Identifier: Apache-2.0
"""ONNX operators, functions, tensors and texts at the limits of docs/limits.md, and one beyond: each row of LIMITS is a limit,
the largest number that converts, what makes a model of it, and what is said of one more."""

import pathlib
import struct
import tempfile

from limit_converter import Converter  # the first: it finds the others
from checks import Checks
from onnx_writer import FLOAT, INT32, INT64, Message, Model, Sparse


def model_of(op, inputs, constants=(), opset=13, input_type=FLOAT, **attributes):
    """A node of graph inputs of these dims, and constants as (type, dims, values)."""
    m, names = Model(opset=opset), []
    for dims in inputs:
        names.append(f"x{len(names)}")
        m.input(names[-1], input_type, dims)
    for data_type, dims, values in constants:
        names.append(m.tensor(f"c{len(names)}", data_type, dims, values))
    m.node(op, names, ["y"], **attributes)
    m.output("y", FLOAT, None)
    return m


# ---- operators ----


def recurrent(steps):
    """Four nodes a step: the slice of the input, the sum, the activation, what reads the state."""
    return model_of("RNN", [[steps, 1, 1]], [(FLOAT, [1, 1, 1], [1.0]), (FLOAT, [1, 1, 1], [1.0])], 14,
                    activations=["Relu"], hidden_size=1)


def linear_attention(length):
    return model_of("LinearAttention", [[1, length, 2]] * 3, opset=27, update_rule="linear", q_num_heads=1,
                    kv_num_heads=1)


def determinant(rows):
    return model_of("Det", [[rows, rows]], opset=22)


def product(elements):
    return model_of("CumProd", [[elements]], [(INT64, [], [0])], 26)


def normalization(half):
    return model_of("LRN", [[1, 2000, 1, 1]], size=2 * half)


def vectorizer(words, inputs, **attributes):
    return model_of("TfIdfVectorizer", [inputs], opset=9, input_type=INT32, mode="TF", ngram_counts=[0],
                    ngram_indexes=list(range(len(words))), pool_int64s=list(words),
                    **{"min_gram_length": 1, "max_gram_length": 1, "max_skip_count": 0, **attributes})


def skipping(distances):
    return vectorizer([5], [4], max_skip_count=distances - 1)


def compared(places):
    return vectorizer([5, 6], [places])


def regions(runs):
    """Of one and two samples in turn."""
    boxes = [value for i in range(runs) for value in (0, 0, 2 + 3 * (i % 2), 2)]
    return model_of("RoiAlign", [[1, 1, 8, 8]], [(FLOAT, [runs, 4], boxes), (INT64, [runs], [0] * runs)], 16, mode="max",
                    output_height=2, output_width=2)


# ---- functions ----


def function(name, op, op_domain, node_name="n"):
    node = Message().data(1, "a").data(2, "b").data(3, node_name).data(4, op)
    if op_domain:
        node.data(7, op_domain)
    f = Message().data(1, name).data(4, "a").data(5, "b").message(7, node)
    for domain in ("", "local"):
        f.message(9, Message().data(1, domain).integer(2, 13 if not domain else 1))
    return f.data(10, "local")


def with_functions(functions, calls):
    m = Model(domains=["local"])
    m.functions += functions
    m.input("x", FLOAT, [1])
    for i, name in enumerate(calls):
        m.node("f0", [f"v{i - 1}" if i else "x"], [f"v{i}" if i < len(calls) - 1 else "y"], name, "local")
    m.output("y", FLOAT, None)
    return m


def calls_within(depth):
    return with_functions([function(f"f{i}", f"f{i + 1}" if i < depth - 1 else "Neg", "local" if i < depth - 1 else "")
                           for i in range(depth)], ["call"])


def calls_beside(count):
    """A node of a function's body has a name of 65,000 bytes before its own, and takes some hundred beside."""
    return with_functions([function("f0", "Neg", "")], [f"{i:04}" * 16_250 for i in range(count)])


# ---- tensors and messages ----


def of_rank(rank):
    return model_of("Relu", [[1] * rank])


def classic(op, dims, **attributes):
    """A node of ai.onnx.ml."""
    m = Model(opset=13, domains=["ai.onnx.ml"])
    m.input("x", FLOAT, dims)
    m.node(op, ["x"], ["y"], domain="ai.onnx.ml", **attributes)
    m.output("y", FLOAT, None)
    return m


def categories(elements):
    return classic("OneHotEncoder", [elements], cats_int64s=[1, 2])


def distances(rows):
    return classic("SVMRegressor", [rows, 1], kernel_type="RBF", kernel_params=[1.0] * 3, n_supports=1, support_vectors=[1.0],
                   coefficients=[1.0], rho=[1.0])


def tree(levels):
    """Each branch has a leaf and the next branch."""
    branches, leaves, end = [*range(levels)], [*range(levels, 2 * levels + 1)], [0] * (levels + 1)
    nodes = {"nodeids": branches + leaves, "modes": ["BRANCH_LEQ"] * levels + ["LEAF"] * (levels + 1), "truenodeids": leaves[:levels] + end,
             "falsenodeids": branches[1:] + leaves[levels:] + end, "values": [1.0] * (2 * levels + 1),
             **{name: [0] * (2 * levels + 1) for name in ("treeids", "featureids")}}
    return classic("TreeEnsembleRegressor", [1, 1], n_targets=1, target_treeids=end, target_nodeids=leaves, target_ids=end,
                   target_weights=[1.0] * (levels + 1), **{f"nodes_{name}": values for name, values in nodes.items()})


def constant_of_rank(rank):
    return model_of("Add", [[1]], [(FLOAT, [1] * rank, [1.0])])


def sparse(dims):
    m = Model()
    m.input("x", FLOAT, [1])
    m.graph.message(15, Sparse("s", FLOAT, dims, {0: 1.0}))
    m.node("Add", ["x", "s"], ["y"])
    m.output("y", FLOAT, None)
    return m


def sparse_of_rank(rank):
    return sparse([1] * rank)


def sparse_of_elements(elements):
    return sparse([elements])


LIMITS = [
    ("rows of Det", 128, determinant, "unsupported-node", "matrices of 129 rows are outside 1 to 128"),
    ("elements of a running product", 2048, product, "unsupported-node",
     "a running product of 2049 elements, one node each, is beyond 2048"),
    ("halves of an LRN window", 512, normalization, "unsupported-node",
     "a window of 1026 channels, one node each, is beyond 1024"),
    ("positions of LinearAttention", 512, linear_attention, "unsupported-node",
     "513 positions are not between 1 and 512: each becomes 8 nodes"),
    ("comparisons of TfIdfVectorizer", 2048, skipping, "unsupported-node",
     "n-grams of up to 1 words and 2048 skips take more than 2048 comparisons"),
    ("elements of a comparison", 1 << 25, compared, "unsupported-node",
     f"2 n-grams are to be compared at {(1 << 25) + 1} places of 1 rows: more than {1 << 26} comparisons"),
    ("elements that are compared with keys", 1 << 25, categories, "unsupported-node",
     f"{(1 << 25) + 1} elements and 2 keys: more than {1 << 26} comparisons"),
    ("rows that are compared with support vectors", 1 << 26, distances, "unsupported-node",
     f"{(1 << 26) + 1} rows and 1 support vectors of 1 features: more than {1 << 26} differences"),
    ("levels of a tree", 128, tree, "unsupported-node", "a tree of more than 128 levels of branches"),
    ("runs of RoiAlign", 100, regions, "unsupported-node", "more than 100 runs of regions that differ in size"),
    ("steps of a recurrence", 1000, recurrent, "unsupported-node",
     "its 1001 steps would be unrolled to more than 4000 nodes"),
    ("functions within each other", 64, calls_within, "onnx-function", "calls nest deeper than 64 levels"),
    ("calls of functions", 1030, calls_beside, "onnx-function-size", "the model's functions expand to more than 64 MiB"),
    ("dimensions of an input", 8, of_rank, "onnx-rank", "value 'x0' has 9 dimensions, more than 8"),
    ("dimensions of a constant", 8, constant_of_rank, "onnx-rank", "has 9 dimensions, more than 8"),
    ("dimensions of a sparse tensor", 8, sparse_of_rank, "onnx-rank",
     "the sparse tensor 's' has 9 dimensions, more than 8"),
    ("elements of a sparse tensor", 1 << 26, sparse_of_elements, "onnx-sparse",
     "the sparse tensor 's' would take more than 256 MiB with its zeros"),
]


def npy_headers(c):
    """Of version 2, whose lengths have 32 bits."""
    frozen = c.folder / "x.npy"
    for length in (65536, 65537):
        text = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }".ljust(length - 1) + b"\n"
        frozen.write_bytes(b"\x93NUMPY\2\0" + struct.pack("<I", length) + text + struct.pack("<f", 1))
        model, options = model_of("Add", [[1], [1]]), ("--freeze_input", f"x1={frozen}")
        if length == 65536:
            c.passes("a header of 65536 bytes", model, *options)
        else:
            c.refuses("a longer header", model, "npy", "has a header of 65537 bytes, more than 65536", options=options)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as temporary:
        c = Converter(checks, pathlib.Path(temporary), "onnx-to-dlc", "model.onnx")
        c.on_both_sides(LIMITS)
        npy_headers(c)
    checks.finish()


if __name__ == "__main__":
    main()
