# SPDX-License-Identifier: Apache-2.0
"""The TensorFlow models of the corpus give TensorFlow's numbers, within 1e-4 of the largest one, and have no Transposes but
their own. usage: test_corpus.py [NAME...], where names are shell patterns over those of tests/reference/corpus_runs.py, and
"audio-udos"."""

import fnmatch
import pathlib
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "reference")]
from checks import SHARED, Checks  # noqa: E402
from prestarted import run  # noqa: E402

MODELS = SHARED / "corpus" / "tf"
NEAR = 1e-4

try:
    import numpy as np
    from case import EXPECTED
    from corpus_runs import REFUSALS, RUNS, kept
    from dlc_reader import read_container
    from model_case import CONTAINER_TYPES, as_stored, complaints, run_on
except ImportError as error:
    if error.name != "numpy":
        raise
    np = None


def freeze(wanted, folder):
    options = []
    for i, (name, values) in enumerate(wanted.frozen.items()):
        file = folder / f"frozen_{i}.npy"
        np.save(file, values)
        options.append(f"--freeze_input={name}={file}")
    return options


def found_output(name, container, folder, shape):
    """What net-run wrote, in the model's order; None when there is none of that shape."""
    tensor = container.tensors.get(name)
    file = folder / "out" / "Result_0" / f"{name}.raw"
    if tensor is None or not file.exists():
        return None
    array = np.fromfile(file, CONTAINER_TYPES[tensor.dtype])
    return array.reshape(shape) if tensor.dims == (shape or [1]) else None


def compare(checks, wanted, expected, container, folder):
    """Returns the largest error as a part of the largest value."""
    worst = 0.0
    for name in wanted.outputs:
        key = f"{wanted.name}|{name}|"
        array = found_output(wanted.tensor(name), container, folder, expected[key + "shape"].tolist())
        if not checks.check(f"{wanted.name} gives {name}", array is not None, sorted(container.tensors)[:20]):
            return np.inf
        difference = np.max(np.abs(kept(array).astype(np.float64) - expected[key + "kept"]))
        # NaN is no small error.
        worst = max(worst, np.nan_to_num(difference / expected[key + "largest"], nan=np.inf))
    return worst


def try_run(checks, wanted, expected):
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        dlc = folder / "model.dlc"
        done = run("tensorflow-to-dlc", "-i", MODELS / wanted.model, "-o", dlc, *wanted.options(),
                   *freeze(wanted, folder))
        if not checks.check(f"convert {wanted.name}", done.returncode == 0, complaints(done)):
            return
        container = read_container(dlc, data=False)
        inputs = {wanted.tensor(name): values for name, values in wanted.inputs.items()}
        given = {name: as_stored(values, container.tensors[name], model_has_channels_last=True)
                 for name, values in inputs.items() if name in container.tensors}
        checks.equal(f"inputs of {wanted.name}", sorted(given), sorted(inputs))
        done = run_on(given, dlc, folder)
        if not checks.check(f"execute {wanted.name}", done.returncode == 0, complaints(done)):
            return
        error = compare(checks, wanted, expected, container, folder)
        transposes = sum(op.type == "Transpose" for op in container.ops)
        print(f"{wanted.name:40} error {error:.1e}  {len(container.ops):4} ops  {transposes} Transposes")
        checks.check(f"numbers of {wanted.name}", error <= NEAR, error)
        checks.check(f"Transposes of {wanted.name}", transposes <= wanted.transposes, transposes)


def try_refusal(checks, refusal):
    with tempfile.TemporaryDirectory() as folder:
        dlc = pathlib.Path(folder) / "model.dlc"
        done = run("tensorflow-to-dlc", "-i", MODELS / refusal.model, "-o", dlc, *refusal.options)
        checks.check(f"{refusal.name} is refused", done.returncode == refusal.status and not dlc.exists(),
                     done.returncode)
        if checks.check(f"reason: {refusal.name}", refusal.part in done.stderr, complaints(done)):
            line = next(line for line in done.stderr.splitlines() if refusal.part in line)
            print(f"{refusal.name:40} refused: {line[:160]}")


def try_audio_udos(checks, model):
    """The audio operators are claimed: cut behind the decoder of files the model converts; a file, a string, it cannot take."""
    config = ["--udo_config_paths", TESTS / "tensorflow" / "audio_udo.json"]
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        dlc = folder / "model.dlc"
        np.save(folder / "rate.npy", np.array([16000], np.int32))
        cut = ["-d", "decoded_sample_data", "16000,1", "-d", "decoded_sample_data:1", "1", "--input_dtype",
               "decoded_sample_data:1", "int32", f"--freeze_input=decoded_sample_data:1={folder / 'rate.npy'}"]
        done = run("tensorflow-to-dlc", "-i", model, "-o", dlc, "--out_node", "labels_softmax", *cut, *config)
        if checks.check("convert with audio UDOs", done.returncode == 0, complaints(done)):
            udos = {op.name: op for op in read_container(dlc).ops if op.package == "AudioPackage"}
            checks.equal("audio UDOs", sorted(udos), ["AudioSpectrogram", "Mfcc"])
            found = {name: param.value for op in udos.values() for name, param in op.params.items()}
            checks.equal("params of audio UDOs", [found.get(name) for name in (
                "window_size", "stride", "magnitude_squared", "dct_coefficient_count", "lower_frequency_limit",
                "upper_frequency_limit")], [320, 160, 1, 40, 20.0, 4000.0])
        done = run("tensorflow-to-dlc", "-i", model, "-o", folder / "none.dlc", "--out_node", "labels_softmax", *config)
        checks.check("a file as an input is refused", done.returncode == 1 and "wav_data:0 holds strings" in done.stderr,
                     complaints(done))


def main():
    checks = Checks()
    if np is None or not MODELS.is_dir():
        checks.skip("models of the corpus", f"{MODELS} is not there" if np else "python3-numpy is not there")
        checks.finish()
    patterns = sys.argv[1:] or ["*"]
    expected = np.load(EXPECTED / "corpus.npz")
    for attempt, wanted, more in ((try_run, RUNS, [expected]), (try_refusal, REFUSALS, [])):
        for one in wanted:
            if any(fnmatch.fnmatch(one.name, pattern) for pattern in patterns):
                attempt(checks, one, *more)
    if any(fnmatch.fnmatch("audio-udos", pattern) for pattern in patterns):
        try_audio_udos(checks, MODELS / "frozen" / "conv-actions-audio.pb")
    checks.check("there are models of such names", checks.passed + checks.failed)
    checks.finish()


main()
