#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets TensorFlow compute the runs of corpus_runs.py and writes expected/corpus.npz.
usage: make_corpus.py FOLDER      the folder that holds frozen/, saved_model/ and checkpoint/

Needs TensorFlow: see README.md. For each output the file has its shape, its largest absolute value, and the elements that are
kept."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE)]
import numpy as np  # noqa: E402
import tensorflow_runs  # noqa: E402
from case import EXPECTED  # noqa: E402
from corpus_runs import RUNS, kept  # noqa: E402
from tensorflow_runs import tf  # noqa: E402
from tf_writer import tensor_name  # noqa: E402


def load(session, path):
    """Puts the model into the session's graph, with its variables."""
    if path.is_dir():
        tf.compat.v1.saved_model.load(session, ["serve"], str(path))
    elif path.suffix == ".meta":
        tf.compat.v1.train.import_meta_graph(str(path)).restore(session, str(path.with_suffix("")))
    else:
        tf.import_graph_def(tf.compat.v1.GraphDef.FromString(path.read_bytes()), name="")


def main():
    folder, arrays = pathlib.Path(sys.argv[1]), {}
    for run in RUNS:
        fed = {tensor_name(name): values for name, values in {**run.inputs, **run.frozen}.items()}
        with tf.Graph().as_default(), tensorflow_runs.session() as session:
            load(session, folder / run.model)
            for name, array in zip(run.outputs, session.run(list(map(tensor_name, run.outputs)), fed)):
                array = np.asarray(array)
                arrays[f"{run.name}|{name}|shape"] = np.array(array.shape, np.int64)
                arrays[f"{run.name}|{name}|largest"] = np.array(np.max(np.abs(array)))
                arrays[f"{run.name}|{name}|kept"] = kept(array)
                print(run.name, name, array.shape, array.dtype, np.max(np.abs(array)))
    tensorflow_runs.write_arrays(EXPECTED / "corpus.npz", arrays)
    print((EXPECTED / "corpus.npz").stat().st_size, "bytes")


main()
