# SPDX-License-Identifier: Apache-2.0
"""Models with UDO configs, and what their containers must hold."""

FLOAT, INT = "Float_32", "Int_32"


class UdoCase:
    """`counts`: nodes of each (type, package). `params`: type → {param: (dtype, value)}, the same on every node."""

    def __init__(self, name, model, config, counts, params, channels_first=(), unmatched=()):
        self.name, self.model, self.config = name, model, config
        self.counts, self.params = counts, params
        self.channels_first = channels_first  # types that must see NCHW
        self.unmatched = unmatched  # definitions that no node of the model matches

    def problems(self, info, container, messages):
        """What is wrong with a container, by the report of dlc-info --json, a reader of our own, and the messages."""
        nodes = [node for node in info["graphs"][0]["nodes"] if node["package"] != "qti.aisw"]
        counts = {}
        for node in nodes:
            counts[node["type"], node["package"]] = counts.get((node["type"], node["package"]), 0) + 1
        wrong = [] if counts == self.counts else [f"UDO nodes are {counts}"]
        for node in nodes:
            wrong += self._node_problems(node, container)
        for op_type in self.unmatched:
            lines = [line for line in messages.splitlines() if "warning" in line and op_type in line]
            if len(lines) != 1:
                wrong.append(f"{len(lines)} warnings about {op_type}")
        permutes = sum("warning" in line and "permute" in line for line in messages.splitlines())
        expected = 2 * sum(node["type"] in self.channels_first for node in nodes)
        if permutes != expected:
            wrong.append(f"{permutes} permutes are reported, not {expected}")
        return wrong

    def _node_problems(self, node, container):
        name = node["name"]
        wrong = []
        found = {a["name"]: (a["dtype"], a.get("value", a.get("values"))) for a in node["attributes"]}
        for param, (dtype, value) in self.params[node["type"]].items():
            shown = found.get(param, (None, None))
            if shown[0] != dtype or not close(shown[1], value):
                wrong.append(f"{name}: {param} is {shown}")
        if len(node["inputs"]) != 1 or container.tensors[node["inputs"][0]].kind == "STATIC":
            wrong.append(f"{name}: inputs are {node['inputs']}")
        else:
            wrong += self._layout_problems(node, container)
        return wrong

    def _layout_problems(self, node, container):
        """An op that must see NCHW has one permute before and one after; another has none."""
        writers = [op for op in container.ops if op.outputs == node["inputs"]]
        readers = [op for op in container.ops if node["outputs"][0] in op.inputs]
        before = [op.name for op in writers if op.type == "Transpose" and op.name.endswith(".nchw")]
        after = [op.name for op in readers if op.type == "Transpose" and op.name.endswith(".nhwc")]
        expected = 1 if node["type"] in self.channels_first else 0
        if (len(before), len(after)) != (expected, expected):
            return [f"{node['name']}: permutes before {before}, after {after}"]
        return []


def close(found, expected):
    if isinstance(expected, float):
        return isinstance(found, (int, float)) and abs(found - expected) < 1e-6
    return found == expected


UDO_CASES = [
    UdoCase("ppocr-hardsigmoid", "ppocr-cls", "hardsigmoid.udo.json",
            {("HardSigmoid", "HardSigmoidUdoPackage"): 9},
            {"HardSigmoid": {"alpha": (FLOAT, 0.2), "beta": (FLOAT, 0.5)}}),
    UdoCase("yunet-maxpool-nchw", "yunet", "maxpool.udo.json",
            {("MaxPool", "PoolUdoPackage"): 4},
            {"MaxPool": {"kernel_shape": (INT, [2, 2]), "strides": (INT, [2, 2]), "pads": (INT, [0, 0, 0, 0]),
                         "ceil_mode": (INT, 0)}},
            channels_first=("MaxPool",)),
    UdoCase("transformer-softmax-two-packages", "transformer-mlm", "ops.udo.json",
            {("Softmax", "SoftmaxUdoPackage"): 2, ("Relu", "ActivationUdoPackage"): 2},
            {"Softmax": {"axis": (INT, 2)}, "Relu": {}},
            unmatched=("Erf",)),
]
