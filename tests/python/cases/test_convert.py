# SPDX-License-Identifier: Apache-2.0
import os
import signal
import subprocess
import sys

import numpy as np
import opendlc
import pytest


def test_memory_and_files_give_the_command_s_bytes(model, container, tmp_path):
    made = tmp_path / "digits.dlc"
    filed = opendlc.convert(model, made)
    in_memory = opendlc.convert(model.read_bytes(), framework="onnx", name="digits.onnx")
    # The converter's command line is in the metadata of what the command makes.
    assert opendlc.diff(made, container, categories=["layers", "parameters", "weights", "types"]).same
    assert made.read_bytes() == bytes(in_memory.container)
    assert filed.container is None and filed.output == str(made) and filed.inputs == [str(model)]
    assert in_memory.inputs == [] and in_memory.summary["ops"] == 20


def test_bytes_outlive_everything(model):
    made = opendlc.convert(model, name="x").container
    weights = opendlc.Container(made).graph().tensor("w0").array()
    del made
    assert weights.shape == (3, 3, 1, 8) and np.isfinite(weights).all()


def test_errors_carry_diagnostics_with_names_of_options(root):
    with pytest.raises(opendlc.UnsupportedError) as caught:
        opendlc.convert(root / "examples" / "example.onnx")
    (d,) = [d for d in caught.value.diagnostics if d.severity == "error"]
    assert d.node == "clamped" and "SoftClamp" in d.message
    assert d.hint == "describe it as a UDO (`udo_configs`); a config to start from comes by `dry_run`"
    assert "error: node 'clamped'" in str(caught.value) and d.as_dict()["node"] == "clamped"


def test_buffers_stand_for_files(root):
    config = (root / "examples" / "ops.json").read_bytes()
    made = opendlc.convert(root / "examples" / "example.onnx", udo_configs=["ops"], buffers={"ops": config})
    assert made.summary["udo_ops"] == 1
    assert {row["status"] for row in made.ops_table()} == {"native", "udo"}


def test_dry_run_gives_a_config(root):
    with pytest.raises(opendlc.UnsupportedError):
        opendlc.convert(root / "examples" / "example.onnx", dry_run=True)


def test_wrong_arguments(model):
    with pytest.raises(TypeError, match="did you mean 'udo_configs'"):
        opendlc.convert(model, udo_config=["x"])
    with pytest.raises(TypeError, match="a list of names"):
        opendlc.convert(model, out_names="scores")
    with pytest.raises(ValueError, match="is not an integer"):
        opendlc.convert(model, batch=1.5)
    with pytest.raises(ValueError, match="framework"):
        opendlc.convert(model.read_bytes())
    with pytest.raises(opendlc.UsageError):
        opendlc.convert(model, input_dims={"nothing": [1]})
    with pytest.raises(opendlc.IOFailedError):
        opendlc.convert("/nowhere/model.onnx")
    with pytest.raises(ValueError, match="NUL"):
        opendlc.convert("a\0b.onnx")


def test_options_of_all_kinds(model):
    made = opendlc.convert(model, input_dims={"image": [1, 1, 16, 16]}, out_names=["scores"], threads=2,
                           model_version="seven", io_layout="model")
    with made.open() as container:
        assert container.graph().inputs[0].shape == (1, 1, 16, 16)
        assert container.metadata["model-version"] == "seven"


def test_progress_is_told_and_stops(model, tmp_path):
    told = []
    opendlc.convert(model, progress=lambda stage, done, total: told.append((stage, done, total)))
    assert {stage for stage, _, _ in told} >= {"reading the model"} and 0 < told[-1][1] <= told[-1][2]
    with pytest.raises(opendlc.StoppedError):
        opendlc.convert(model, tmp_path / "a.dlc", progress=lambda *_: True)
    with pytest.raises(ZeroDivisionError):
        opendlc.convert(model, tmp_path / "a.dlc", progress=lambda *_: 1 // 0)
    assert os.listdir(tmp_path) == []


def test_ctrl_c_ends_a_call(model, tmp_path):
    def interrupt(stage, done, total):
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        opendlc.convert(model, tmp_path / "a.dlc", progress=interrupt)
    assert os.listdir(tmp_path) == []
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_missing_library_says_what_to_do():
    done = subprocess.run([sys.executable, "-c", "import opendlc"], capture_output=True, text=True,
                          env={**os.environ, "OPENDLC_LIBRARY": "/nowhere/libopendlc.so"}, check=False)
    assert done.returncode == 1 and "set OPENDLC_LIBRARY" in done.stderr and "libopendlc0" in done.stderr
