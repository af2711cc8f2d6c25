# SPDX-License-Identifier: Apache-2.0
"""Operators of classical machine learning: random nodes of each, and what these do not draw."""

from contrib_draw_classic import BRANCHES, DRAWS, LABELS, ML
from contrib_node import Node, source
from one_node import np

X = np.array([[1, 2, -3], [0.5, 0, -1]], "f4")


def drawn():
    for op, draw in DRAWS.items():
        for i in range(12 if "Tree" in op else 6):
            node = draw(source(f"{op} {i}"))
            node.name = f"{op} {i}"
            yield node


def edges():
    yield Node("Normalizer of zeros and of negative numbers", ML + "Normalizer", [np.array([[0, 0], [-2, -4]], "f4")])
    for norm in ("L1", "L2"):
        yield Node(f"Normalizer of zeros, {norm}", ML + "Normalizer", [np.array([[0, 0], [-2, -4]], "f4")], norm=norm)
    yield Node("FeatureVectorizer of vectors", ML + "FeatureVectorizer", [X[0], X[1]], inputdimensions=[2, 5])
    yield Node("Scaler of three axes", ML + "Scaler", [X[None]], offset=[0.5], scale=[2.0])
    yield Node("Imputer of three axes", ML + "Imputer", [X[None]], imputed_value_floats=[9.0])
    yield Node("OneHotEncoder, all known", ML + "OneHotEncoder", [np.array([[1, 0, 3]])], cats_int64s=[3, 1, 0], zeros=0)
    yield Node("LabelEncoder of tensors", "ai.onnx.ml@4::LabelEncoder", [np.array([[1, 5], [2, 1]])], ("f8",),
               by_hand=lambda node: [np.array([[0.5, -1.5], [4.25, 0.5]])],
               keys_tensor=np.array([1, 2]), values_tensor=np.array([0.5, 4.25]), default_tensor=np.array([-1.5]))
    yield Node("LabelEncoder of int16", "ai.onnx.ml@4::LabelEncoder", [np.array([1, 5, 2], "i2")], ("i2",),
               by_hand=lambda node: [np.array([7, 3, -8])],
               keys_tensor=np.array([1, 2], "i2"), values_tensor=np.array([7, -8], "i2"), default_tensor=np.array([3], "i2"))
    yield Node("LinearClassifier, equal scores", ML + "LinearClassifier", [X], ("i8", "f4"), coefficients=[0.25, 0.5, 1.0] * 3,
               intercepts=[0.5] * 3, classlabels_ints=LABELS[:3])
    yield Node("LinearClassifier, scores near 0", ML + "LinearClassifier", [X], ("i8", "f4"), coefficients=[0.25, 0.5, 0.0, 0, 0, 0],
               intercepts=[0.5, 0.0], classlabels_ints=[4, 5], post_transform="SOFTMAX_ZERO")


def tree(x, splits, name, **more):
    """A tree with splits of features 0, 1, … on its way; its nodes have numbers that do not grow."""
    modes, count = list(splits), len(splits)
    nodes = [*range(40, 40 + count), *range(count + 1)]
    lists = {"treeids": [7] * len(nodes), "nodeids": nodes, "featureids": [*range(count), *[0] * (count + 1)],
             "modes": [*modes, *["LEAF"] * (count + 1)], "values": [*splits.values(), *[0.0] * (count + 1)],
             "truenodeids": [*range(count), *[0] * (count + 1)],
             "falsenodeids": [*range(41, 40 + count), count, *[0] * (count + 1)]}

    def by_hand(node):
        compare = {"LEQ": np.less_equal, "LT": np.less, "GTE": np.greater_equal, "GT": np.greater, "EQ": np.equal, "NEQ": np.not_equal}
        takes = np.stack([compare[mode.removeprefix("BRANCH_")](node.inputs[0][:, i].astype("f8"), split)
                          for i, (mode, split) in enumerate(splits.items())] + [np.ones(len(x), bool)], 1)
        return [takes.argmax(1).reshape(-1, 1) + 0.5]

    return Node(name, ML + "TreeEnsembleRegressor", [x], n_targets=1, by_hand=by_hand, **{f"nodes_{k}": v for k, v in lists.items()},
                target_treeids=[7] * (count + 1), target_nodeids=[*range(count + 1)], target_ids=[0] * (count + 1),
                target_weights=[i + 0.5 for i in range(count + 1)], **more)


def splits():
    """Features at, and next to, what splits them; also by doubles that no float32 is, which split float32's exactly."""
    near = np.float32(0.1)
    below, above = np.nextafter(near, np.float32(-1)), np.nextafter(near, np.float32(1))
    x = np.stack(np.meshgrid(*[[below, near, above]] * 3), -1).reshape(-1, 3)
    for first, second, third in (BRANCHES[:3], BRANCHES[3:], BRANCHES[::2], BRANCHES[::-2]):
        yield tree(x, {first: float(near), second: float(near), third: float(near)}, f"Splits by {first} {second} {third}")
        node = tree(x, {first: 0.1, second: 0.1, third: 0.1}, f"Splits in doubles by {first} {second} {third}")
        node.op = "ai.onnx.ml@3::TreeEnsembleRegressor"
        node.attributes["nodes_values_as_tensor"] = np.array(node.attributes.pop("nodes_values"))
        node.attributes["target_weights_as_tensor"] = np.array(node.attributes.pop("target_weights"))
        yield node


def ensembles():
    common = {"tree_roots": [0, 1], "nodes_featureids": [0, 1], "nodes_modes": np.array([6, 0], "u1"),
              "nodes_splits": np.array([0, 0.5]), "nodes_truenodeids": [0, 1], "nodes_trueleafs": [1, 1], "nodes_falsenodeids": [1, 1],
              "nodes_falseleafs": [1, 1], "leaf_targetids": [0, 0], "leaf_weights": np.array([1.25, -4.0]), "post_transform": 0}
    x = np.array([[-1, 0], [0.5, 9], [2, 0], [3, 0]])

    def by_hand(node):
        member = np.isin(node.inputs[0][:, 0], node.attributes["membership_values"])
        both = np.stack([np.where(member, 1.25, -4.0), np.full(len(x), -4.0)])
        return [[both.mean(0), both.sum(0), both.min(0), both.max(0)][node.attributes["aggregate_function"]].reshape(-1, 1)]

    for how in range(4):
        for members in ([-1, 0.5, 3], [], [2]):
            yield Node(f"TreeEnsemble of sets {members}, aggregate {how}", "ai.onnx.ml@5::TreeEnsemble", [x], ("f8",), by_hand=by_hand,
                       aggregate_function=how, n_targets=1, membership_values=np.array([*members, np.nan]), **common)


CASES = [*drawn(), *edges(), *splits(), *ensembles()]
