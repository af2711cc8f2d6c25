# SPDX-License-Identifier: Apache-2.0
"""Functions and loops without end, too deep, or of exponential size are refused; state that a graph changes is, too."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reference"))
from tf_workshop import Func, Graph, meta_graph, run, run_parts, save_bundle, save_meta_graph, save_saved_model  # noqa: E402

import numpy as np  # noqa: E402
from cases.control import Conditional, Loop, counted_loop  # noqa: E402
from tf_writer import RESOURCE  # noqa: E402

DEEP = 100_000
X = np.float32


class Numbered(Graph):
    """A graph of any number of nodes: names are not searched for."""

    def _unique(self, stem):
        self.count = getattr(self, "count", 0) + 1
        return f"{stem}_{self.count}"


def start():
    g = Numbered()
    return g, g.placeholder("x", X, [2])


def function(g, name, make):
    f = g.function(name, {"x": X})
    f.returns(y=make(f, f.args["x"]))


def call(g, x, name):
    return g.node("PartitionedCall", [x], f=Func(name), Tout=[X])


def either(g, x, yes, no):
    """An If of a known condition."""
    return g.node("If", [g.const(np.array(True)), x], Tout=[X], then_branch=Func(yes), else_branch=Func(no))


def refuse(shop, what, graph, part, *options):
    model = shop.folder / "model.pb"
    graph.save(model)
    refuse_model(shop, what, model, part, *options)


def refuse_model(shop, what, model, part, *options):
    done = run("tensorflow-to-dlc", "-i", model, "-o", shop.folder / "out.dlc", *options)
    shop.checks.equal(f"status: {what}", done.returncode, 1)
    shop.checks.check(f"message: {what}", part in done.stderr, done.stderr[:500])


def convert(shop, what, model, part, *options):
    if isinstance(model, Graph):
        model.save(shop.folder / "model.pb")
        model = shop.folder / "model.pb"
    done = run("tensorflow-to-dlc", "-i", model, "-o", shop.folder / "out.dlc", *options)
    shop.checks.equal(f"status: {what}", done.returncode, 0)
    shop.checks.check(f"message: {what}", part in done.stderr, done.stderr[:500])


def cycles(shop):
    g, x = start()
    function(g, "f", lambda f, x: f.node("Neg", [call(f, x, "f")]))
    g.node("Neg", [call(g, x, "f")])
    refuse(shop, "a function that calls itself", g, "function f calls itself")
    g, x = start()
    function(g, "f", lambda f, x: call(f, x, "g"))
    function(g, "g", lambda f, x: f.node("f", [x], outputs={"y": X}))
    g.node("Neg", [call(g, x, "f")])
    refuse(shop, "functions that call each other", g, "function f calls itself")
    g, x = start()
    function(g, "f", lambda f, x: either(f, x, "f", "f"))
    g.node("Neg", [call(g, x, "f")])
    refuse(shop, "a function that holds itself", g, "function f calls itself")


def long_chains(shop):
    for what, make, ops in (("calls", lambda f, x: f.node("Neg", [x]), DEEP), ("calls that do nothing", lambda f, x: x, 1)):
        g, x = start()
        function(g, "f", make)
        for _ in range(DEEP):
            x = call(g, x, "f")
        g.node("Neg", [x])
        convert(shop, what, g, f"{ops + (ops > 1)} ops")


def depths(shop):
    for what, make in (("calls", lambda f, x, inner: call(f, x, inner)),
                       ("branches", lambda f, x, inner: either(f, x, inner, "f0"))):
        for depth, holds in ((60, True), (200, False)):
            g, x = start()
            function(g, "f0", lambda f, x: f.node("Neg", [x]))
            for i in range(1, depth):
                function(g, f"f{i}", lambda f, x: make(f, x, f"f{i - 1}"))
            g.node("Exp", [call(g, x, f"f{depth - 1}")])
            if holds:
                convert(shop, f"{depth} {what} within each other", g, "2 ops")
            else:
                refuse(shop, f"{depth} {what} within each other", g, "nest deeper than 64 levels")


def exponential(shop):
    for what, make in (("calls", lambda f, x, g: f.node("AddV2", [call(f, x, g), call(f, x, g)])),
                       ("branches", lambda f, x, g: either(f, x, g, g)),
                       ("loops", lambda f, x, g: f.node("While", [x], cond=Func(g), body=Func(g)))):
        g, x = start()
        function(g, "f0", lambda f, x: f.node("Neg", [x]))
        for i in range(1, 40):
            function(g, f"f{i}", lambda f, x: make(f, x, f"f{i - 1}"))
        g.node("Neg", [call(g, x, "f39")])
        refuse(shop, f"exponential {what}", g, "the functions and loops of the graph expand to more than")


def loops_in_loops(g, x, depth, level=0):
    """Loops of one trip; what is constant does not enter them, which TensorFlow would ask for."""
    loop = Loop(g, [g.const(np.int32(0)), x], f"loop{level}")
    i, y = loop.cond(g.node("Less", [loop.merges[0], g.const(np.int32(1))]))
    inner = loops_in_loops(g, y, depth, level + 1) if level + 1 < depth else g.node("Neg", [y])
    return loop.body([g.node("AddV2", [i, g.const(np.int32(1))]), inner])[1]


def many_loops(shop):
    g, x = start()
    for i in range(3000):
        x = counted_loop(g, 1, [x], lambda loop, i, y: [g.node("Neg", [y])], f"loop{i}")[1]
    g.node("Exp", [x], name="out")
    convert(shop, "3000 loops", g, "3001 ops", "--out_node", "out")
    for depth in (60, 100):
        g, x = start()
        g.node("Exp", [loops_in_loops(g, x, depth)], name="out")
        if depth == 60:
            convert(shop, "60 loops within each other", g, "2 ops", "--out_node", "out")
        else:
            refuse(shop, "100 loops within each other", g, "nest deeper than 64 levels", "--out_node", "out")
    g, x = start()
    y = x
    for _ in range(20000):
        y = g.node("Neg", [y])
    for i in range(3000):
        x = counted_loop(g, 1, [x], lambda loop, i, z: [g.node("AddV2", [z, y])], f"loop{i}")[1]
    g.node("Exp", [x], name="out")
    refuse(shop, "loops that all read a chain which does not enter them", g, "expand to more than", "--out_node", "out")


def doubling_loops(g, x, depth, level=0):
    """Loops of no trip whose condition and body both read the loop inside."""
    loop = Loop(g, [x], f"loop{level}")
    inner = doubling_loops(g, loop.merges[0], depth, level + 1) if level + 1 < depth else g.node("Neg", [loop.merges[0]])
    loop.cond(g.node("Less", [inner, inner]))
    return loop.body([inner])[0]


def repetitions(shop):
    """What the file says once and the graph has many times: names, outputs, parts of loops."""
    names = "the names of values take more than"
    for depth in (10, 24):
        g = Numbered()
        g.node("Exp", [doubling_loops(g, g.const(np.float32(1)), depth)], name="out")
        g.node("Neg", [g.placeholder("x", X, [2])], name="y")
        if depth == 10:
            convert(shop, "loops that are read twice, 10 levels of them", g, "2 ops", "--out_node", "y", "--out_node", "out")
        else:
            refuse(shop, "loops that are read twice, 24 levels of them", g, "expand to more than", "--out_node", "out")
    for length in (100, 65_000):
        g, x = start()
        f = g.function("f", {"x": X})
        y = f.args["x"]
        for i in range(2000):
            y = f.node("Neg", [y], name=f"n{i}")
        f.returns(y=y)
        g.node("Exp", [g.node("PartitionedCall", [x], name="c" * length, f=Func("f"), Tout=[X])])
        if length == 100:
            convert(shop, "2000 nodes in a call", g, "2001 ops")
        else:
            refuse(shop, "2000 nodes in a call with a long name", g, names)
    g, x = start()
    for _ in range(40):
        x = g.node("Split", [g.const(np.int32(0)), x], num_split=2)
        x = f"{x.node.name}:65535"
    g.node("Neg", [x])
    refuse(shop, "outputs far behind those that are read", g, names)
    for count in (1023, 1024):
        g, x = start()
        g.node("Neg", [x], name="y", T=X, **{f"a{i}": i for i in range(count)})
        if count == 1023:
            convert(shop, "1024 attributes", g, "1 ops")
        else:
            refuse(shop, "1025 attributes", g, "node y has 1025 attributes, more than 1024")


def many_conditionals(shop):
    g, x = start()
    for i in range(1000):
        k = Conditional(g, g.placeholder(f"p{i}", np.bool_, []))
        x = k.merge(g.node("Neg", [k.switch(x, 0)]), g.node("Exp", [k.switch(x, 1)]))
    g.node("Abs", [x], name="out")
    convert(shop, "1000 conditionals", g, "3001 ops", "--out_node", "out")
    g, x = start()
    for i in range(1000):
        x = Conditional(g, g.placeholder(f"p{i}", np.bool_, [])).switch(x, 1)
    g.node("Neg", [x], name="out")
    convert(shop, "1000 conditionals within each other", g, "1 ops", "--out_node", "out")


# ---- state ----


def variable(g, name="v"):
    return g.node("VariableV2", [], name=name, dtype=X, shape=[2])


def try_state(shop, what, make, part):
    """make(graph, x) adds the node y; part: of the message, or None when it converts."""
    g, x = start()
    make(g, x)
    model = shop.folder / "model.meta"
    save_meta_graph(model, g)
    save_bundle(shop.folder / "model", {"v": np.array([1, 2], X), "w": np.array([3, 4], X)})
    if part:
        refuse_model(shop, what, model, part, "--out_node", "y")
    else:
        convert(shop, what, model, "1 ops", "--out_node", "y")


def state(shop):
    def assigned(control, other=False):
        def make(g, x):
            v = variable(g)
            target = variable(g, "w") if other else v
            g.node("AssignAdd", [g.node("Identity", [target], name="same") if other else target, x], name="change")
            g.node("NoOp", ["^change"], name="all")
            g.node("AddV2", [x, g.node("Identity", [v])] + (["^all"] if control else []), name="y")
        return make

    try_state(shop, "an assignment that is not run", assigned(False), None)
    try_state(shop, "an assignment that a control input runs", assigned(True),
              "node 'change': AssignAdd: the graph changes variable v while it runs: containers have no state")
    try_state(shop, "an assignment to a variable that is not read", assigned(True, other=True), None)

    def read_back(g, x):
        g.node("AddV2", [x, g.node("AssignAdd", [variable(g), x])], name="y")

    try_state(shop, "the result of an assignment", read_back, "changes variable v while it runs")

    def references(g, x):
        v, p = variable(g), g.const(np.array(True))
        sides = g.node("RefSwitch", [v, p], T=X)
        merged = g.node("RefMerge", [g.node("RefIdentity", [sides], T=X), sides[1]], T=X, N=2)
        g.node("AddV2", [x, g.node("Identity", [merged])], name="y")

    try_state(shop, "references to variables", references, None)


def state_in_functions(shop):
    for held in (False, True):
        for changes in (False, True):
            g, x = start()
            v = g.node("VarHandleOp", [], name="v", dtype=X, shape=[2])
            f = g.function("f", {"x": X, "v": RESOURCE})
            read = f.node("ReadVariableOp", [f.args["v"]], dtype=X)
            if changes:
                f.node("AssignSubVariableOp", [f.args["v"], f.args["x"]], dtype=X)
            f.returns(y=f.node("Sub", [f.args["x"], read]))
            if held:
                g.node("If", [g.const(np.array(True)), x, v], name="y", Tout=[X], then_branch=Func("f"),
                       else_branch=Func("f"))
            else:
                g.node("StatefulPartitionedCall", [x, v], name="y", f=Func("f"), Tout=[X])
            model = shop.folder / f"saved{held}{changes}"
            save_saved_model(model, meta_graph(g, {}))
            save_bundle(model / "variables/variables", {"v": np.array([1, 2], X)})
            what = f"a function that {'a node holds' if held else 'is called'}"
            if changes:
                refuse_model(shop, what, model, "changes variable v while it runs", "--out_node", "y")
            else:
                convert(shop, what, model, "1 ops", "--out_node", "y")


run_parts(cycles, long_chains, depths, exponential, many_loops, repetitions, many_conditionals, state, state_in_functions)
