# SPDX-License-Identifier: Apache-2.0
"""The order of what has a name means nothing: random permutations of the data in model.params and of the zip's entries,
supplemental params that the ops do not have otherwise, and data that nobody asks for read the same. Missing data are an
error, but for supplemental params."""

import json
import pathlib
import random
import struct
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import dlc_writer as w  # noqa: E402
from checks import SHARED, Checks, run  # noqa: E402
from plant import Stream  # noqa: E402

ROUNDS = 60
PACKAGE = w.text("packageName", "qti.aisw")


class Halves(w.Numbers):
    """A supplemental tensor of float32, as beta and gamma of a folded batch normalization are. Its tensor has a name of its
    own, which stands behind or before those of the other params."""

    def __init__(self, name, values):
        super().__init__(name, [len(values)], [0] * len(values), w.FLOAT_32, w.SUPPLEMENTAL)
        self.bytes = struct.pack(f"<{len(values)}f", *values)


def chain(supplemental=()):
    """y = x [2,3] transposed, padded by a row of 7 above, sliced to its last two columns in reverse rows, plus c."""
    g = w.Graph("g")
    g.tensor("x", w.APP_WRITE, w.FLOAT_32, [2, 3])
    g.tensor("t", w.NATIVE, w.FLOAT_32, [3, 2])
    g.tensor("p", w.NATIVE, w.FLOAT_32, [4, 2])
    g.tensor("s", w.NATIVE, w.FLOAT_32, [4, 2])
    g.tensor("c", w.STATIC, w.FLOAT_32, [1], data=struct.pack("<f", 100))
    g.tensor("b", w.STATIC, w.FLOAT_32, [4, 1], data=struct.pack("<4f", 0, 1000, 2000, 3000))
    g.tensor("u", w.NATIVE, w.FLOAT_32, [4, 2])
    g.tensor("y", w.APP_READ, w.FLOAT_32, [4, 2])
    seven = {0: "pad_constant_value", 1: ("I", 0), 2: ("B", w.PARAM), 3: {0: ("I", w.FLOAT_32), 2: ("d", 7.0)}}
    add = w.text("eltwise_type", "ElementWiseAdd")
    g.op("transpose", "Transpose", ["x"], ["t"], [w.Numbers("perm", [2], [1, 0]), PACKAGE, *supplemental])
    g.op("pad", "Pad", ["t"], ["p"], [w.whole("scheme", 0), w.Numbers("pad_amount", [2, 2], [1, 0, 0, 0]), seven, PACKAGE,
                                      *supplemental])
    minus = 0xFFFFFFFF
    g.op("slice", "StridedSlice", ["p"], ["s"], [w.Numbers("ranges", [2, 3], [3, minus, minus, 0, 2, 1], w.INT_32), PACKAGE])
    g.op("add", "Eltwise_Binary", ["s", "c"], ["u"], [add, PACKAGE, *supplemental])
    g.op("add more", "Eltwise_Binary", ["u", "b"], ["y"], [add, PACKAGE])
    return g


X = [1, 2, 3, 4, 5, 6]
Y = [103, 106, 1102, 1105, 2101, 2104, 3107, 3107]


class Bench:
    def __init__(self, checks, folder):
        self.checks, self.folder, self.path = checks, folder, folder / "made.dlc"
        (folder / "x.raw").write_bytes(struct.pack("<6f", *X))
        (folder / "list.txt").write_text(f"{folder / 'x.raw'}\n")

    def result(self):
        done = run("net-run", "--container", self.path, "--input_list", self.folder / "list.txt", "--output_dir",
                   self.folder / "out")
        if done.returncode:
            return done, None
        return done, list(struct.unpack("<8f", (self.folder / "out" / "Result_0" / "y.raw").read_bytes()))

    def expect(self, name, warnings=()):
        done, found = self.result()
        self.checks.equal(f"{name}: result", found, Y)
        lines = done.stderr.splitlines()
        self.checks.check(f"{name}: warnings", len(lines) == len(warnings) and
                          all(any(words in line for line in lines) for words in warnings), done.stderr)

    def report(self, path=None):
        return json.loads(run("dlc-info", "-i", path or self.path, "--json").stdout)["graphs"]


def permutations(b):
    rng = random.Random(1)
    w.write_container(b.path, chain())
    b.expect("as written")
    plain = b.folder / "plain.dlc"
    b.path.rename(plain)
    for seed in range(ROUNDS):
        extra = [Halves(name, [rng.uniform(-9, 9) for _ in range(rng.randrange(1, 5))])
                 for name in ("beta", "gamma", "aaa", "zzz", *(f"m{i}" for i in range(20)))[:rng.choice([0, 1, 2, 4, 24])]]
        w.write_container(b.path, chain(extra), shuffle=rng.shuffle)
        b.expect(f"permutation {seed}")
        found = {n["name"]: {a["name"]: a.get("values") for a in n["attributes"]} for n in b.report()[0]["nodes"]}
        for attribute in extra:
            values = list(struct.unpack(f"<{len(attribute.bytes) // 4}f", attribute.bytes))
            b.checks.equal(f"permutation {seed}: {attribute.name}", [found[op].get(attribute.name) for op in
                                                                    ("transpose", "pad", "add")], [values] * 3)
        done = run("dlc-diff", "-i1", plain, "-i2", b.path, "--json")
        named = {d["subject"].split()[-1] for d in json.loads(done.stdout)["differences"]}
        b.checks.equal(f"permutation {seed}: differences", named, {a.name for a in extra})


def strays(b):
    g = chain()
    g.data["nobody"] = b"1234"
    g.op_data[1][0].insert(0, {0: "pad_beta", 1: b"5678"})
    w.write_container(b.path, g)
    b.expect("stray data", ["data for the unknown tensor nobody",
                            "node 'pad': model.params has data for the unknown tensor pad_beta"])
    for op in g.op_data:
        op[0] += [{0: f"more{i}", 1: b""} for i in range(100)]
    w.write_container(b.path, g)
    done, found = b.result()
    b.checks.equal("a lot of stray data", (found, len(done.stderr.splitlines())), (Y, 20))
    b.checks.check("a lot of stray data is said", "data for more unknown tensors" in done.stderr, done.stderr)


def missing(b):
    g = chain([Halves("beta", [1])])
    g.op_data[0][0] = [data for data in g.op_data[0][0] if data[0] != "transpose_beta"]
    w.write_container(b.path, g)
    b.expect("a missing supplemental param", ["no data for the supplemental attribute beta, which is left out"])
    values = {a["name"]: a.get("values") for a in b.report()[0]["nodes"][0]["attributes"]}
    b.checks.equal("a missing supplemental param is shown", (values["beta"], values["perm"]), (None, [1, 0]))
    for command in ("dlc-viewer", "dlc-info"):
        done = run(command, "-i", b.path, "-s", b.folder / "saved.html")
        b.checks.equal(f"{command} of a missing supplemental param", done.returncode, 0)
    g.op_data[0][0], g.op_data[1][0] = [], []
    del g.data["c"]
    w.write_container(b.path, g)
    done, found = b.result()
    b.checks.equal("missing data", (done.returncode, found), (1, None))
    for words in ("node 'transpose': there is no data for attribute perm",
                  "node 'pad': there is no data for attribute pad_amount", "there is no data for static tensor c"):
        b.checks.check(f"missing data: {words}", words in done.stderr, done.stderr)
    g = chain()
    g.op_data[0][0] *= 2
    w.write_container(b.path, g)
    done, found = b.result()
    b.checks.check("data twice", found is None and "tensor transpose_perm has data twice" in done.stderr, done.stderr)


def foreign(b):
    """An op of another package keeps all its attributes, but for those that say nothing."""
    g = w.Graph("g")
    g.tensor("x", w.APP_WRITE, w.FLOAT_32, [1])
    g.tensor("y", w.APP_READ, w.FLOAT_32, [1])
    g.op("udo", "Mystery", ["x"], ["y"], [w.text("packageName", "Other"), Halves("beta", [1]), Halves("gamma", [2]),
                                          w.Numbers("zeta", [1], [3])])
    g.op_data[0][0] = g.op_data[0][0][:0:-1]
    w.write_container(b.path, g)
    done = run("dlc-info", "-i", b.path, "--verify", "--json")
    report = json.loads(done.stdout)
    b.checks.equal("foreign", (report["intact"], [f["message"] for f in report["findings"]]),
                   (True, ["there is no data for the supplemental attribute beta, which is left out"]))
    values = {a["name"]: a.get("values") for a in b.report()[0]["nodes"][0]["attributes"]}
    b.checks.equal("foreign values", [values[name] for name in ("beta", "gamma", "zeta")], [None, [2], [3]])


# ---- real containers ----

def shuffle_tables(stream, table, slot, rng):
    """Puts the references of a vector of tables into another order."""
    at = table.target(slot)
    if not at:
        return
    count = struct.unpack_from("<I", stream.data, at)[0]
    places = [at + 4 + 4 * i for i in range(count)]
    targets = [place + struct.unpack_from("<I", stream.data, place)[0] for place in places]
    rng.shuffle(targets)
    for place, target in zip(places, targets):
        stream.refer(place, target)


def shuffled(source, target, rng):
    with zipfile.ZipFile(source) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    params = Stream(entries, "model.params")
    for graph in params.nested().tables(0):
        shuffle_tables(params, graph, 1, rng)
        for op in graph.tables(2):
            shuffle_tables(params, op, 0, rng)
    params.save()
    names = list(entries)
    rng.shuffle(names)
    with zipfile.ZipFile(target, "w") as archive:
        for name in names:
            archive.writestr(name, entries[name])


def real(b):
    rng = random.Random(2)
    sources = (SHARED / "corpus" / "dlc" / "zipformer-decoder.v4.0.dlc",
               SHARED / "corpus" / "fidelity" / "deeplab-int8" / "quantized_deeplab.v4.0.dlc")
    for source in sources:
        if not source.exists():
            b.checks.skip(source.name, "it is not there")
            continue
        expected = b.report(source)
        for seed in range(5):
            shuffled(source, b.path, rng)
            b.checks.check(f"{source.name} {seed}", b.report() == expected)
            done = run("dlc-diff", "-i1", source, "-i2", b.path)
            b.checks.equal(f"{source.name} {seed}: no difference", (done.returncode, done.stderr), (0, ""))


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(checks, pathlib.Path(name))
        for part in (permutations, strays, missing, foreign, real):
            part(bench)
    checks.finish()


main()
