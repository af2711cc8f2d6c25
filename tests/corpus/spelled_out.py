# SPDX-License-Identifier: Apache-2.0
"""Operators that real models spell out, against what their containers have: each Gelu, LayerNorm, GroupNorm, Softmax that is found in
the ONNX file by the operators around one of its nodes must be one op of the container. Prints op counts without and with
fusion. Shares no code, and no pattern, with the product."""

import collections
import pathlib
import tempfile

from dlc_reader import read_container
from model_case import complaint, convert
from onnx_reader import graph_of, wire_fields

ROW = "{:24} {:>7} {:>7} {:>7}  {}"


MOVERS = ("Cast", "Expand", "Identity", "Reshape", "Squeeze", "Unsqueeze")
ELEMENT_WISE = ("Add", "Max", "Mul", "Sqrt", "Sub")
REDUCTIONS = ("ReduceMean", "ReduceSum")


class Graph:
    """The nodes of a model, and who computes and reads each tensor."""

    def __init__(self, model):
        self.nodes = [Node(list(wire_fields(value))) for field, value in graph_of(model) if field == 1]
        self.makers = {name: node for node in self.nodes for name in node.outputs}

    def made(self, name):
        """The node that computes a tensor, past those that only move its elements; None for constants and graph inputs."""
        node = self.makers.get(name)
        return self.made(node.inputs[0]) if node and node.type in MOVERS else node

    def operand(self, node, i):
        """The operator that computes an operand of the node; "" where none does."""
        made = self.made(node.inputs[i]) if i < len(node.inputs) else None
        return made.type if made else ""

    def is_reduced(self, node):
        """Whether the node's result is computed by element-wise operators from a mean or sum over axes."""
        makers = [self.made(name) for name in node.inputs] if node.type in ELEMENT_WISE else []
        return node.type in REDUCTIONS or any(self.is_reduced(maker) for maker in makers if maker)


class Node:
    def __init__(self, fields):
        self.inputs = [value.decode() for field, value in fields if field == 1]
        self.outputs = [value.decode() for field, value in fields if field == 2]
        self.type = dict(fields).get(4, b"").decode()


def is_gelu(graph, node):
    return node.type == "Erf"


def is_hard_swish(graph, node):
    """A product with a clamped sum."""
    operands = [graph.made(name) for name in node.inputs] if node.type == "Mul" else []
    return any(made and made.type == "Clip" and graph.operand(made, 0) == "Add" for made in operands)


def is_layer_norm(graph, node):
    """The root of a mean of squares and an epsilon."""
    return node.type == "Sqrt" and graph.operand(node, 0) == "Add" and graph.is_reduced(node)


def is_group_norm(graph, node):
    return node.type == "InstanceNormalization" and graph.makers[node.inputs[0]].type == "Reshape"


def is_softmax(graph, node):
    return node.type == "Div" and graph.operand(node, 0) == "Exp" and graph.operand(node, 1) == "ReduceSum"


# What is looked for in the model, and of the container's ops by type, without and with fusion, how many were found. Without
# fusion the error function has a Ternary for 0 beside a Gelu, which goes.
SPELLINGS = (("Gelu", is_gelu, lambda apart, fused: (apart["Eltwise_Ternary"] - fused["Eltwise_Ternary"]) / 2),
             ("HardSwish", is_hard_swish, lambda apart, fused: fused["HardSwish"] - apart["HardSwish"]),
             ("LayerNorm", is_layer_norm, lambda apart, fused: fused["LayerNorm"] - apart["LayerNorm"]),
             ("GroupNorm", is_group_norm, lambda apart, fused: fused["GroupNorm"] - apart["GroupNorm"]),
             ("Softmax", is_softmax, lambda apart, fused: fused["Softmax"] - apart["Softmax"]))


def type_of(op):
    return op.params["neuron_type"].value if op.type == "Neuron" else op.type


def op_counts(case, options):
    """(ops by type, reason why there are none)."""
    with tempfile.TemporaryDirectory() as folder:
        done, dlc = convert(case, pathlib.Path(folder), options=options)
        if done.returncode:
            return None, complaint(done)
        return collections.Counter(map(type_of, read_container(dlc, data=False).ops)), None


def problems(graph, apart, fused):
    """Spelled-out operators that are not ops of the container."""
    for name, is_one, found in SPELLINGS:
        expected = sum(is_one(graph, node) for node in graph.nodes)
        if expected != found(apart, fused):
            yield f"the model spells out {expected} {name}, the container has {found(apart, fused)} of them"


def check_spelled_out(checks, cases):
    print(ROW.format("model", "nodes", "apart", "fused", "ops that differ: apart, fused"))
    for case in cases:
        graph = Graph(case.model)
        apart, reason = op_counts(case, ["--no_fusion", "all"])
        fused, reason = op_counts(case, []) if not reason else (None, reason)
        wrong = [reason] if reason else list(problems(graph, apart, fused))
        checks.passed += not wrong
        checks.failed += bool(wrong)
        changed = {type_: (apart[type_], fused[type_]) for type_ in sorted({*apart, *fused})
                   if apart[type_] != fused[type_]} if fused else {}
        text = ", ".join(f"{type_} {before} {after}" for type_, (before, after) in changed.items())
        print(ROW.format(case.name, len(graph.nodes), sum((apart or {}).values()), sum((fused or {}).values()),
                         "FAILED " + "; ".join(wrong) if wrong else text), flush=True)
