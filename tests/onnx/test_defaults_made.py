#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of attribute defaults, of types and of signatures in the repository are what their scripts make of the operator table."""
import os
import subprocess
import sys

SOURCE = os.environ["ODLC_SOURCE_ROOT"]
SHARED = os.environ.get("ODLC_SHARED", os.path.join(SOURCE, "..", "shared"))


def main():
    table = os.path.join(SHARED, "reference", "onnx-ops.tsv")
    if not os.path.exists(table):
        print(f"SKIP: no operator table at {table}")
        return 77
    failed = 0
    for script, file in (("make-onnx-defaults.py", "onnx_schema_defaults.def"), ("make-onnx-types.py", "operand_types.def"),
                         ("make-onnx-signatures.py", "signatures.def")):
        made = subprocess.run([sys.executable, os.path.join(SOURCE, "scripts", script), table], check=True,
                              capture_output=True, text=True).stdout
        with open(os.path.join(SOURCE, "converters", "onnx", "schema", file), encoding="utf-8") as kept:
            if kept.read() != made:
                print(f"converters/onnx/schema/{file} is not what scripts/{script} makes")
                failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
