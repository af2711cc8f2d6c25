# SPDX-License-Identifier: Apache-2.0
"""Damages containers in ways that get past the outer checks: the zip stays whole and its CRCs right when the damage is
inside an entry, so that the readers of the flatbuffers see it."""

import io
import struct
import zipfile
import zlib

WORDS = (0, 1, 2, 3, 7, 8, 255, 65535, 65536, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF)
HEAD = 65536  # bytes of an entry that field mutations look at: what follows in large ones are weights


class Entry:
    """Where an entry's data, and its CRC in both headers, are in the file."""

    def __init__(self, name, start, size, crc_places):
        self.name, self.start, self.size, self.crc_places = name, start, size, crc_places


def entries_of(data):
    """The entries of a whole container."""
    found = []
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        central = archive.start_dir
        for info in archive.infolist():
            name_size, extra_size, comment_size = struct.unpack_from("<HHH", data, central + 28)
            local = info.header_offset
            start = local + 30 + sum(struct.unpack_from("<HH", data, local + 26))
            found.append(Entry(info.filename, start, info.file_size, (local + 14, central + 16)))
            central += 46 + name_size + extra_size + comment_size
    return found


def mend_crc(data, entry):
    """Makes the CRC right again, unless the file carries none (0, as in version 4.1)."""
    if struct.unpack_from("<I", data, entry.crc_places[1])[0]:
        crc = zlib.crc32(data[entry.start:entry.start + entry.size])
        for place in entry.crc_places:
            struct.pack_into("<I", data, place, crc)


def word(data, at):
    return struct.unpack_from("<I", data, at)[0]


def pick_entry(rng, data):
    """Mostly the entries that are decoded, seldom an extra one."""
    entries = [entry for entry in entries_of(data) if entry.size > 16]
    decoded = [entry for entry in entries if entry.name in ("model", "model.params", "dlc.metadata")]
    return rng.choice(decoded if decoded and rng.random() < 0.9 else entries)


def references(data, base, size):
    """Positions that may hold an offset of a flatbuffer, each with what it would lead to."""
    return [(at, at + word(data, at)) for at in range(base, base + size - 3, 4)
            if 4 <= word(data, at) < base + size - at]


# ---- mutations of the whole file ----

def flip_bits(rng, data, _others):
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def flip_directory(rng, data, _others):
    """Bits of the zip's central directory."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        start = archive.start_dir
    for _ in range(rng.choice((1, 1, 2, 4))):
        data[rng.randrange(start, len(data))] ^= 1 << rng.randrange(8)


def truncate(rng, data, _others):
    del data[rng.randrange(len(data)):]


def remove_piece(rng, data, _others):
    at = rng.randrange(len(data))
    del data[at:at + rng.choice((1, 4, 64, 4096))]


def splice(rng, data, others):
    """A piece of another container (or of this one) over or between the bytes."""
    donor = rng.choice(others)
    start, size = rng.randrange(len(donor)), rng.choice((4, 16, 256, 4096, 65536))
    piece, at = donor[start:start + size], rng.randrange(len(data))
    data[at:at + (len(piece) if rng.random() < 0.7 else 0)] = piece


# ---- mutations inside an entry; the CRC is mended after them ----

def inner_bits(rng, data, entry, _others):
    limit = min(entry.size, HEAD)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        data[entry.start + rng.randrange(limit)] ^= 1 << rng.randrange(8)


def inner_word(rng, data, entry, _others):
    """Words become special values, or one more or less than they are."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = entry.start + 4 * rng.randrange(min(entry.size, HEAD) // 4)
        near = (word(data, at) + rng.choice((-1, 1, 4, -4))) & 0xFFFFFFFF
        struct.pack_into("<I", data, at, rng.choice((*WORDS, near, near, entry.size, entry.size - 8)))


def inner_swap(rng, data, entry, _others):
    """Two words, or two half words (slots of vtables), change places."""
    size, form = rng.choice(((4, "<I"), (2, "<H")))
    places = [entry.start + size * rng.randrange(min(entry.size, HEAD) // size) for _ in range(2)]
    values = [struct.unpack_from(form, data, place)[0] for place in places]
    for place, value in zip(places, reversed(values)):
        struct.pack_into(form, data, place, value)


def inner_retarget(rng, data, entry, _others):
    """References lead to what other references lead to: tables of wrong types, shared children, cycles of tables."""
    base, size = entry.start + 8, min(entry.size - 8, HEAD)
    found = references(data, base, size)
    targets = sorted({target for _, target in found})
    for at, _ in rng.sample(found, min(len(found), rng.choice((1, 1, 2, 8)))):
        later = [target for target in targets if target > at]
        if later:
            struct.pack_into("<I", data, at, rng.choice(later) - at)


def inner_lengths(rng, data, entry, _others):
    """What references lead to begins with the length of a vector or string: it grows or shrinks."""
    found = references(data, entry.start + 8, min(entry.size - 8, HEAD))
    inside = [target for _, target in found if target + 4 <= entry.start + entry.size]
    for at in rng.sample(inside, min(len(inside), rng.choice((1, 2, 8)))):
        room = entry.start + entry.size - at
        struct.pack_into("<I", data, at, rng.choice((0, 1, word(data, at) + 1, word(data, at) // 2, room // 4, room)) &
                         0xFFFFFFFF)


def inner_splice(rng, data, entry, others):
    """A piece of another entry over this one's bytes, at an even place."""
    donor = rng.choice(others)
    other = rng.choice(entries_of(donor))
    start = other.start + 4 * rng.randrange(other.size // 4)
    piece = donor[start:min(start + rng.choice((4, 16, 64, 1024)), other.start + other.size)]
    at = entry.start + 4 * rng.randrange(min(entry.size, HEAD) // 4)
    size = min(len(piece), entry.start + entry.size - at)
    data[at:at + size] = piece[:size]


OUTER = (flip_bits, flip_directory, truncate, remove_piece, splice)
INNER = (inner_bits, inner_word, inner_word, inner_swap, inner_retarget, inner_retarget, inner_lengths, inner_splice)


def damage(rng, original, others, changes):
    """A copy damaged as a whole, and the name of what was done to it."""
    data = bytearray(original)
    change = rng.choice(changes)
    change(rng, data, others)
    return bytes(data), change.__name__


def mutate(rng, original, others):
    """A damaged container and the name of what was done to it. Two of three are damaged inside an entry alone."""
    if rng.random() < 1 / 3:
        return damage(rng, original, others, OUTER)
    data = bytearray(original)
    change = rng.choice(INNER)
    entry = pick_entry(rng, data)
    change(rng, data, entry, others)
    mend_crc(data, entry)
    return bytes(data), change.__name__
