#!/usr/bin/env python3
"""The table of attribute defaults in the repository is what its script makes of the operator table."""
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
    script = os.path.join(SOURCE, "scripts", "make-onnx-defaults.py")
    made = subprocess.run([sys.executable, script, table], check=True, capture_output=True, text=True).stdout
    with open(os.path.join(SOURCE, "converters", "onnx", "schema_defaults.def"), encoding="utf-8") as kept:
        if kept.read() != made:
            print("converters/onnx/schema_defaults.def is not what scripts/make-onnx-defaults.py makes")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
