# SPDX-License-Identifier: Apache-2.0
"""Writes TensorFlow checkpoints (tensor bundles) without TensorFlow.

    save_bundle(folder / "variables" / "variables", {"w": array, "b": array}, shards=2)

The variables of a saved model of the second version are found by object_graph's map from their names to keys:

    save_bundle(prefix, {"w/.ATTRIBUTES/VARIABLE_VALUE": array, OBJECT_GRAPH: object_graph({"w": "w/.ATTRIBUTES/VARIABLE_VALUE"})})
"""

import struct

import numpy as np
from onnx_writer import Message, varint
from tf_writer import CODES, Tensor, shape_message

MAGIC = 0xDB4775248B80FB57
OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
BLOCK_ENTRIES = 16  # a small number, so that tests have several blocks


def _crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


CRC_TABLE = _crc_table()


def masked_crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _block(entries):
    """Entries share no prefixes: each is a restart point."""
    data, restarts = bytearray(), []
    for key, value in entries:
        restarts.append(len(data))
        data += varint(0) + varint(len(key)) + varint(len(value)) + key + value
    restarts = restarts or [0]
    return bytes(data) + struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts))


def _packed(block):
    """Snappy's form of a block: literals of up to 60 bytes."""
    pieces = [block[i:i + 60] for i in range(0, len(block), 60)]
    return varint(len(block)) + b"".join(bytes([(len(piece) - 1) << 2]) + piece for piece in pieces)


def _table(entries, packed):
    """A sorted table of strings: data blocks, an empty block of meta data, the index, the footer."""
    out = bytearray()

    def add(block):
        block = _packed(block) if packed else block
        form = b"\1" if packed else b"\0"
        place = varint(len(out)) + varint(len(block))
        out.extend(block + form + struct.pack("<I", masked_crc32c(block + form)))
        return place

    index = []
    for start in range(0, len(entries), BLOCK_ENTRIES):
        part = entries[start:start + BLOCK_ENTRIES]
        index.append((part[-1][0], add(_block(part))))
    places = add(_block([])) + add(_block(index))
    return bytes(out) + places.ljust(40, b"\0") + struct.pack("<Q", MAGIC)


def _payload(tensor):
    """Bytes of a tensor, and the CRC32C that its entry has."""
    if tensor.dtype != "string":
        data = np.ascontiguousarray(tensor.array).tobytes()
        return data, masked_crc32c(data)
    strings = [value.encode() if isinstance(value, str) else bytes(value) for value in tensor.array.reshape(-1)]
    lengths = b"".join(varint(len(string)) for string in strings)
    # Of the lengths the checksum takes fixed numbers, and then the checksum itself.
    fixed = struct.pack(f"<{len(strings)}I", *map(len, strings))
    middle = struct.pack("<I", masked_crc32c(fixed))
    return lengths + middle + b"".join(strings), masked_crc32c(fixed + middle + b"".join(strings))


def save_bundle(prefix, tensors, shards=1, packed=False):
    """tensors: arrays or Tensors by key; they are dealt out to the shards in turn. packed: the index is compressed."""
    header = Message().integer(1, shards).message(3, Message().integer(1, 1))
    data = [bytearray() for _ in range(shards)]
    entries = [(b"", b"".join(header.parts))]
    for place, key in enumerate(sorted(tensors, key=str.encode)):
        tensor = tensors[key] if isinstance(tensors[key], Tensor) else Tensor(tensors[key])
        shard = place % shards
        payload, crc = _payload(tensor)
        entry = Message().integer(1, CODES[tensor.dtype]).message(2, shape_message(tensor.array.shape)).integer(3, shard)
        entry.integer(4, len(data[shard])).integer(5, len(payload)).encoded(varint(6 << 3 | 5) + struct.pack("<I", crc))
        entries.append((key.encode(), b"".join(entry.parts)))
        data[shard] += payload
    prefix.parent.mkdir(parents=True, exist_ok=True)
    prefix.with_name(prefix.name + ".index").write_bytes(_table(entries, packed))
    for shard, payloads in enumerate(data):
        prefix.with_name(f"{prefix.name}.data-{shard:05}-of-{shards:05}").write_bytes(payloads)


def object_graph(keys):
    """The string tensor that says under which key the variable of a name is."""
    graph, root = Message(), Message()
    for place, name in enumerate(keys):
        root.message(1, Message().integer(1, place + 1).data(2, name.split(":")[0]))
    graph.message(1, root)
    for name, key in keys.items():
        graph.message(1, Message().message(2, Message().data(1, "VARIABLE_VALUE").data(2, name).data(3, key)))
    return np.array(b"".join(graph.parts), object)
