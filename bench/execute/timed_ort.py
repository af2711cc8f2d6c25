#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Executes a model with ONNX Runtime, and writes what it took as timed_run.c does for a container: without the time for
starting Python and importing modules, and with what is resident after that as the beginning of its memory.
usage: timed_ort.py MODEL THREADS [-i TENSOR FILE.npy]... [-o TENSOR FILE]...    without arguments: prints the version"""

import json
import sys
import time

import numpy as np
import onnxruntime


def kilobytes(key):
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(key))


def pairs(option):
    words = sys.argv[3:]
    return {words[i + 1]: words[i + 2] for i in range(0, len(words), 3) if words[i] == option}


def write(line):
    print(json.dumps(line), flush=True)


def open_session(model, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def main():
    inputs = {name: np.load(file) for name, file in pairs("-i").items()}
    outputs = pairs("-o")
    with open("/proc/self/clear_refs", "w", encoding="ascii") as clear:
        clear.write("5")
    resident = kilobytes("VmRSS:")
    begin = time.perf_counter()
    session = open_session(sys.argv[1], int(sys.argv[2]))
    results = session.run(list(outputs), inputs)
    start = time.perf_counter() - begin
    write({"start": start * 1e3, "resident": resident, "first": kilobytes("VmHWM:")})
    for line in sys.stdin:
        count, begin = int(line), time.perf_counter()
        for _ in range(count):
            results = session.run(list(outputs), inputs)
        write({"run": (time.perf_counter() - begin) * 1e3 / count})
    write({"peak": kilobytes("VmHWM:")})
    for result, file in zip(results, outputs.values()):
        np.save(file, result)


if len(sys.argv) == 1:
    print(onnxruntime.__version__)
else:
    main()
