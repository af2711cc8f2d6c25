# SPDX-License-Identifier: Apache-2.0
import json
import os
import signal
import subprocess

import numpy as np
import opendlc
import pytest


def test_weights_are_those_of_the_command(container, tools, tmp_path):
    with opendlc.Container(container) as c:
        for tensor in c.graph().tensors:
            if tensor.has_data:
                npy = tmp_path / "t.npy"
                subprocess.run([tools / "dlc-info", "-i", container, "--tensor", tensor.name, "--dump", npy], check=True,
                               stdout=subprocess.DEVNULL)
                np.testing.assert_array_equal(tensor.array(), np.load(npy))
                break


def test_arrays_are_views_that_outlive_the_container(container):
    c = opendlc.Container(container.read_bytes())
    graph = c.graph()
    one, again = graph.tensor("w0").array(), graph.tensor("w0").array()
    assert one.__array_interface__["data"] == again.__array_interface__["data"]  # the same memory
    assert not one.flags.writeable and one.dtype == np.float32
    c.close()
    c.close()
    with pytest.raises(ValueError, match="is closed"):
        c.graphs
    assert graph.op("c0").type == "Conv2d"  # what was taken before stays
    del c, graph
    np.testing.assert_array_equal(one, again)
    with pytest.raises(ValueError):
        one[...] = 0


def test_tables(container, tools):
    report = json.loads(subprocess.run([tools / "dlc-info", "-i", container, "--json"], capture_output=True, check=True).stdout)
    with opendlc.Container(container) as c:
        graph, nodes = c.graph("digits"), report["graphs"][0]["nodes"]
        assert c.report() == report
        rows = graph.ops_table()
        assert [(r["name"], r["type"], r["macs"], r["inputs"]) for r in rows] == \
            [(n["name"], n["type"], n["macs"], n["inputs"]) for n in nodes]
        assert [(t["name"], list(t["shape"]), t["dtype"]) for t in graph.tensors_table()] == \
            [(t["name"], t["dims"], t["dtype"]) for t in report["graphs"][0]["tensors"]]
        assert c.version == (4, 0) and len(graph) == len(list(graph)) == 20
        attributes = graph.op("c0").attributes
        assert isinstance(attributes["stride"], np.ndarray) and attributes["packageName"] == "qti.aisw"


def test_names_that_are_not_there(container):
    with opendlc.Container(container) as c:
        for call in (lambda: c.graph("x"), lambda: c.graph().tensor("x"), lambda: c.graph().op("x")):
            with pytest.raises(KeyError, match="x"):
                call()


@pytest.mark.parametrize("name", ["v3", "netp", "nr64", "v41"])
def test_all_versions(root, name):
    with opendlc.Container(root / "testdata" / f"{name}.dlc") as c:
        tensors = [tensor for tensor in c.graphs[0].tensors if tensor.has_data]
        assert [tensor.array().shape for tensor in tensors] == [tensor.shape for tensor in tensors]
        for tensor in tensors:
            if tensor.dtype == "String":
                assert all(isinstance(word, str) for word in tensor.array().flat)
            elif tensor.encodings:
                e = tensor.encodings[0]
                if tensor.encoding_axis is None:
                    np.testing.assert_allclose(tensor.reals(), (tensor.array() + float(e["offset"])) * e["scale"])
            else:
                np.testing.assert_array_equal(tensor.reals(), tensor.array())


def test_damage_is_found(container):
    damaged = bytearray(container.read_bytes())
    with opendlc.Container(bytes(damaged)) as c:
        damaged[damaged.index(c.graph().tensor("w0").array().tobytes())] ^= 1
    with opendlc.Container(damaged) as c:
        assert [d.severity for d in c.verify()] == ["error"]
    with pytest.raises(opendlc.InvalidError):
        opendlc.Container(b"no container")
    with pytest.raises(opendlc.InvalidError):
        opendlc.Container(b"")


def test_bytes_that_are_open_cannot_be_resized(container):
    data = bytearray(container.read_bytes())
    c = opendlc.Container(data)
    with pytest.raises(BufferError):
        data.extend(b"x")
    c.close()


def test_diff(container, tools):
    quantized = opendlc.quantize(container, inputs=[np.zeros((1, 16, 16, 1), np.float32)])
    assert not opendlc.diff(container, container)
    found = opendlc.diff(container, quantized.container, categories=["types", "dimensions"])
    assert found and {d["category"] for d in found.differences} == {"types"}
    assert found.counts["types"][1] == len(found.differences) == len(found.report()["differences"])
    assert found.counts["weights"] == (0, 0)
    first = found.differences[0]
    assert first["first"].startswith("Float_32") and first["second"].startswith("uFxp_8")
    with pytest.raises(ValueError, match="no category 'x'"):
        opendlc.diff(container, container, categories=["x"])


def command(tools, *words, status=None):
    """What the command prints. status: that it must have; None: success, or a difference of dlc-diff."""
    unlimited = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    done = subprocess.run([tools / words[0], *words[1:]], stdout=subprocess.PIPE, check=False, env=unlimited)
    assert done.returncode in ((0, int(words[0] == "dlc-diff")) if status is None else (status,))
    return done.stdout.decode()


def test_reports_are_those_of_the_commands(container, tools, tmp_path):
    csv = tmp_path / "n.csv"
    shown = command(tools, "dlc-info", "-i", container, "-m", "--nodes", "c*", "-s", csv)
    fixed = tmp_path / "q.dlc"
    opendlc.quantize(container, fixed, inputs=[np.zeros((1, 16, 16, 1), np.float32)])
    with opendlc.Container(container) as c, opendlc.Container(fixed) as q:
        assert c.text(memory=True, nodes="c*") == shown
        assert c.csv(nodes="c*").encode() == csv.read_bytes()
        assert max(map(len, c.text(compact=True, width=80).splitlines()[9:25])) <= 80
        assert c.page() == command(tools, "dlc-viewer", "-i", container)
        assert q.page(before=c) == q.page(before=container) == command(tools, "dlc-viewer", "-i", fixed, "--compare", container)
        found = opendlc.diff(c, q)
        assert found.text() == command(tools, "dlc-diff", container, fixed, "-s", csv)
        assert found.csv().encode() == csv.read_bytes()
        with pytest.raises(opendlc.UsageError, match="no graph 'x'"):
            c.page(graph="x")
        with pytest.raises(opendlc.InvalidError, match="no report of a quantization"):
            c.page(report=b"{}")


def test_details_are_those_of_the_command(container, tools):
    damaged = container.with_name("damaged.dlc")
    with opendlc.Container(container) as c:
        values = c.graph().tensor("w0").array()
        report = c.tensor_report("w0")
        assert report == json.loads(command(tools, "dlc-info", container, "--tensor", "w0", "--json"))
        assert [report["statistics"][0][of] for of in ("min", "max", "zeros")] == [values.min(), values.max(), (values == 0).sum()]
        assert c.tensor_text("w0") == command(tools, "dlc-info", container, "--tensor", "w0")
        assert max(map(len, c.tensor_text("w0", width=80).splitlines()[:-1])) <= 80
        with pytest.raises(opendlc.InvalidError, match="no tensor named w00"):
            c.tensor_report("w00")
        assert c.verify() == []
        assert c.findings_text() == command(tools, "dlc-info", container, "--verify", status=0)
        assert c.findings_report() == json.loads(command(tools, "dlc-info", container, "--verify", "--json"))
        whole = container.read_bytes()
        at = whole.index(values.tobytes())
        damaged.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
    with opendlc.Container(damaged) as c:
        assert c.verify()
        assert c.findings_text() == command(tools, "dlc-info", damaged, "--verify", status=1)
        found = c.findings_report()
        assert not found["intact"] and found == json.loads(command(tools, "dlc-info", damaged, "--verify", "--json", status=1))


def test_long_looks_are_told_and_stopped(container):
    with opendlc.Container(container) as c:
        for call in (c.verify, c.page, lambda **more: opendlc.diff(c, container, **more), lambda **more: opendlc.Run(container, **more)):
            told = []
            call(progress=lambda done, total: told.append((done, total)))
            assert told and all(done <= total for done, total in told)
            with pytest.raises(opendlc.StoppedError):
                call(progress=lambda *_: True)
            with pytest.raises(KeyboardInterrupt):
                call(progress=lambda *_: signal.raise_signal(signal.SIGINT))
            with pytest.raises(ZeroDivisionError):
                call(progress=lambda *_: 1 / 0)
        assert c.verify() == []
