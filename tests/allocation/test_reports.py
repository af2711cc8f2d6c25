# SPDX-License-Identifier: Apache-2.0
"""Every allocation of dlc-info, dlc-diff and dlc-viewer fails, on containers of every version."""

import shutil
import zipfile

from allocations import LONG, main
from checks import SHARED, SOURCE
import models

CONTAINERS = ("v3", "netp", "nr64", "v41")


def make_containers(folder):
    for name in CONTAINERS:
        shutil.copyfile(SOURCE / "testdata" / f"{name}.dlc", folder / f"{name}.dlc")
    # Entries that are packed, as those of zip programs are.
    with zipfile.ZipFile(folder / "nr64.dlc") as whole, \
            zipfile.ZipFile(folder / "packed.dlc", "w", zipfile.ZIP_DEFLATED) as packed:
        for name in whole.namelist():
            packed.writestr(name, whole.read(name))


def info(bench):
    make_containers(bench.folder)
    for name in (*CONTAINERS, "packed"):
        bench.every("dlc-info", "-i", f"{name}.dlc")
    bench.every("dlc-info", "-i", "nr64.dlc", "-m", "-d", "--json")
    bench.every("dlc-info", "-i", "v3.dlc", "-m", "-d", "--save", "out.csv", pieces=True)
    bench.every("dlc-info", "-i", "nr64.dlc", "--verify")
    bench.every("dlc-info", "-i", "v41.dlc", "--verify", "--json", status=1)


def tensors(bench):
    models.plain(bench.folder)
    bench.prepare("onnx-to-dlc", "-i", "plain.onnx")
    bench.every("dlc-info", "-i", "plain.dlc", "--tensor", "filter", "--dump", "out.npy", pieces=True)
    bench.every("dlc-info", "-i", "plain.dlc", "--tensor", "filter", "--json")


def diff(bench):
    make_containers(bench.folder)
    models.plain(bench.folder)
    models.plain(bench.folder, 0.5, "other.onnx")
    for name in ("plain", "other"):
        bench.prepare("onnx-to-dlc", "-i", f"{name}.onnx")
    bench.every("dlc-diff", "-i1", "nr64.dlc", "-i2", "nr64.dlc", trouble=2)
    bench.every("dlc-diff", "-i1", "plain.dlc", "-i2", "other.dlc", "--hits", trouble=2, status=1)
    bench.every("dlc-diff", "-i1", "netp.dlc", "-i2", "nr64.dlc", "--json", "--save", "out.csv", trouble=2, status=1, pieces=True)


def viewer(bench):
    make_containers(bench.folder)
    bench.every("dlc-viewer", "-i", "nr64.dlc", "-s", "out.html")
    bench.every("dlc-viewer", "-i", "netp.dlc", "--dot")


def real(bench):
    """Containers that the vendor's tools wrote; only where there is time."""
    for path in sorted((SHARED / "corpus" / "dlc").glob("*.dlc")):
        if path.stat().st_size < 1 << 20:
            bench.every("dlc-info", "-i", path, "-m", "-d")
            bench.every("dlc-info", "-i", path, "--verify", status=None)


main(info, tensors, diff, viewer, *[real] * LONG)
