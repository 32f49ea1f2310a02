"""Cells of a flow cytometer, read by flowio."""

from __future__ import annotations

import os
import warnings

import numpy as np

__all__ = ["read_fcs"]


def read_fcs(path: str | os.PathLike[str]) -> tuple[np.ndarray, list[str]]:
    """Return the numbers of all cells, shape (n_cells, n_channels), and the names of the channels.

    A channel is named by what it stains (``$PnS``), or else by its own name (``$PnN``). Integers on a logarithmic
    scale (``$PnE``) are brought to the linear one, as the standard says. Nothing is compensated, and no gain divides.

    Raises
    ------
    ValueError
        If it is not an FCS file of version 2.0, 3.0 or 3.1 in list mode, or not whole; the sentence says what is wrong.
    """
    try:
        import flowio
    except ImportError as error:
        raise ImportError("FCS files need flowio: pip install 'evidentia[fcs]'.") from error
    try:
        with open(path, "rb") as file, warnings.catch_warnings():  # flowio leaves a damaged file open
            if file.read(3) != b"FCS":
                raise ValueError("it does not begin with FCS")
            warnings.simplefilter("ignore")
            # Many programs write the end of the data one byte too far, or not twice the same.
            flow = flowio.FlowData(file, ignore_offset_error=True, ignore_offset_discrepancy=True)
        if flow.text.get("mode", "L").upper() != "L":
            raise ValueError(f"it is of mode {flow.text['mode']}, and list mode (L) is read")
        if (order := flow.text["byteord"].replace(" ", "")) not in ("1,2,3,4", "4,3,2,1", "1,2", "2,1"):
            raise ValueError(f"its bytes are in the order {order}")
        if flow.data_type.upper() not in "IFD" or len(flow.channels) != flow.channel_count:
            raise ValueError(f"it has {len(flow.channels)} channels with names, and numbers of type {flow.data_type}")
        numbers = flow.as_array(preprocess=False)
        if len(numbers) != flow.event_count:
            raise ValueError(f"it should hold {flow.event_count:,} cells, and {len(numbers):,} are there")
        for number, channel in sorted(flow.channels.items()):
            decades, first = channel["pne"]
            if decades and flow.data_type.upper() == "I":
                numbers[:, number - 1] = first * 10 ** (decades * numbers[:, number - 1] / channel["pnr"])
    except OSError:
        raise
    except Exception as error:  # flowio checks little: a damaged file ends in an error of any kind
        what = f"it lacks {error.args[0]}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{path} is a damaged FCS file, or of a kind that is not read: {what}.") from error
    names: list[str] = []
    for own, stain in zip(flow.pnn_labels, flow.pns_labels):
        name = stain.strip() or own.strip()
        names.append(name if name not in names else f"{name} ({own.strip()})")
    return numbers, names
