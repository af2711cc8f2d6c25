# SPDX-License-Identifier: Apache-2.0
"""Every allocation of onnx-to-dlc fails."""

from allocations import LONG, main
from checks import SHARED
import models

OUT = ("-o", "out.dlc")
FROZEN = ("--freeze_input", "shape=shape.raw")


def network(bench):
    """Everything at once, with a dependency file; and what is printed about it."""
    models.network(bench.folder)
    given = ("-i", "net.onnx", "-udo", "ops.json", *FROZEN, "--copyright_file", "notice.txt")
    bench.every("onnx-to-dlc", *given, *OUT, "--depfile", "out.d", "--debug")
    bench.every("onnx-to-dlc", *given, "--dry_run", "--json")
    bench.every("onnx-to-dlc", *given, *OUT, "--dump_ir", "after=track_axes", "--params_format", "netp")


def xml_config(bench):
    models.network(bench.folder)
    bench.prepare("udo-check", "ops.json", "--convert", "xml", "-o", "ops.xml")
    bench.every("onnx-to-dlc", "-i", "net.onnx", "-opc", "ops.xml", *FROZEN, *OUT)


def quantized(bench):
    models.quantized(bench.folder)
    bench.every("onnx-to-dlc", "-i", "quantized.onnx", *OUT)
    bench.every("onnx-to-dlc", "-i", "quantized.onnx", *OUT, "--keep_quant_nodes", "-q")


def refused(bench):
    """Ops that nothing is known of: reports, and a config to start from."""
    models.network(bench.folder)
    bench.every("onnx-to-dlc", "-i", "net.onnx", *FROZEN, *OUT, status=1)
    bench.every("onnx-to-dlc", "-i", "net.onnx", *FROZEN, "--dry_run", status=1)


def threads(bench):
    models.large(bench.folder)
    bench.every("onnx-to-dlc", "-i", "large.onnx", *OUT, "--threads", "2")


def published(bench):
    """One in fifty of the ONNX project's cases; only where there is time."""
    cases = sorted((SHARED / "corpus" / "onnx-backend" / "node").glob("*/model.onnx"))
    for path in cases[::50]:
        bench.every("onnx-to-dlc", "-i", path, *OUT, status=None)


main(network, xml_config, quantized, refused, threads, *[published] * LONG)
