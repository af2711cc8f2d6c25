# SPDX-License-Identifier: Apache-2.0
"""UDO cases that bring their own model: what the tools must say, and what the containers must hold."""

import struct

from dlc_reader import read_container

TO_NHWC = [0, 2, 3, 1]


def udo_ops(container, op_type):
    return [op for op in container.ops if op.type == op_type]


def input_pack(convert):
    """One node of two inputs, 4-D and 2-D; the definition's layouts are NHWC, the model's tensors NCHW."""
    done, path = convert()
    if done.returncode:
        return [f"does not convert: {done.stderr}"]
    container = read_container(path)
    wrong = []
    ops = udo_ops(container, "InputPack")
    if len(ops) != 1 or len(ops[0].inputs) != 2 or ops[0].package != "qhci":
        return [f"UDO nodes: {[(op.name, op.package, op.inputs) for op in ops]}"]
    dims = [container.tensors[name].dims for name in ops[0].inputs + ops[0].outputs]
    if dims != [[1, 1, 1680, 128], [1, 1680], [1, 1, 1680, 128]]:
        wrong.append(f"dims are {dims}")
    kinds = [container.tensors[name].dtype for name in ops[0].inputs + ops[0].outputs]
    if kinds != ["FLOAT_32"] * 3:
        wrong.append(f"types are {kinds}")
    return wrong


def brevitas(convert):
    """Four nodes have weights where the definition wants an activation: an error that lists them, unless promoted."""
    done, _ = convert()
    nodes = ("Quant_4", "Quant_16", "Quant_28", "Quant_40")
    lines = [line for line in done.stderr.splitlines() if "error" in line]
    if done.returncode != 1 or len(lines) != 1 or not all(node in lines[0] for node in nodes):
        return [f"status {done.returncode}, errors {lines}"]
    done, path = convert("--udo_promote_static")
    if done.returncode:
        return [f"does not convert with --udo_promote_static: {done.stderr}"]
    container = read_container(path)
    ops = udo_ops(container, "Quant")
    static = [op for op in ops if container.tensors[op.inputs[0]].kind == "STATIC"]
    wrong = [] if (len(ops), len(static)) == (8, 4) else [f"{len(ops)} UDO nodes, {len(static)} of weights"]
    for op in static:
        readers = [reader for reader in container.ops if op.outputs[0] in reader.inputs]
        perms = [struct.unpack("<4I", r.params["perm"].tensor.data) for r in readers if r.type == "Transpose"]
        if perms != [(2, 3, 1, 0)]:
            wrong.append(f"{op.name}'s weights are read by {[r.type for r in readers]}, permuted by {perms}")
    return wrong


# Name → (config, what is wrong with it).
OWN_MODELS = {"input-pack": ("input_pack.xml", input_pack), "espcn-brevitas-quant": ("quant.udo.json", brevitas)}
