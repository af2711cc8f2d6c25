#!/usr/bin/env python3
"""Lets TensorFlow compute what the cases of families give, and writes expected/FAMILY.npz.
usage: make.py [FAMILY...]      default: all

Needs TensorFlow: see README.md. Refused cases are not computed."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE)]
import numpy as np  # noqa: E402
import tensorflow_runs  # noqa: E402
from case import EXPECTED, cases_of, families  # noqa: E402
from tensorflow_runs import tf, with_port, write_arrays  # noqa: E402


def run_in_session(graph_def, given, fetched, variables):
    with tf.Graph().as_default():
        tf.import_graph_def(graph_def, name="")
        handles = {name: tf.compat.v1.get_default_graph().get_tensor_by_name(with_port(name)) for name in variables}
        assigned = [tf.raw_ops.AssignVariableOp(resource=handles[name], value=value) for name, value in variables.items()]
        with tensorflow_runs.session() as session:
            session.run(assigned)
            return session.run(fetched, given)


def run_compiled(graph_def, given, fetched):
    """By the compiler, which has convolutions and pools with channels first for CPUs, too."""
    graph = tf.compat.v1.wrap_function(lambda: tf.import_graph_def(graph_def, name=""), [])
    pruned = graph.prune(list(given), fetched)
    results = tf.function(lambda *values: pruned(*values), jit_compile=True)(*map(tf.constant, given.values()))
    return [result.numpy() for result in results]


def compute(case):
    """The arrays of the fetched values; those of types that NumPy does not have become float32."""
    graph_def = tf.compat.v1.GraphDef.FromString(case.bytes())
    given = {with_port(name): values for name, values in case.given.items()}
    fetched = [with_port(value.name) for value in case.fetched]
    try:
        arrays = run_in_session(graph_def, given, fetched, case.variables)
    except (tf.errors.OpError, ValueError) as error:
        try:
            arrays = run_compiled(graph_def, given, fetched)
        except (tf.errors.OpError, ValueError):
            raise error from None
    arrays = map(np.asarray, arrays)
    return [array.astype(np.float32) if array.dtype.kind == "V" else array for array in arrays]


def make(family):
    """Returns how many cases TensorFlow refuses."""
    arrays, failed, digests = {}, 0, []
    for case in cases_of(family):
        if not case.fetched:
            continue
        try:
            for value, array in zip(case.fetched, compute(case)):
                arrays[case.key(value)] = array
        except (tf.errors.OpError, ValueError) as error:
            print(f"{family}: {case.name}: {str(error)[:1500]}")
            failed += 1
            continue
        digests.append(f"{case.name}|{case.digest()}")
    arrays["digests"] = np.array(digests)
    path = EXPECTED / f"{family}.npz"
    write_arrays(path, arrays)
    print(f"{family}: {len(digests)} cases, {len(arrays) - 1} arrays, {path.stat().st_size} bytes, {failed} failed")
    return failed


def main():
    chosen = sys.argv[1:] or families()
    sys.exit(1 if sum(map(make, chosen)) else 0)


main()
