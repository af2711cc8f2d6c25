# SPDX-License-Identifier: Apache-2.0
"""2,000 random float models in which a native operator is claimed with random types of the guide's list: each converts, its
activations stay floats, and what is before the user-defined operation is as without it."""

import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import onnx_writer as onnx  # noqa: E402
from checks import BUILD, Checks  # noqa: E402

PAIRS, SEED = 2000, 20
GUIDE = ("FLOAT_16", "FLOAT_32", "FIXED_4", "FIXED_8", "FIXED_16", "UINT_8", "UINT_16", "UINT_32", "STRING")
UNARY = {"Relu": [], "Sigmoid": [], "Tanh": [], "Softmax": ["axis"], "LeakyRelu": ["alpha"], "HardSigmoid": ["alpha", "beta"],
         "Elu": ["alpha"], "Neg": [], "Exp": [], "Softplus": []}
BINARY = ("Add", "Mul", "Sub", "Max")
SPATIAL = ("MaxPool", "AveragePool")
PARAMS = {"axis": ("INT_32", -1), "alpha": ("FLOAT_32", 0.25), "beta": ("FLOAT_32", 0.5)}


class Net:
    """A chain of operators with branches; the operator that is claimed stands in it once."""

    def __init__(self, rng):
        self.rng, self.model, self.values, self.count = rng, onnx.Model(opset=13), ["x"], 0
        self.dims = rng.choice(([1, 6], [2, 3, 2], [1, 2, 4, 4]))
        self.model.input("x", onnx.FLOAT, self.dims)
        if len(self.dims) == 4:  # from here on it is an image
            self.constant([2, 2, 1, 1], "w0")
            self.add("Conv", ["x", "w0"])
            self.values = self.values[1:]

    def constant(self, dims, name):
        count = 1
        for dim in dims:
            count *= dim
        self.model.tensor(name, onnx.FLOAT, dims, [self.rng.randint(-8, 8) / 4 for _ in range(count)])

    def add(self, op, inputs):
        self.count += 1
        out = f"t{self.count}"
        more = {name: PARAMS[name][1] for name in UNARY.get(op, [])}
        if op in SPATIAL:
            more = {"kernel_shape": [1, 1]}
        self.model.node(op, inputs, [out], name=f"n{self.count}", **more)
        if self.rng.random() < 0.5:
            self.model.value(out, onnx.FLOAT, self.dims)
        self.values.append(out)

    def step(self, ops):
        op = self.rng.choice(ops)
        source = self.values[-1]
        if op in BINARY:
            other = self.rng.choice(self.values)
            if self.rng.random() < 0.4:
                other = f"w{self.count + 1}"
                self.constant([self.dims[-1]], other)
            self.add(op, [source, other])
        else:
            self.add(op, [source])
        return op

    def finish(self):
        self.model.output(self.values[-1], onnx.FLOAT, self.dims)


def random_types(rng):
    """(the keys of an entry, the types that processors take)"""
    if rng.random() < 0.3:
        table = {core: rng.choice(GUIDE) for core in rng.sample(("CPU", "GPU", "DSP"), rng.randint(1, 3))}
        return {"per_core_data_types": table}, set(table.values())
    declared = rng.choice(GUIDE)
    return {"data_type": declared}, {declared}


def random_pair(rng):
    """(model, config, types of its activations: a set for each)"""
    net = Net(rng)
    ops = [*UNARY, *BINARY, *(SPATIAL if len(net.dims) == 4 else ())]
    claimed = rng.choice(ops)
    others = [op for op in ops if op != claimed]
    for _ in range(rng.randint(0, 4)):
        net.step(others)
    data = rng.random() < 0.3 and claimed in BINARY
    if data:
        net.constant([net.dims[-1]], "data")
    inputs = [net.values[-1], "data" if data else rng.choice(net.values)] if claimed in BINARY else [net.values[-1]]
    net.add(claimed, inputs)
    for _ in range(rng.randint(0, 4)):
        net.step(others)
    net.finish()
    entries, types = [], []
    for i, name in enumerate([*inputs, "out"]):
        if name == "data":
            entries.append({"static": True, "data_type": rng.choice(("FLOAT_32", "FLOAT_16"))})
            continue
        entry, declared = random_types(rng)
        entries.append(entry)
        types.append(declared)
    definition = {"type": claimed, "inputs": entries[:-1], "outputs": entries[-1:], "core_types": ["CPU"],
                  "scalar_params": [{"name": name, "data_type": PARAMS[name][0]} for name in UNARY.get(claimed, [])]}
    config = {"UdoPackage_0": {"UDO_PACKAGE_NAME": "P", "Operators": [definition]}}
    return net.model, config, types


STRING = r'"(?:[^"\\]|\\.)*"'
NODE = re.compile(rf'node {STRING} (\S+) \(([^)]*)\).* -> (.*)$')


class Dump:
    """A graph as text: the line that makes each tensor, and what it is made of."""

    def __init__(self, lines):
        self.maker, self.reads, self.udo = {}, {}, None
        for line in lines:
            node = NODE.match(line)
            names = re.findall(STRING, node[3] if node else line)
            if node:
                for name in names:
                    self.maker[name], self.reads[name] = line, re.findall(STRING, node[2])
            elif line.startswith(("input", "const")):
                self.maker[names[0]] = line

    def before(self, names):
        """{tensor: its line} of all that these depend on."""
        found, todo = {}, list(names)
        while todo:
            name = todo.pop()
            if name not in found:
                found[name] = self.maker[name]
                todo += self.reads.get(name, [])
        return found


def read_results(text):
    """(status, diagnostics, lines of the graph) of each conversion."""
    for part in text.split("@@ end\n")[:-1]:
        lines = part.splitlines()
        said = [line[3:] for line in lines if line.startswith("@@ ")]
        yield said[0], said[1:], [line for line in lines if not line.startswith("@@ ")]


def check_pair(label, plain, claimed, op, types):
    """What is wrong with a pair, or None."""
    if plain[0] != "success" or claimed[0] != "success":
        return f"{label}: {plain[:2]}, {claimed[:2]}"
    before, after = Dump(plain[2]), Dump(claimed[2])
    node = next((line for line in claimed[2] if line.startswith("node") and f" P::{op} (" in line), None)
    if not node:
        return f"{label}: no {op} in {claimed[2]}"
    match = NODE.match(node)
    if "float32" not in match[3]:
        return f"{label}: the output is {match[3]}"
    for name, line in after.before(re.findall(STRING, match[2])).items():
        own = line.startswith("const") and (name.startswith('"data') or ".float16" in name)
        if not own and before.maker.get(name) != line:
            return f"{label}: before the operation {line!r} instead of {before.maker.get(name)!r}"
    warnings = sum("udo-type-differs" in line for line in claimed[1])
    differs = any("FLOAT_32" not in declared for declared in types)
    if warnings != int(differs) or any(line.startswith("error") for line in claimed[1]):
        return f"{label}: {warnings} warnings, {claimed[1]}"
    return None


def main():
    checks, rng, wrong = Checks(), random.Random(SEED), []
    with tempfile.TemporaryDirectory() as name:
        folder, pairs, lines = pathlib.Path(name), [], []
        for i in range(PAIRS):
            model, config, types = random_pair(rng)
            model.save(folder / f"{i}.onnx")
            (folder / f"{i}.json").write_text(json.dumps(config))
            pairs.append((config["UdoPackage_0"]["Operators"][0]["type"], types))
            lines += [f"{folder}/{i}.onnx", f"{folder}/{i}.onnx {folder}/{i}.json"]
        done = subprocess.run([BUILD / "tests" / "convert" / "dump_pairs"], input="\n".join(lines) + "\n",
                              capture_output=True, text=True, check=False)
        checks.equal(f"dump_pairs {done.stderr[:500]}", done.returncode, 0)
        results = list(read_results(done.stdout))
        checks.equal("conversions", len(results), 2 * PAIRS)
        for i, (op, types) in enumerate(pairs[:len(results) // 2]):
            fault = check_pair(f"pair {i}, {op}, {types}", results[2 * i], results[2 * i + 1], op, types)
            wrong += [fault] if fault else []
        checks.check(f"{len(wrong)} of {PAIRS} pairs", not wrong, "\n".join(wrong[:5]))
    checks.finish()


main()
