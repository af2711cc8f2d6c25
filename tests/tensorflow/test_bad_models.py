# SPDX-License-Identifier: Apache-2.0
"""TensorFlow models that are damaged, contradict themselves or are unreasonably deep end with an error that says where and why,
or convert; never with a signal."""

import pathlib
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "reference")]
from checks import Checks  # noqa: E402
from prestarted import run  # noqa: E402

try:
    import numpy as np
    from onnx_writer import Message
    from tf_writer import Func, Graph, Tensor, attribute
except ImportError as error:
    if error.name != "numpy":
        raise
    np = None

DEEP = 100_000


def convert(model, *options):
    return run("tensorflow-to-dlc", "-i", model, "-o", pathlib.Path(model).parent / "out.dlc", *options,
               errors="backslashreplace")


def refuses(checks, name, graph, *parts, options=(), status=1):
    """The graph is refused, and the message has these parts."""
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "model.pb"
        if isinstance(graph, bytes):
            model.write_bytes(graph)
        else:
            graph.save(model)
        done = convert(model, *options)
        checks.equal(f"status: {name}", done.returncode, status)
        for part in parts:
            checks.check(f"message: {name}", part in done.stderr, f"{part!r} not in {done.stderr[:500]!r}")


def with_input():
    g = Graph()
    return g, g.placeholder("x", np.float32, [2, 3])


def chains(checks):
    """As deep as the largest networks that anyone unrolled, and deeper than any stack."""
    for op, n_ops in (("Identity", 1), ("Relu", DEEP + 1)):
        g, x = with_input()
        g.node("Relu", [f"n{DEEP - 1}"], name="y", T=np.float32)
        links = Message()  # what follows a message adds to its lists
        dtype = Message().data(1, "T").message(2, attribute(np.float32))
        for i in range(DEEP):
            source = f"n{i - 1}" if i else x.name
            links.message(1, Message().data(1, f"n{i}").data(2, op).data(3, source).message(5, dtype))
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder) / "model.pb"
            model.write_bytes(g.bytes() + b"".join(links.parts))
            done = convert(model)
            checks.check(f"a chain of {op}", done.returncode == 0 and f" {n_ops} ops from {DEEP + 1} nodes" in done.stderr,
                         done.stderr[:300])


def wrong_inputs(checks):
    g, x = with_input()
    g.node("AddV2", [x, "b"], name="a")
    g.node("Relu", ["a"], name="b", T=np.float32)
    refuses(checks, "a cycle", g, "needs its own result", options=["--out_node", "b"])
    g, x = with_input()
    g.node("Relu", ["nowhere"], name="y", T=np.float32)
    refuses(checks, "an input that is not there", g, "y", "nowhere")
    g, x = with_input()
    g.node("Relu", [x], name="y")
    refuses(checks, "an output that is not there", g, "z", options=["--out_node", "z"], status=2)
    g, x = with_input()
    g.node("Relu", [x], name="y")
    g.node("Neg", [x], name="y")
    refuses(checks, "two nodes of one name", g, "y")
    g, x = with_input()
    g.node("Relu", ["x:5"], name="y", T=np.float32)
    refuses(checks, "an output that an operator does not have", g, "x:5")


def wrong_constants(checks):
    def constant(value, dtype=np.float32):
        g, x = with_input()
        c = g.node("Const", [], name="c", dtype=dtype, value=value)
        g.node("AddV2", [x, c], name="y")
        return g

    class Raw(Tensor):
        """A tensor that says another shape than its elements have."""

        def __init__(self, dims, content):
            super().__init__(np.zeros(2, np.float32))
            self.array = type("Array", (), {"shape": dims, "tobytes": lambda self: content, "size": 2,
                                            "__array__": lambda self, *_, **__: np.frombuffer(content, np.float32)})()

    refuses(checks, "too few bytes", constant(Raw((2, 3), b"\0" * 20)), "'c'")
    refuses(checks, "too many bytes", constant(Raw((2, 3), b"\0" * 28)), "'c'")
    refuses(checks, "a negative dim", constant(Raw((-2, 3), b"\0" * 24)), "'c'")
    refuses(checks, "more elements than can be counted", constant(Raw((2**40, 2**40), b"\0" * 24)), "'c'")
    refuses(checks, "more elements than there is memory for", constant(Raw((2**50,), b"\0" * 24)), "'c'")
    refuses(checks, "a constant without a value", constant(None), "'c'")
    refuses(checks, "a type that does not exist", bytes(constant(np.zeros(3, np.float32)).bytes()).replace(
        b"\x0a\x05dtype\x12\x02\x30\x01", b"\x0a\x05dtype\x12\x02\x30\x7b"), "error:")


def calls(checks):
    def calling(name, *names):
        f = g.function(name, {"a": np.float32})
        value = f.args["a"]
        for i, called in enumerate(names):
            value = f.node("PartitionedCall", [value], name=f"call{i}", f=Func(called), Tout=[np.float32])
        f.returns(r=value if names else f.node("Relu", [value]))

    def call(name, **attributes):
        return g.node("PartitionedCall", [x], name="y", **{"f": Func(name), "Tout": [np.float32], **attributes})

    g, x = with_input()
    calling("f", "f")
    call("f")
    refuses(checks, "a function that calls itself", g, "function f calls itself")
    g, x = with_input()
    calling("f", "g")
    calling("g", "f")
    call("f")
    refuses(checks, "functions that call each other", g, "function f calls itself")
    g, x = with_input()
    call("nobody")
    refuses(checks, "a function that is not there", g, "nobody")
    g, x = with_input()
    calling("f")
    call("f", f=None)
    refuses(checks, "a call without a function", g, "'y'")
    g, x = with_input()
    for i in range(60):
        calling(f"f{i}", f"f{i + 1}", f"f{i + 1}")
    calling("f60")
    call("f0")
    refuses(checks, "calls that double sixty times", g, "error:")
    g, x = with_input()
    for i in range(1000):
        calling(f"f{i}", f"f{i + 1}")
    calling("f1000")
    call("f0")
    refuses(checks, "calls a thousand deep", g, "nest deeper than 64 levels")


def damaged_bytes(checks):
    """Each prefix, and bytes changed here and there."""
    g, x = with_input()
    f = g.function("f", {"a": np.float32})
    f.returns(r=f.node("Relu", [f.args["a"]]))
    y = g.node("PartitionedCall", [x], f=Func("f"), Tout=[np.float32])
    g.node("AddV2", [y, g.const("c", np.arange(3, dtype=np.float32))], name="y")
    whole = g.bytes()
    source = np.random.RandomState(1)
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "model.pb"
        for size in range(0, len(whole), 7):
            model.write_bytes(whole[:size])
            done = convert(model)
            checks.check(f"the first {size} bytes", done.returncode == 1 and "error:" in done.stderr
                         or done.returncode == 0, (done.returncode, done.stderr[:200]))
        for i in range(150):
            changed = bytearray(whole)
            for place in source.randint(0, len(whole), 1 + i % 3):
                changed[place] = source.randint(0, 256)
            model.write_bytes(changed)
            done = convert(model)
            checks.check(f"changed bytes, attempt {i}", done.returncode == 1 and "error:" in done.stderr
                         or done.returncode == 0, (done.returncode, done.stderr[:200]))


def main():
    checks = Checks()
    if np is None:
        checks.skip("bad models", "python3-numpy is not there")
        checks.finish()
    for test in (chains, wrong_inputs, wrong_constants, calls, damaged_bytes):
        test(checks)
    checks.finish()


main()
