"""image.py VTI NPY PLY SIZE LOWER UPPER: the image of VTK that `slabcast near` wrote is the requested grid.

The XML is well formed and has the elements of VTK's format. The arrays are those of the npy, byte for byte. The
points of the ply, by their indices, are where the image has its own. SIZE, LOWER and UPPER: three numbers with commas
between.
"""

import ast
import struct
import sys
import xml.etree.ElementTree as tree

TYPES = {"Float32": "<f4", "UInt32": "<u4", "UInt8": "|u1"}
FORMS = {"float": "f", "double": "d", "uint": "I", "uchar": "B"}


def read_npy(path):
    """The fields, each with name, type and number of components, and the rows' bytes."""
    with open(path, "rb") as file:
        assert file.read(8) == b"\x93NUMPY\x01\0"
        header = ast.literal_eval(file.read(*struct.unpack("<H", file.read(2))).decode())
        descr = header["descr"]
        fields = descr if isinstance(descr, list) else [(None, descr)]
        return [(name, kind, shape[0][0] if shape else 1) for name, kind, *shape in fields], file.read()


def read_places(path):
    with open(path, "rb") as file:
        form, names = "<", []
        while (line := file.readline().split()) != [b"end_header"]:
            if line[0] == b"property":
                form += FORMS[line[1].decode()]
                names.append(line[2].decode())
        rows = list(struct.iter_unpack(form, file.read()))
    assert names[:3] == ["x", "y", "z"] and names[-1] == "index", names
    return rows


def read_image(path):
    """The XML without its raw bytes, and these."""
    data = open(path, "rb").read()
    head, raw = data.split(b'<AppendedData encoding="raw">\n   _', 1)
    tail = b"\n  </AppendedData>\n</VTKFile>\n"
    assert raw.endswith(tail), raw[-60:]
    return tree.fromstring(head + b"<AppendedData>" + tail), raw[: -len(tail)]


def numbers(text, kind=float):
    return [kind(word) for word in text.replace(",", " ").split()]


def check_place(image, size, lower, upper):
    extent = [bound for n in size for bound in (0, n - 1)]
    assert numbers(image.get("WholeExtent"), int) == extent, image.attrib
    assert numbers(image.find("Piece").get("Extent"), int) == extent
    origin, spacing = numbers(image.get("Origin")), numbers(image.get("Spacing"))
    for n, low, high, begin, step in zip(size, lower, upper, origin, spacing):
        assert abs(begin - (low if n > 1 else (low + high) / 2)) < 1e-6 and step > 0, (begin, low, high)
        assert n == 1 or abs(begin + (n - 1) * step - high) < 1e-6, (step, low, high)
    return origin, spacing


def check_arrays(image, raw, fields, rows, count):
    arrays, row = image.findall("Piece/PointData/DataArray"), len(rows) // count
    assert len(arrays) == len(fields) and image.find("Piece/PointData").get("Scalars") == arrays[0].get("Name")
    at, begin = 0, 0
    for array, (name, kind, components) in zip(arrays, fields):
        width = int(kind[-1]) * components
        assert TYPES[array.get("type")] == kind and name in (None, array.get("Name")), array.attrib
        assert int(array.get("NumberOfComponents")) == components and array.get("format") == "appended"
        assert int(array.get("offset")) == at, array.attrib
        assert struct.unpack_from("<Q", raw, at) == (count * width,), array.attrib
        values = raw[at + 8 : at + 8 + count * width]
        assert values == b"".join(rows[i * row + begin : i * row + begin + width] for i in range(count)), name
        at, begin = at + 8 + count * width, begin + width
    assert at == len(raw) and begin == row


def main():
    size, lower, upper = numbers(sys.argv[4], int), numbers(sys.argv[5]), numbers(sys.argv[6])
    root, raw = read_image(sys.argv[1])
    given = {"type": "ImageData", "version": "1.0", "byte_order": "LittleEndian", "header_type": "UInt64"}
    assert root.tag == "VTKFile" and root.attrib == given, root.attrib
    count = size[0] * size[1] * size[2]
    origin, spacing = check_place(root.find("ImageData"), size, lower, upper)
    check_arrays(root.find("ImageData"), raw, *read_npy(sys.argv[2]), count)
    places = read_places(sys.argv[3])
    assert [int(row[-1]) for row in places] == list(range(count))
    for row in places:
        index = int(row[-1])
        at = index % size[0], index // size[0] % size[1], index // size[0] // size[1]
        wanted = [begin + i * step for begin, i, step in zip(origin, at, spacing)]
        assert list(row[:3]) == list(struct.unpack("<3f", struct.pack("<3f", *wanted))), (row, wanted)


main()
