# SPDX-License-Identifier: Apache-2.0
"""dlc-quantize in parts: statistics of shards joined give the bytes of a single run; a cache goes on where a run ended, by a signal
too; files that do not go together are refused."""

import random
import re
import signal
import subprocess
import tempfile
import time

from quantizing import FLOAT, Bench, Model, np
from checks import Checks, command, run

LINES = 21


def model(weight=0.5):
    rng = np.random.default_rng(2)
    m = Model(opset=13)
    m.tensor("w", FLOAT, [8, 3, 3, 3], (rng.uniform(-1, 1, 216) * weight).tolist())
    m.input("x", FLOAT, [1, 3, 32, 32])
    m.node("Conv", ["x", "w"], ["c"], pads=[1] * 4)
    m.node("Relu", ["c"], ["r"])
    m.node("Tanh", ["r"], ["y"])
    m.output("y", FLOAT, [1, 8, 32, 32])
    return m


def prepare(b, lines=LINES):
    rng = np.random.default_rng(4)
    b.convert(model())
    b.inputs(*(rng.standard_normal((1, 32, 32, 3)) * (i % 7 + 1) for i in range(lines)))


def quantize(b, *options):
    return run("dlc-quantize", "--input_dlc", b.path("m.dlc"), *options)


def shards(b, count, *options):
    """The files of statistics of so many parts, made in another order."""
    paths = [b.path(f"s{i}.txt") for i in range(count)]
    for i in reversed(range(count)):
        done = quantize(b, "--input_list", b.path("list.txt"), "--shard", f"{i}/{count}", "--statistics", paths[i], *options)
        b.checks.equal(f"shard {i} of {count}", (done.returncode, done.stdout, done.stderr), (0, "", ""))
    return paths


def digits(b):
    """Ends of ranges whose nine digits stand for another double than the float32."""
    b.inputs(*(np.full((1, 32, 32, 3), i / 7 * (-1) ** i) for i in range(20, 23)))
    file = b.path("e.json")
    found = []
    for options in ((), ("--merge",)):
        given = ["--merge", *shards(b, 3)] if options else ["--input_list", b.path("list.txt")]
        b.checks.equal("status", quantize(b, *given, "--output_dlc", b.path("q.dlc"), "--dump_encodings", file).returncode, 0)
        found.append((b.path("q.dlc").read_bytes(), file.read_text()))
    b.checks.check("the same", found[0] == found[1], [text[:300] for _, text in found])


def same_bytes(b):
    for options in ((), ("--act_quantizer_calibration", "entropy", "--use_per_channel_quantization"),
                    ("--act_quantizer", "enhanced", "--act_bitwidth", "16")):
        b.quantize(*options)
        expected = b.path("q.dlc").read_bytes()
        for count in (1, 2, 7, 30):
            paths = shards(b, count, *options)
            out = b.path("merged.dlc")
            done = quantize(b, "--merge", *reversed(paths), "--output_dlc", out, *options)
            b.checks.equal(f"merge of {count}", (done.returncode, done.stderr), (0, ""))
            b.checks.check(f"says how many: {done.stdout}", f"{LINES} sets of inputs" in done.stdout)
            b.checks.check(f"bytes of {count} shards {options}", out.read_bytes() == expected)


def refused(b, name, words, *options):
    before = set(b.folder.iterdir())
    done = quantize(b, *options)
    b.checks.check(f"{name} fails", done.returncode in (1, 2), done.returncode)
    for word in words:
        b.checks.check(f"{name} says {word}", word in done.stderr, done.stderr)
    b.checks.equal(f"{name} writes nothing", set(b.folder.iterdir()), before)


def mismatches(b):
    paths = shards(b, 3)
    out = ("--output_dlc", b.path("none.dlc"))
    refused(b, "a part is missing", ["inputs 8 to 14 of 21 are in none"], "--merge", paths[0], paths[2], *out)
    refused(b, "the last part is missing", ["inputs 15 to 21 of 21"], "--merge", *paths[:2], *out)
    refused(b, "a part twice", ["s1.txt", "inputs 8 to 14 are in"], "--merge", *paths, paths[1], *out)
    refused(b, "other options", ["s0.txt", "other options", "act_bitwidth=16"], "--merge", *paths, *out, "--act_bitwidth", "16")
    first = paths[0].read_text()
    for name, text, word in (("a changed number", first.replace("tensor", "tensoR", 1), "damaged"), ("a short file", first[:-30], "damaged"),
                             ("an empty file", "", "no statistics"), ("another version", first.replace("statistics 1", "statistics 2"), "another version"),
                             ("another file", "{}", "no statistics"), ("a head alone", first[:23], "damaged")):
        paths[0].write_text(text)
        refused(b, name, ["s0.txt", word, "observe that part"], "--merge", *paths, *out)
    paths[0].write_text(first)
    b.path("list.txt").write_text(b.path("list.txt").read_text() + "\n")
    quantize(b, "--input_list", b.path("list.txt"), "--shard", "0/3", "--statistics", paths[0])
    refused(b, "another list", ["s1.txt", "another list"], "--merge", *paths, *out)
    b.convert(model(0.25))
    refused(b, "another container", ["s0.txt", "another container", "m.dlc"], "--merge", *paths, *out)
    listed = ("--input_list", b.path("list.txt"))
    for part in ("3/3", "1", "1/0", "-1/3", "a/b", "1/3/", "/3", ""):
        refused(b, f"part '{part}'", [f"'{part}'", "0/4"], *listed, "--shard", part, "--statistics", b.path("none.txt"))
    for word in ("cle", "adaround", "bc"):
        refused(b, f"{word} in parts", ["whole --input_list"], *listed, "--shard", "0/2", "--statistics", b.path("none.txt"), "--optimizations", word)
    refused(b, "a shard alone", ["--statistics"], *listed, "--shard", "0/2", *out)
    refused(b, "two outputs", ["--output_dlc"], *listed, "--statistics", b.path("none.txt"), *out)
    refused(b, "list and files", ["--input_list"], *listed, "--merge", *paths, *out)
    refused(b, "nothing to observe", ["--input_list"], "--statistics", b.path("none.txt"))
    refused(b, "no folder", ["nowhere"], *listed, "--statistics", b.path("nowhere/s.txt"))


def overrides(b):
    """The bytes of a file of encodings count, not its name alone."""
    file, out = b.path("e.json"), ("--output_dlc", b.path("none.dlc"))
    text = '{"activation_encodings": {"x": [{"bitwidth": 8, "min": -1, "max": %d}]}, "param_encodings": {}}'
    file.write_text(text % 1)
    paths = shards(b, 2, "--quantization_overrides", file)
    file.write_text(text % 2)
    refused(b, "other encodings", ["--quantization_overrides"], "--merge", *paths, *out, "--quantization_overrides", file)


def caches(b):
    b.quantize()
    expected, cache = b.path("q.dlc").read_bytes(), b.path("cache.txt")
    given = ("--calibration_cache", cache)
    for label in ("first", "again"):
        b.quantize(*given)
        b.checks.check(f"with a cache, {label}", b.path("q.dlc").read_bytes() == expected)
    whole = cache.read_text()
    b.checks.check("all inputs", "\ninputs 0 21\n" in whole, whole[:300])
    quantize(b, "--input_list", b.path("list.txt"), "--shard", "0/3", "--statistics", cache)
    b.quantize(*given)
    b.checks.check("it goes on", b.path("q.dlc").read_bytes() == expected and cache.read_text() == whole)
    listed = ("--input_list", b.path("list.txt"), *given, "--output_dlc", b.path("none.dlc"))
    refused(b, "other options", ["cache.txt", "other options", "remove the file"], *listed, "--act_bitwidth", "16")
    cache.write_text(whole.replace("end ", "end 0"))
    refused(b, "a damaged cache", ["cache.txt", "damaged", "remove the file"], *listed)
    quantize(b, "--input_list", b.path("list.txt"), "--shard", "1/3", "--statistics", cache)
    refused(b, "another part", ["inputs 8 to 14", "not of 1 to 21"], *listed)
    cache.write_text(whole)
    b.path("list.txt").write_text("".join(b.path("list.txt").read_text().splitlines(True)[:5]))
    refused(b, "another list", ["cache.txt", "another list", "remove the file"], *listed)


def signals(b):
    """At 20 moments each: the cache and the output are absent or whole, and nothing else is left."""
    b.path("list.txt").write_text(b.path("list.txt").read_text() * 40)
    b.quantize()
    expected, cache, out = b.path("q.dlc").read_bytes(), b.path("cache.txt"), b.path("q.dlc")
    began = time.monotonic()
    b.quantize("--calibration_cache", cache)
    took = time.monotonic() - began
    rng, resumed = random.Random(3), 0
    before = set(b.folder.iterdir())
    for number in (signal.SIGINT, signal.SIGKILL):
        for moment in range(20):
            if moment % 4 == 0:
                cache.unlink(missing_ok=True)
            out.unlink(missing_ok=True)
            process = subprocess.Popen([command("dlc-quantize"), "--input_dlc", b.path("m.dlc"), "--input_list", b.path("list.txt"),
                                        "--output_dlc", out, "--calibration_cache", cache], stdout=subprocess.DEVNULL)
            time.sleep(rng.uniform(0, took))
            process.send_signal(number)
            ended = process.wait()
            b.checks.check(f"{number.name} {moment} ends the process, or it had ended", ended in (0, -number), ended)
            left = {path for path in b.folder.iterdir() if number == signal.SIGINT or not path.name.endswith(".part")}
            b.checks.check(f"{number.name} {moment} leaves nothing else", left <= before, left - before)
            b.checks.check(f"{number.name} {moment} output", not out.exists() or out.read_bytes() == expected)
            if cache.exists():
                seen = re.search(r"\ninputs 0 (\d+)\n", cache.read_text())
                resumed += bool(seen) and 0 < int(seen.group(1)) < LINES * 40
                b.checks.check(f"{number.name} {moment} cache", seen and re.search(r"\nend [0-9a-f]{16}\n\Z", cache.read_text()))
        b.quantize("--calibration_cache", cache)
        b.checks.check(f"{number.name}: the result", out.read_bytes() == expected)
    b.checks.check("some runs were ended on the way", resumed > 0, resumed)


def main():
    checks = Checks()
    for case in (digits, same_bytes, mismatches, overrides, caches, signals):
        with tempfile.TemporaryDirectory() as folder:
            b = Bench(checks, folder)
            prepare(b)
            case(b)
    checks.finish()


main()
