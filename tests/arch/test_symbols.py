# SPDX-License-Identifier: Apache-2.0
"""What the libraries export: the functions of the public headers, each with the version of the interface, and nothing else.
libopendlc.a shows the same names as libopendlc.so."""

import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import BUILD, SOURCE, Checks  # noqa: E402

DECLARED = re.compile(r"\b((?:odlc|Snpe)_\w+)\(")


def exported(library):
    """{name: version} of the defined dynamic symbols."""
    done = subprocess.run(["readelf", "-W", "--dyn-syms", BUILD / library], capture_output=True, text=True, check=True)
    found = {}
    for line in done.stdout.splitlines():
        words = line.split()
        if len(words) >= 8 and words[0].endswith(":") and words[4] in ("GLOBAL", "WEAK") and words[6] != "UND":
            name, _, version = words[7].partition("@")
            found[name] = version.lstrip("@")
    return found


def shown_by_archive():
    """Names that the objects of libopendlc.a define for others."""
    done = subprocess.run(["nm", "-g", "-P", "--defined-only", BUILD / "libopendlc.a"], capture_output=True, text=True, check=True)
    return {line.split()[0] for line in done.stdout.splitlines() if len(line.split()) > 2}


def declared():
    """Functions that a public header marks ODLC_API."""
    text = "".join(path.read_text() for path in sorted((SOURCE / "include" / "opendlc").glob("*.h")))
    marked = re.findall(r"^ODLC_API[^;]*?;", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL), re.MULTILINE | re.DOTALL)
    return {DECLARED.search(one).group(1) for one in marked}


def plugin_functions():
    """Functions of qhpi.h that the host has, and the one that libopendlc itself calls."""
    text = re.sub(r"/\*.*?\*/", "", (SOURCE / "include/sdk/QNN/HTP/core/qhpi.h").read_text(), flags=re.DOTALL)
    return set(re.findall(r"\b(qhpi_\w+)\(", text)) - {"qhpi_init"} | {"qhpi_odlc_registrar"}


def main():
    checks = Checks()
    found = exported("src/plugin/libopendlc-plugin.so")
    checks.equal("plugin: functions", set(found) - {"OPENDLC_PLUGIN_1"}, plugin_functions())
    checks.equal("plugin: versions", {version for name, version in found.items() if name != "OPENDLC_PLUGIN_1"},
                 {"OPENDLC_PLUGIN_1"})
    found = exported("libopendlc.so")
    versions = {name for name in found if name.startswith("OPENDLC_")}
    checks.equal("versions", versions, {"OPENDLC_0"})
    checks.equal("functions", set(found) - versions, declared())
    checks.equal("each has the version", {version for name, version in found.items() if name not in versions}, {"OPENDLC_0"})
    checks.equal("names in the static library", shown_by_archive(), declared())
    checks.finish()


main()
