# SPDX-License-Identifier: Apache-2.0
"""Makers of random nodes, as in random_nodes.py: branches, loops, arrays and lists of tensors, and nodes that pass on what they get."""

import numpy as np
from tf_writer import Func, Shape

from random_nodes import F32, I32, I64, dims, fixed, leave_out, maker, maybe, pick, value

STEPS = ("Exp", "Neg", "Tanh", "Square", "Relu", "Abs")


def chain(f, r, x):
    """Some steps that keep shapes and stay small."""
    for _ in range(r.randint(1, 4)):
        x = f.node(pick(r, "Neg", "Tanh", "Relu", "Abs", "Sin"), [x])
    return x


def function(c, r, name, others=1):
    """A function of a tensor and of others like it, which gives a tensor and, behind it, those others in another order."""
    keys = ["x", *(f"y{i}" for i in range(others))]
    f = c.function(name, dict.fromkeys(keys, F32))
    x = chain(f, r, f.args["x"])
    for key in keys[1:]:
        if maybe(r):
            x = f.node(pick(r, "AddV2", "Mul", "Maximum"), [x, f.args[key]])
    f.returns(x=x, **{f"r{i}": chain(f, r, f.args[keys[1 + (i + 1) % others]]) for i in range(others)})
    return Func(name)


def some(c, shape, count):
    return [c.input(shape) for _ in range(count)]


# ---- functions in nodes ----


@maker("If", "StatelessIf", "Case", "StatelessCase")
def branches(c, r, op):
    shape, others = dims(r, 0, 3), int(r.randint(1, 3))
    count = 2 if "If" in op else int(r.randint(1, 5))
    functions = [function(c, r, f"branch{i}", others) for i in range(count)]
    which = value(c, r, np.array(maybe(r)) if "If" in op and maybe(r) else np.array(r.randint(-1, count + 1), I32))
    how = {"then_branch": functions[0], "else_branch": functions[1]} if "If" in op else {"branches": functions}
    y = c.node(op, [which, *some(c, shape, 1 + others)], Tout=[F32] * (1 + others), **how)
    c.gives(*(c.node("Abs", [y[i]]) for i in range(1 + others)))


@maker("While", "StatelessWhile", "For")
def loops(c, r, op):
    shape, others = dims(r, 0, 3), int(r.randint(1, 3))
    start, step = int(r.randint(-2, 3)), int(r.randint(1, 4))
    limit = start + int(r.randint(0, 9))
    keys = {"x": F32, **{f"y{i}": F32 for i in range(others)}}
    body = c.function("body", {"i": I32, **keys})
    x = body.node("AddV2", [chain(body, r, body.args["x"]), body.node("Cast", [body.args["i"]], SrcT=I32, DstT=F32)])
    if maybe(r):
        x = body.node("Tanh", [body.node("AddV2", [x, body.args["y0"]])])
    more = {f"r{i}": body.args[f"y{(i + 1) % others}"] for i in range(others)}
    if op == "For":
        body.returns(x=x, **more)
        ends = [c.const(np.array(v, I32)) for v in (start, limit, step)]
        y = c.node(op, [*ends, *some(c, shape, 1 + others)], body=Func("body"))
        c.gives(*(c.node("Abs", [y[i]]) for i in range(1 + others)))
        return
    body.returns(i=body.node("AddV2", [body.args["i"], body.const(np.array(step, I32))]), x=x, **more)
    cond = c.function("cond", {"i": I32, **keys})
    cond.returns(go_on=cond.node("Less", [cond.args["i"], cond.const(np.array(limit, I32))]))
    y = c.node(op, [c.const(np.array(start, I32)), *some(c, shape, 1 + others)], cond=Func("cond"), body=Func("body"))
    c.gives(*(c.node("Abs", [y[i + 1]]) for i in range(1 + others)), c.node("AddV2", [y[0], c.input([1], I32)]))


# ---- as TensorFlow 1 writes them ----


@maker("Switch", "Merge", "_SwitchN")
def sides(c, r, op):
    shape = dims(r, 0, 3)
    if op == "_SwitchN":
        count = int(r.randint(2, 5))
        of = c.node(op, [c.input(shape), value(c, r, np.array(r.randint(-1, count + 1), I32))], name="switch", T=F32, num_outs=count,
                    outputs={f"output{i}": F32 for i in range(count)})
        steps = [(i, STEPS[int(r.randint(len(STEPS)))]) for i in r.permutation(count)]
    else:
        count = 2
        of = c.node("Switch", [c.input(shape), value(c, r, [], np.bool_)])
        steps = [(i, STEPS[int(r.randint(len(STEPS)))]) for i in (0, 1)]
    y = c.node("Merge", [c.node(step, [of[int(i)]]) for i, step in steps])
    c.gives(*([c.node("Neg", [y]), y[1]] if maybe(r) else [c.node("Neg", [y])]))


@maker("LoopCond", "Exit")
def cycle(c, r, op):
    """A loop that counts, with a tensor, one that the loop does not change, and one that enters as a constant."""
    shape, trips = dims(r, 0, 3), int(r.randint(0, 5))
    first = [c.const(np.array(0, I32)), c.input(shape), c.input(shape)]
    enters = [c.node("Enter", [v], name=f"w/Enter_{i}", frame_name="w") for i, v in enumerate(first)]
    merges = [c.node("Merge", [v, f"w/Next_{i}"], name=f"w/Merge_{i}", N=2) for i, v in enumerate(enters)]
    around = lambda x: c.node("Enter", [x], frame_name="w", is_constant=True)  # noqa: E731
    go_on = c.node("LoopCond", [c.node("Less", [merges[0], around(c.const(np.array(trips, I32)))])], name="w/LoopCond")
    switches = [c.node("Switch", [m, go_on]) for m in merges]
    inside = [c.node("Identity", [s[1]]) for s in switches]
    factor = around(value(c, r, shape))
    x = c.node(pick(r, "Mul", "AddV2", "Minimum"), [chain(c, r, inside[1]), factor])
    one = c.node("Const", [f"^{merges[0].name}"], dtype=I32, value=np.array(1, I32))
    swap = maybe(r)
    after = [c.node("AddV2", [inside[0], one]), inside[2] if swap else x, x if swap else inside[2]]
    for i, v in enumerate(after):
        c.node("NextIteration", [v], name=f"w/Next_{i}")
    c.gives(*(c.node("Neg", [c.node("Exit", [s])]) for s in switches[1:]))


# ---- arrays and lists ----


@maker(*(f"TensorArray{step}V3" for step in ("", "Write", "Read", "Gather", "Scatter", "Size", "Split", "Concat")))
def arrays(c, r, op):
    shape, count = dims(r, 1, 3, 4), int(r.randint(1, 6))
    array = c.node("TensorArrayV3", [c.const(np.array(count, I32))], dtype=F32,
                   **leave_out(r, element_shape=Shape(shape), dynamic_size=True, infer_shape=True, clear_after_read=False))
    flow = array[1]
    if op == "TensorArrayScatterV3":
        flow = c.node(op, [array, c.const(r.permutation(count).astype(I32)), c.input([count, *shape]), flow])
    elif op == "TensorArraySplitV3":
        flow = c.node(op, [array, c.input([count * shape[0], *shape[1:]]), c.const(np.full(count, shape[0], I64)), flow])
    else:
        for at in r.permutation(count):
            flow = c.node("TensorArrayWriteV3", [array, c.const(np.array(at, I32)), c.input(shape), flow])
    places = c.const(r.permutation(count)[:r.randint(1, count + 1)].astype(I32))
    size = c.node("AddV2", [c.node("TensorArraySizeV3", [array, flow]), c.input([1], I32)])
    if op == "TensorArrayReadV3":
        c.gives(c.node("Exp", [c.node(op, [array, c.const(np.array(r.randint(count), I32)), flow], dtype=F32)]))
    elif op == "TensorArrayConcatV3":
        y = c.node(op, [array, flow], dtype=F32)
        c.gives(y, c.node("AddV2", [y[1], c.input([1], I64)]), size)
    else:
        c.gives(c.node("TensorArrayGatherV3", [array, places, flow], dtype=F32), size)


@maker(*(f"TensorList{step}" for step in """SetItem PushBack PopBack Resize ConcatLists Scatter ScatterIntoExistingList GetItem Gather
       Length Stack ElementShape Concat ConcatV2""".split()))
def list_steps(c, r, op):
    """A list of a tensor's rows, some steps of one kind, and one that reads."""
    shape, count = dims(r, 1, 3, 4), int(r.randint(1, 6))
    size, item = c.const(np.array(shape, I32)), lambda: c.input(shape)
    handle = c.node("TensorListFromTensor", [c.input([count, *shape]), size])
    for _ in range(r.randint(1, 3)):
        if op == "TensorListSetItem":
            handle = c.node(op, [handle, c.const(np.array(r.randint(count), I32)), item()])
        elif op == "TensorListPushBack":
            handle, count = c.node(op, [handle, item()]), count + 1
        elif op == "TensorListPopBack" and count > 1:
            handle, count = c.node(op, [handle, size], element_dtype=F32)[0], count - 1
        elif op == "TensorListResize":
            count = int(r.randint(1, count + 1))
            handle = c.node(op, [handle, c.const(np.array(count, I32))])
        elif op == "TensorListConcatLists":
            handle, count = c.node(op, [handle, handle], element_dtype=F32), 2 * count
        elif op == "TensorListScatter":
            handle = c.node(op, [c.input([count, *shape]), c.const(r.permutation(count).astype(I32)), size])
        elif op == "TensorListScatterIntoExistingList":
            places = r.permutation(count)[:r.randint(1, count + 1)].astype(I32)
            handle = c.node(op, [handle, c.input([len(places), *shape]), c.const(places)])
    typed = {"element_dtype": F32}
    if op == "TensorListGetItem":
        c.gives(c.node("Exp", [c.node(op, [handle, c.const(np.array(r.randint(count), I32)), size], **typed)]))
    elif op == "TensorListGather":
        c.gives(c.node(op, [handle, c.const(r.randint(0, count, int(r.randint(1, 5))).astype(I32)), size], **typed))
    elif op == "TensorListLength":
        c.gives(c.node("AddV2", [c.node(op, [handle]), c.input([1], I32)]))
    elif op == "TensorListElementShape":
        c.gives(c.node("AddV2", [c.node(op, [handle], shape_type=I32), c.input([1], I32)]))
    elif op.startswith("TensorListConcat") and not op.endswith("Lists"):
        more = [c.const(np.array([-1, *shape[1:]], I32)), c.const(np.zeros(0, I64))] if op.endswith("V2") else []
        typed |= {} if more else {"element_shape": Shape([None, *shape[1:]])}
        y = c.node(op, [handle, *more], **typed)
        c.gives(y, c.node("AddV2", [y[1], c.input([1], I64)]))
    else:
        c.gives(c.node("TensorListStack", [handle, size], **typed, **leave_out(r, num_elements=count)))


# ---- what is passed on, or known ----


@maker("DebugIdentity", "PlaceholderWithDefault", "Print", "IdentityN")
def passed(c, r, op):
    shape, dtype = dims(r), pick(r, F32, F32, I32, np.bool_)
    x = value(c, r, shape, dtype)
    if op == "IdentityN":
        y = c.node(op, [x, c.input(shape), value(c, r, [2], I64)])
        c.gives(*(y[i] for i in r.permutation(3)[:r.randint(1, 4)]))
        return
    more = {"DebugIdentity": {"T": dtype, "tensor_name": "x:0"}, "Print": {"message": "m", "first_n": int(r.randint(-1, 3))}}.get(op, {})
    if op == "PlaceholderWithDefault":
        more = {"shape": Shape([None if maybe(r) else d for d in shape])}
        x = c.node("Identity", [x])
    y = c.node(op, [x, *([value(c, r, [2]), value(c, r, [], I32)] if op == "Print" else [])], **more)
    c.gives(c.node("Identity", [y], T=dtype))


@maker("ReadVariableOp", "VariableShape", "ResourceGather", "ResourceGatherNd")
def variables(c, r, op):
    shape = dims(r, 1)
    handle = c.variable(c.random(shape))
    if op == "ReadVariableOp":
        c.gives(c.node("AddV2", [c.node(op, [handle], dtype=F32), value(c, r, shape)]))
    elif op == "VariableShape":
        c.gives(c.node("AddV2", [c.node(op, [handle], **leave_out(r, out_type=I32)), c.input([1], I32)]))
    elif op == "ResourceGather":
        batch = int(r.randint(0, len(shape)))
        indices = c.random(shape[:batch] + dims(r, 0, 2, 3), pick(r, I32, I64), 0, shape[batch] - 1)
        c.gives(c.node(op, [handle, value(c, r, indices)], dtype=F32, **({"batch_dims": batch} if batch else {})))
    else:
        depth, where = int(r.randint(1, len(shape) + 1)), dims(r, 0, 2, 3)
        indices = np.stack([c.random(where, I32, 0, d - 1) for d in shape[:depth]], -1).astype(pick(r, I32, I64))
        c.gives(c.node(op, [handle, value(c, r, indices)], dtype=F32))


@maker("Const", "Empty")
def known(c, r, op):
    shape, dtype = dims(r, 0, 4, 3), pick(r, F32, np.float16, I32, I64, np.uint8, np.int8, np.bool_)
    if op == "Empty":
        c.gives(c.node(op, [fixed(c, r, shape, I32)], dtype=dtype, init=True), c.node("Neg", [c.input([1])]))
        return
    form = pick(r, "values", "splat", "content")
    x = c.random(shape, dtype, 0, 2)
    c.gives(c.const(np.asarray(x, dtype), form=form), c.node("Neg", [c.input([1])]))


@maker("RandomUniform", "StatelessRandomUniform", "StatelessRandomUniformV2")
def dropout(c, r, op):
    """A mask of random numbers that are all on one side of the rate."""
    shape, rate = dims(r), float(pick(r, 0.0, 1.0, -0.25, 1.5))
    key = {"RandomUniform": [], "StatelessRandomUniform": [c.const(np.array([1, 2], I64))]}.get(
        op, [c.const(np.array([1], np.uint64)), c.const(np.array([1, 2], np.uint64)), c.const(np.array(1, I32))])
    numbers = c.node(op, [fixed(c, r, shape, None if shape else I32), *key], dtype=F32)
    x = value(c, r, shape)
    if maybe(r):
        mask = c.node("GreaterEqual", [numbers, c.const(np.array(rate, F32))])
    else:
        mask = c.node("Less", [numbers, c.const(np.array(rate, F32))])
    mask = c.node("Cast", [mask], SrcT=np.bool_, DstT=F32)
    c.gives(c.node("Mul", [x, mask]))
