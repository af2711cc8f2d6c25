# SPDX-License-Identifier: Apache-2.0
"""Every allocation of udo-check fails: on configs in both forms, with and without a model, and while it writes them."""

from allocations import main
import models


def configs(bench):
    models.network(bench.folder)
    bench.prepare("udo-check", "ops.json", "--convert", "xml", "-o", "ops.xml")
    models.write_config(bench.folder / "more.json", {**models.THING, "type": "Other"})
    bench.every("udo-check", "ops.xml", "more.json")
    bench.every("udo-check", "ops.json", "--convert", "xml", "-o", "made.xml")
    bench.every("udo-check", "ops.xml", "--convert", "json", "-o", "made.json")
    bench.every("udo-check", "ops.json", "--model", "net.onnx", "--freeze_input", "shape=shape.raw", "--json")


def faults(bench):
    """What is said of texts that are wrong; a text is not called wrong because memory ran out."""
    (bench.folder / "bad.json").write_text('{"UdoPackage_0": {"UDO_PACKAGE_NAME": "P" "Operators": [tru, {"type": 3}]}}')
    (bench.folder / "bad.xml").write_text('<OpDefCollection PackageName="P"><OpDef><Name>A</Nam>&x;</OpDef>')
    (bench.folder / "type.xml").write_text('<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><OpDefCollection/>')
    for name in ("bad.json", "bad.xml", "type.xml"):
        bench.every("udo-check", name, status=1)


main(configs, faults)
