#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Do the fuzz targets reach the code? A check is taken out of a copy of the sources, and the target must find that.

    tests/fuzz/planted.py [--seconds 60] [--work FOLDER] [TARGET...]

Each bug of PLANTS is planted alone: the copy is built with libFuzzer, and the target, which starts from its seeds, must
crash within so many seconds of processor time, by an input that it takes without the bug. Needs clang. FOLDER keeps the
build for the next time. The last line is "N passed, N failed, 0 skipped"."""

import argparse
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from planting import SOURCE, copy_sources, misplaced, planted  # noqa: E402


class Plant:
    """In `file`, `check` is replaced. It must be there once."""

    def __init__(self, target, file, check, replacement):
        self.target, self.file, self.check, self.replacement = target, file, check, replacement


PLANTS = [
    # Blocks of the index beyond its end, keys made of more than there is, fewer bytes than the shape asks for.
    Plant("fuzz_bundle", "converters/tensorflow/source/sorted_table.c", " || end > room", " || h->offset > room"),
    Plant("fuzz_bundle", "converters/tensorflow/source/sorted_table.c", " || shared > (previous ? previous->key_size : 0)", ""),
    Plant("fuzz_bundle", "converters/tensorflow/source/bundle_entry.c", "(uint64_t)e->size !=", "(uint64_t)e->size >"),
    # Vectors and lists beyond the end, fewer elements than dimensions ask for, a kind too many, numbers that are not compared.
    Plant("fuzz_dlc_v3", "src/dlc/flatbuf.c", "offset <= v->size && size <= v->size - offset", "offset <= v->size"),
    Plant("fuzz_dlc_v3", "src/dlc/read.c", "if (size == wanted)", "if (true)"),
    Plant("fuzz_dlc_v4_0", "src/dlc/read_v4.c", "if (ops.count != g->n_ops)", "if (ops.count < g->n_ops)"),
    Plant("fuzz_dlc_v4_0", "src/dlc/read_v4.c", "if (index >= p->buffers.count)", "if (index == UINT64_MAX)"),
    Plant("fuzz_dlc_v4_1", "src/dlc/read_v4.c", "if (kind > KIND_NULL)", "if (kind > KIND_NULL + 1)"),
    Plant("fuzz_dlc_v4_1", "src/dlc/read_v4.c", " || offset > p->bin.size", ""),
    # A link out of the folder is followed, at the first step or later; bytes beyond the file.
    Plant("fuzz_external", "converters/frontend/model_folder.c", "RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS", "RESOLVE_NO_MAGICLINKS"),
    Plant("fuzz_external", "converters/frontend/model_folder.c", " | O_NOFOLLOW", ""),
    Plant("fuzz_external", "converters/onnx/decode/external_data.c", " || end > found->size", ""),
    # Reading past the last line; a path that begins with the sign before it.
    Plant("fuzz_input_list", "src/tools/input_list.c", "for (; i < length && (quote", "for (; (quote"),
    Plant("fuzz_input_list", "src/tools/input_list.c", "path = count;", "path = count + 1;"),
    # A size that is not compared, an axis too many.
    Plant("fuzz_onnx", "converters/onnx/decode/onnx_tensor.c", "if (j->data.size != expected)", "if (false)"),
    Plant("fuzz_onnx", "converters/onnx/decode/onnx_tensor.c", "if (j->n_dims > MAX_RANK)", "if (j->n_dims > MAX_RANK + 1)"),
    # Reading one byte past the end; names of any length.
    Plant("fuzz_pbtxt", "converters/tensorflow/source/pbtxt_scan.c", "n < s->size - s->pos", "n <= s->size - s->pos"),
    Plant("fuzz_pbtxt", "converters/tensorflow/source/pbtxt.c", "length <= LONGEST_NAME ? length : 0", "length"),
    # A field that the writer leaves out, one that the reader takes for another.
    Plant("fuzz_round_trip", "src/dlc/write_model.c", "if (t->quant && t->quant->overridden)", "if (false)"),
    Plant("fuzz_round_trip", "src/dlc/read_v4.c", "fb_float(t, FXP_MAX)", "fb_float(t, FXP_MIN)"),
    # An index before the first element, an axis that is not there.
    Plant("fuzz_run", "src/kernel/kernel_index.c", "return *out >= 0 && *out < dim;", "return *out < dim;"),
    Plant("fuzz_run", "src/op/axes.c", "return axis >= 0 && axis < rank;", "return axis >= 0;"),
    # A result that a function does not have, a key that is made of more than there is.
    Plant("fuzz_saved_model", "converters/tensorflow/normalize/inline_calls.c", "if (*out >= function->rets.count)", "if (false)"),
    Plant("fuzz_saved_model", "converters/tensorflow/source/sorted_table.c", " || shared > (previous ? previous->key_size : 0)", ""),
    # A dim that the shape does not have, a division by zero, one that overflows.
    Plant("fuzz_shape_rule", "src/udo/expr.c", " || index >= shape->rank", ""),
    Plant("fuzz_shape_rule", "src/udo/expr.c", "if (b == 0)", "if (false)"),
    Plant("fuzz_shape_rule", "src/udo/expr.c", "if (b == -1 && a == INT64_MIN)", "if (false)"),
    # More elements than the file has, one axis too many, raw elements of another size.
    Plant("fuzz_tensor_file", "src/ir/npy.c", " != file->size - n.data", " < file->size - n.data"),
    Plant("fuzz_tensor_file", "src/ir/npy.c", "if (out->rank == MAX_RANK)", "if (out->rank > MAX_RANK)"),
    Plant("fuzz_tensor_file", "converters/driver/freeze.c", "if (size != file->size)", "if (size < file->size)"),
    # A size that is not compared, an axis too many, of a tensor and of a shape.
    Plant("fuzz_tensorflow", "converters/tensorflow/decode/tf_tensor.c", "if (j->content.size != size)", "if (false)"),
    Plant("fuzz_tensorflow", "converters/tensorflow/lower/tf_shape.c", "if (in.rank == MAX_RANK)", "if (in.rank > MAX_RANK)"),
    Plant("fuzz_tensorflow", "converters/tensorflow/decode/tensor_shape.c", "dims.count > MAX_RANK)", "dims.count > MAX_RANK + 1)"),
    # A character that goes on past the end, lists of different lengths.
    Plant("fuzz_udo_json", "src/text/source.c", "length == 0 || length > left", "length == 0"),
    Plant("fuzz_udo_json", "src/udo/config_value.c", "count != leaves", "count > leaves"),
    # Reading past the end, one level too many.
    Plant("fuzz_udo_xml", "src/text/source.c", "at + length <= s->size && memcmp", "memcmp"),
    Plant("fuzz_udo_xml", "src/udo/xml.c", "r->level == XML_MAX_LEVELS;", "r->level > XML_MAX_LEVELS;"),
]


def build(work, targets):
    subprocess.run(["ninja", "-C", work / "build", *(f"tests/fuzz/{target}" for target in targets)], check=True,
                   stdout=subprocess.DEVNULL)


def build_whole(work, targets):
    """The targets without a bug, kept aside in work/whole."""
    if not (work / "build" / "build.ninja").exists():
        environment = {**os.environ, "CC": os.environ.get("CC", "clang")}
        subprocess.run(["meson", "setup", work / "build", work, "-Dfuzz=libfuzzer", "-Dtests=false"], check=True,
                       env=environment, stdout=subprocess.DEVNULL)
    build(work, targets)
    (work / "whole").mkdir(exist_ok=True)
    for target in targets:
        shutil.copy(work / "build" / "tests" / "fuzz" / target, work / "whole" / target)


def fuzz(work, folder, target, seconds):
    """Runs a target from its seeds, in an empty folder; gives what it printed, and the seconds of processor time."""
    for name in ("corpus", "seeds"):
        (folder / name).mkdir()
    subprocess.run([sys.executable, SOURCE / "tests" / "fuzz" / "make_seeds.py", target, folder / "seeds"], check=True)
    dictionary = SOURCE / "tests" / "fuzz" / f"{target}.dict"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([work / "build" / "tests" / "fuzz" / target, f"-max_total_time={20 * seconds}", "-timeout=100",
                           "-rss_limit_mb=4096", *[f"-dict={dictionary}"] * dictionary.exists(),
                           f"-artifact_prefix={folder}/", folder / "corpus", folder / "seeds"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def try_fuzzing(work, plant, seconds):
    """Whether the target crashes by the bug, and what there is to say of it."""
    with tempfile.TemporaryDirectory(prefix="planted") as name:
        log, elapsed = fuzz(work, pathlib.Path(name), plant.target, seconds)
        crashes = list(pathlib.Path(name).glob("crash-*"))
        if not crashes:
            return False, f"not found in {elapsed:.0f} s: {log[-300:]}"
        whole = subprocess.run([work / "whole" / plant.target, *crashes], capture_output=True, text=True, errors="replace",
                               check=False)
        if whole.returncode != 0:
            kept = shutil.copy(crashes[0], tempfile.gettempdir())
            return False, f"{kept} crashes without the bug, too: {whole.stderr[-1000:]}"
        error = re.findall(r"runtime error: .*$|^round trip: .*$|^SUMMARY: .*$", log, re.MULTILINE)
        return True, f"found in {elapsed:.0f} s: {error[0] if error else log[-300:]}"


def try_plant(work, plant, seconds):
    how = misplaced(work, plant.file, plant.check)
    found = False
    if not how:
        with planted(work, plant.file, plant.check, plant.replacement):
            build(work, [plant.target])
            found, how = try_fuzzing(work, plant, seconds)
    print(f"{'ok' if found else 'FAILED'} {plant.target}: {plant.file} without '{plant.check}'\n    {how}", flush=True)
    return found


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
        build_whole(work, sorted({plant.target for plant in plants}))
        passed = sum(try_plant(work, plant, options.seconds) for plant in plants)
    print(f"{passed} passed, {len(plants) - passed} failed, 0 skipped")
    sys.exit(passed != len(plants))


main()
