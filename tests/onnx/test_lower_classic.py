# SPDX-License-Identifier: Apache-2.0
"""Operators of classical machine learning (ai.onnx.ml), each as a model of one node, as test_lower_contrib.py has those of ONNX
Runtime."""

import pathlib
import tempfile

from contrib_family import HERE, np, try_family
from one_node import Case, as_stored, convert, execute, refuses, result, same
from checks import Checks

IDS = np.zeros((2, 3), "i4") if np else None


def test_classic(checks):
    try_family(checks, "classic")
    ml, rows = "ai.onnx.ml::", np.ones((2, 3), "f4")
    volume, line = rows[None], [1.0, 2.0, 3.0]
    refuses(checks, "scale has 2 values for 3 features", ml + "Scaler", 17, [rows], offset=line, scale=line[:2])
    refuses(checks, "offset is missing", ml + "Scaler", 17, [rows], scale=line)
    refuses(checks, "is not made of rows of features", ml + "Scaler", 17, [volume], offset=line, scale=line)
    refuses(checks, "is not made of rows of features", ml + "Normalizer", 17, [volume])
    refuses(checks, "norm", ml + "Normalizer", 17, [rows], norm="L3")
    refuses(checks, "imputed_value_floats is missing", ml + "Imputer", 17, [rows], imputed_value_int64s=[1])
    refuses(checks, "imputed_value_int64s is missing", ml + "Imputer", 17, [rows.astype("i8")], imputed_value_floats=[1.0])
    refuses(checks, "1 sizes for 2 inputs", ml + "FeatureVectorizer", 17, [rows, rows], inputdimensions=[3])
    refuses(checks, "the size -1", ml + "FeatureVectorizer", 17, [rows], inputdimensions=[-1])
    refuses(checks, "there are no features", ml + "FeatureVectorizer", 17, [rows], inputdimensions=[0])
    refuses(checks, "strings cannot be compared", ml + "OneHotEncoder", 17, [rows], cats_strings=["a"])
    refuses(checks, "there are no categories", ml + "OneHotEncoder", 17, [rows])
    refuses(checks, "has more than 32 bits", ml + "OneHotEncoder", 17, [rows], cats_int64s=[1 << 40])
    encoder = "ai.onnx.ml@2::LabelEncoder"
    refuses(checks, "strings cannot be compared", encoder, 17, [IDS], keys_strings=["a"], values_int64s=[1])
    refuses(checks, "another version of this op is supported", ml + "LabelEncoder", 17, [IDS], classes_strings=["a"])
    refuses(checks, "is made of strings that depend on the model's inputs", encoder, 17, [IDS.astype("i8")], keys_int64s=[1], values_strings=["a"])
    refuses(checks, "2 values for 1 keys", encoder, 17, [IDS.astype("i8")], keys_int64s=[1], values_int64s=[1, 2])
    refuses(checks, "the keys are missing", encoder, 17, [IDS.astype("i8")], values_int64s=[1, 2])
    refuses(checks, "keys of int64 for elements of float32", encoder, 17, [rows], keys_int64s=[1], values_int64s=[1])


def refuse_linear(checks):
    ml, rows = "ai.onnx.ml::", np.ones((2, 3), "f4")
    op, line = ml + "LinearClassifier", [1.0, 2.0, 3.0]
    for transform, count, message in (("PROBIT", 2, "no op for the probit function"), ("SOFTMAX", 1, "runtimes do not agree")):
        refuses(checks, message, op, 17, [rows], 2, coefficients=line * count, intercepts=[0.0] * count, classlabels_ints=[1, 2],
                post_transform=transform)
    refuses(checks, "1 labels for 2 classes", op, 17, [rows], 2, coefficients=line * 2, intercepts=[0.0] * 2, classlabels_ints=[1])
    refuses(checks, "not given as integers, or as strings", op, 17, [rows], 2, coefficients=line * 2, intercepts=[0.0] * 2)
    refuses(checks, "is made of strings that depend", op, 17, [rows], 2, coefficients=line * 2, intercepts=[0.0] * 2,
            classlabels_strings=["a", "b"])
    op = ml + "LinearRegressor"
    refuses(checks, "3 coefficients for 2 scores of 3 features", op, 17, [rows], coefficients=line, targets=2)
    refuses(checks, "1 intercepts for 2 scores", op, 17, [rows], coefficients=line * 2, intercepts=[1.0], targets=2)
    refuses(checks, "runtimes do not agree", op, 17, [rows], coefficients=line, post_transform="LOGISTIC")
    refuses(checks, "0 targets", op, 17, [rows], coefficients=line, targets=0)
    op, form = ml + "SVMRegressor", {"coefficients": line, "rho": [0.5]}
    refuses(checks, "0 numbers rho for 1 scores", op, 17, [rows], coefficients=line)
    refuses(checks, "instead of gamma, coef0 and degree", op, 17, [rows], kernel_type="RBF", **form)
    refuses(checks, "a kernel without support vectors", op, 17, [rows], kernel_type="RBF", kernel_params=line, **form)
    refuses(checks, "and 0 numbers of support vectors", op, 17, [rows], n_supports=3, **form)
    op = ml + "SVMClassifier"
    form = {"classlabels_ints": [1, 2], "vectors_per_class": [1, 1], "support_vectors": line * 2, "coefficients": [1.0, -1.0], "rho": [0.5]}
    refuses(checks, "are found in a loop", op, 17, [rows], 2, **form, prob_a=[1.0], prob_b=[1.0])
    refuses(checks, "2 labels for support vectors of 0 classes", op, 17, [rows], 2, **{**form, "vectors_per_class": []})
    refuses(checks, "-1 vectors of a class", op, 17, [rows], 2, **{**form, "vectors_per_class": [3, -1]})
    refuses(checks, "there are no support vectors", op, 17, [rows], 2, **{**form, "vectors_per_class": [0, 0]})
    refuses(checks, "1 coefficients and 6 numbers", op, 17, [rows], 2, **{**form, "coefficients": [1.0]})
    refuses(checks, "runtimes do not agree", op, 17, [rows], 2, **form, post_transform="SOFTMAX")
    refuses(checks, "runtimes do not agree", op, 17, [rows], 2, **{**form, "coefficients": [1.0, 1.0]})


def refuse_trees(checks):
    ml, rows = "ai.onnx.ml::", np.ones((2, 3), "f4")
    nodes = {"nodes_treeids": [0] * 3, "nodes_nodeids": [0, 1, 2], "nodes_featureids": [0] * 3, "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
             "nodes_values": [0.5, 0.0, 0.0], "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0]}
    targets = {"target_treeids": [0, 0], "target_nodeids": [1, 2], "target_ids": [0, 0], "target_weights": [1.0, 2.0]}

    def regressor(message, **more):
        refuses(checks, message, ml + "TreeEnsembleRegressor", 17, [rows], **{**nodes, **targets, **more})

    regressor("nodes_values has 2 entries, not 3", nodes_values=[0.5, 0.0])
    regressor("looks at feature 3 of 3", nodes_featureids=[3, 0, 0])
    regressor('the mode "BRANCH_MEMBER" is not known', nodes_modes=["BRANCH_MEMBER", "LEAF", "LEAF"])
    regressor("tree 0 has no node 9", nodes_truenodeids=[9, 0, 0])
    regressor("node 1 of tree 0 has several parents", nodes_falsenodeids=[1, 0, 0])
    regressor("no root leads to 2 of 3 nodes", nodes_falsenodeids=[0, 0, 0])
    regressor("tree 0 has 3 roots", nodes_nodeids=[0, 1, 3], nodes_modes=["LEAF"] * 3, target_nodeids=[1, 3])
    regressor("tree 0 has two nodes 2", nodes_nodeids=[0, 2, 2], nodes_truenodeids=[2, 0, 0])
    regressor("two weights of score 0", target_nodeids=[1, 1])
    regressor("a weight of score 1 of 1", target_ids=[0, 1])
    regressor("2 base values for 1 scores", base_values=[1.0, 2.0])
    regressor("runtimes do not agree", post_transform="LOGISTIC")
    regressor("leaves without a weight of score 1", n_targets=2, aggregate_function="MIN")
    regressor("leaves without a weight of score 1", n_targets=2, base_values=[1.0, 2.0])
    classes = {f"class_{name[7:]}": values for name, values in targets.items()}
    op = ml + "TreeEnsembleClassifier"
    refuses(checks, "a classifier of one class", op, 17, [rows], 2, classlabels_int64s=[3], **nodes, **classes)
    refuses(checks, "two classes of which each has weights", op, 17, [rows], 2, classlabels_int64s=[3, 4], **nodes,
            **{**classes, "class_ids": [0, 1]})
    refuses(checks, "runtimes do not agree", op, 17, [rows], 2, classlabels_int64s=[3, 4], post_transform="SOFTMAX", **nodes, **classes)
    deep = {"nodes_modes": ["BRANCH_LEQ"] * 129 + ["LEAF"] * 130, "nodes_truenodeids": [*range(129, 258), *[0] * 130],
            "nodes_falsenodeids": [*range(1, 129), 258, *[0] * 130], "nodes_nodeids": [*range(259)], "nodes_treeids": [0] * 259,
            "nodes_featureids": [0] * 259, "nodes_values": [0.0] * 259, "target_nodeids": [129, 130]}
    regressor("a tree of more than 128 levels", **deep)
    refuse_ensembles(checks, rows)


def refuse_ensembles(checks, rows):
    form = {"tree_roots": [0], "nodes_featureids": [0], "nodes_modes": np.array([0], "u1"), "nodes_splits": np.array([0.5], "f4"),
            "nodes_truenodeids": [0], "nodes_trueleafs": [1], "nodes_falsenodeids": [0], "nodes_falseleafs": [1], "leaf_targetids": [0],
            "leaf_weights": np.array([1], "f4")}

    def ensemble(message, **more):
        refuses(checks, message, "ai.onnx.ml@5::TreeEnsemble", 17, [rows], **{**form, **more})

    ensemble("the mode 7 is not known", nodes_modes=np.array([7], "u1"))
    ensemble("there is no leaf 1", nodes_truenodeids=[1])
    ensemble("several ways lead to branch 0", nodes_trueleafs=[0])
    ensemble("nodes_splits is not a tensor", nodes_splits=1.0)
    ensemble("2 trees of 1 branches", tree_roots=[0, 0])
    ensemble("the aggregate function 4 is not known", aggregate_function=4)
    ensemble("the transform 5 is not known", post_transform=5)
    ensemble("no op for the probit function", post_transform=4)
    ensemble("runtimes do not agree", post_transform=2)


def test_pipelines(checks):
    """Pipelines of scikit-learn; labels that are text are left out."""
    arrays = np.load(HERE / "pipelines.npz")
    for name in sorted({key.split("|")[0] for key in arrays.files}):
        given, expected = ({key.split("|")[2]: arrays[key] for key in arrays.files if key.startswith(f"{name}|{kind}|")}
                           for kind in ("in", "out"))
        chosen = [word for output in expected for word in ("--out_tensor_node", output)]
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            (folder / "model.onnx").write_bytes(arrays[f"{name}|model"].tobytes())
            dims = [(key, ",".join(map(str, array.shape))) for key, array in given.items()]
            case = Case(name, folder / "model.onnx", given, expected, dims)
            done, dlc = convert(case, folder, options=chosen)
            if not checks.check(f"convert {name}", done.returncode == 0, done.stderr):
                continue
            done, container = execute(case, dlc, folder)
            if not checks.check(f"execute {name}", done.returncode == 0, done.stderr):
                continue
            for output, array in expected.items():
                found = result(folder, container, output)
                within = 2e-6 if array.dtype.kind == "f" else 0
                checks.check(f"{name}: {output}", same(found, as_stored(array, container.tensors[output]), within), f"found {found.tolist()}")


def main():
    checks = Checks()
    if np is None:
        checks.skip("classical machine learning", "python3-numpy is not there")
        checks.finish()
    for test in (test_classic, refuse_linear, refuse_trees, test_pipelines):
        test(checks)
    checks.finish()


main()
