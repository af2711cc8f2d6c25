#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains small pipelines of scikit-learn, exports them by skl2onnx, lets ONNX Runtime compute their outputs, and writes pipelines.npz:
of each the model's bytes, an input and the outputs that are numbers.
usage: make_pipelines.py

Needs scikit-learn, skl2onnx and onnxruntime."""

import pathlib

import numpy as np
import onnxruntime
from skl2onnx import to_onnx
from sklearn.base import is_classifier
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.ensemble import (GradientBoostingClassifier, GradientBoostingRegressor, RandomForestClassifier,
                              RandomForestRegressor)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC, SVR

HERE = pathlib.Path(__file__).resolve().parent


def pipelines():
    r = np.random.RandomState(0)
    x = r.randn(80, 5).astype("f4")
    two, three, number = (x[:, 0] + x[:, 1] > 0).astype(int), np.digitize(x[:, 0] - x[:, 2], [-0.7, 0.7]), x @ r.randn(5) + 1
    holes, whole = x.copy(), np.abs(x * 2).astype("i8")
    holes[::7, 2] = np.nan
    yield "scaled, logistic of two", make_pipeline(StandardScaler(), LogisticRegression()), x, two
    yield "scaled, logistic of three", make_pipeline(StandardScaler(), LogisticRegression()), x, three
    yield "logistic with names", LogisticRegression(), x, np.array(["a", "b", "c"])[three]
    yield "minimum and maximum, linear", make_pipeline(MinMaxScaler(), LinearRegression()), x, number
    yield "perceptron of two", MLPClassifier((6,), max_iter=40, random_state=0), x, two
    yield "perceptron of three", MLPClassifier((6,), max_iter=40, random_state=0), x, three
    yield "components, logistic", make_pipeline(PCA(3), LogisticRegression()), x, two
    for norm in ("l1", "l2", "max"):
        yield f"normalized by {norm}, linear", make_pipeline(Normalizer(norm), LinearRegression()), x, number
    yield "imputed, linear", make_pipeline(SimpleImputer(), LinearRegression()), holes, number
    yield "bayes", GaussianNB(), x, three
    yield "means", KMeans(3, n_init=2, random_state=0), x, None
    yield "support vectors", SVR(), x[:20], number[:20]
    for label, y in (("two", two), ("three", three)):
        yield f"support vectors of {label}", SVC(), x[:20], y[:20]
    yield "hot", OneHotEncoder(handle_unknown="ignore", sparse_output=False), whole, None
    yield "ordinal", OrdinalEncoder(), whole, None
    for label, y in (("two", two), ("three", three)):
        yield f"forest of {label}", RandomForestClassifier(4, max_depth=3, random_state=0), x, y
        yield f"boosted {label}", GradientBoostingClassifier(n_estimators=4, random_state=0), x, y
    yield "forest", RandomForestRegressor(4, max_depth=4, random_state=0), x, number
    yield "boosted", GradientBoostingRegressor(n_estimators=4, random_state=0), x, number


def main():
    arrays = {}
    for name, model, x, y in pipelines():
        model.fit(x, y) if y is not None else model.fit(x)
        made = to_onnx(model, x[:1], options={"zipmap": False} if is_classifier(model) else None).SerializeToString()
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(made, options, providers=["CPUExecutionProvider"])
        given = session.get_inputs()[0].name
        arrays[f"{name}|model"] = np.frombuffer(made, "u1")
        arrays[f"{name}|in|{given}"] = x[:9]
        for output, array in zip(session.get_outputs(), session.run(None, {given: x[:9]})):
            if array.dtype.kind in "fi":
                arrays[f"{name}|out|{output.name}"] = array
    np.savez_compressed(HERE / "pipelines.npz", **arrays)


if __name__ == "__main__":
    main()
