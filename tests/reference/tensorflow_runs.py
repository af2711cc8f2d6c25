# SPDX-License-Identifier: Apache-2.0
"""What the scripts that need TensorFlow share: running graphs, and files of arrays with the same bytes each time."""

import io
import os
import re
import sys
import zipfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
BY_ONEDNN = "--by-onednn" in sys.argv
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "01"[BY_ONEDNN]  # without: kernels that sum in one order on every machine
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tf_writer import tensor_name  # noqa: E402

# What kernels say whose form is right, but not for CPUs.
NOT_ON_CPUS = re.compile(r"support(s|ed)? |Missing 0-th output|No OpKernel")


def session():
    """A session that executes the graph as it is."""
    config = tf.compat.v1.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = -1
    return tf.compat.v1.Session(config=config)


def run_in_session(graph_def, given, fetched, variables):
    with tf.Graph().as_default():
        tf.import_graph_def(graph_def, name="")
        graph = tf.compat.v1.get_default_graph()
        assigned = [tf.raw_ops.AssignVariableOp(resource=graph.get_tensor_by_name(tensor_name(name)), value=value)
                    for name, value in variables.items()]
        with session() as running:
            running.run(assigned)
            return running.run(fetched, given)


def run_compiled(graph_def, given, fetched):
    """By the compiler, which has more for CPUs: channels first, dilated depthwise convolutions, fused operators."""
    graph = tf.compat.v1.wrap_function(lambda: tf.import_graph_def(graph_def, name=""), [])
    pruned = graph.prune(list(given), fetched)
    results = tf.function(lambda *values: pruned(*values), jit_compile=True)(*map(tf.constant, given.values()))
    return [result.numpy() for result in results]


def compute(case):
    """The arrays of the fetched values; those of types that NumPy does not have become float32."""
    graph_def = tf.compat.v1.GraphDef.FromString(case.bytes())
    given = {tensor_name(name): values for name, values in case.given.items()}
    fetched = [tensor_name(value.name) for value in case.fetched]
    try:
        arrays = run_in_session(graph_def, given, fetched, case.variables)
    except tf.errors.OpError as error:
        if not NOT_ON_CPUS.search(str(error)):
            raise
        arrays = run_compiled(graph_def, given, fetched)
    arrays = map(np.asarray, arrays)
    return [array.astype(np.float32) if array.dtype.kind == "V" else array for array in arrays]


def write_arrays(path, arrays):
    """An .npz file whose bytes depend on the arrays alone."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            data = io.BytesIO()
            np.lib.format.write_array(data, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(name + ".npy"), data.getvalue(), zipfile.ZIP_DEFLATED)
