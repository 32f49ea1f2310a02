"""FCS files written by hand from the standard are read, or refused in a sentence."""

import struct

import numpy as np
import pytest

from evidentia.rows.fcs import read_fcs


def write(path, keys, data, *, sign="/", version=b"FCS3.1", in_header=True):
    def text(start, stop):
        places = {"$BEGINDATA": f"{start:08d}", "$ENDDATA": f"{stop:08d}"}
        parts = (f"{key}{sign}{str(value).replace(sign, 2 * sign)}" for key, value in {**places, **keys}.items())
        return sign + sign.join(parts) + sign

    end = 58 + len(text(0, 0).encode()) - 1
    start, stop = end + 6, end + 5 + len(data)  # some blanks between the parts
    places = (58, end, *((start, stop) if in_header else (0, 0)), 0, 0)
    head = version + b"    " + b"".join(f"{place:>8}".encode() for place in places)
    path.write_bytes(head + text(start, stop).encode() + b" " * 5 + data)
    return path


REAL = {
    "$MODE": "L", "$DATATYPE": "F", "$BYTEORD": "1,2,3,4", "$PAR": 2, "$TOT": 3, "$NEXTDATA": 0,
    "$P1N": "FSC-A", "$P1B": 32, "$P1R": 262144, "$P1E": "0,0", "$P2N": "FL1", "$P2S": "CD3/CD4", "$P2B": 32,
    "$P2R": 262144, "$P2E": "0,0",
}  # fmt: skip


def test_real_numbers_and_names(tmp_path):
    values = [1.5, -2.25, 3e5, 0.125, 7.0, -1.0]
    numbers, names = read_fcs(write(tmp_path / "a.fcs", REAL, struct.pack("<6f", *values)))
    assert numbers.tolist() == [[1.5, -2.25], [3e5, 0.125], [7.0, -1.0]]
    assert names == ["FSC-A", "CD3/CD4"]  # the sign between keys and values, twice, is itself
    doubles = REAL | {"$DATATYPE": "D", "$BYTEORD": "4,3,2,1", "$P1B": 64, "$P2B": 64}
    numbers, _ = read_fcs(write(tmp_path / "b.fcs", doubles, struct.pack(">6d", *values), sign="|", version=b"FCS3.0"))
    assert numbers.tolist() == [[1.5, -2.25], [3e5, 0.125], [7.0, -1.0]]


def test_integers_of_several_widths_masked_and_on_a_logarithmic_scale(tmp_path):
    keys = REAL | {"$DATATYPE": "I", "$BYTEORD": "4,3,2,1", "$TOT": 2, "$P1B": 16, "$P1R": 1024, "$P1E": "4,1",
                   "$P2B": 32, "$P2R": 1000, "$P2S": ""}  # fmt: skip
    data = struct.pack(">HIHI", 512, 700, 0xFC00 | 256, 0xFFFF0000 | 999)  # bits above ten mean nothing
    numbers, names = read_fcs(write(tmp_path / "i.fcs", keys, data))
    np.testing.assert_allclose(numbers, [[10 ** (4 * 512 / 1024), 700], [10 ** (4 * 256 / 1024), 999]])
    assert names == ["FSC-A", "FL1"]


def test_integers_of_64_bits_and_ranges_beyond_the_width(tmp_path):
    keys = REAL | {"$DATATYPE": "I", "$TOT": 2, "$P1B": 64, "$P1R": 2**64, "$P2B": 8, "$P2R": 262144}
    data = struct.pack("<QBQB", 2**40 + 3, 255, 2**53, 17)
    numbers, _ = read_fcs(write(tmp_path / "i.fcs", keys, data))
    assert numbers.tolist() == [[2**40 + 3, 255], [2**53, 17]]


def test_files_of_version_2(tmp_path):
    keys = REAL | {"$DATATYPE": "I", "$BYTEORD": "2,1", "$P1B": 16, "$P1R": 1024, "$P2B": 16, "$P2R": 1024}
    data = struct.pack(">6H", *range(500, 506))
    numbers, _ = read_fcs(write(tmp_path / "i.fcs", keys, data, version=b"FCS2.0"))
    assert numbers.tolist() == [[500, 501], [502, 503], [504, 505]]


def test_places_that_the_header_does_not_hold(tmp_path):
    path = write(tmp_path / "l.fcs", REAL, struct.pack("<6f", *range(6)), in_header=False)
    assert read_fcs(path)[0].tolist() == [[0, 1], [2, 3], [4, 5]]


def test_two_channels_that_stain_the_same_have_two_names(tmp_path):
    keys = REAL | {"$P1S": "CD3/CD4"}
    _, names = read_fcs(write(tmp_path / "a.fcs", keys, struct.pack("<6f", *range(6))))
    assert names == ["CD3/CD4", "CD3/CD4 (FL1)"]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"$TOT": 4}, r"4 cells are 32 bytes, and 24 are there"),
        ({"$MODE": "C"}, r"of mode C, and list mode \(L\) is read"),
        ({"$DATATYPE": "A"}, r"numbers are of type A with 32 bits"),
        ({"$DATATYPE": "I", "$P1B": 12}, r"of type I with 12, 32 bits"),
        ({"$DATATYPE": "I", "$P1R": 0, "$P1E": "4,1"}, r"range of channel 1 is 0"),
        ({"$BYTEORD": "3,4,1,2"}, r"bytes are in the order 3,4,1,2"),
        ({"$PAR": 3}, r"lacks \$P3B"),
        ({"$TOT": "many"}, r"damaged FCS file, or of a kind that is not read"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, keys, message):
    path = write(tmp_path / "a.fcs", REAL | keys, struct.pack("<6f", *range(6)))
    with pytest.raises(ValueError, match=rf"a\.fcs is .*{message}"):
        read_fcs(path)


def test_damaged_files_are_refused_in_a_sentence(tmp_path):
    path = write(tmp_path / "a.fcs", REAL, struct.pack("<6f", *range(6)))
    whole = path.read_bytes()
    (tmp_path / "no.fcs").write_bytes(b"hello")
    with pytest.raises(ValueError, match=r"no\.fcs is not an FCS file; FCS 2\.0, 3\.0 and 3\.1 are read"):
        read_fcs(tmp_path / "no.fcs")
    path.write_bytes(b"FCS9.9" + whole[6:])
    with pytest.raises(ValueError, match=r"a\.fcs is of version 9\.9"):
        read_fcs(path)
    for at in range(6, len(whole), 7):
        path.write_bytes(whole[:at])
        with pytest.raises(ValueError, match=r"a\.fcs is "):
            read_fcs(path)
