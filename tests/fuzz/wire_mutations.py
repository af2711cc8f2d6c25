# SPDX-License-Identifier: Apache-2.0
"""Changes to protobuf messages that leave the lengths of all messages around right: without the schema, a field whose bytes
are fields themselves counts as a message."""

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
SPECIAL = (0, 1, 2, 3, 7, 8, 16, 64, 127, 255, 1 << 16, (1 << 31) - 1, 1 << 31, 1 << 32, 1 << 40, (1 << 63) - 1, 1 << 63,
           (1 << 64) - 1, (1 << 64) - 2)
LARGEST_MESSAGE = 1 << 20  # larger fields within a message are taken for weights
MANY = 4000  # fields of a message that are looked at


class Field:
    """Where a field is: start of its tag, of its content, and the end."""

    def __init__(self, number, kind, start, content, end):
        self.number, self.kind, self.start, self.content, self.end = number, kind, start, content, end


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(data, at, end):
    value = 0
    for shift in range(0, 70, 7):
        if at >= end:
            break
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value, at
    raise ValueError("no varint")


def fields_of(data, at, end):
    """The fields of a message; ValueError when it is none."""
    found = []
    while at < end and len(found) < MANY:
        start = at
        tag, at = read_varint(data, at, end)
        number, kind, content = tag >> 3, tag & 7, at
        if kind == VARINT:
            _, at = read_varint(data, at, end)
        elif kind == BYTES:
            size, content = read_varint(data, at, end)
            at = content + size
        elif kind in (FIXED64, FIXED32):
            at += 8 if kind == FIXED64 else 4
        else:
            raise ValueError("no field")
        if at > end or not 0 < number < 20000:
            raise ValueError("no field")
        found.append(Field(number, kind, start, content, at))
    return found


def inner_fields(data, field):
    """The fields of the message in a field; [] when it holds none."""
    if field.kind != BYTES or not 0 < field.end - field.content <= LARGEST_MESSAGE:
        return []
    try:
        return fields_of(data, field.content, field.end)
    except ValueError:
        return []


def pick(rng, data):
    """A field at any depth, with the fields of its message and the fields around it, outermost first."""
    fields, around = fields_of(data, 0, len(data)), []
    while True:
        wide = [field for field in fields if field.kind == BYTES] or fields
        field = rng.choice(wide if rng.random() < 0.8 else fields)
        within = inner_fields(data, field) if rng.random() < 0.85 or not around else []
        if not within:
            return field, fields, around
        around.append(field)
        fields = within


def replaced(data, around, start, end, new):
    """The bytes from start to end become new ones; the lengths of the messages around are mended."""
    for field in reversed(around):
        head = bytes(data[field.start:field.content])
        _, tag_size = read_varint(head, 0, len(head))
        content = bytes(data[field.content:start]) + new + bytes(data[end:field.end])
        start, end, new = field.start, field.end, head[:tag_size] + varint(len(content)) + content
    return bytes(data[:start]) + new + bytes(data[end:])


def with_content(data, field, content):
    """The field with other bytes."""
    _, at = read_varint(data, field.start, field.end)
    return bytes(data[field.start:at]) + varint(len(content)) + content


# ---- mutations ----

def wire_value(rng, data, _others):
    """A number becomes a special one, or one more or less."""
    for _ in range(50):
        field, _, around = pick(rng, data)
        if field.kind == VARINT:
            value, _ = read_varint(data, field.content, field.end)
            value = rng.choice((*SPECIAL, value + 1, max(0, value - 1), value * 2)) & ((1 << 64) - 1)
            return replaced(data, around, field.content, field.end, varint(value))
        if field.kind in (FIXED32, FIXED64):
            return replaced(data, around, field.content, field.end, rng.randbytes(field.end - field.content))
    return data


def wire_delete(rng, data, _others):
    field, _, around = pick(rng, data)
    return replaced(data, around, field.start, field.end, b"")


def wire_repeat(rng, data, _others):
    field, _, around = pick(rng, data)
    return replaced(data, around, field.end, field.end, bytes(data[field.start:field.end]) * rng.choice((1, 1, 2, 20)))


def wire_swap(rng, data, _others):
    """Two fields of one message change places."""
    field, fields, around = pick(rng, data)
    other = rng.choice(fields)
    first, second = sorted((field, other), key=lambda f: f.start)
    if first is second:
        return data
    middle = bytes(data[first.end:second.start])
    return replaced(data, around, first.start, second.end,
                    bytes(data[second.start:second.end]) + middle + bytes(data[first.start:first.end]))


def wire_graft(rng, data, others):
    """A field's bytes are those of another one, of this model or another, that has the same number."""
    field, _, around = pick(rng, data)
    donor = data if rng.random() < 0.7 else rng.choice(others)
    for _ in range(50):
        try:
            other, _, _ = pick(rng, donor)
        except ValueError:
            break
        if field.kind == other.kind == BYTES and other.number == field.number and other.end - other.content < LARGEST_MESSAGE:
            return replaced(data, around, field.start, field.end,
                            with_content(data, field, bytes(donor[other.content:other.end])))
    return data


def wire_resize(rng, data, _others):
    """A field's bytes become fewer or more: lists, names, payloads."""
    for _ in range(50):
        field, _, around = pick(rng, data)
        if field.kind == BYTES:
            content = bytes(data[field.content:field.end])
            cut = content[:rng.randrange(len(content) + 1)]
            return replaced(data, around, field.start, field.end,
                            with_content(data, field, rng.choice((cut, content + content[:64], b""))))
    return data


CHANGES = (wire_value, wire_value, wire_delete, wire_repeat, wire_swap, wire_graft, wire_graft, wire_resize)


def mutate(rng, data, others):
    """A changed copy and the name of the change. ValueError when it is no protobuf message."""
    change = rng.choice(CHANGES)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = change(rng, data, others)
    return bytes(data), change.__name__
