#!/usr/bin/python3
"""Do the fuzz targets reach the code? A check is taken out of a copy of the sources, and the target must find that.

    tests/fuzz/planted.py [--seconds 60] [--work FOLDER] [TARGET...]

Each bug of PLANTS is planted alone: the copy is built with libFuzzer, and the target, which starts from its seeds, must
crash within the time. Needs clang. The last line is "N passed, N failed, 0 skipped"."""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]


class Plant:
    """In `file`, `check` is replaced. It must be there once."""

    def __init__(self, target, file, check, replacement):
        self.target, self.file, self.check, self.replacement = target, file, check, replacement


PLANTS = [
    Plant("fuzz_bundle", "converters/tensorflow/bundle_entry.c", " || (uint64_t)end > file->size", ""),
    Plant("fuzz_dlc", "src/dlc/flatbuf.c", "offset <= v->size && size <= v->size - offset", "offset <= v->size"),
    Plant("fuzz_dlc", "src/dlc/zip_read.c", " || packed > f->size - start", ""),
    Plant("fuzz_input_list", "src/tools/input_list.c", "i < length && !is_blank", "!is_blank"),
    Plant("fuzz_onnx", "converters/onnx/decode_tensor.c", "if (j->data.size != expected)", "if (false)"),
    Plant("fuzz_pbtxt", "converters/tensorflow/pbtxt_scan.c", "n < s->size - s->pos ? s->text", "n <= s->size ? s->text"),
    Plant("fuzz_saved_model", "converters/tensorflow/resolve.c", "if (*out >= function->rets.count)", "if (false)"),
    Plant("fuzz_shape_rule", "src/udo/expr.c", " || index >= shape->rank", ""),
    Plant("fuzz_tensor_file", "src/ir/npy.c", " != file->size - n.data", " < file->size - n.data"),
    Plant("fuzz_tensorflow", "converters/tensorflow/decode_tensor.c", "if (j->content.size != size)", "if (false)"),
    Plant("fuzz_udo_json", "src/udo/json_scan.c", "s->pos + 1 < s->size && s->text[s->pos + 1]", "s->text[s->pos + 1]"),
    Plant("fuzz_udo_xml", "src/udo/xml.c", "at + length <= s->size && memcmp", "memcmp"),
]


def copy_sources(work):
    """Files that are under version control, or would be."""
    listed = subprocess.run(["git", "-C", SOURCE, "ls-files", "-coz", "--exclude-standard"], capture_output=True, check=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (SOURCE / name).exists():
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(SOURCE / name, work / name)


def build(work, target):
    subprocess.run(["ninja", "-C", work / "build", f"tests/fuzz/{target}"], check=True, stdout=subprocess.DEVNULL)


def found(work, plant, seconds):
    """Whether the target crashes, after how many seconds, and by what."""
    with tempfile.TemporaryDirectory(prefix="planted") as name:
        folder = pathlib.Path(name)
        (folder / "corpus").mkdir()
        (folder / "seeds").mkdir()
        maker = work / "tests" / "fuzz" / "make_seeds.py"
        subprocess.run([sys.executable, maker, plant.target, folder / "seeds"], check=True,
                       env={**os.environ, "ODLC_SOURCE_ROOT": str(SOURCE)})
        dictionary = work / "tests" / "fuzz" / f"{plant.target}.dict"
        start = time.monotonic()
        done = subprocess.run([work / "build" / "tests" / "fuzz" / plant.target, f"-max_total_time={seconds}", "-timeout=10",
                               *[f"-dict={dictionary}"] * dictionary.exists(), f"-artifact_prefix={folder}/", folder / "corpus",
                               folder / "seeds"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", check=False)
        error = re.search(r"^SUMMARY: (.*)$|runtime error: (.*)$", done.stdout, re.MULTILINE)
        return done.returncode != 0, time.monotonic() - start, error.group(0) if error else done.stdout[-300:]


def try_plant(work, plant, seconds):
    path = work / plant.file
    text = path.read_text()
    if text.count(plant.check) != 1:
        print(f"FAILED {plant.target}: {plant.file} has '{plant.check}' {text.count(plant.check)} times")
        return False
    path.write_text(text.replace(plant.check, plant.replacement))
    build(work, plant.target)
    crashed, elapsed, how = found(work, plant, seconds)
    path.write_text(text)
    print(f"{'found' if crashed else 'FAILED: not found'} by {plant.target} after {elapsed:.0f} s: {plant.file} without "
          f"'{plant.check}'\n    {how}", flush=True)
    return crashed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("targets", nargs="*")
    options = parser.parse_args()
    plants = [plant for plant in PLANTS if not options.targets or plant.target in options.targets]
    with tempfile.TemporaryDirectory(prefix="planted") as name:
        work = options.work or pathlib.Path(name)
        copy_sources(work)
        if not (work / "build" / "build.ninja").exists():
            environment = {**os.environ, "CC": os.environ.get("CC", "clang")}
            subprocess.run(["meson", "setup", work / "build", work, "-Dfuzz=libfuzzer", "-Dtests=false"], check=True, env=environment,
                           stdout=subprocess.DEVNULL)
        passed = sum(try_plant(work, plant, options.seconds) for plant in plants)
    print(f"{passed} passed, {len(plants) - passed} failed, 0 skipped")
    sys.exit(passed != len(plants))


main()
