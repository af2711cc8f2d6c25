# SPDX-License-Identifier: Apache-2.0
"""ONNX operators that select, count or decompose: Unique, TfIdfVectorizer, ArrayFeatureExtractor,
Det, CenterCropPad, CumProd, Hardmax. Each is a model of one node that is converted and executed; NumPy says what must
come out."""

import itertools

from one_node import Const, gives, np, refuses
from checks import Checks

NEAR = 2e-6


def test_unique(checks):
    x = np.array([2, 1, 1, 3, 4, 3])
    gives(checks, "Unique", 11, [Const(x)], [np.array([1, 2, 3, 4]), np.array([1, 0, 3, 4]),
                                             np.array([1, 0, 0, 2, 3, 2]), np.array([2, 1, 2, 1])])
    gives(checks, "Unique", 11, [Const(x)], [np.array([2, 1, 3, 4]), np.array([0, 1, 3, 4]),
                                             np.array([0, 1, 1, 2, 3, 2]), np.array([1, 2, 2, 1])], sorted=0)
    rows = np.array([[2, 0], [1, 5], [2, 0], [1, -5]], "f4")
    gives(checks, "Unique", 11, [Const(rows, "f4")], [rows[[3, 1, 0]], np.array([3, 1, 0]), np.array([2, 1, 2, 0]),
                                                      np.array([1, 1, 2])], axis=0)
    gives(checks, "Unique", 25, [Const(rows.T, "f4")], [rows[[0, 1, 3]].T, np.array([0, 1, 3])], axis=-1, sorted=0)
    large = np.array([2**32 - 1, 0, 2**31], "u4")
    gives(checks, "Unique", 11, [Const(large, "u4")], np.sort(large))
    refuses(checks, "the shapes of the results depend on its values", "Unique", 11, [x])
    refuses(checks, "--freeze_input in0=FILE", "Unique", 11, [x])
    refuses(checks, "holds a NaN", "Unique", 11, [Const([np.nan, 1], "f4")])


def gram_counts(row, grams, skips):
    found = np.zeros(len(grams), "f4")
    for i, gram in enumerate(grams):
        for step in range(1, 2 if len(gram) == 1 else skips + 2):
            for start in range(len(row) - step * (len(gram) - 1)):
                found[i] += tuple(row[start:start + step * len(gram):step][:len(gram)]) == gram
    return found


def test_tf_idf(checks):
    rows = np.array([[1, 1, 3, 3, 3, 7], [8, 6, 7, 5, 6, 8]], "i4")
    grams = [(2,), (3,), (5,), (6,), (8,), (5, 6), (7, 8), (6, 7), (3, 3), (1, 3, 7)]
    pool = list(itertools.chain(*grams))
    order = [4, 1, 0, 9, 8, 3, 2, 7, 6, 11]
    for shortest, longest, skips in ((1, 1, 0), (1, 2, 0), (2, 2, 5), (1, 3, 1), (3, 3, 1)):
        counts = np.zeros((2, 12), "f4")
        for row in range(2):
            for i, count in enumerate(gram_counts(rows[row].tolist(), grams, skips)):
                counts[row, order[i]] += count * (shortest <= len(grams[i]) <= longest)
        form = {"min_gram_length": shortest, "max_gram_length": longest, "max_skip_count": skips,
                "ngram_counts": [0, 5, 13], "ngram_indexes": order, "pool_int64s": pool}
        gives(checks, "TfIdfVectorizer", 9, [rows], counts, mode="TF", **form)
        gives(checks, "TfIdfVectorizer", 9, [rows[1].astype("i8")], counts[1], mode="TF", **form)
        gives(checks, "TfIdfVectorizer", 9, [rows], np.minimum(counts, 1), mode="IDF", **form)
    form["ngram_indexes"] = list(range(10))
    weights = [0.5, 2.0, 1.0, 0.25, 4.0, 3.0, 1.5, 0.75, 8.0, 2.5]
    plain = np.array([gram_counts(row.tolist(), grams, 1) for row in rows], "f4")
    plain *= [len(gram) == 3 for gram in grams]
    gives(checks, "TfIdfVectorizer", 9, [rows], plain * np.array(weights, "f4"), mode="TFIDF", weights=weights, **form)
    form["ngram_indexes"] = form["ngram_indexes"][::-1]
    refuses(checks, "in the order of n-grams or of outputs", "TfIdfVectorizer", 9, [rows], mode="TFIDF",
            weights=weights, **form)
    del form["pool_int64s"]
    refuses(checks, "strings cannot be compared", "TfIdfVectorizer", 9, [rows], mode="TF", pool_strings=["a"], **form)


def test_array_feature_extractor(checks):
    x = np.arange(12, dtype="f4").reshape(3, 4)
    op = "ai.onnx.ml::ArrayFeatureExtractor"
    gives(checks, op, 13, [x, Const([[3, 0]])], x[:, [3, 0]])
    gives(checks, op, 13, [x, np.array([1])], x[:, [1]])
    gives(checks, op, 13, [x[1], Const([2, 2, 0])], x[1:2, [2, 2, 0]])
    refuses(checks, "index 4 is outside", op, 13, [x, Const([4])])


def test_det(checks):
    random = np.random.RandomState(3)
    for shape in ((1, 1), (2, 2), (2, 3, 4, 4), (3, 6, 6)):
        x = random.standard_normal(shape).astype("f4")
        x[..., 0, 0] = 0  # the first row cannot be the pivot's
        gives(checks, "Det", 22, [x], np.linalg.det(x.astype("f8")).astype("f4"), within=2e-5)
    singular = np.array([[1, 0, 2], [3, 0, 4], [5, 0, 6]], "f4")
    gives(checks, "Det", 11, [singular], np.array(0, "f4"))
    gives(checks, "Det", 11, [np.eye(5, dtype="f4")[[1, 0, 2, 4, 3]]], np.array(1, "f4"))
    refuses(checks, "matrices of 200 rows", "Det", 22, [np.zeros((200, 200), "f4")])
    refuses(checks, "not made of square matrices", "Det", 22, [np.zeros((2, 3), "f4")])


def test_center_crop_pad(checks):
    x = np.arange(1, 61, dtype="f4").reshape(5, 4, 3)
    gives(checks, "CenterCropPad", 18, [x, Const([2, 7, 3])], np.pad(x[1:3], ((0, 0), (1, 2), (0, 0))))
    gives(checks, "CenterCropPad", 18, [x, Const([1, 2])], x[2:3, :, :2], axes=[0, -1])
    gives(checks, "CenterCropPad", 18, [x.astype("i4"), Const([6])], np.pad(x, ((0, 1), (0, 0), (0, 0))).astype("i4"),
          axes=[0])
    refuses(checks, "2 dims for 3 axes", "CenterCropPad", 18, [x, Const([2, 2])])
    refuses(checks, "is not possible", "CenterCropPad", 18, [x, Const([-(2**63), 2])], axes=[0, 1])
    refuses(checks, "--freeze_input in1=FILE", "CenterCropPad", 18, [x, np.array([2, 2, 2])])


def test_running_products(checks):
    x = np.array([[1, 2, -3], [0.5, 0, 7]], "f4")
    one = np.ones((2, 1), "f4")
    gives(checks, "CumProd", 26, [x, Const(1)], np.cumprod(x, 1))
    gives(checks, "CumProd", 26, [x, Const([-2])], x[::-1].cumprod(0)[::-1].copy(), reverse=1)
    gives(checks, "CumProd", 26, [x, Const(1)], np.concatenate([one, np.cumprod(x, 1)[:, :2]], 1), exclusive=1)
    gives(checks, "CumProd", 26, [x, Const(-1)], np.array([[-6, -3, 1], [0, 7, 1]], "f4"), exclusive=1, reverse=1)
    gives(checks, "CumProd", 26, [x[:, :1].copy(), Const(1)], one, exclusive=1)
    edge = np.array([1e-30, 1e30, 1e30], "f4")
    gives(checks, "CumProd", 26, [edge, Const(0)], np.cumprod(edge))
    refuses(checks, "a running product of 3000 elements", "CumProd", 26, [np.zeros(3000, "f4"), Const(0)])


def test_hardmax(checks):
    x = np.array([[[3, 0, 3], [1, 4, 2]], [[2, 2, 2], [0, -1, 5]]], "f4")

    def hot(flat):
        found = np.zeros_like(flat)
        found[np.arange(len(flat)), flat.argmax(1)] = 1
        return found

    gives(checks, "Hardmax", 13, [x], hot(x.reshape(4, 3)).reshape(x.shape))
    middle = np.moveaxis(x, 1, 2)
    gives(checks, "Hardmax", 13, [x], np.moveaxis(hot(middle.reshape(6, 2)).reshape(middle.shape), 2, 1), axis=-2)
    gives(checks, "Hardmax", 11, [x], hot(x.reshape(2, 6)).reshape(x.shape))
    gives(checks, "Hardmax", 1, [x], hot(x.reshape(1, 12)).reshape(x.shape), axis=0)


def main():
    checks = Checks()
    if np is None:
        checks.skip("selecting operators", "python3-numpy is not there")
        checks.finish()
    for test in (test_unique, test_tf_idf, test_array_feature_extractor, test_det,
                 test_center_crop_pad, test_running_products, test_hardmax):
        test(checks)
    checks.finish()


main()
