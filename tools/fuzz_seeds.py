#!/usr/bin/env python3
"""Makes the inputs that fuzzing starts from: tools/fuzz_seeds.py FOLDER [CORPUS]

FOLDER/TARGET/ is filled once for each target, in the form that crates/testkit/src/hostile/ reads.
Structures are found by their signatures in the files of the test corpus (ISOTACH_CORPUS, or
shared/corpus beside the checkout). Without a corpus the files are a few that are made here, from
the classic grammar alone, and streams: fuzzing then begins with less.
"""

import hashlib
import os
import struct
import sys
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIGNATURE = b"\x89HDF\r\n\x1a\n"
WHOLE_FILE_BYTES = 64 << 10
SCANNED_FILE_BYTES = 1 << 20
EDITED_FILE_BYTES = 16 << 10
SEEDS_PER_TARGET = 1500
# Which structures each target looks at, and how many bytes of one are kept.
FAMILIES = {
    "btree": ([b"TREE", b"BTHD"], [b"BTLF", b"BTIN"], 2600),
    "chunk_index": ([b"FAHD", b"EAHD"], [b"FADB", b"EAIB", b"EASB", b"EADB"], 1200),
    "group": ([b"SNOD", b"HEAP", b"TREE"], [], 800),
    "heap": ([b"FRHP", b"GCOL", b"SMTB", b"SMLI"], [b"FHDB", b"FHIB"], 4200),
    "object_header": ([b"OHDR"], [b"OCHK"], 900),
}
WIDTHS = {8: 0, 4: 1, 2: 2, 16: 3}
FILTER_IDS = [1, 2, 3, 4, 5, 6, 307, 32000, 32001, 32004, 32008, 32015, 32026]


class Seeds:
    """Writes inputs under names that say what is in them, each content once."""

    def __init__(self, folder):
        self.folder = folder
        self.counts = {}

    def add(self, target, content):
        count = self.counts.get(target, 0)
        if count >= SEEDS_PER_TARGET or not 0 < len(content) <= WHOLE_FILE_BYTES:
            return
        path = self.folder / target / hashlib.sha1(content).hexdigest()[:16]
        if not path.exists():
            self.counts[target] = count + 1
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def piece(address, content):
    return struct.pack("<IH", address & 0xFFFFFFFF, len(content)) + content


def places(content, signature):
    at = content.find(signature)
    while at >= 0:
        yield at
        at = content.find(signature, at + 1)


def superblock_of(content):
    """Where the HDF5 part begins, and the widths of its addresses and lengths."""
    for start in [0, *(1 << bits for bits in range(9, 20))]:
        if content[start : start + 8] == SIGNATURE and len(content) > start + 48:
            at = start + (13 if content[start + 8] < 2 else 9)
            return start, content[at], content[at + 1]
    return None


def add_structures(seeds, content, widths):
    """One seed for each leading structure, with those that may hang on it."""
    for target, (leaders, followers, keep) in FAMILIES.items():
        hanging = [
            (at, content[at : at + keep]) for name in followers for at in places(content, name)
        ]
        for name in leaders:
            for number, at in enumerate(places(content, name)):
                if number >= 12:
                    break
                near = sorted(hanging, key=lambda entry: abs(entry[0] - at))[:6]
                own = piece(at, content[at : at + keep])
                rest = b"".join(piece(*entry) for entry in near)
                # The free choice is the rank of a chunk tree, or a count.
                for choice in (1, 2, 3, 4) if name in (b"TREE", b"SMTB", b"SMLI") else (0,):
                    seeds.add(target, bytes([widths | choice << 4]) + own + rest)


def messages_1(content):
    """Header messages of version 1 wherever something looks like one header."""
    for at in range(0, len(content) - 16, 8):
        version, _, count, _, size = struct.unpack_from("<BBHII", content, at)
        if version != 1 or not 0 < count < 200 or not 8 <= size < 8000 or size % 8:
            continue
        yield "header", at, content[at : at + 16 + size]
        place, end = at + 16, min(at + 16 + size, len(content) - 8)
        while place + 8 <= end:
            kind, length = struct.unpack_from("<HH", content, place)
            if kind > 0x18 or length % 8:
                break
            yield kind, place + 8, content[place + 8 : place + 8 + length]
            place += 8 + length


def messages_2(content):
    """Header messages of version 2."""
    for at in places(content, b"OHDR"):
        if len(content) < at + 40:
            continue
        flags = content[at + 5]
        place = at + 6 + (16 if flags & 32 else 0) + (4 if flags & 16 else 0)
        width = 1 << (flags & 3)
        end = place + width + int.from_bytes(content[place : place + width], "little")
        place += width
        prefix = 6 if flags & 4 else 4
        while place + prefix <= min(end, len(content)):
            kind, length = content[place], int.from_bytes(content[place + 1 : place + 3], "little")
            place += prefix
            yield kind, place, content[place : place + length]
            place += length


def add_messages(seeds, content, widths):
    for found in (messages_1(content), messages_2(content)):
        for kind, at, body in found:
            if kind == "header":
                seeds.add("object_header", bytes([widths]) + piece(at, body))
            elif body and len(body) < 2000:
                seeds.add("message", bytes([kind, widths]) + body)


def add_heap_objects(seeds, content, widths):
    """Objects of global heaps: region references and the mappings of virtual data sets."""
    for at in places(content, b"GCOL"):
        place = at + 16
        for _ in range(40):
            index, _, _, size = struct.unpack_from("<HHIQ", content.ljust(place + 16, b"\0"), place)
            if index == 0 or size > 4000:
                break
            body = content[place + 16 : place + 16 + size]
            if body:
                seeds.add("selection", bytes([widths | 0x40]) + body)
                seeds.add("selection", bytes([widths | 0x80]) + body)
                seeds.add("selection", bytes([widths]) + body[8:])
            place += 16 + (size + 7) // 8 * 8


#: Edits that seeds begin with: some of each kind, by choices of the script.
EDIT_SCRIPTS = [bytes((seed * 7 + step * 5) % 256 for step in range(90)) for seed in range(2)]


def add_edits(seeds, content):
    """The file, and edits of it; the checksum says that it is whole, and netCDF's: others may have
    links in circles, and dimensions that are made up."""
    if len(content) > EDITED_FILE_BYTES or not (content[:3] == b"CDF" or superblock_of(content)):
        return
    checksum = 0xCBF29CE484222325
    if content[:3] == b"CDF" or b"_NCProperties" in content or b"_Netcdf4Dimid" in content:
        for byte in content:
            checksum = (checksum ^ byte) * 0x100000001B3 % (1 << 64)
    for script in EDIT_SCRIPTS:
        seeds.add("edits", bytes([len(script)]) + script + struct.pack("<Q", checksum) + content)
        seeds.add("open_to_write", bytes([len(script)]) + script + content)


def add_file(seeds, content):
    if content[:3] == b"CDF":
        seeds.add("classic", content[:6000])
        seeds.add("open_and_read", content)
        return
    found = superblock_of(content)
    if not found:
        return
    start, offset_width, length_width = found
    seeds.add("open_and_read", content)
    seeds.add("superblock", content[start : start + 128])
    content = content[start:]
    widths = WIDTHS.get(offset_width, 0) | WIDTHS.get(length_width, 0) << 2
    add_structures(seeds, content, widths)
    add_messages(seeds, content, widths)
    add_heap_objects(seeds, content, widths)


def add_chunks(seeds, path):
    """Stored chunks with their filters, where h5py is there to tell them."""
    try:
        import h5py
    except ImportError:
        return

    def visit(_, dataset):
        if not isinstance(dataset, h5py.Dataset) or not dataset.chunks:
            return
        properties = dataset.id.get_create_plist()
        filters = [properties.get_filter(n) for n in range(properties.get_nfilters())]
        size = dataset.dtype.itemsize
        for extent in dataset.chunks:
            size *= extent
        if not filters or dataset.id.get_num_chunks() == 0 or size >= 1 << 16:
            return
        mask, stored = dataset.id.read_direct_chunk(dataset.id.get_chunk_info(0).chunk_offset)
        head, body = filters[0], filters[-1]
        flags = head[2][0] & 15 if head[0] == 2 and len(filters) > 1 and head[2][0] < 16 else 0
        if body[0] == 3 and len(filters) > 1:
            flags, body = flags | 0x10, filters[-2]
        if body[0] in FILTER_IDS and len(stored) < 12000 and len(filters) <= 3 and mask == 0:
            parameters = struct.pack(f"<{len(body[2])}I", *body[2])
            prefix = bytes([FILTER_IDS.index(body[0]), flags]) + struct.pack("<I", size)[:3]
            seeds.add("codec", prefix + bytes([len(body[2])]) + parameters + stored)

    try:
        with h5py.File(path, "r") as file:
            file.visititems(visit)
    except Exception as error:  # h5py raises every kind on the odd files of the corpus
        print(f"no chunks from {path.name}: {type(error).__name__}")


def add_streams(seeds):
    """Deflate streams of kinds of bytes that shuffled numbers have, by every way zlib codes."""
    noise = bytes((n * n * 2654435761 >> 13) & 255 for n in range(6000))
    kinds = [
        bytes(6000),
        bytes(n // 40 & 255 for n in range(6000)),
        bytes(value & 63 for value in noise),
        bytes(value & (15 if n // 500 % 2 else 255) for n, value in enumerate(noise)),
        noise,
        b"".join(noise[n : n + n % 300] for n in range(0, 5000, 97)),
        Path(__file__).read_bytes()[:6000],
    ]
    strategies = [zlib.Z_DEFAULT_STRATEGY, zlib.Z_HUFFMAN_ONLY, zlib.Z_RLE, zlib.Z_FIXED]
    for kind in kinds:
        for level in (0, 1, 4, 9):
            for strategy in strategies:
                for memory in (1, 8):
                    coder = zlib.compressobj(level, zlib.DEFLATED, -15, memory, strategy)
                    seeds.add("inflate", coder.compress(kind) + coder.flush())


def made_files():
    """A classic file of each version: one record variable, one fixed one, attributes."""
    for version in (1, 2, 5):
        wide = ">Q" if version == 5 else ">I"

        def count(value, wide=wide):
            return struct.pack(wide, value)

        def name(text, count=count):
            return count(len(text)) + text.ljust((len(text) + 3) // 4 * 4, b"\0")

        def tag(number, amount, count=count):
            return struct.pack(">I", number) + count(amount)

        begin = struct.pack(">I" if version == 1 else ">Q", 400)
        header = b"CDF" + bytes([version]) + count(2)
        header += tag(10, 2) + name(b"time") + count(0) + name(b"x") + count(3)
        header += tag(12, 1) + name(b"title") + struct.pack(">I", 2) + name(b"a title")
        header += tag(11, 2)
        for label, axes in ((b"t", [0, 1]), (b"v", [1])):
            header += name(label) + count(len(axes)) + b"".join(count(axis) for axis in axes)
            header += tag(0, 0) + struct.pack(">I", 5) + count(12) + begin
        yield header.ljust(400, b"\0") + bytes(range(48))


def main():
    folder = Path(sys.argv[1])
    done = folder / ".made"
    if done.exists():
        return
    beside = ROOT.parent / "shared" / "corpus"
    corpus = Path(sys.argv[2] if len(sys.argv) > 2 else os.environ.get("ISOTACH_CORPUS", beside))
    seeds = Seeds(folder)
    for content in made_files():
        add_file(seeds, content)
    add_streams(seeds)
    paths = [path for path in sorted(corpus.rglob("*")) if path.is_file()]
    # Small files first: they begin with fewer bytes that say nothing.
    paths = sorted(paths, key=lambda path: path.stat().st_size)
    for path in paths:
        if path.suffix == ".json" or path.stat().st_size > SCANNED_FILE_BYTES:
            continue
        content = path.read_bytes()
        if path.suffix == ".cdl":
            seeds.add("cdl", content)
            continue
        add_file(seeds, content)
        if "malformed" not in path.parts:
            add_edits(seeds, content)
            if superblock_of(content):
                add_chunks(seeds, path)
    folder.mkdir(parents=True, exist_ok=True)
    done.write_text("".join(f"{target} {count}\n" for target, count in seeds.counts.items()))
    print(done.read_text() if paths else "no corpus: fuzzing begins with the files made here")


if __name__ == "__main__":
    main()
