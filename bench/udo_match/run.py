#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what matching costs: 10,000 definitions against a graph of 100,000 nodes, of which a tenth is claimed.
usage: run.py [--smoke] [--build FOLDER]   (default: build/release; --smoke: a hundredth of both)

Prints the time for reading the config, for matching, for the conversion with and without the config, and the share of
matching, for a JSON and an XML config. The status is 0 when the share is below the limit (with --smoke: when the
conversions succeed)."""

import argparse
import json
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "tests" / "support")]
import onnx_writer as onnx  # noqa: E402
from measure import DEFAULT_BUILD, Meter  # noqa: E402
from opdef_writer import opdef_xml  # noqa: E402

DEFINITIONS, NODES, CLAIMED_EVERY, CHAIN = 10000, 100000, 10, 100
LIMIT = 0.10
SMOKE_DIVISOR = 100


def package_of(count):
    tensor = {"name": "t", "data_type": "FLOAT_32"}
    return {"UDO_PACKAGE_NAME": "BenchPackage",
            "Operators": [{"type": f"Custom{i}", "inputs": [tensor], "outputs": [tensor],
                           "scalar_params": [{"name": "alpha", "data_type": "FLOAT_32", "default_value": 0.5}]}
                          for i in range(count)]}


def node_types(definitions, nodes):
    return [f"Custom{i // CLAIMED_EVERY % definitions}" if i % CLAIMED_EVERY == 0 else "Relu" for i in range(nodes)]


def write_model(path, types):
    """Chains of nodes, all from one input; a value_info for what the definitions leave open."""
    m = onnx.Model(opset=13, domains=["custom"])
    m.input("x", onnx.FLOAT, [1, 16])
    last = "x"
    for i, op_type in enumerate(types):
        m.node(op_type, ["x" if i % CHAIN == 0 else last], [f"t{i}"], domain="custom" if op_type != "Relu" else "")
        last = f"t{i}"
        if i % CHAIN == CHAIN - 1 or i == len(types) - 1:
            m.output(last, onnx.FLOAT, [1, 16])
    m.save(path)


def bench(form, text, build, folder, types):
    config, listed, model = (os.path.join(folder, name) for name in (f"ops.{form}", "types", "m.onnx"))
    pathlib.Path(config).write_text(text, encoding="utf-8")
    pathlib.Path(listed).write_text("\n".join(types), encoding="utf-8")
    meter = Meter(build)
    alone = meter.must([build / "bench" / "udo_match", config, listed])
    found = dict(line.split() for line in alone.output.splitlines())
    whole = meter.must([build / "converters" / "onnx-to-dlc", "-i", model, "--udo_config_paths", config,
                        "-o", os.path.join(folder, "m.dlc"), "--quiet"])
    share = float(found["match"]) / whole.cpu
    print(f"{form:5} {len(types)} nodes, {found['definitions']} definitions, {found['claimed']} nodes claimed   "
          f"read {float(found['read']):.3f} s, match {float(found['match']):.4f} s   conversion: cpu {whole.cpu:.2f} "
          f"s, elapsed {whole.wall:.2f} s   share of matching {100 * share:.2f} % (limit {100 * LIMIT:.0f} %)")
    return share < LIMIT


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--build", default=DEFAULT_BUILD, type=pathlib.Path)
    arguments = parser.parse_args()
    divisor = SMOKE_DIVISOR if arguments.smoke else 1
    package, types = package_of(DEFINITIONS // divisor), node_types(DEFINITIONS // divisor, NODES // divisor)
    with tempfile.TemporaryDirectory() as folder:
        write_model(os.path.join(folder, "m.onnx"), types)
        held = [bench(form, text, arguments.build, folder, types)
                for form, text in (("json", json.dumps({"P": package})), ("xml", opdef_xml(package)))]
    sys.exit(0 if all(held) or arguments.smoke else 1)


main()
