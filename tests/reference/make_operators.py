#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes operators.txt: what TensorFlow's registry says of its operators' inputs, outputs and type attributes, a line each.
Needs TensorFlow; run it with the interpreter of README.md. tests/support/tf_writer.py reads the file.

    Conv2D(input:T filter:T) -> output:T
    ArgMax(input:T dimension:Tidx) -> output:output_type; Tidx=int32 output_type=int64
    Split(split_dim:int32 value:T) -> output:num_split*T
    IdentityN(input:[T]) -> output:[T]

A type is a name, a type attribute, N* so many of one, or [T] a list of types that an attribute has. Behind the semicolon are
the defaults of type attributes."""

import os
import pathlib
import re

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
from tensorflow.core.framework import op_def_pb2  # noqa: E402
from tensorflow.python.client import pywrap_tf_session  # noqa: E402
from tensorflow.python.framework import dtypes  # noqa: E402

FILE = pathlib.Path(__file__).resolve().parent / "operators.txt"
# Training, data sets, devices, summaries, queues, and the operators of TensorFlow's own tests: no model to convert has them.
LEFT_OUT = re.compile(r"""^(?!(Relu6?|LeakyRelu|Elu|Selu|Softplus|Softsign|Inv|Reciprocal|Rsqrt|Sigmoid|Sqrt|Tanh|BiasAdd)Grad$
|BroadcastGradientArgs$).*Grad|Dataset|Xla|TPU|Tpu|Mkl|Risc|Boosted|Collective|Queue|Reader|Summary|Cudnn|Debug|Nccl|Rpc|DTensor
|Iterator|Accumulator|Lookup|HashTable|Embedding|Sdca|Dedup|Mutex|Snapshot|Infeed|Outfeed|Barrier|Csr|CSR|SparseCore|Backprop.*Filter
|Ragged|Optional|Device|Session|Random(Shuffle|Poisson|Gamma)|Seed|Rng|Uniform(Dequantize|Quantize)|SparseMatrix|Proto|Memory
|Uniform.*Sampler|Sparse(Segment|Apply)|Mesh|Relayout|Restore(S|$)|Save(S|$|r)|DistributedSave|Stats|Stage|Unstage|Map(Clear|Size|Peek|Incomplete)
|^(Experimental|Apply|Resource(Sparse)?Apply|Resource.*(Op|Size)$|_(?!Fused)|Attr|.*Polymorphic|N[A-Z]|Int|Two[A-Z]|Float|Type|Five
|Ref(In|Out)|A$|B$|Foo|Old$|None$|Simple|Test|Binary$|Unary$|Out[TP]|.*Struct|Restrict|Reserved|Kernel|Dummy|Namespace
|ListInput|ListOutput|InP|OpWith|DtypeWith|Construction|Decode(CSV|JSON)|.*AllReduce|String|Unicode|Regex|Tensor(Map|Summary))""",
                      re.VERBOSE)


def name_of(code):
    return dtypes.as_dtype(code).name


def argument(arg):
    if arg.type_list_attr:
        return f"{arg.name}:[{arg.type_list_attr}]"
    kind = arg.type_attr or name_of(arg.type)
    return f"{arg.name}:{arg.number_attr}*{kind}" if arg.number_attr else f"{arg.name}:{kind}"


def line(op):
    defaults = [f"{attr.name}={name_of(attr.default_value.type)}" for attr in op.attr
                if attr.type == "type" and attr.HasField("default_value")]
    text = f"{op.name}({' '.join(map(argument, op.input_arg))}) -> {' '.join(map(argument, op.output_arg))}".rstrip()
    return text + ("; " + " ".join(defaults) if defaults else "")


def main():
    ops = op_def_pb2.OpList()
    ops.ParseFromString(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList()))
    kept = sorted((op for op in ops.op if not LEFT_OUT.search(op.name)), key=lambda op: op.name)
    FILE.write_text("".join(line(op) + "\n" for op in kept))
    print(f"{len(kept)} operators, {FILE.stat().st_size} bytes")


main()
