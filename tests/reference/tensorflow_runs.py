"""What the scripts that need TensorFlow share: running graphs, and files of arrays with the same bytes each time."""

import io
import os
import zipfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"  # kernels that sum in one order on every machine
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402


def session():
    """A session that executes the graph as it is."""
    config = tf.compat.v1.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = -1
    return tf.compat.v1.Session(config=config)


def with_port(name):
    return name if ":" in name else name + ":0"


def write_arrays(path, arrays):
    """An .npz file whose bytes depend on the arrays alone."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            data = io.BytesIO()
            np.lib.format.write_array(data, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(name + ".npy"), data.getvalue(), zipfile.ZIP_DEFLATED)
