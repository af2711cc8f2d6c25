# SPDX-License-Identifier: Apache-2.0
"""Data of the tests: the examples, and a container that commands made."""

import os
import pathlib
import subprocess

import numpy as np
import pytest

ROOT = pathlib.Path(os.environ["ODLC_SOURCE_ROOT"])
BUILD = pathlib.Path(os.environ["ODLC_BUILD_ROOT"])


@pytest.fixture(scope="session")
def model():
    return ROOT / "examples" / "digits" / "digits.onnx"


@pytest.fixture(scope="session")
def image():
    return np.fromfile(ROOT / "examples" / "digits" / "digit.raw", np.float32).reshape(1, 16, 16, 1)


@pytest.fixture(scope="session")
def expected():
    """Scores by ONNX Runtime."""
    return np.loadtxt(ROOT / "examples" / "digits" / "digit-onnxruntime.txt").reshape(1, 10)


@pytest.fixture(scope="session")
def container(tmp_path_factory, model):
    """Made by the command."""
    path = tmp_path_factory.mktemp("made") / "digits.dlc"
    subprocess.run([BUILD / "converters" / "onnx-to-dlc", "-q", "-i", model, "-o", path], check=True)
    return path


@pytest.fixture(scope="session")
def tools():
    return BUILD / "src" / "tools"


@pytest.fixture(scope="session")
def root():
    return ROOT
