#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Damaged models and UDO configs through the converters.

    tests/fuzz/mutate_models.py --build BUILD [--build BUILD2] [--count 10000] [--seed N] [--jobs N] [--keep FOLDER]

Each copy of a model of ../shared (ONNX models and backend cases, frozen graphs, files of saved models and checkpoints), or of
the config of a user-defined op, is damaged in one way: as a file (mutations.py), as a protobuf message (wire_mutations.py)
or as a text. Wrong are: a signal, a sanitizer's report, a status that the command does not give, more than two
seconds of processor time (twenty under sanitizers), more than a gigabyte of address space (without sanitizers), a failure without a
message, a file that is left by a failure, and above all a container that `dlc-info --verify` does not accept.
"""

import pathlib
import re
import shutil
import sys

import mutants
import mutations
import wire_mutations
from checks import SHARED, SOURCE

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reference"))
from corpus_runs import RUNS  # noqa: E402
from model_case import case_of_arrays  # noqa: E402

CORPUS = SHARED / "corpus"
LARGEST_MODEL = 5 * mutants.MIB
TOKEN = re.compile(rb'"[^"\n]*"|[\w.+-]+|[{}\[\]<>:,=/]')
NUMBERS = (b"0", b"-1", b"1", b"2147483648", b"9223372036854775807", b"-9223372036854775808", b"1e400", b"nan", b"0x10", b"4294967296")
FILE_CHANGES = (mutations.flip_bits, mutations.flip_bits, mutations.truncate, mutations.remove_piece, mutations.splice)


class Source:
    """A file that is damaged, and the command that reads it: `arguments` has the damaged file's path for DAMAGED. Where the
    file is one of a folder that is read as a whole, `folder` is that folder, which is copied, and DAMAGED the copy."""

    def __init__(self, name, path, command, arguments, folder=None):
        self.name, self.path, self.command, self.arguments, self.folder = name, path, command, arguments, folder
        self.data = path.read_bytes()

    def place(self, scratch, data):
        """Writes the damaged file; returns what the command is given."""
        if not self.folder:
            damaged = scratch / f"damaged{self.path.suffix}"
            damaged.write_bytes(data)
            return damaged
        damaged = scratch / self.name.replace("/", "-")
        if not damaged.exists():
            shutil.copytree(self.folder, damaged)
            for path in (damaged, *damaged.rglob("*")):
                path.chmod(0o755 if path.is_dir() else 0o644)
        (damaged / self.path.relative_to(self.folder)).write_bytes(data)
        return damaged


DAMAGED = object()


def onnx_models():
    found = []
    for path in sorted(CORPUS.glob("onnx/*/*/model.onnx")):
        case = case_of_arrays(path.parent)
        dims = [word for name, size in case.dims for word in ("--input_dim", name, size)]
        found.append(Source(f"onnx/{path.parent.name}", path, "onnx-to-dlc", ["-i", DAMAGED, *dims]))
    for path in (*sorted(CORPUS.glob("hostile/*.onnx")), SOURCE / "examples" / "example.onnx"):
        config = ["--udo_config_paths", SOURCE / "examples" / "ops.json"]
        found.append(Source(f"onnx/{path.stem}", path, "onnx-to-dlc", ["-i", DAMAGED, *config]))
    return found


def backend_models():
    return [Source(f"backend/{path.parent.name}", path, "onnx-to-dlc", ["-i", DAMAGED])
            for path in sorted((CORPUS / "onnx-backend").glob("**/model.onnx"))]


def tensorflow_models():
    found = []
    for run in RUNS:
        model = CORPUS / "tf" / run.model
        if not model.exists():
            continue
        options = run.options() + [word for name in run.frozen for word in ("-d", name, "1")]
        if run.model.startswith("frozen"):
            found.append(Source(f"tf/{run.name}", model, "tensorflow-to-dlc", ["-i", DAMAGED, *options]))
            continue
        folder = model if model.is_dir() else model.parent
        within = [DAMAGED] if model.is_dir() else [DAMAGED, model.name]
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            found.append(Source(f"tf/{run.name}/{path.name}", path, "tensorflow-to-dlc", ["-i", within, *options], folder))
    return found


def configs():
    """Configs of the cases that have their model beside them, and the example."""
    pairs = [(path.parent / "model.onnx", path) for path in sorted(CORPUS.glob("udo-cases/*/*.*ml")) +
             sorted(CORPUS.glob("udo-cases/*/*.json")) if (path.parent / "model.onnx").exists()]
    pairs.append((SOURCE / "examples" / "example.onnx", SOURCE / "examples" / "ops.json"))
    return [Source(f"udo/{config.name}", config, "onnx-to-dlc", ["-i", model, "--udo_config_paths", DAMAGED])
            for model, config in pairs]


# ---- mutations of texts ----

def swap_tokens(rng, data, _others):
    spans = [match.span() for match in TOKEN.finditer(bytes(data))]
    (a, b), (c, d) = sorted(rng.sample(spans, 2))
    data[a:d] = data[c:d] + data[b:c] + data[a:b]


def repeat_token(rng, data, _others):
    start, end = rng.choice([match.span() for match in TOKEN.finditer(bytes(data))])
    data[end:end] = bytes(data[start:end]) * rng.choice((1, 2, 100))


def remove_token(rng, data, _others):
    start, end = rng.choice([match.span() for match in TOKEN.finditer(bytes(data))])
    del data[start:end]


def special_number(rng, data, _others):
    spans = [match.span() for match in re.finditer(rb"-?\d[\d.]*", bytes(data))]
    if spans:
        start, end = rng.choice(spans)
        data[start:end] = rng.choice(NUMBERS)


TEXT_CHANGES = (swap_tokens, repeat_token, remove_token, special_number, *FILE_CHANGES)


class Models:
    seconds = (2, 20)

    @staticmethod
    def sources(options):
        """The sources of each kind, with how often it is taken."""
        kinds = [(4, onnx_models()), (3, backend_models()), (3, tensorflow_models()), (1, configs())]
        fitting = [(weight, [source for source in found if 0 < len(source.data) <= LARGEST_MODEL]) for weight, found in kinds]
        return [(weight, found) for weight, found in fitting if found]

    @staticmethod
    def choose(rng, sources):
        found, = rng.choices([found for _, found in sources], [weight for weight, _ in sources])
        return rng.choice(found)

    @staticmethod
    def mutate(rng, source, sources):
        others = [other.data for _, found in sources for other in found if other.path.suffix == source.path.suffix]
        if source.path.suffix in (".json", ".xml", ".pbtxt"):
            return mutations.damage(rng, source.data, others, TEXT_CHANGES)
        if source.path.suffix in (".onnx", ".pb", ".meta") and rng.random() < 0.7:
            try:
                return wire_mutations.mutate(rng, source.data, others)
            except ValueError:
                pass  # the hostile ones are not all messages
        return mutations.damage(rng, source.data, others, FILE_CHANGES)

    @staticmethod
    def attempt(build, folder, source, data):
        damaged, out = source.place(folder, data), folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        words = {DAMAGED: damaged}
        arguments = [pathlib.Path(*(words.get(part, part) for part in word)) if isinstance(word, list) else words.get(word, word)
                     for word in source.arguments]
        done, wrong = build.run(source.command, [*arguments, "-o", out / "model.dlc"], 1024 * mutants.MIB)
        found, left = [], [path.name for path in out.iterdir()]
        if not wrong and done.returncode and left:
            wrong = f"leaves {left}"
        if not wrong and not done.returncode and left != ["model.dlc"]:
            wrong = f"ends well with the files {left}"
        if wrong:
            found.append(mutants.Finding(source.command, arguments, wrong, done.stderr))
        if wrong or done.returncode:
            return found, 1, False
        verified, wrong = build.run("dlc-info", ["-i", out / "model.dlc", "--verify"], 1024 * mutants.MIB)
        if wrong or verified.returncode:
            found.append(mutants.Finding("dlc-info", ["--verify"], wrong or "does not accept the container",
                                         verified.stdout + verified.stderr))
        return found, 2, True


if __name__ == "__main__":
    mutants.run(Models, __doc__)
