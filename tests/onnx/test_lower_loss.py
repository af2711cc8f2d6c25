# SPDX-License-Identifier: Apache-2.0
"""ONNX losses and steps of optimizers, each as a model of one node that is converted and executed; NumPy says what must
come out."""

from one_node import Const, gives, np, refuses
from checks import Checks

NEAR = 2e-6
TRAINING = "ai.onnx.preview.training::"


def values(*shape, seed=1):
    return np.random.RandomState(seed).standard_normal(shape).astype("f4")


def loss_of(log_prob, target, weight, ignored, reduction):
    sum_of, total, each = 0.0, 0.0, np.zeros(target.shape)
    for at in np.ndindex(*target.shape):
        kind = target[at]
        if kind != ignored:
            factor = 1.0 if weight is None else float(weight[kind])
            each[at] = -float(log_prob[(at[0], kind, *at[1:])]) * factor
            total += factor
            sum_of += each[at]
    result = {"none": each, "sum": np.array(sum_of), "mean": np.array(sum_of / total)}[reduction]
    return result.astype("f4")


def test_losses(checks):
    weight = np.array([0.5, 2.0, 0.25, 1.5, 3.0], "f4")
    for k, more in enumerate(((), (2,), (2, 4), (2, 1, 3))):
        x = values(3, 5, *more)
        wide = x.astype("f8")
        log_prob = wide - np.log(np.exp(wide).sum(1, keepdims=True))
        target = np.arange(np.prod((3, *more)), dtype="i8").reshape(3, *more) * 3 % 5
        for reduction in ("none", "sum", "mean"):
            for w in (None, weight):
                for ignored in (None, 2, -1, -100):
                    given = target.copy()
                    if ignored is not None:
                        given.flat[1] = ignored
                    dtype = ("i4", "i8")[k % 2]
                    inputs = [x, given.astype(dtype), *([] if w is None else [w])]
                    attributes = {} if reduction == "mean" else {"reduction": reduction}
                    if ignored is not None:
                        attributes["ignore_index"] = ignored
                    version = (12, 13, 22)[k % 3]
                    gives(checks, "NegativeLogLikelihoodLoss", version, inputs,
                          loss_of(x, given, w, ignored, reduction), within=NEAR, **attributes)
                    gives(checks, "SoftmaxCrossEntropyLoss", min(version, 13), inputs,
                          [loss_of(log_prob, given, w, ignored, reduction), log_prob.astype("f4")], within=NEAR,
                          **attributes)
    target = np.array([1, 0, 1])
    refuses(checks, "unknown reduction all", "NegativeLogLikelihoodLoss", 13, [values(3, 5), target], reduction="all")
    refuses(checks, "the targets have the shape [3] instead of [3,2]", "NegativeLogLikelihoodLoss", 13,
            [values(3, 5, 2), target])
    refuses(checks, "the weights have the shape [4] instead of [5]", "SoftmaxCrossEntropyLoss", 13,
            [values(3, 5), target, weight[:4]])


def test_optimizers(checks):
    x, g, h, v = (values(2, 3, seed=s) for s in (1, 2, 3, 4))
    x2, g2, h2, v2 = (values(4, seed=s) for s in (5, 6, 7, 8))
    h, h2 = np.abs(h), np.abs(h2)
    rate = np.array(0.125, "f4")
    for count in (0, 3):
        t = np.array(count)

        def adagrad(x, g, h):
            g = x * 0.25 + g
            h = h + g * g
            return [x - rate / (1 + count * 0.5) * g / (np.sqrt(h) + 0.0625), h]

        one, two = adagrad(x, g, h), adagrad(x2, g2, h2)
        gives(checks, TRAINING + "Adagrad", 13, [rate, t, x, x2, g, g2, h, h2], [one[0], two[0], one[1], two[1]],
              within=NEAR, norm_coefficient=0.25, decay_factor=0.5, epsilon=0.0625)

        def adam(x, g, v, h):
            v, h = 0.75 * v + 0.25 * g, 0.5 * h + 0.5 * g * g
            adjusted = rate * np.sqrt(1 - 0.5**count) / (1 - 0.75**count) if count else rate
            return [(x - adjusted * v / (np.sqrt(h) + 0.0625)) * 0.875, v, h]

        one, two = adam(x, g, v, h), adam(x2, g2, v2, h2)
        expected = [array.astype("f4") for pair in zip(one, two) for array in pair]
        gives(checks, TRAINING + "Adam", 13, [rate, t, x, x2, g, g2, v, v2, h, h2], expected, within=NEAR, alpha=0.75,
              beta=0.5, epsilon=0.0625, norm_coefficient_post=0.125)
        for mode in ("standard", "nesterov"):
            gradient = x * 0.25 + g
            moment = 0.75 * v + (0.5 if count else 1) * gradient
            moved = x - rate * (moment if mode == "standard" else gradient + 0.75 * moment)
            gives(checks, TRAINING + "Momentum", 13, [rate, t, x, g, v], [moved, moment], within=NEAR, alpha=0.75,
                  beta=0.5, norm_coefficient=0.25, mode=mode)
    refuses(checks, 'mode "fast" is not known', TRAINING + "Momentum", 13, [rate, np.array(0), x, g, v], n_outputs=2,
            mode="fast")
    refuses(checks, "do not make 3 for each tensor", TRAINING + "Adagrad", 13, [rate, np.array(0), x, g])
    refuses(checks, "differ in type or shape", TRAINING + "Adagrad", 13, [rate, np.array(0), x, g, h2], n_outputs=2)


def test_training_batch_normalization(checks):
    x = values(4, 3, 2, 5) * 2 + 3
    scale, shift, mean, var = (np.abs(values(3, seed=s)) + 0.5 for s in (2, 3, 4, 5))
    column, axes, wide = (slice(None), None, None), (0, 2, 3), x.astype("f8")
    batch_mean, batch_var = wide.mean(axes), wide.var(axes)
    y = (wide - batch_mean[column]) / np.sqrt(batch_var[column] + 0.01) * scale[column] + shift[column]
    running = [mean * 0.75 + batch_mean * 0.25, var * 0.75 + batch_var * 0.25]
    gives(checks, "BatchNormalization", 15, [x, Const(scale, "f4"), shift, mean, var],
          [array.astype("f4") for array in (y, *running)], within=NEAR, training_mode=1, momentum=0.75, epsilon=0.01)
    gives(checks, "BatchNormalization", 14, [x, scale, shift, mean, var], y.astype("f4"), within=NEAR,
          training_mode=1, epsilon=0.01)
    half, large = x.astype("f2"), (x * 300).astype("f2")
    wide = large.astype("f8")
    y = (wide - wide.mean(axes)[column]) / np.sqrt(wide.var(axes)[column] + 1e-5) * scale[column] + shift[column]
    checks.check("the squares are beyond float16", (wide.var(axes) > 65504).any() and half.dtype == "f2")
    gives(checks, "BatchNormalization", 15, [large, scale, shift, mean, var], y.astype("f2"), within=2e-3,
          training_mode=1)
    line = values(6)
    one = [array[:1] for array in (scale, shift, mean, var)]
    inference = (line - mean[0]) / np.sqrt(var[0] + np.float32(1e-5)) * scale[0] + shift[0]
    gives(checks, "BatchNormalization", 15, [line, *one], inference, within=NEAR)
    gives(checks, "BatchNormalization", 9, [line, *(Const(array, "f4") for array in one)], inference, within=NEAR)


def main():
    checks = Checks()
    if np is None:
        checks.skip("losses", "python3-numpy is not there")
        checks.finish()
    for test in (test_losses, test_optimizers, test_training_batch_normalization):
        test(checks)
    checks.finish()


main()
