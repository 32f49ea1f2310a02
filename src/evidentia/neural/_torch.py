"""PyTorch, loaded when a network is first needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def load_torch() -> Any:
    """The module ``torch``, or an error that names the extra."""
    try:
        import torch
    except ImportError as error:
        raise ImportError('NNEVCLUS needs PyTorch: pip install "evidentia[nn]".') from error
    return torch


def check_device(name: Any) -> torch.device:
    """The device of that name, if this machine has it."""
    torch = load_torch()
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).cpu()
    except (RuntimeError, TypeError, AssertionError, NotImplementedError) as error:
        raise ValueError(
            f"The 'device' parameter of NNEVCLUS must name a device of this machine, such as 'cpu' or 'cuda'. "
            f"Got {name!r}: {str(error).splitlines()[0]}"
        ) from error
    return device


@contextmanager
def one_torch_thread(wanted: bool) -> Iterator[None]:
    """PyTorch on one core, if that is wanted: small steps gain nothing from a second one, and wait if it is busy."""
    torch = load_torch()
    before = torch.get_num_threads()
    if wanted:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
