"""Cells of a flow cytometer: list mode files of FCS 2.0, 3.0 and 3.1, read without any other package.

A file begins with the places of its parts, in ASCII. One part is text: a separator, then keys and values with the
separator between them (twice where it is meant itself). Another is the data: a number for each channel of each cell.
"""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np

__all__ = ["read_fcs"]

VERSIONS = (b"FCS2.0", b"FCS3.0", b"FCS3.1")
HEADER = 58  # bytes: the version, blanks, and six places of eight digits
REALS = {"F": "f4", "D": "f8"}


def read_fcs(path: str | os.PathLike[str]) -> tuple[np.ndarray, list[str]]:
    """Return the numbers of all cells, shape (n_cells, n_channels), and the names of the channels.

    A channel is named by what it stains (``$PnS``), or else by its own name (``$PnN``). Integers on a logarithmic
    scale (``$PnE``) are brought to the linear one, as the standard says. Nothing is compensated, and no gain divides.

    Raises
    ------
    ValueError
        If it is not an FCS file of version 2.0, 3.0 or 3.1 in list mode, or not whole; the sentence says what is wrong.
    """
    with open(path, "rb") as file:
        content = file.read()
    if content[:6] not in VERSIONS:
        fcs = content.startswith(b"FCS")
        what = f"of version {content[3:6].decode('ascii', 'replace')}" if fcs else "not an FCS file"
        raise ValueError(f"{path} is {what}; FCS 2.0, 3.0 and 3.1 are read.")
    try:
        places = [int(content[at : at + 8].strip() or b"0") for at in range(10, HEADER, 8)]
        keys = _read_keys(content[places[0] : places[1] + 1])
        if keys.get("$MODE", "L").upper() != "L":
            raise ValueError(f"it is of mode {keys['$MODE']}, and list mode (L) is read")
        start = places[2] or int(keys["$BEGINDATA"])
        return _read_numbers(content[start:], keys), _read_names(keys)
    except KeyError as error:
        raise ValueError(f"{path} is a damaged FCS file: it lacks {error.args[0]}.") from error
    except (ValueError, IndexError) as error:
        raise ValueError(f"{path} is a damaged FCS file, or of a kind that is not read: {error}.") from error


def _read_keys(part: bytes) -> dict[str, str]:
    """Return the values by their keys, which are in capitals."""
    text = part.decode("utf-8", "replace")
    if not text:
        raise ValueError("its text is empty")
    mark = re.escape(text[0])
    parts = [part.replace(text[0] * 2, text[0]) for part in re.split(rf"(?<!{mark}){mark}(?!{mark})", text[1:])]
    keys = _pair_keys(parts)
    if any(f"$P{n}{what}" not in keys for n in range(1, int(keys.get("$PAR", 0)) + 1) for what in "NBR"):
        keys |= _pair_keys(text[1:].split(text[0]))  # programs write empty values, which the standard does not know
    return keys


def _pair_keys(parts: list[str]) -> dict[str, str]:
    return {key.strip().upper(): value.strip() for key, value in zip(parts[::2], parts[1::2])}


def _read_names(keys: dict[str, str]) -> list[str]:
    names: list[str] = []
    for n in range(1, int(keys["$PAR"]) + 1):
        own, stain = keys[f"$P{n}N"], keys.get(f"$P{n}S", "")
        name = stain or own
        names.append(name if name not in names else f"{name} ({own})")
    return names


def _read_numbers(data: bytes, keys: dict[str, str]) -> np.ndarray:
    n_cells, n_channels, kind = int(keys["$TOT"]), int(keys["$PAR"]), keys["$DATATYPE"].upper()
    order = {"1,2,3,4": "<", "1,2": "<", "4,3,2,1": ">", "2,1": ">"}.get(keys["$BYTEORD"].replace(" ", ""))
    if order is None:
        raise ValueError(f"its bytes are in the order {keys['$BYTEORD']}")
    bits = [int(keys[f"$P{n}B"]) for n in range(1, n_channels + 1)]
    if kind not in (*REALS, "I") or (kind == "I" and set(bits) - {8, 16, 32, 64}):
        raise ValueError(f"its numbers are of type {kind} with {', '.join(map(str, sorted(set(bits))))} bits")
    types: list[Any] = [(f"c{n}", order + (f"u{b // 8}" if kind == "I" else REALS[kind])) for n, b in enumerate(bits)]
    cells = np.dtype(types)
    if len(data) < n_cells * cells.itemsize:
        raise ValueError(f"{n_cells:,} cells are {n_cells * cells.itemsize:,} bytes, and {len(data):,} are there")
    raw = np.frombuffer(data, cells, n_cells)
    numbers = np.empty((n_cells, n_channels))
    for n, name in enumerate(raw.dtype.names or ()):
        numbers[:, n] = raw[name] if kind != "I" else _linearize(raw[name], keys, n + 1)
    return numbers


def _linearize(values: np.ndarray, keys: dict[str, str], n: int) -> np.ndarray:
    """Return integers without the bits above their range, on the linear scale."""
    above = int(keys[f"$P{n}R"])  # all integers are below
    if above < 1:
        raise ValueError(f"the range of channel {n} is {above}")
    bits = min(max(above - 1, 1).bit_length(), 8 * values.dtype.itemsize)
    kept = (values & values.dtype.type((1 << bits) - 1)).astype(float)
    decades, first = (float(part) for part in keys.get(f"$P{n}E", "0,0").split(","))
    return kept if decades == 0 else (first or 1.0) * 10 ** (decades * kept / above)
