# SPDX-License-Identifier: Apache-2.0
"""Two builds make the same containers, with the same words, of all models that are found, and compute the same numbers by them.
usage: same_containers.py [--show N] BEFORE AFTER

Models: the example, constants that are permuted and scaled on the way, and those of ../shared/corpus, if they are there:
networks, the ONNX backend's cases, TensorFlow's. Each model that converts is executed by both builds on the same random
inputs. Containers that differ are listed; the first N (default 20) with their messages."""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import random
import struct
import subprocess
import tempfile
import zlib

from compare_builds import wanted_conversions
from checks import SHARED, Checks  # found by the module before

MAX_INPUT = 1 << 24  # elements; larger inputs are not made


def conversions(folder):
    yield from wanted_conversions(folder)
    backend = SHARED / "corpus" / "onnx-backend"
    for path in sorted(backend.rglob("*.onnx")):
        yield "onnx-to-dlc", ["-i", path]


def run(build, folder, name, *args):
    return subprocess.run([pathlib.Path(build) / folder / name, *args], capture_output=True, text=True, check=False,
                          errors="replace")


def feed(container, build, folder):
    """Writes random inputs, zeros and ones where they are no floats; the line for the input list, None where they cannot be
    written in one."""
    done = run(build, "src/tools", "dlc-info", "-i", container, "--json")
    if done.returncode != 0:
        return None
    line = []
    for i, tensor in enumerate(t for t in json.loads(done.stdout)["graphs"][0]["tensors"] if t["kind"] == "APP_WRITE"):
        count = 1
        for dim in tensor["dims"]:
            count *= dim
        if count > MAX_INPUT or "=" in tensor["name"] or " " in tensor["name"]:
            return None
        noise = random.Random(zlib.crc32(tensor["name"].encode()))
        path = folder / f"{i}.raw"
        real = tensor["dtype"] == "Float_32"
        values = [noise.uniform(-2, 2) if real else noise.randrange(2) for _ in range(count)]
        path.write_bytes(struct.pack(f"<{count}f", *values))
        line.append(f"{tensor['name']}:={path}")
    return " ".join(line)


def execute(container, build, folder, line):
    """What net-run gives: status, messages, and a hash of each result."""
    listing, out = folder / "list.txt", folder / "out"
    listing.write_text(line + "\n")
    done = run(build, "src/tools", "net-run", "--container", container, "--input_list", listing, "--output_dir", out)
    results = {str(p.relative_to(out)): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(out.rglob("*.raw"))}
    subprocess.run(["rm", "-rf", out], check=True)
    return done.returncode, done.stderr, tuple(results.items())


def try_model(builds, command, args):
    """What differs, what was found, and whether the model was executed."""
    with tempfile.TemporaryDirectory() as name:
        folder, found = pathlib.Path(name), []
        for build in builds:
            out = folder / "model.dlc"
            out.unlink(missing_ok=True)
            done = run(build, "converters", command, "-o", out, *args)
            data = hashlib.sha256(out.read_bytes()).hexdigest() if out.exists() else None
            result = None
            if data:
                line = feed(out, build, folder)
                result = execute(out, build, folder, line) if line is not None else None
            found.append({"status": done.returncode, "messages": done.stderr, "container": data, "numbers": result})
        different = [key for key in found[0] if found[0][key] != found[1][key]]
        return different, found, found[0]["numbers"] is not None and found[0]["numbers"][0] == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--show", type=int, default=20)
    parser.add_argument("builds", nargs=2)
    options = parser.parse_args()
    checks, shown, executed = Checks(), 0, 0
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wanted = list(conversions(pathlib.Path(name)))
        if not (SHARED / "corpus").is_dir():
            checks.skip("real models", f"{SHARED / 'corpus'} is not there")
        tried = pool.map(lambda one: try_model(options.builds, *one), wanted)
        for (command, args), outcome in zip(wanted, tried):
            label = f"{command} {' '.join(map(str, args))}"
            different, found, ran = outcome
            executed += ran
            if checks.check(label, not different, f"different: {', '.join(different)}") or shown == options.show:
                continue
            shown += 1
            for build, one in zip(options.builds, found):
                print(f"    {build}: status {one['status']}\n" + "".join(
                    f"        {line[:300]}\n" for line in one["messages"].splitlines()[:6]))
        print(f"{executed} of {len(wanted)} models were executed")
    checks.finish()


main()
