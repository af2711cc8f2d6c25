#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where the weights of a model stand, and which of them a container has in another order: what bench/permuted copies.
usage: pieces.py MODEL > PIECES

Of ONNX models of bench/models.py with weights inside: filters of Conv become HWIO, right factors of MatMul [out, in]."""

import mmap
import sys

GRAPH, NODE, INITIALIZER = 7, 1, 5
DIMS, NAME, RAW = 1, 8, 9
INPUT, OP_TYPE = 1, 4


def fields(data, at, end):
    """(number, value or the range of its bytes) of the fields of a message."""
    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < end:
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 5:
            at += 4
        else:
            size = varint()
            yield key >> 3, (at, at + size)
            at += size


def pieces(data):
    """(offset, rows, columns, parts) of each weight, as bench/permuted takes them."""
    graph = next(value for number, value in fields(data, 0, len(data)) if number == GRAPH)
    text = lambda place: bytes(data[slice(*place)]).decode()  # noqa: E731
    role = {}
    for number, place in fields(data, *graph):
        if number == NODE:
            node = list(fields(data, *place))
            op_type = next(text(value) for key, value in node if key == OP_TYPE)
            inputs = [text(value) for key, value in node if key == INPUT]
            if op_type in ("Conv", "MatMul"):
                role[inputs[1]] = op_type
    for number, place in fields(data, *graph):
        if number == INITIALIZER:
            tensor = list(fields(data, *place))
            dims = [value for key, value in tensor if key == DIMS]
            name = next(text(value) for key, value in tensor if key == NAME)
            raw = [value for key, value in tensor if key == RAW]
            if raw:
                yield piece(dims, role.get(name), *raw[0])


def piece(dims, role, start, end):
    if role == "MatMul":
        return start, dims[0], dims[1], 1
    if role == "Conv":
        return start, dims[0], dims[1] * dims[2] * dims[3], dims[2] * dims[3]
    return start, 1, (end - start) // 4, 1


def main():
    with open(sys.argv[1], "rb") as file:
        for numbers in pieces(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)):
            print(*numbers)


if __name__ == "__main__":
    main()
