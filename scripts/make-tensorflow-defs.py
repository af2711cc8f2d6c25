#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tables of TensorFlow's operators from the registry of an installed TensorFlow, with which it is to be run.

usage: make-tensorflow-defs.py outputs operators.txt > converters/tensorflow/decode/op_defs.def
       make-tensorflow-defs.py inputs operators.txt > converters/tensorflow/decode/op_inputs.def
       make-tensorflow-defs.py defaults operators.txt > converters/tensorflow/decode/tf_schema_defaults.def
       make-tensorflow-defs.py signatures tf_rows.def > converters/tensorflow/decode/tf_signatures.def

tests/reference/operators.txt has the operators that models to convert may have. Outputs are also said of others that have
several, because there a wrong number of an output would not be noticed.
"""
import os
import re
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
from tensorflow.core.framework import op_def_pb2, types_pb2  # noqa: E402
from tensorflow.python.client import pywrap_tf_session  # noqa: E402

# Of special devices, or for training alone: functions of saved models do not have them.
LEFT_OUT = re.compile("TPU|Tpu|BoostedTrees|Mkl|^XlaSparse|Sdca|Backprop|^Retrieve")


def type_name(code):
    return types_pb2.DataType.Name(code).removeprefix("DT_")


def argument(arg):
    """C tokens of an argument."""
    if arg.type_list_attr:
        return f'LISTED("{arg.name}", "{arg.type_list_attr}")'
    if arg.number_attr:
        kind = f'MANY("{arg.name}", "{arg.number_attr}", "{arg.type_attr}")' if arg.type_attr else \
            f'MANY_OF("{arg.name}", "{arg.number_attr}", {type_name(arg.type)})'
        return kind
    return f'ONE("{arg.name}", "{arg.type_attr}")' if arg.type_attr else f'ONE_OF("{arg.name}", {type_name(arg.type)})'


def string(value):
    return '"' + value.decode("ascii").replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def real(value):
    """The shortest decimal number that is the same float."""
    import numpy
    text = str(numpy.float32(value))
    return text + ("f" if "." in text or "e" in text else ".0f")


LISTS = (("s", "STRINGS", string), ("i", "INTS", str), ("f", "FLOATS", real), ("b", "INTS", lambda b: str(int(b))),
         ("type", "INTS", str))


def value_list(kind, values):
    """None for lists of shapes, tensors and functions."""
    for field, name, element in LISTS:
        elements = getattr(values, field)
        if elements:
            return name, ", ".join(element(e) for e in elements)
    of = {"list(string)": "STRING", "list(float)": "FLOAT32", "list(int)": "INT64", "list(bool)": "INT64",
          "list(type)": "INT64"}
    return ("EMPTY", of[kind]) if kind in of else None


def value(kind, default):
    """(kind, C tokens) of a default, or None for what params cannot be."""
    if kind.startswith("list("):
        return value_list(kind, default.list)
    if kind == "shape":
        dims = [str(d.size) for d in default.shape.dim]
        return None if default.shape.unknown_rank else ("INTS", ", ".join(dims)) if dims else ("EMPTY", "INT64")
    return {
        "string": lambda: ("STRING", string(default.s)),
        "int": lambda: ("INT", str(default.i)),
        "float": lambda: ("FLOAT", real(default.f)),
        "bool": lambda: ("BOOL", str(int(default.b))),
        "type": lambda: ("TYPE", type_name(default.type)),
    }.get(kind, lambda: None)()


def outputs(ops, wanted):
    print("/* SPDX-License-Identifier: Apache-2.0 */")
    print("/* Made by scripts/make-tensorflow-defs.py; sorted by operator. TF_OP(operator, outputs): an output is")
    print(" * ONE(name, type attribute), ONE_OF(name, type), MANY(name, attribute with their number, type attribute),")
    print(" * MANY_OF(name, attribute with their number, type) or LISTED(name, attribute with the list of their types). */")
    for op in ops:
        several = len(op.output_arg) > 1 and not LEFT_OUT.search(op.name)
        if op.output_arg and (op.name in wanted or several):
            print(f'TF_OP("{op.name}", {", ".join(map(argument, op.output_arg))})')


def inputs(ops, wanted):
    print("/* SPDX-License-Identifier: Apache-2.0 */")
    print("/* Made by scripts/make-tensorflow-defs.py; sorted by operator. TF_INPUTS(operator, inputs): as the outputs of")
    print(" * op_defs.def. */")
    for op in ops:
        if op.input_arg and op.name in wanted:
            print(f'TF_INPUTS("{op.name}", {", ".join(map(argument, op.input_arg))})')


def defaults(ops, wanted):
    print("/* SPDX-License-Identifier: Apache-2.0 */")
    print("/* Made by scripts/make-tensorflow-defs.py; sorted by operator and attribute.")
    print(" * TF_DEFAULT(operator, attribute, kind, value) */")
    for op in ops:
        for attr in sorted(op.attr, key=lambda a: a.name):
            if op.name in wanted and attr.HasField("default_value"):
                made = value(attr.type, attr.default_value)
                if made:
                    print(f'TF_DEFAULT("{op.name}", "{attr.name}", {", ".join(made)})')


# As converters/frontend/signature.h says them.
LETTERS = {"int": "i", "float": "f", "bool": "b", "string": "s", "type": "y", "shape": "p", "tensor": "T", "func": "n",
           "list(int)": "I", "list(float)": "F", "list(bool)": "B", "list(string)": "S", "list(type)": "Y", "list(shape)": "P",
           "list(func)": "N"}


def signatures(ops, wanted):
    print("/* SPDX-License-Identifier: Apache-2.0 */")
    print("/* Made by scripts/make-tensorflow-defs.py; sorted by operator. TF_SIGNATURE(operator, attributes): a letter")
    print(" * behind each name says what the attribute is, as in signature.h. */")
    for op in ops:
        if op.name in wanted:
            names = " ".join(f"{a.name}:{LETTERS[a.type]}" for a in sorted(op.attr, key=lambda a: a.name))
            print(f'TF_SIGNATURE("{op.name}", "{f" {names} " if names else ""}")')


def names_in(path):
    """Of operators.txt, or of the table of rows."""
    with open(path, encoding="utf-8") as lines:
        return {match[1] for match in map(re.compile(r'(?:TF_ROW\(")?(\w+)["(]').match, lines) if match}


def main():
    tables = {"outputs": outputs, "inputs": inputs, "defaults": defaults, "signatures": signatures}
    if len(sys.argv) != 3 or sys.argv[1] not in tables:
        sys.exit(__doc__)
    ops = op_def_pb2.OpList()
    ops.ParseFromString(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList()))
    tables[sys.argv[1]](sorted(ops.op, key=lambda op: op.name), names_in(sys.argv[2]))


if __name__ == "__main__":
    main()
