#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs one of the converters and optimizers that are Python modules, and prints what its work took as JSON: without
the time for starting Python and importing modules, which is not what is compared.
usage: python_tools.py TOOL MODEL OUTPUT    an unknown TOOL lists those that can be imported, with versions"""

import importlib
import json
import os
import sys
import time


def load(onnx, model):
    return onnx.load(model)


def save(onnx, model, output, source):
    """Saves with external data when the source has it: as one file it may be too large."""
    external = os.path.exists(os.path.join(os.path.dirname(source), "weights.bin"))
    more = {"save_as_external_data": True, "location": os.path.basename(output) + ".bin"} if external else {}
    onnx.save(model, output, **more)


def run_onnx(modules, model, output):
    onnx = modules[0]
    save(onnx, load(onnx, model), output, model)


def run_onnxoptimizer(modules, model, output):
    optimizer, onnx = modules
    save(onnx, optimizer.optimize(load(onnx, model)), output, model)


def run_onnxsim(modules, model, output):
    simplifier, onnx = modules
    simplified, _ = simplifier.simplify(load(onnx, model))
    save(onnx, simplified, output, model)


def run_onnxslim(modules, model, output):
    slimmer, onnx = modules
    save(onnx, slimmer.slim(load(onnx, model)), output, model)


def run_onnxruntime(modules, model, output):
    runtime = modules[0]
    options = runtime.SessionOptions()
    options.optimized_model_filepath = output
    if os.path.exists(os.path.join(os.path.dirname(model), "weights.bin")):
        options.add_session_config_entry("session.optimized_model_external_initializers_file_name",
                                         os.path.basename(output) + ".bin")
    runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


TOOLS = {
    "onnx": (run_onnx, ("onnx",)),
    "onnxruntime": (run_onnxruntime, ("onnxruntime",)),
    "onnxsim": (run_onnxsim, ("onnxsim", "onnx")),
    "onnxslim": (run_onnxslim, ("onnxslim", "onnx")),
    "onnxoptimizer": (run_onnxoptimizer, ("onnxoptimizer", "onnx")),
}


def list_tools():
    """Prints each tool that can be imported and its version."""
    for tool, (_, modules) in TOOLS.items():
        try:
            loaded = [importlib.import_module(module) for module in modules]
        except Exception:  # pylint: disable=broad-except  # modules that fail to load do so in many ways
            continue
        print(tool, getattr(loaded[0], "__version__", ""), flush=True)


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in TOOLS:
        list_tools()
        return
    run, names = TOOLS[sys.argv[1]]
    modules = [importlib.import_module(name) for name in names]
    cpu, wall = time.process_time(), time.monotonic()
    run(modules, sys.argv[2], sys.argv[3])
    print("\n" + json.dumps({"cpu": time.process_time() - cpu, "wall": time.monotonic() - wall}))


main()
