# SPDX-License-Identifier: Apache-2.0
"""Branches and loops: functions that nodes hold, Switch and Merge, and the loops of TensorFlow 1, which are cycles."""

import numpy as np
from case import Cases
from tf_writer import STRING, VARIANT, Func, Shape

CASES = Cases()
TRUE, FALSE = np.array(True), np.array(False)


def unary(c, name, *ops):
    """A function of one float32 tensor: operators one after another."""
    f = c.function(name, {"x": np.float32})
    y = f.args["x"]
    for op in ops:
        y = f.node(op, [y])
    f.returns(y=y)
    return Func(name)


# ---- If and Case ----


def choose(c, condition, op="If"):
    x = c.input([2, 3])
    y = c.node(op, [condition, x], Tout=[np.float32], then_branch=unary(c, "yes", "Exp"),
               else_branch=unary(c, "no", "Neg", "Square"))
    c.gives(c.node("Abs", [y]), y)


def ifs():
    for op in ("If", "StatelessIf"):
        for value in (TRUE, FALSE):
            for constant in (True, False):
                c = CASES.new(f"{op} of {'a constant' if constant else 'an input'}, {value}")
                choose(c, c.either(constant, value), op)
    for what, value in (("0", np.int32(0)), ("2", np.int32(2)), ("a half", np.float32(0.5)),
                        ("an int64", np.int64(-1)), ("a vector", np.zeros(2, np.float32)),
                        ("an empty vector", np.zeros(0, np.float32))):
        c = CASES.new(f"If of {what}")
        choose(c, c.const(value))
    for value in (0, 3):
        c = CASES.new(f"If of an input that is {value}")
        choose(c, c.input(np.array(value, np.int32)))
    c = CASES.new("If of a string")
    choose(c, c.const(np.array(b"text", dtype=object)))
    c.fetched = []
    c.refused("If: input 0 holds strings")


def branches():
    c = CASES.new("a branch that is not taken may be anything")
    x = c.input([2, 3])
    f = c.function("audio", {"x": np.float32})
    text = f.node("Const", [], dtype=STRING, value=np.array(b"bytes", dtype=object))
    f.returns(y=f.node("DecodeWav", [text])[0])
    y = c.node("If", [c.const(FALSE), x], Tout=[np.float32], then_branch=Func("audio"),
               else_branch=unary(c, "no", "Neg"))
    c.gives(c.node("Abs", [y]))

    c = CASES.new("a branch of an unknown condition must be supported")
    y = c.node("If", [c.input(TRUE), c.input([2, 3])], Tout=[np.float32], then_branch=Func("audio"),
               else_branch=unary(c, "no", "Neg"))
    f = c.function("audio", {"x": np.float32})
    f.returns(y=f.node("DecodeWav", [f.node("Const", [], dtype=STRING, value=np.array(b"x", dtype=object))])[0])
    c.node("Abs", [y])
    c.refused("a branch cannot be converted, and the condition is not a constant")

    c = CASES.new("branches of two shapes and an unknown condition")
    f = c.function("smaller", {"x": np.float32})
    f.returns(y=f.node("Sum", [f.args["x"], f.const(np.int32(0))]))
    y = c.node("If", [c.input(TRUE, name="p"), c.input([2, 3])], Tout=[np.float32], then_branch=Func("smaller"),
               else_branch=unary(c, "no", "Neg"))
    c.node("Abs", [y])
    c.refused("the branches differ in the type of output 0, and the condition is not a constant")

    c = CASES.new("branches with several results, of which one is not read")
    f = c.function("yes", {"a": np.float32, "b": np.float32})
    f.returns(s=f.node("AddV2", [f.args["a"], f.args["b"]]), a=f.args["a"], n=f.node("Neg", [f.args["b"]]))
    f = c.function("no", {"a": np.float32, "b": np.float32})
    f.returns(s=f.args["b"], a=f.node("Neg", [f.args["a"]]), n=f.const(np.full((2, 3), 7, np.float32)))
    y = c.node("If", [c.input(TRUE), c.input([2, 3]), c.input([2, 3])], Tout=[np.float32] * 3,
               then_branch=Func("yes"), else_branch=Func("no"))
    c.gives(c.node("Abs", [y]), c.node("Abs", [y[2]]))

    c = CASES.new("branches within branches, with calls")
    inner = c.function("inner", {"x": np.float32, "p": np.bool_})
    inner.returns(y=inner.node("StatelessIf", [inner.args["p"], inner.args["x"]], Tout=[np.float32],
                               then_branch=unary(c, "yes", "Exp"), else_branch=unary(c, "no", "Neg")))
    called = c.function("called", {"x": np.float32, "p": np.bool_})
    called.returns(y=called.node("PartitionedCall", [called.args["x"], called.args["p"]], Tout=[np.float32],
                                 f=Func("inner")))
    other = c.function("other", {"x": np.float32, "p": np.bool_})
    other.returns(y=other.node("Square", [other.args["x"]]))
    p = c.input(FALSE)
    y = c.node("If", [c.input(TRUE), c.input([2, 3]), p], Tout=[np.float32], then_branch=Func("called"),
               else_branch=Func("other"))
    c.gives(c.node("Abs", [y]))


def cases():
    for op in ("Case", "StatelessCase"):
        for value in (0, 1, 2, 3, -1):
            for constant in (True, False):
                c = CASES.new(f"{op} {value} of {'a constant' if constant else 'an input'}")
                index = c.either(constant, np.array(value, np.int32))
                made = [unary(c, "a", "Exp"), unary(c, "b", "Neg", "Square"), unary(c, "c", "Tanh")]
                y = c.node(op, [index, c.input([2, 3])], Tout=[np.float32], branches=made)
                c.gives(c.node("Abs", [y]), y)
    c = CASES.new("Case of one branch")
    c.gives(c.node("Case", [c.input(np.array(5, np.int32)), c.input([2])], Tout=[np.float32],
                   branches=[unary(c, "a", "Exp")]))


# ---- While ----


def counting(c, trips, op="While", name="loop", step=("Mul", 0.5)):
    """i = 0, y = x: y = step(y), trips times."""
    f = c.function(f"{name}_cond", {"i": np.int32, "y": np.float32})
    f.returns(go_on=f.node("Less", [f.args["i"], f.const(np.int32(trips))]))
    f = c.function(f"{name}_body", {"i": np.int32, "y": np.float32})
    operator, value = step
    f.returns(i=f.node("AddV2", [f.args["i"], f.const(np.int32(1))]),
              y=f.node(operator, [f.args["y"], f.const(np.float32(value))]))
    y = c.node(op, [c.const(np.int32(0)), c.input([2, 3])], cond=Func(f"{name}_cond"), body=Func(f"{name}_body"))
    return y[1]


def whiles():
    for op in ("While", "StatelessWhile"):
        for trips in (0, 1, 3):
            c = CASES.new(f"{op} of {trips} trips")
            c.gives(c.node("Exp", [counting(c, trips, op)]))
    c = CASES.new("While whose result is an output")
    y = counting(c, 2)
    c.gives(y)

    for start, limit, delta in ((0, 3, 1), (5, -2, -3), (2, 2, 1)):
        c = CASES.new(f"For {start} to {limit} by {delta}")
        f = c.function("body", {"i": np.int32, "x": np.float32, "y": np.float32})
        number = f.node("Cast", [f.args["i"]], SrcT=np.int32, DstT=np.float32)
        f.returns(x=f.node("Mul", [f.args["x"], number]), y=f.node("AddV2", [f.args["y"], f.args["x"]]))
        y = c.node("For", [*(c.const(np.int32(value)) for value in (start, limit, delta)), c.input([2, 3]), c.input([2, 3])],
                   body=Func("body"))
        c.gives(c.node("Abs", [y]), c.node("Abs", [y[1]]))
    c = CASES.new("For that leads away from its end")
    f = c.function("body", {"i": np.int32, "x": np.float32})
    f.returns(x=f.node("Neg", [f.args["x"]]))
    c.node("Abs", [c.node("For", [c.const(np.int32(3)), c.const(np.int32(1)), c.const(np.int32(1)), c.input([2])],
                          body=Func("body"))])
    c.refused("steps of 1 do not lead from 3 to 1")
    c = CASES.new("For without an end that is known")
    c.node("Abs", [c.node("For", [c.const(np.int32(0)), c.input(np.array(3, np.int32), name="n"), c.const(np.int32(1)),
                                  c.input([2])], body=Func("body"))])
    f = c.function("body", {"i": np.int32, "x": np.float32})
    f.returns(x=f.node("Neg", [f.args["x"]]))
    c.refused("input 1 (limit) is not a constant")

    c = CASES.new("While with a condition that is no bool")
    f = c.function("cond", {"i": np.int32, "y": np.float32})
    f.returns(go_on=f.args["i"])
    f = c.function("body", {"i": np.int32, "y": np.float32})
    f.returns(i=f.node("Sub", [f.args["i"], f.const(np.int32(1))]), y=f.node("Square", [f.args["y"]]))
    y = c.node("While", [c.const(np.int32(2)), c.input([3])], cond=Func("cond"), body=Func("body"))
    c.gives(y[1])

    c = CASES.new("While within While, swapping variables")
    f = c.function("cond", {"i": np.int32, "a": np.float32, "b": np.float32})
    f.returns(go_on=f.node("Less", [f.args["i"], f.const(np.int32(3))]))
    f = c.function("inner_body", {"i": np.int32, "a": np.float32, "b": np.float32})
    f.returns(i=f.node("AddV2", [f.args["i"], f.const(np.int32(2))]), a=f.args["b"],
              b=f.node("AddV2", [f.args["a"], f.args["b"]]))
    f = c.function("body", {"i": np.int32, "a": np.float32, "b": np.float32})
    inner = f.node("While", [f.args["i"], f.args["a"], f.args["b"]], cond=Func("cond"), body=Func("inner_body"))
    f.returns(i=f.node("AddV2", [f.args["i"], f.const(np.int32(1))]), a=f.node("Neg", [inner[1]]), b=inner[2])
    y = c.node("While", [c.const(np.int32(0)), c.input([2, 3]), c.input([2, 3])], cond=Func("cond"), body=Func("body"))
    c.gives(y[0], c.node("Abs", [y[1]]), c.node("Abs", [y[2]]))

    c = CASES.new("While that depends on an input")
    f = c.function("cond", {"y": np.float32})
    f.returns(go_on=f.node("Less", [f.args["y"], f.const(np.float32(3))]))
    f = c.function("body", {"y": np.float32})
    f.returns(y=f.node("AddV2", [f.args["y"], f.const(np.float32(1))]))
    c.node("Neg", [c.node("While", [c.input([], name="x")], cond=Func("cond"), body=Func("body"))])
    c.refused("the condition of the loop is not a constant")

    c = CASES.new("While whose first trip makes the condition unknown")
    f = c.function("cond", {"y": np.float32, "z": np.float32})
    f.returns(go_on=f.node("Less", [f.args["y"], f.const(np.float32(3))]))
    f = c.function("body", {"y": np.float32, "z": np.float32})
    f.returns(y=f.args["z"], z=f.args["z"])
    c.node("Neg", [c.node("While", [c.const(np.float32(0)), c.input([], name="x")], cond=Func("cond"),
                          body=Func("body"))])
    c.refused("the condition after trip 0 is not a constant")

    c = CASES.new("While without an end")
    f = c.function("cond", {"y": np.float32})
    f.returns(go_on=f.const(TRUE))
    c.node("Neg", [c.node("While", [c.input([])], cond=Func("cond"), body=unary(c, "body", "Neg"))])
    c.refused("the graphs inside of nodes expand to more than 100000 nodes")

    c = CASES.new("While whose body gives another number of values")
    f = c.function("cond", {"x": np.float32, "y": np.float32})
    f.returns(go_on=f.const(FALSE))
    f = c.function("body", {"x": np.float32, "y": np.float32})
    f.returns(x=f.args["x"])
    c.node("Neg", [c.node("While", [c.input([]), c.input([])], cond=Func("cond"), body=Func("body"))])
    c.refused("the body gives 1 values for 2 variables")


# ---- Switch and Merge ----


class Conditional:
    """What TensorFlow 1 makes of a conditional: switch(x, side) is x inside of a branch, const(array, side) a constant there."""

    def __init__(self, c, condition):
        self.c, self.condition = c, c.node("Identity", [condition])
        pivot = c.node("Switch", [condition, condition])
        self.pivots = [c.node("Identity", [pivot[side]]) for side in (0, 1)]

    def switch(self, x, side):
        return self.c.node("Switch", [x, self.condition])[side]

    def const(self, values, side):
        values = np.asarray(values)
        dtype = STRING if values.dtype.kind == "O" else values.dtype
        return self.c.node("Const", [f"^{self.pivots[side].name}"], dtype=dtype, value=values)

    def merge(self, no, yes):
        return self.c.node("Merge", [no, yes])


def conditionals():
    for value in (TRUE, FALSE):
        for constant in (True, False):
            what = f"{'a constant' if constant else 'an input'}, {value}"
            c = CASES.new(f"Switch and Merge by {what}")
            x = c.input([2, 3])
            k = Conditional(c, c.either(constant, value))
            y = k.merge(c.node("Neg", [k.switch(x, 0)]), c.node("Exp", [k.switch(x, 1)]))
            c.gives(c.node("Abs", [y]), y, y[1])

            c = CASES.new(f"a branch that is a constant, by {what}")
            x = c.input([2, 3])
            k = Conditional(c, c.either(constant, value))
            y = k.merge(k.const(np.full((2, 3), 3, np.float32), 0), c.node("Exp", [k.switch(x, 1)]))
            c.gives(c.node("Abs", [y]), y[1])

            c = CASES.new(f"branches that are constants, by {what}")
            k = Conditional(c, c.either(constant, value))
            y = k.merge(c.node("Neg", [k.const(np.float32([1, 2]), 0)]), k.const(np.float32([3, 4]), 1))
            c.gives(c.node("Mul", [y, c.input([2])]))

            for inner in (TRUE, FALSE):
                c = CASES.new(f"conditionals in conditionals, by {what}, and {inner}")
                x, q = c.input([2, 3]), c.either(constant, inner)
                k = Conditional(c, c.either(constant, value))
                deeper = Conditional(c, k.switch(q, 1))
                inside = k.switch(x, 1)
                yes = deeper.merge(c.node("Exp", [deeper.switch(inside, 0)]), deeper.const(np.ones((2, 3), np.float32), 1))
                y = k.merge(c.node("Neg", [k.switch(x, 0)]), c.node("AddV2", [yes, inside]))
                c.gives(c.node("Abs", [y]), y[1])

    c = CASES.new("an operator of a branch that is not taken may be anything")
    k = Conditional(c, c.const(FALSE))
    wav = c.node("DecodeWav", [k.const(np.array(b"bytes", dtype=object), 1)])
    y = k.merge(c.node("Neg", [k.switch(c.input([2, 3]), 0)]), wav)
    c.gives(c.node("Abs", [y]))

    c = CASES.new("an operator of a branch of an unknown condition")
    k = Conditional(c, c.input(FALSE))
    y = k.merge(c.node("Neg", [k.switch(c.input([2, 3]), 0)]), c.node("Einsum", [k.switch(c.input([2, 3]), 1)],
                                                                     equation="never"))
    c.node("Abs", [y])
    c.refused("Einsum")

    c = CASES.new("one conditional within the other side of itself")
    x, p = c.input([2, 3]), c.input(TRUE)
    k = Conditional(c, p)
    again = Conditional(c, k.switch(p, 1))
    inside = k.switch(x, 1)
    yes = again.merge(c.node("Exp", [again.switch(inside, 0)]), c.node("Square", [again.switch(inside, 1)]))
    c.gives(c.node("Abs", [k.merge(c.node("Neg", [k.switch(x, 0)]), yes)]))

    c = CASES.new("Merge of what two conditions decide")
    x = c.input([2, 3])
    one, other = Conditional(c, c.input(TRUE)), Conditional(c, c.input(TRUE))
    c.node("Abs", [one.merge(c.node("Neg", [one.switch(x, 0)]), c.node("Exp", [other.switch(x, 1)]))])
    c.refused("Merge: which of its inputs arrives depends on what is not known at conversion")

    c = CASES.new("an output in a branch that is not taken")
    k = Conditional(c, c.const(FALSE))
    c.node("Neg", [k.switch(c.input([2]), 1)])
    c.refused("is of a branch that is not taken")

    for value in (0, 2, 5, -1):
        c = CASES.new(f"one of several branches, number {value}")
        x = c.input([2, 3])
        outputs = {f"output{i}": np.float32 for i in range(3)}
        sides = c.node("_SwitchN", [x, c.const(np.int32(value))], outputs=outputs, T=np.float32, num_outs=3, name="switch")
        c.gives(c.node("Abs", [c.node("Merge", [c.node(op, [sides[i]]) for i, op in enumerate(("Exp", "Neg", "Tanh"))])]))

    for value in (0, 1, 2, 3, -1):
        c = CASES.new(f"one of several branches, which is not known: {value}")
        x, index = c.input([2, 3]), c.input(np.array(value, np.int32))
        outputs = {f"output{i}": np.float32 for i in range(3)}
        sides = c.node("_SwitchN", [x, index], outputs=outputs, T=np.float32, num_outs=3, name="switch")
        # Their order is not that of the outputs.
        y = c.node("Merge", [c.node(op, [sides[i]]) for i, op in ((2, "Exp"), (0, "Neg"), (1, "Tanh"))])
        c.gives(c.node("Abs", [y]), y[1])

    c = CASES.new("some of several branches, which is not known")
    outputs = {f"output{i}": np.float32 for i in range(3)}
    sides = c.node("_SwitchN", [c.input([2]), c.input(np.array(0, np.int32))], outputs=outputs, T=np.float32, num_outs=3, name="switch")
    some = c.node("Merge", [c.node("Neg", [sides[0]]), sides[1]])
    c.node("Abs", [c.node("Merge", [some, sides[2]])])
    c.refused("they are not the sides of one condition")

    c = CASES.new("several branches within one of two")
    x, p, index = c.input([2, 3]), c.input(TRUE), c.input(np.array(1, np.int32))
    k = Conditional(c, p)
    inner = [c.node("_SwitchN", [k.switch(value, 1), k.switch(index, 1)], outputs=outputs, T=np.float32, num_outs=3,
                    name=f"switch{i}") for i, value in enumerate((x, c.input([2, 3])))]
    cases = c.node("Merge", [c.node("AddV2", [inner[0][i], inner[1][i]]) for i in range(2)] + [inner[0][2]])
    c.gives(c.node("Abs", [k.merge(c.node("Neg", [k.switch(x, 0)]), cases)]))

    c = CASES.new("Merge of one input")
    y = c.node("Merge", [c.node("Neg", [c.input([2])])])
    c.gives(c.node("Abs", [y]), y[1])


# ---- loops of TensorFlow 1 ----


class Loop:
    """A loop as a cycle. first: the variables' values before it; after cond and body, exits has those behind it."""

    def __init__(self, c, first, name="while"):
        self.c, self.name = c, name
        enters = [c.node("Enter", [value], name=f"{name}/Enter_{i}", frame_name=name) for i, value in enumerate(first)]
        self.merges = [c.node("Merge", [value, f"{name}/Next_{i}"], name=f"{name}/Merge_{i}", N=2)
                       for i, value in enumerate(enters)]

    def constant(self, x):
        """A value from around the loop."""
        return self.c.node("Enter", [x], frame_name=self.name, is_constant=True)

    def const(self, values):
        """A constant of the loop's own."""
        values = np.asarray(values)
        return self.c.node("Const", [f"^{self.merges[0].name}"], dtype=values.dtype, value=values)

    def cond(self, go_on):
        condition = self.c.node("LoopCond", [go_on], name=f"{self.name}/LoopCond")
        self.switches = [self.c.node("Switch", [merge, condition]) for merge in self.merges]
        self.inside = [self.c.node("Identity", [switch[1]]) for switch in self.switches]
        return self.inside

    def body(self, following):
        for i, value in enumerate(following):
            self.c.node("NextIteration", [value], name=f"{self.name}/Next_{i}")
        self.exits = [self.c.node("Exit", [switch]) for switch in self.switches]
        return self.exits


def counted_loop(c, trips, first, body, name="while"):
    """i = 0 … trips - 1; body(loop, i, *variables) gives the variables' next values."""
    loop = Loop(c, [c.const(np.int32(0)), *first], name)
    i, *inside = loop.cond(c.node("Less", [loop.merges[0], loop.constant(c.const(np.int32(trips)))]))
    return loop.body([c.node("AddV2", [i, loop.const(np.int32(1))]), *body(loop, i, *inside)])


def cycles():
    for trips in (0, 1, 4):
        c = CASES.new(f"a loop of {trips} trips")
        w = c.input([2, 3])
        exits = counted_loop(c, trips, [c.input([2, 3])],
                             lambda loop, i, x: [c.node("Mul", [x, loop.constant(w)])])
        c.gives(c.node("Neg", [exits[1]]), c.node("AddV2", [exits[0], c.input([], np.int32)]))

    c = CASES.new("a loop with a variable that nothing reads, and one that is never changed")
    exits = counted_loop(c, 3, [c.input([2, 3]), c.input([2, 3]), c.input([2, 3])],
                         lambda loop, i, x, y, z: [c.node("AddV2", [x, y]), y, c.node("Exp", [z])])
    c.gives(c.node("Neg", [exits[1]]), c.node("Neg", [exits[2]]))

    c = CASES.new("a loop whose trips see their number")
    exits = counted_loop(c, 3, [c.input([2, 3])],
                         lambda loop, i, x: [c.node("Mul", [x, c.node("Cast", [i], SrcT=np.int32, DstT=np.float32)])])
    c.gives(c.node("AddV2", [exits[1], c.input([])]))

    c = CASES.new("loops one after another")
    one = counted_loop(c, 2, [c.input([2, 3])], lambda loop, i, x: [c.node("Square", [x])], "one")
    other = counted_loop(c, 2, [one[1]], lambda loop, i, x: [c.node("Neg", [c.node("Exp", [x])])], "other")
    c.gives(c.node("Abs", [other[1]]))

    c = CASES.new("a loop in a loop")
    x, w = c.input([2, 3]), c.input([2, 3])
    exits = nested(c, x, w)
    c.gives(c.node("Neg", [exits[1]]))

    c = CASES.new("a conditional in a loop")
    p = c.input(TRUE)

    def either(loop, i, x):
        k = Conditional(c, loop.constant(p))
        return [k.merge(c.node("Neg", [k.switch(x, 0)]), c.node("Mul", [k.switch(x, 1), k.const(np.float32(0.5), 1)]))]

    c.gives(c.node("Abs", [counted_loop(c, 3, [c.input([2, 3])], either)[1]]))

    for value in (TRUE, FALSE):
        for constant in (True, False):
            c = CASES.new(f"a loop in a conditional, by {'a constant' if constant else 'an input'}, {value}")
            k = Conditional(c, c.either(constant, value))
            x = c.input([2, 3])
            loop = Loop(c, [k.const(np.int32(0), 1), k.switch(x, 1)])
            i, y = loop.cond(c.node("Less", [loop.merges[0], loop.constant(k.const(np.int32(2), 1))]))
            exits = loop.body([c.node("AddV2", [i, loop.const(np.int32(1))]), c.node("Exp", [y])])
            c.gives(c.node("Abs", [k.merge(c.node("Neg", [k.switch(x, 0)]), exits[1])]))


def nested(c, x, w):
    """for i < 3: { for k < 2: x = x + w; x = x * i }, where all that enters the inner loop enters the outer one first."""
    loop = Loop(c, [c.const(np.int32(0)), x], "outer")
    i, y = loop.cond(c.node("Less", [loop.merges[0], loop.constant(c.const(np.int32(3)))]))
    inner = Loop(c, [loop.const(np.int32(0)), y], "outer/inner")
    k, z = inner.cond(c.node("Less", [inner.merges[0], inner.constant(loop.const(np.int32(2)))]))
    ends = inner.body([c.node("AddV2", [k, inner.const(np.int32(1))]),
                       c.node("AddV2", [z, inner.constant(loop.constant(w))])])
    factor = c.node("Cast", [i], SrcT=np.int32, DstT=np.float32)
    return loop.body([c.node("AddV2", [i, loop.const(np.int32(1))]), c.node("Mul", [ends[1], factor])])


def broken_cycles():
    c = CASES.new("a loop whose condition is not known")
    loop = Loop(c, [c.input([], name="x")])
    x, = loop.cond(c.node("Less", [loop.merges[0], loop.const(np.float32(1))]))
    c.node("Neg", [loop.body([c.node("Exp", [x])])[0]])
    c.refused("the condition of the loop is not a constant")

    c = CASES.new("an Exit of no loop")
    c.node("Neg", [c.node("Exit", [c.input([2])], name="out")])
    c.refused("out: it leaves no loop: no Switch with a LoopCond is before it")

    c = CASES.new("a loop without NextIteration")
    loop = Loop(c, [c.input([2])])
    loop.cond(c.const(FALSE))
    c.node("Neg", [loop.inside[0]], name="while/Next_0")
    c.node("Neg", [c.node("Exit", [loop.switches[0]])])
    c.refused("while/Merge_0: the variable of a loop has no NextIteration")

    c = CASES.new("reading from inside of a loop")
    loop = Loop(c, [c.input([2])])
    loop.cond(c.const(FALSE))
    c.node("NextIteration", [loop.inside[0]], name="while/Next_0")
    c.node("Neg", [loop.inside[0]], name="out")
    c.refused("while/Merge_0: it reads from inside of a loop, of which only an Exit gives something")

    c = CASES.new("an Enter that enters nothing")
    c.node("Neg", [c.node("Enter", [c.input([2])], name="in", is_constant=True)])
    c.refused("in: it enters no loop")

    c = CASES.new("a Merge that waits for itself")
    c.node("Neg", [c.node("Merge", [c.input([2]), "again"], N=2, name="merge")])
    c.node("Identity", ["merge"], name="again", T=np.float32)
    c.refused("merge needs its own result")


# ---- operators that pass on what they get ----


def passing():
    for op, more in (("StopGradient", {"T": np.float32}), ("PreventGradient", {"T": np.float32, "message": "none"}),
                     ("Snapshot", {"T": np.float32}),
                     ("CheckNumerics", {"message": "wrong"}), ("CheckNumericsV2", {"message": "wrong"}),
                     ("GuaranteeConst", {}), ("DebugIdentity", {"T": np.float32, "tensor_name": "x:0"}), ("PlaceholderWithDefault", {})):
        c = CASES.new(f"{op} passes what it gets")
        if op == "PlaceholderWithDefault":
                    more = {"shape": Shape([None, 3])}
        y = c.node(op, [c.node("Neg", [c.input([2, 3])])], **more)
        c.gives(c.node("Exp", [y]))
    c = CASES.new("LoopCond outside of loops")
    c.gives(c.node("LogicalNot", [c.node("LoopCond", [c.input(TRUE)])]))
    c = CASES.new("IdentityN passes what it gets")
    y = c.node("IdentityN", [c.input([2, 3]), c.input([2], np.int32), c.input([3])])
    c.gives(c.node("Exp", [y]), c.node("Neg", [y[2]]))
    c = CASES.new("Print passes what it gets")
    c.gives(c.node("Exp", [c.node("Print", [c.input([2, 3]), c.input([2], np.int32)], message="values")]))
    c = CASES.new("control inputs do nothing")
    x = c.input([2, 3])
    c.node("Assert", [c.const(TRUE), x], name="assert", T=[np.float32])
    c.node("NoOp", ["^assert"], name="nothing")
    c.gives(c.node("Exp", [x, "^nothing"]))


# ---- TensorArrays ----


def array_ops(c, size=3, **more):
    array = c.node("TensorArrayV3", [c.const(np.int32(size))], dtype=np.float32, **more)
    return array, array[1]


def arrays():
    c = CASES.new("a TensorArray is written and read")
    handle, flow = array_ops(c)
    x, y = c.input([2, 3]), c.input([2, 3])
    for at, value in ((2, x), (0, y), (1, c.node("Neg", [x]))):
        flow = c.node("TensorArrayWriteV3", [handle, c.const(np.int32(at)), value, flow])
    last = c.node("TensorArrayReadV3", [handle, c.const(np.int32(2)), flow], dtype=np.float32)
    c.gives(c.node("Exp", [last]))

    c = CASES.new("a TensorArray is stacked, and its size is asked for")
    handle, flow = array_ops(c)
    for at in range(3):
        flow = c.node("TensorArrayWriteV3", [handle, c.const(np.int32(at)), c.input([2]), flow])
    c.gives(c.node("TensorArrayGatherV3", [handle, c.const(np.int32([2, 0, 1])), flow], dtype=np.float32),
            c.node("AddV2", [c.node("TensorArraySizeV3", [handle, flow]), c.input([], np.int32)]))

    c = CASES.new("a TensorArray that grows")
    handle, flow = array_ops(c, 0, dynamic_size=True)
    for at in range(2):
        flow = c.node("TensorArrayWriteV3", [handle, c.const(np.int32(at)), c.input([2]), flow])
    c.gives(c.node("TensorArrayGatherV3", [handle, c.const(np.int32([0, 1])), flow], dtype=np.float32))

    c = CASES.new("a tensor is scattered into a TensorArray")
    handle, flow = array_ops(c, 4, element_shape=Shape([3]))
    flow = c.node("TensorArrayScatterV3", [handle, c.const(np.int32([3, 0])), c.input([2, 3]), flow])
    c.gives(c.node("TensorArrayGatherV3", [handle, c.const(np.int32([0, 1, 2, 3])), flow], dtype=np.float32))

    c = CASES.new("a tensor is split into a TensorArray")
    handle, flow = array_ops(c, 3)
    flow = c.node("TensorArraySplitV3", [handle, c.input([6, 2]), c.const(np.int64([1, 3, 2])), flow])
    c.gives(c.node("TensorArrayReadV3", [handle, c.const(np.int32(1)), flow], dtype=np.float32))

    c = CASES.new("a TensorArray is joined")
    handle, flow = array_ops(c, 2)
    for at, rows in enumerate((1, 3)):
        flow = c.node("TensorArrayWriteV3", [handle, c.const(np.int32(at)), c.input([rows, 2]), flow])
    joined = c.node("TensorArrayConcatV3", [handle, flow], dtype=np.float32)
    c.gives(joined, c.node("AddV2", [joined[1], c.input([2], np.int64)]))

    c = CASES.new("a TensorArray in a loop")
    x = c.input([4, 3])
    source, filled = array_ops(c, 4)
    filled = c.node("TensorArrayScatterV3", [source, c.const(np.int32([0, 1, 2, 3])), x, filled])
    target, empty = array_ops(c, 4)

    def body(loop, i, state, flow):
        item = c.node("TensorArrayReadV3", [loop.constant(source), i, loop.constant(filled)], dtype=np.float32)
        state = c.node("AddV2", [c.node("Mul", [state, loop.const(np.float32(0.5))]), item])
        return [state, c.node("TensorArrayWriteV3", [loop.constant(target), i, state, flow])]

    exits = counted_loop(c, 4, [c.input([3]), empty], body)
    c.gives(c.node("Neg", [exits[1]]),
            c.node("TensorArrayGatherV3", [target, c.const(np.int32([0, 1, 2, 3])), exits[2]], dtype=np.float32))

    c = CASES.new("reading what was never written")
    handle, flow = array_ops(c)
    c.node("Neg", [c.node("TensorArrayReadV3", [handle, c.const(np.int32(2)), flow], dtype=np.float32)])
    c.refused("it reads what was never written, and whose shape is not known")

    c = CASES.new("reading behind the end of a TensorArray")
    handle, flow = array_ops(c)
    c.node("Neg", [c.node("TensorArrayReadV3", [handle, c.const(np.int32(3)), flow], dtype=np.float32)])
    c.refused("item 3 is outside of a list of 3")

    c = CASES.new("a TensorArray as an output")
    handle, flow = array_ops(c)
    c.node("TensorArrayWriteV3", [handle, c.const(np.int32(0)), c.input([2]), flow], name="out")
    c.refused("the graph output out:0 is a sequence")

    c = CASES.new("reading at a place that is not known")
    handle, flow = array_ops(c)
    c.node("Neg", [c.node("TensorArrayReadV3", [handle, c.input(np.array(1, np.int32)), flow], dtype=np.float32)])
    c.refused("input 1 (index) is not a constant")

    c = CASES.new("a TensorArray of too many items")
    handle, flow = array_ops(c, 2000000000)
    c.node("Neg", [c.node("TensorArrayReadV3", [handle, c.const(np.int32(3)), flow], dtype=np.float32)])
    c.refused("2000000000 items of a list are more than 100000")


# ---- TensorLists ----


def stacked(c, handle, shape=(3,)):
    return c.node("TensorListStack", [handle, c.const(np.int32(shape))], element_dtype=np.float32)


def lists():
    shape = np.int32([3])
    c = CASES.new("items of a TensorList are set")
    handle = c.node("TensorListReserve", [c.const(shape), c.const(np.int32(4))], element_dtype=np.float32)
    for at in (2, 0):
        handle = c.node("TensorListSetItem", [handle, c.const(np.int32(at)), c.input([3])])
    item = c.node("TensorListGetItem", [handle, c.const(np.int32(2)), c.const(shape)], element_dtype=np.float32)
    none = c.node("TensorListGetItem", [handle, c.const(np.int32(1)), c.const(shape)], element_dtype=np.float32)
    c.gives(stacked(c, handle), c.node("Neg", [item]), c.node("AddV2", [none, c.input([3])]),
            c.node("AddV2", [c.node("TensorListLength", [handle]), c.input([], np.int32)]))

    c = CASES.new("what was not written has the shape of what was")
    handle = c.node("TensorListReserve", [c.const(np.int32(-1)), c.const(np.int32(3))], element_dtype=np.float32)
    handle = c.node("TensorListSetItem", [handle, c.const(np.int32(1)), c.input([3])])
    c.gives(c.node("TensorListStack", [handle, c.const(np.int32(-1))], element_dtype=np.float32))

    c = CASES.new("a TensorList of nothing that is known")
    handle = c.node("TensorListReserve", [c.const(np.int32(-1)), c.const(np.int32(3))], element_dtype=np.float32)
    c.node("Neg", [c.node("TensorListStack", [handle, c.const(np.int32(-1))], element_dtype=np.float32)])
    c.refused("it reads what was never written, and whose shape is not known")

    c = CASES.new("items are pushed and popped")
    handle = c.node("EmptyTensorList", [c.const(np.int32(-1)), c.const(np.int32(-1))], element_dtype=np.float32)
    for _ in range(3):
        handle = c.node("TensorListPushBack", [handle, c.input([3])])
    popped = c.node("TensorListPopBack", [handle, c.const(shape)], element_dtype=np.float32)
    c.gives(stacked(c, popped), c.node("Neg", [popped[1]]))

    c = CASES.new("popping from an empty TensorList")
    handle = c.node("EmptyTensorList", [c.const(np.int32(-1)), c.const(np.int32(-1))], element_dtype=np.float32)
    c.node("Neg", [c.node("TensorListPopBack", [handle, c.const(shape)], element_dtype=np.float32)[1]])
    c.refused("TensorListPopBack: the list is empty")

    c = CASES.new("a tensor becomes a TensorList, which is gathered and resized")
    handle = c.node("TensorListFromTensor", [c.input([4, 3]), c.const(shape)])
    picked = c.node("TensorListGather", [handle, c.const(np.int32([3, 3, 1])), c.const(shape)], element_dtype=np.float32)
    longer = c.node("TensorListResize", [handle, c.const(np.int32(6))])
    shorter = c.node("TensorListResize", [handle, c.const(np.int32(2))])
    size = c.node("TensorListElementShape", [handle], shape_type=np.int32)
    c.gives(picked, stacked(c, longer), stacked(c, shorter), c.node("AddV2", [size, c.input([1], np.int32)]))

    for op in ("TensorListScatter", "TensorListScatterV2"):
        for count in ((None,) if op == "TensorListScatter" else (5, -1)):
            c = CASES.new(f"{op} into {count} items")
            more = [] if count is None else [c.const(np.int32(count))]
            handle = c.node(op, [c.input([2, 3]), c.const(np.int32([3, 0])), c.const(shape), *more])
            c.gives(stacked(c, handle))

    c = CASES.new("a tensor is scattered into a TensorList")
    handle = c.node("TensorListFromTensor", [c.input([4, 3]), c.const(shape)])
    c.gives(stacked(c, c.node("TensorListScatterIntoExistingList", [handle, c.input([2, 3]), c.const(np.int32([3, 0]))])))

    for op in ("TensorListConcat", "TensorListConcatV2"):
        c = CASES.new(f"{op} of parts")
        handle = c.node("TensorListSplit", [c.input([6, 2]), c.const(np.int32([-1, 2])), c.const(np.int64([1, 3, 2]))])
        more = [] if op == "TensorListConcat" else [c.const(np.int32([-1, 2])), c.const(np.zeros(0, np.int64))]
        joined = c.node(op, [handle, *more], element_dtype=np.float32)
        c.gives(joined, c.node("AddV2", [joined[1], c.input([3], np.int64)]))

    c = CASES.new("TensorLists one after another")
    one = c.node("TensorListFromTensor", [c.input([2, 3]), c.const(shape)])
    other = c.node("TensorListFromTensor", [c.input([70, 3]), c.const(shape)])
    c.gives(stacked(c, c.node("TensorListConcatLists", [one, other], element_dtype=np.float32)))

    c = CASES.new("a TensorList in a loop")
    f = c.function("cond", {"i": np.int32, "items": VARIANT, "x": np.float32})
    f.returns(go_on=f.node("Less", [f.args["i"], f.const(np.int32(70))]))
    f = c.function("body", {"i": np.int32, "items": VARIANT, "x": np.float32})
    x = f.node("Mul", [f.args["x"], f.const(np.float32(0.75))])
    f.returns(i=f.node("AddV2", [f.args["i"], f.const(np.int32(1))]),
              items=f.node("TensorListSetItem", [f.args["items"], f.args["i"], x]), x=x)
    items = c.node("TensorListReserve", [c.const(np.int32([2])), c.const(np.int32(70))], element_dtype=np.float32)
    y = c.node("While", [c.const(np.int32(0)), items, c.input([2])], cond=Func("cond"), body=Func("body"))
    c.gives(stacked(c, y[1], (2,)))

    c = CASES.new("a TensorList in branches")
    f = c.function("yes", {"items": VARIANT})
    f.returns(y=f.node("TensorListStack", [f.args["items"], f.const(shape)], element_dtype=np.float32))
    f = c.function("no", {"items": VARIANT})
    f.returns(y=f.const(np.ones((2, 3), np.float32)))
    items = c.node("TensorListFromTensor", [c.input([2, 3]), c.const(shape)])
    c.gives(c.node("If", [c.input(TRUE), items], Tout=[np.float32], then_branch=Func("yes"), else_branch=Func("no")))

    c = CASES.new("a list that is none")
    c.node("Neg", [stacked(c, c.node("Neg", [c.input([3], name="x")]))])
    c.refused("input 0 is no list of tensors")


ifs()
branches()
cases()
whiles()
conditionals()
cycles()
broken_cycles()
passing()
arrays()
lists()
