# SPDX-License-Identifier: Apache-2.0
"""--budget_sqnr and --keep_worst of dlc-quantize: which layers stay float or get 16 bits, by what net-run gives for containers where
--keep_float, --widen and --widen_weights say so."""

import json
import re
import tempfile

from quantizing import FLOAT, Bench, Model, np
from checks import Checks

LAYERS = ("a", "b", "c", "d")
LINE = re.compile(r"  (\S+) \((\S+) dB with all others in float\): (.*)")


def network(rng):
    """x → a → Relu → b → Relu → c → d → y and, of b, z; each layer with channels of other sizes."""
    m = Model(opset=13)
    m.input("x", FLOAT, [1, 4, 5, 5])
    for name, spread in zip(LAYERS, (.2, 1.2, .6, 0)):
        weights = rng.normal(0, 1, (4, 4, 1, 1)) * 10.0 ** rng.uniform(-spread, spread, (4, 1, 1, 1))
        m.tensor(f"w{name}", FLOAT, [4, 4, 1, 1], weights.astype("f4").ravel().tolist())
    m.node("Conv", ["x", "wa"], ["a"])
    m.node("Relu", ["a"], ["ra"])
    m.node("Conv", ["ra", "wb"], ["b"])
    m.node("Relu", ["b"], ["rb"])
    m.node("Conv", ["rb", "wc"], ["c"])
    m.node("Conv", ["c", "wd"], ["d"])
    m.node("Sigmoid", ["b"], ["z"])
    m.node("Tanh", ["d"], ["y"])
    for name in ("y", "z"):
        m.output(name, FLOAT, [1, 4, 5, 5])
    return m


def worst(b, floats, found):
    def ratio(key):
        signal, other = (np.concatenate([line[key] for line in lines]).astype("f8") for lines in (floats, found))
        return 10 * np.log10(np.square(signal).sum() / np.square(signal - other).sum())
    return min(map(ratio, floats[0]))


OPTIONS = ("--weights_bitwidth", "4", "--bias_bitwidth", "32")


def kept(b, floats, names, widened=(), weights=()):
    """The SQNR with these layers in float, and those of 16 bits."""
    options = (("--keep_float", names), ("--widen", widened), ("--widen_weights", weights))
    b.quantize(*OPTIONS, *(word for option, words in options if words for word in (option, ",".join(words))))
    return worst(b, floats, b.results(b.path("q.dlc")))


def chosen(b, *options):
    done = b.run(*OPTIONS, *options)
    b.checks.equal(f"{options} status", (done.returncode, done.stderr), (0, ""))
    return [(name, float(sqnr)) for name, sqnr, _ in LINE.findall(done.stdout)], done.stdout


def became(text):
    """{layer: what it became}"""
    return {name: step for name, _, step in LINE.findall(text)}


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        b = Bench(checks, folder)
        rng = np.random.default_rng(15)
        b.convert(network(rng))
        b.inputs(*(rng.uniform(-1, 1, (1, 5, 5, 4)) for _ in range(3)))
        floats = b.results(b.path("m.dlc"))
        alone = sorted((kept(b, floats, [other for other in LAYERS if other != name]), name) for name in LAYERS)
        ranked = [name for _, name in alone]
        reached = [kept(b, floats, ranked[:count]) for count in range(len(LAYERS) + 1)]
        for count in (1, 2, 9):
            names, text = chosen(b, "--keep_worst", str(count))
            checks.equal(f"the worst {count}", [name for name, _ in names], ranked[:count])
            checks.check("their decibels", all(abs(sqnr - right) < .011 for (_, sqnr), (right, _) in zip(names, alone)), (names, alone))
            checks.check("decibels before", f"have {reached[0]:.1f}" in text, (text, reached))
            checks.check("what is written", abs(worst(b, floats, b.results(b.path("q.dlc"))) - reached[min(count, 4)]) < 1e-9)
        for least in (reached[0] - 1, (reached[0] + max(reached)) / 2, max(reached) - .01):
            names, _ = chosen(b, "--budget_sqnr", f"{least:.4f}", "--widen_to", "float")
            fewest = next(count for count, sqnr in enumerate(reached) if sqnr >= least)
            checks.equal(f"{least} dB", [name for name, _ in names], ranked[:fewest])
        checks.check("there is something to gain", reached[0] + 6 < max(reached), reached)
        widened(b, floats, ranked)
        by_default(b)
        errors(b, reached)
        reported(b)
    checks.finish()


def widened(b, floats, ranked):
    """Steps in a row: the next begins where all layers are at the one before."""
    wide = [kept(b, floats, [], ranked[:count]) for count in range(5)]
    for word, step, sqnrs in (("all16", "16 bits, weights too", [kept(b, floats, [], ranked, ranked[:count]) for count in range(5)]),
                              ("float", "float", [kept(b, floats, ranked[:count], ranked[count:]) for count in range(5)])):
        b.checks.check(f"{word} is better", max(wide) + 1 < max(sqnrs), (wide, sqnrs))
        for least in ((max(wide) + max(sqnrs)) / 2, max(sqnrs) - .01):
            fewest = next(count for count, sqnr in enumerate(sqnrs) if sqnr >= least)
            _, text = chosen(b, "--budget_sqnr", f"{least:.4f}", "--widen_to", "act16", word)
            b.checks.equal(f"{word} for {least}", became(text), {name: step if i < fewest else "16 bits" for i, name in enumerate(ranked)})
            b.checks.check(f"{word}: decibels", f"and {sqnrs[fewest]:.2f} dB with these changes" in text, (text, sqnrs))
            b.checks.check(f"{word}: what is written", abs(worst(b, floats, b.results(b.path("q.dlc"))) - sqnrs[fewest]) < 1e-9)
    _, text = chosen(b, "--keep_worst", "2", "--widen_to", "all16")
    b.checks.equal("the worst get more bits", became(text), dict.fromkeys(ranked[:2], "16 bits, weights too"))


def by_default(b):
    """16 bits come first."""
    done = b.run("--bias_bitwidth", "32", "--budget_sqnr", "0")
    before = float(re.search(r"have (\S+) dB", done.stdout).group(1))
    done = b.run("--bias_bitwidth", "32", "--budget_sqnr", f"{before + 1}")
    b.checks.equal("16 bits", (done.returncode, done.stderr, set(became(done.stdout).values())), (0, "", {"16 bits"}))
    b.checks.equal("nothing to do", "none changed" in b.run("--budget_sqnr", "0").stdout, True)


def reported(b):
    """The list of a report outlives the trials before it; what is wrong with it is said before them."""
    two = b.path("list.txt").read_text().splitlines()[:2]
    b.path("two.txt").write_text("\n".join(two) + "\n")
    report = ["--keep_worst", "1", "--report", b.path("r.json"), "--report_list"]
    done = b.run(*OPTIONS, *report, b.path("two.txt"))
    b.checks.equal("with a report", (done.returncode, done.stderr), (0, ""))
    b.checks.equal("inferences of the report", json.loads(b.path("r.json").read_text())["inferences"], 2)
    b.path("two.txt").write_text("nowhere.raw\n")
    b.path("q.dlc").unlink()
    done = b.run(*OPTIONS, *report, b.path("two.txt"))
    b.checks.check("inputs that are not there", done.returncode != 0 and "nowhere.raw" in done.stderr and not b.path("q.dlc").exists(),
                   done.stderr)


def errors(b, reached):
    for options, word in ((["--widen_to", "float"], "--widen_to is for"), (["--keep_worst", "1", "--widen_to", "act32"], "'act32'"),
                          (["--keep_worst", "1", "--widen_to", "float,act16"], "'act16'")):
        done = b.run(*OPTIONS, *options)
        b.checks.check(f"{options}", done.returncode == 2 and word in done.stderr, done.stderr)
    for options, words, more in ((["--budget_sqnr", "200"], ["200 dB are not reached", "all 4 layers"], {}),
                                 (["--budget_sqnr", "much"], ["'much'"], {}),
                                 (["--budget_sqnr", "9", "--keep_worst", "1"], ["exclude each other"], {}),
                                 (["--keep_worst", "1"], ["--input_list"], {"listed": False}), (["--keep_worst", "0"], ["keep_worst"], {})):
        b.path("q.dlc").unlink(missing_ok=True)
        done = b.run(*OPTIONS, *options, **more)
        b.checks.check(f"{options}", done.returncode != 0 and all(word in done.stderr for word in words), done.stderr)
        b.checks.check(f"{options} writes nothing", not b.path("q.dlc").exists())


main()
