# SPDX-License-Identifier: Apache-2.0
"""Random nodes of classical machine learning (ai.onnx.ml)."""

from contrib_draw import attributes, extent, known
from contrib_node import Node, floats
from one_node import np

ML, LABELS = "ai.onnx.ml::", [7, -2, 30, 0, 5]
TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"]
BRANCHES = [f"BRANCH_{mode}" for mode in ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ")]


def some(r, *shape, low=-2.0, high=2.0):
    return [float(value) for value in floats(r, *shape, low=low, high=high).ravel()]


def ints(r, low, high, *shape):
    return [int(value) for value in r.randint(low, high, shape).ravel()]


def features(r, codes=("f4", "f4", "f8", "i8", "i4")):
    """Rows of features, or one row; how many features there are."""
    count = extent(r)
    x = floats(r, *([] if r.rand() < 0.2 else [extent(r)]), count)
    return x.astype(codes[r.randint(len(codes))]), count


def draw_scaler(r):
    x, count = features(r)
    count = count if r.rand() < 0.7 else 1
    return Node("Scaler", ML + "Scaler", [x], offset=some(r, count), scale=some(r, count))


def draw_normalizer(r):
    x, _ = features(r)
    x[x < -1] = 0
    return Node("Normalizer", ML + "Normalizer", [x], **attributes(r, norm=["MAX", "L1", "L2"]))


def draw_imputer(r):
    x, count = features(r, ("f4", "i8"))
    count = count if r.rand() < 0.7 else 1
    if x.dtype.kind == "i":
        return Node("Imputer", ML + "Imputer", [x], ("i8",), imputed_value_int64s=ints(r, 5, 9, count),
                    replaced_value_int64=int(r.randint(-1, 2)))
    lost = float("nan") if r.rand() < 0.5 else float(x.ravel()[0])
    x[x < -1] = lost
    return Node("Imputer", ML + "Imputer", [x], imputed_value_floats=some(r, count), replaced_value_float=lost)


def draw_feature_vectorizer(r):
    rows, code = extent(r), ["f4", "i8", "i4", "f8"][r.randint(4)]
    inputs = [floats(r, rows, extent(r)).astype(code) for _ in range(extent(r, 1, 3))]
    return Node("FeatureVectorizer", ML + "FeatureVectorizer", inputs, inputdimensions=[extent(r) for _ in inputs])


def draw_one_hot_encoder(r):
    x = r.randint(-2, 4, [extent(r) for _ in range(extent(r, 0, 3))])
    x = np.asarray(x if r.rand() < 0.5 else x + np.sign(x) * 0.25, ["i8", "f4", "f8"][r.randint(3)])
    return Node("OneHotEncoder", ML + "OneHotEncoder", [x], cats_int64s=ints(r, -2, 4, extent(r)), zeros=1)


def draw_label_encoder(r):
    version, count = [2, 4][r.randint(2)], extent(r)
    x = np.asarray(r.randint(-2, 4, [extent(r) for _ in range(extent(r, 0, 3))]))
    keys = ints(r, -2, 4, count)
    if r.rand() < 0.5:
        x, keys = np.asarray(x / 2, "f4"), [key / 2 for key in keys]
        if r.rand() < 0.5:
            x = np.asarray(np.where(x == 1, np.float32("nan"), x), "f4")
            keys[0] = float("nan")
    code = ["i8", "f4"][r.randint(2)]
    values = ints(r, -99, 99, count) if code == "i8" else some(r, count)
    if code == "f4":
        more = attributes(r, default_float=[-0.5, 3.25])
    else:
        more = attributes(r, default_int64=[17, 0])
    kinds = {"i": "int64s", "f": "floats"}
    return Node("LabelEncoder", f"ai.onnx.ml@{version}::LabelEncoder", [x], (code,),
                **{f"keys_{kinds[x.dtype.kind]}": keys, f"values_{kinds[code[0]]}": values}, **more)


def draw_linear_classifier(r):
    x, count = features(r, ("f4", "f4", "i8", "i4", "f8"))
    classes = extent(r, 1, 5)
    transform = "LOGISTIC" if classes == 1 else TRANSFORMS[r.randint(4)]
    return Node("LinearClassifier", ML + "LinearClassifier", [x], ("i8", "f4"), coefficients=some(r, classes, count),
                intercepts=some(r, classes), classlabels_ints=LABELS[:max(classes, 2)], post_transform=transform)


def draw_linear_regressor(r):
    x, count = features(r, ("f4",))
    targets = extent(r, 1, 3)
    more = {"targets": targets} if targets > 1 or r.rand() < 0.5 else {}
    if r.rand() < 0.6:
        more["intercepts"] = some(r, targets)
    if targets > 1:
        more["post_transform"] = TRANSFORMS[r.randint(4)]
    return Node("LinearRegressor", ML + "LinearRegressor", [x], coefficients=some(r, targets, count), **more)


def draw_distances(r):
    features = extent(r, 1, 6)
    return Node("CDist", "CDist", [floats(r, extent(r, 1, 5), features), known(r, floats(r, extent(r, 1, 6), features))], within=1e-3,
                metric=["euclidean", "sqeuclidean"][r.randint(2)])


def draw_svm_regressor(r):
    x, count = features(r, ("f4",))
    more = attributes(r, one_class=[0, 1])
    if r.rand() < 0.3:
        return Node("SVMRegressor", ML + "SVMRegressor", [x], coefficients=some(r, count), rho=some(r, 1), kernel_type="LINEAR",
                    kernel_params=[0.0] * 3, **more)
    supports, kernel = extent(r), ["LINEAR", "POLY", "RBF", "SIGMOID"][r.randint(4)]
    params = [float(r.randint(1, 5)) / 8, float(r.randint(-4, 5)) / 4, float(r.randint(1, 4))]
    return Node("SVMRegressor", ML + "SVMRegressor", [x], within=1e-4, coefficients=some(r, supports), rho=some(r, 1), n_supports=supports,
                support_vectors=some(r, supports, count), kernel_type=kernel, kernel_params=params, **more)


def draw_svm_classifier(r):
    x, count = features(r, ("f4",))
    classes, kernel = extent(r, 2, 4), ["LINEAR", "POLY", "RBF", "SIGMOID"][r.randint(4)]
    sizes = [extent(r, 1, 3) for _ in range(classes)]
    params = [float(r.randint(1, 5)) / 8, float(r.randint(-4, 5)) / 4, float(r.randint(1, 4))]
    coefficients = some(r, classes - 1, sum(sizes))
    coefficients[0] = -1.0
    transform = TRANSFORMS[r.randint(4)] if classes > 2 else ["NONE", "LOGISTIC"][r.randint(2)]
    return Node("SVMClassifier", ML + "SVMClassifier", [x], ("i8", "f4"), within=1e-4, classlabels_ints=LABELS[:classes],
                vectors_per_class=sizes, support_vectors=some(r, sum(sizes), count), coefficients=coefficients,
                rho=[v + 1 / 512 for v in some(r, classes * (classes - 1) // 2)], kernel_type=kernel, kernel_params=params, post_transform=transform)


class Trees:
    """Lists of nodes of random trees; leaves: of each tree the numbers of its leaves."""

    def __init__(self, r, count, n_features, depth, modes):
        self.r, self.n_features, self.modes, self.leaves = r, n_features, modes, []
        self.rows = []  # (tree, node, feature, mode, split, yes, no, missing)
        for _ in range(count):
            self.leaves.append([])
            self.first = len(self.rows)
            self.grow(depth)

    def grow(self, depth):
        r, at, tree = self.r, len(self.rows), len(self.leaves) - 1
        node = at - self.first
        self.rows.append((tree, node, 0, "LEAF", 0.0, 0, 0, 0))
        if depth == 0 or r.rand() < 0.2:
            self.leaves[-1].append(node)
            return node
        yes, no = self.grow(depth - 1), self.grow(depth - 1)
        self.rows[at] = (tree, node, int(r.randint(self.n_features)), self.modes[r.randint(len(self.modes))],
                         float(r.randint(-8, 9)) / 4, yes, no, int(r.randint(2)))
        return node

    def lists(self):
        names = ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids", "missing_value_tracks_true")
        return {f"nodes_{name}": list(column) for name, column in zip(names, zip(*self.rows))}


def draw_trees(r):
    count = extent(r, 1, 5)
    x = (floats(r, extent(r), count) * 4).round() / 4
    modes = BRANCHES if r.rand() < 0.5 else [BRANCHES[r.randint(6)]]
    x[r.rand(*x.shape) < 0.1] = float("nan")
    return x.astype("f4"), Trees(r, extent(r, 1, 5), count, extent(r, 0, 4), modes)


def weights(r, trees, prefix, targets, whole, low=-2.0):
    rows = [(tree, leaf, target, *some(r, 1, low=low)) for tree, leaves in enumerate(trees.leaves) for leaf in leaves
            for target in range(targets) if whole or r.rand() < 0.6] or [(0, trees.leaves[0][0], 0, 0.5)]
    return {f"{prefix}_{name}": list(column) for name, column in zip(("treeids", "nodeids", "ids", "weights"), zip(*rows))}


def draw_tree_regressor(r):
    x, trees = draw_trees(r)
    targets, how = extent(r, 1, 3), ["SUM", "AVERAGE", "MIN", "MAX"][r.randint(4)]
    base = r.rand() < 0.5
    whole = base or how in ("MIN", "MAX") or r.rand() < 0.5
    more = {"base_values": some(r, targets)} if base else {}
    if targets > 1:
        more["post_transform"] = TRANSFORMS[r.randint(4)]
    return Node("TreeEnsembleRegressor", ML + "TreeEnsembleRegressor", [x], n_targets=targets, aggregate_function=how,
                **trees.lists(), **weights(r, trees, "target", targets, whole), **more)


def draw_tree_classifier(r):
    x, trees = draw_trees(r)
    classes = extent(r, 2, 5)
    base = {"base_values": some(r, 1 if classes == 2 else classes)} if r.rand() < 0.5 else {}
    transform = TRANSFORMS[r.randint(4)] if classes > 2 else ["NONE", "LOGISTIC"][r.randint(2)]
    low = 0.0 if r.rand() < 0.5 else -2.0
    return Node("TreeEnsembleClassifier", ML + "TreeEnsembleClassifier", [x], ("i8", "f4"), post_transform=transform,
                classlabels_int64s=LABELS[:classes], **trees.lists(),
                **weights(r, trees, "class", 1 if classes == 2 else classes, r.rand() < 0.5, low), **base)


def draw_tree_ensemble(r):
    """Branches in the order in which they grow."""
    x, targets = floats(r, extent(r), extent(r, 1, 4)), extent(r, 1, 3)
    x = ((x * 2).round() + 1).astype("f4")
    x[r.rand(*x.shape) < 0.1] = float("nan")
    rows, leaves, members, roots = [], [], [], []

    def side(depth):
        if depth == 0 or r.rand() < 0.2:
            leaves.append((int(r.randint(targets)), *some(r, 1)))
            return len(leaves) - 1, 1
        return branch(depth), 0

    def branch(depth):
        at, mode = len(rows), int(r.randint(7))
        rows.append(None)
        if mode == 6:
            members.append((at, [*(float(v) for v in ints(r, 1, 5, extent(r, 1, 4))), float("nan")]))
        yes, no = side(depth - 1), side(depth - 1)
        rows[at] = (int(r.randint(x.shape[1])), mode, float(r.randint(-4, 5)) / 2, *yes, *no, int(r.randint(2)))
        return at

    for _ in range(extent(r, 1, 4)):
        roots.append(branch(extent(r, 1, 4)))
    names = ("featureids", "modes", "splits", "truenodeids", "trueleafs", "falsenodeids", "falseleafs", "missing_value_tracks_true")
    lists = {f"nodes_{name}": list(column) for name, column in zip(names, zip(*rows))}
    lists["nodes_modes"], lists["nodes_splits"] = np.array(lists["nodes_modes"], "u1"), np.array(lists["nodes_splits"], "f4")
    if members:
        lists["membership_values"] = np.array([v for _, values in sorted(members) for v in values], "f4")
    return Node("TreeEnsemble", "ai.onnx.ml@5::TreeEnsemble", [x], n_targets=targets, tree_roots=roots, aggregate_function=1, post_transform=0,
                leaf_targetids=[target for target, _ in leaves], leaf_weights=np.array([w for _, w in leaves], "f4"), **lists)


DRAWS = {"CDist": draw_distances, "FeatureVectorizer": draw_feature_vectorizer, "Imputer": draw_imputer, "LabelEncoder": draw_label_encoder,
         "LinearClassifier": draw_linear_classifier, "LinearRegressor": draw_linear_regressor, "Normalizer": draw_normalizer,
         "OneHotEncoder": draw_one_hot_encoder, "SVMClassifier": draw_svm_classifier, "SVMRegressor": draw_svm_regressor, "Scaler": draw_scaler,
         "TreeEnsemble": draw_tree_ensemble, "TreeEnsembleClassifier": draw_tree_classifier,
         "TreeEnsembleRegressor": draw_tree_regressor}
