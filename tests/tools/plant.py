#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants corruptions in real containers, one of a kind each, for test_dlc_verify.py.

    plant.py KIND IN OUT        plants one
    plant.py --list             lists kinds and the containers they are made for

Corruptions that are deeper than the zip get right CRCs, so that nothing but the damage itself gives them away. Each
function changes what the container holds; positions come from the reader in tests/support."""

import pathlib
import struct
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from dlc_reader import Table  # noqa: E402

HEADER = 8  # of a stream
FLOAT, QUANTIZED, V41, V3 = ("zipformer-decoder.v4.0.dlc", "add2_uint8.v2.dlc", "block_32_quantized.v4.1.dlc",
                             "selu-udo.v3.dlc")


class Stream:
    """A stream of the zip, to change in place."""

    def __init__(self, entries, name):
        self.entries, self.name = entries, name
        self.data = bytearray(entries[name])
        self.start = HEADER

    def save(self):
        self.entries[self.name] = bytes(self.data)

    def root(self):
        return Table(self.data, self.start + struct.unpack_from("<I", self.data, self.start)[0])

    def nested(self):
        """The NETP root inside an NR64 stream."""
        inner = self.root().target(1) + 4
        return Table(self.data, inner + struct.unpack_from("<I", self.data, inner)[0])

    def number(self, at, form, value):
        struct.pack_into("<" + form, self.data, at, value)

    def text(self, at, old, new):
        """Replaces a part of a string with one of the same length."""
        size = struct.unpack_from("<I", self.data, at)[0]
        place = self.data.index(old, at + 4, at + 4 + size)
        assert len(old) == len(new)
        self.data[place:place + len(old)] = new

    def refer(self, place, target):
        """Lets a reference lead to another target behind it."""
        assert target > place, "references lead forwards"
        struct.pack_into("<I", self.data, place, target - place)


class Model(Stream):
    def __init__(self, entries):
        super().__init__(entries, "model")
        self.graph = self.root().tables(0)[0]

    def ops(self):
        return self.graph.tables(1)

    def op(self, kind):
        return next(op for op in self.ops() if op.string(1) == kind)

    def tensor(self, **wanted):
        """The first with these members: kind (a number) or name."""
        for tensor in self.graph.tables(2):
            if wanted.get("name", tensor.string(1)) == tensor.string(1) and \
                    wanted.get("kind", tensor.scalar(2, "I")) == tensor.scalar(2, "I"):
                return tensor
        raise LookupError(wanted)

    def references(self, table, slot):
        """Places of the references of a vector."""
        first = table.target(slot) + 4
        return [first + 4 * i for i in range(len(table.strings(slot)))]

    def target_of(self, place):
        return place + struct.unpack_from("<I", self.data, place)[0]


# ---- the zip ----

def flipped_weight(raw):
    raw[len(raw) // 2] ^= 1


def cut_off(raw):
    del raw[-100:]


def local_header(raw):
    raw[raw.index(b"PK\x03\x04") + 14] ^= 1


def remove_crc(raw, entry):
    """The entry says that it has no CRC, as those of 4.1 do. (Signature, place of the CRC, of the name's length, name.)"""
    for signature, field, length, name in ((b"PK\x01\x02", 16, 28, 46), (b"PK\x03\x04", 14, 26, 30)):
        at = raw.index(signature)
        while raw[at + name:at + name + struct.unpack_from("<H", raw, at + length)[0]] != entry:
            at = raw.index(signature, at + 1)
        raw[at + field:at + field + 4] = bytes(4)


def removed_crc(raw):
    """A changed byte in an entry without a CRC."""
    flipped_weight(raw)
    remove_crc(raw, b"model.params")


def wrong_method(raw):
    raw[raw.index(b"PK\x01\x02") + 10] = 99


def entry_too_long(raw):
    """The sizes of the last entry, in its ZIP64 field, reach over the end of the file."""
    at = raw.rindex(b"PK\x01\x02")
    names = struct.unpack_from("<H", raw, at + 28)[0]
    for place in (at + 46 + names + 4, at + 46 + names + 12):
        struct.pack_into("<Q", raw, place, struct.unpack_from("<Q", raw, place)[0] + 1 << 20)


# ---- flatbuffers ----

def reference_outside(entries):
    model = Model(entries)
    model.number(model.op("Gather").at(0), "I", 0x7FFFFFF0)
    model.save()


def broken_vtable(entries):
    model = Model(entries)
    model.number(model.op("Gather").vtable, "H", 3)
    model.save()


def stream_header(entries):
    params = Stream(entries, "model.params")
    params.number(4, "H", 1)
    params.save()


def identifier(entries):
    model = Stream(entries, "model")
    model.data[HEADER + 4:HEADER + 8] = b"NOTD"
    model.save()


# ---- names ----

def dangling_input(entries):
    model = Model(entries)
    model.text(model.target_of(model.references(model.op("Cast"), 2)[0]), b"decoder", b"decodes")
    model.save()


def duplicate_tensor(entries):
    model = Model(entries)
    tensors = model.graph.tables(2)
    first, second = sorted(tensors[2:4], key=lambda t: t.pos)
    name = second.target(1)
    model.refer(first.at(1), name) if name > first.at(1) else model.refer(second.at(1), first.target(1))
    model.save()


def duplicate_id(entries):
    model = Model(entries)
    first, second = model.graph.tables(2)[:2]
    model.number(second.at(0), "I", first.scalar(0, "I"))
    model.save()


def duplicate_op(entries):
    model = Model(entries)
    ops = sorted(model.ops(), key=lambda op: op.pos)
    model.refer(ops[0].at(0), max(ops[1].target(0), ops[2].target(0)))
    model.save()


def two_writers(entries):
    model = Model(entries)
    places = [model.references(op, 3)[0] for op in model.ops()]
    first, second = sorted(places, key=lambda place: place)[:2]
    model.refer(first, model.target_of(second))
    model.save()


def wrong_order(entries):
    """The first two ops of the list change places: the second reads what the first writes."""
    model = Model(entries)
    vector = model.graph.target(1) + 4
    places = [model.target_of(vector + 4 * i) for i in range(2)]
    for i in range(2):
        model.refer(vector + 4 * i, places[1 - i])
    params = Stream(entries, "model.params")
    vector = params.nested().tables(0)[0].target(2) + 4
    places = [vector + 4 * i + struct.unpack_from("<I", params.data, vector + 4 * i)[0] for i in range(2)]
    for i in range(2):
        params.refer(vector + 4 * i, places[1 - i])
    model.save()
    params.save()


# ---- params against the model ----

def other_graph(entries):
    params = Stream(entries, "model.params")
    params.text(params.nested().tables(0)[0].target(0), b"epoch", b"epocH")
    params.save()


def data_for_nobody(entries):
    params = Stream(entries, "model.params")
    params.text(params.nested().tables(0)[0].tables(1)[0].target(0), b"decoder", b"decodes")
    params.save()


def buffer_out_of_range(entries):
    params = Stream(entries, "model.params")
    entry = next(t for t in params.nested().tables(0)[0].tables(1) if t.at(2))
    params.number(entry.at(2), "Q", 12345)
    params.save()


def lost_op_params(entries):
    params = Stream(entries, "model.params")
    graph = params.nested().tables(0)[0]
    params.number(graph.target(2), "I", len(graph.tables(2)) - 1)
    params.save()


def position_outside(entries):
    params = Stream(entries, "model.params")
    position = params.root().tables(0)[0].tables(1)[0].table(3)
    params.number(position.at(1), "Q", 1 << 40)
    params.save()


# ---- tensors ----

def constant_dims(entries):
    model = Model(entries)
    model.number(model.tensor(name="decoder.conv.weight").target(3) + 4, "I", 2)
    model.save()


def activation_dims(entries):
    model = Model(entries)
    model.number(model.tensor(name="/decoder/Mul_output_0").target(3) + 8, "I", 3)
    model.save()


def unknown_dtype(entries):
    model = Model(entries)
    model.number(model.tensor(kind=3).at(6), "I", 0x0999)
    model.save()


def constant_as_activation(entries):
    model = Model(entries)
    model.number(model.tensor(kind=4).at(2), "I", 3)
    model.save()


def lost_output(entries):
    model = Model(entries)
    model.number(model.tensor(kind=1).at(2), "I", 3)
    model.save()


def zero_scale(entries):
    model = Model(entries)
    model.number(model.tensor(name="add/y").table(5).table(2).at(3), "f", 0.0)
    model.save()


def range_and_scale(entries):
    model = Model(entries)
    model.number(model.tensor(name="add/y").table(5).table(2).at(3), "f", 0.5)
    model.save()


def endless_maximum(entries):
    model = Model(entries)
    model.number(model.tensor(name="Identity").table(5).table(2).at(2), "f", float("inf"))
    model.save()


def lost_encoding(entries):
    model = Model(entries)
    quant = model.tensor(name="add/y").table(5)
    model.number(quant.pos + struct.unpack_from("<H", model.data, quant.vtable + 4 + 4)[0], "I", 0x100)
    model.number(quant.vtable + 4 + 4, "H", 0)  # the slot of scale and offset
    model.save()


# ---- attributes ----

def unknown_usage(entries):
    model = Model(entries)
    model.number(model.op("Gather").tables(4)[0].at(2), "B", 7)
    model.save()


def lost_param(entries):
    model = Model(entries)
    attribute = next(a for a in model.op("Transpose").tables(4) if a.string(0) == "perm")
    model.text(attribute.target(0), b"perm", b"perx")
    model.save()


def lost_package(entries):
    model = Model(entries)
    attribute = next(a for a in model.op("Gather").tables(4) if a.string(0) == "packageName")
    model.text(attribute.target(0), b"packageName", b"packageNone")
    model.save()


# ---- metadata and version 3 ----

def metadata_key(entries):
    entries["dlc.metadata"] = entries["dlc.metadata"].replace(b"converter-version=", b"converter-visions=")


def layer_of_nobody(entries):
    params = Stream(entries, "model.params")
    params.text(params.root().tables(0)[0].target(0), b"sequential", b"sequentiel")
    params.save()


def dangling_layer(entries):
    model = Stream(entries, "model")
    layer = next(t for t in model.root().tables(1) if t.string(2) == "UDO")
    model.text(layer.target(3) + 4 + struct.unpack_from("<I", model.data, layer.target(3) + 4)[0], b"sequential", b"sequentiel")
    model.save()


# kind → container, what the findings say, function; those of the zip change the file's bytes
ZIP = {
    "flipped-weight": (FLOAT, "do not match their CRC", flipped_weight),
    "cut-off": (FLOAT, "cut off", cut_off),
    "local-header": (FLOAT, "local header of entry", local_header),
    "removed-crc": (FLOAT, "do not match their CRC", removed_crc),
    "wrong-method": (FLOAT, "unknown method", wrong_method),
    "entry-too-long": (FLOAT, "broken zip", entry_too_long),
}
DEEPER = {
    "reference-outside": (FLOAT, "is damaged", reference_outside),
    "broken-vtable": (FLOAT, "is damaged", broken_vtable),
    "stream-header": (FLOAT, "but model.params of", stream_header),
    "identifier": (FLOAT, "not identified as", identifier),
    "dangling-input": (FLOAT, "unknown tensor", dangling_input),
    "duplicate-tensor": (FLOAT, "two tensors are named", duplicate_tensor),
    "duplicate-id": (FLOAT, "as another tensor has", duplicate_id),
    "duplicate-op": (FLOAT, "two ops have this name", duplicate_op),
    "two-writers": (FLOAT, "two ops write", two_writers),
    "wrong-order": (FLOAT, "before an op has written it", wrong_order),
    "other-graph": (FLOAT, "where model.params has", other_graph),
    "data-for-nobody": (FLOAT, "there is no data for static tensor", data_for_nobody),
    "buffer-out-of-range": (FLOAT, "refers to buffer 12345", buffer_out_of_range),
    "lost-op-params": (FLOAT, "where model.params has", lost_op_params),
    "position-outside": (V41, "outside model.params.bin", position_outside),
    "constant-dims": (FLOAT, "bytes of data", constant_dims),
    "activation-dims": (FLOAT, "follows from the inputs", activation_dims),
    "unknown-dtype": (FLOAT, "unknown type 0x0999", unknown_dtype),
    "constant-as-activation": (FLOAT, "which is not a constant", constant_as_activation),
    "lost-output": (FLOAT, "has no output", lost_output),
    "zero-scale": (QUANTIZED, "scale that is not positive", zero_scale),
    "range-and-scale": (QUANTIZED, "does not follow from its scale", range_and_scale),
    "endless-maximum": (QUANTIZED, "is not finite", endless_maximum),
    "lost-encoding": (QUANTIZED, "has no encoding", lost_encoding),
    "unknown-usage": (FLOAT, "neither a param nor supplemental", unknown_usage),
    "lost-param": (FLOAT, "lacks its param perm", lost_param),
    "lost-package": (FLOAT, "does not say its package", lost_package),
    "metadata-key": (FLOAT, "no line converter-version", metadata_key),
    "layer-of-nobody": (V3, "layer that the model does not have", layer_of_nobody),
    "dangling-layer": (V3, "unknown tensor", dangling_layer),
}
KINDS = {**ZIP, **DEEPER}


def plant(kind, source, target):
    change = KINDS[kind][2]
    if kind in ZIP:
        raw = bytearray(pathlib.Path(source).read_bytes())
        change(raw)
        pathlib.Path(target).write_bytes(raw)
        return
    with zipfile.ZipFile(source) as archive:
        entries = {}
        for info in archive.infolist():
            with open(source, "rb") as file:  # CRCs of 4.1 are 0, which zipfile would refuse
                file.seek(info.header_offset + 26)
                names, extras = struct.unpack("<HH", file.read(4))
                file.seek(names + extras, 1)
                entries[info.filename] = file.read(info.file_size)
    change(entries)
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        for name, (container, words, _) in KINDS.items():
            print(f"{name:24} {container:28} {words}")
    elif len(sys.argv) == 4 and sys.argv[1] in KINDS:
        plant(*sys.argv[1:])
    else:
        sys.exit(__doc__)
