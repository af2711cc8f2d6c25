# SPDX-License-Identifier: Apache-2.0
"""The version is that of the C headers, from which nothing else is needed: the wheel holds no compiled code."""

import pathlib
import re

from setuptools import setup

HEADER = pathlib.Path(__file__).resolve().parents[2] / "include" / "opendlc" / "version.h"


def version():
    text = HEADER.read_text(encoding="utf-8")
    return ".".join(re.search(rf"_{part} (\d+)$", text, re.MULTILINE)[1] for part in ("MAJOR", "MINOR", "PATCH"))


setup(version=version())
