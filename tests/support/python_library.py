# SPDX-License-Identifier: Apache-2.0
"""Python with the library of this build."""

import os
import re
import subprocess

from checks import BUILD


def sanitizer():
    """The runtime that has to be there before Python loads a library with sanitizers; None: it has none."""
    needed = subprocess.run(["readelf", "-d", BUILD / "libopendlc.so.0"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"\[(lib[at]san\.so\.\d+)\]", needed)
    if found:
        return subprocess.run(["cc", f"-print-file-name={found[1]}"], capture_output=True, text=True, check=True).stdout.strip()
    return None


def environment(**more):
    """The environment in which `import opendlc` takes this build's library."""
    preloaded = sanitizer()
    return {**os.environ, "OPENDLC_LIBRARY": str(BUILD / "libopendlc.so.0"), "PYTHONDONTWRITEBYTECODE": "1", **more, **({"LD_PRELOAD": preloaded, "ASAN_OPTIONS": "detect_leaks=0"} if preloaded else {})}
