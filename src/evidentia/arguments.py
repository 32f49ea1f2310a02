"""Checks and warnings for functions on top of the library: they name the argument, and point at the user's line."""

from evidentia._parameters import random_numbers
from evidentia._warnings import warn_user

__all__ = ["random_numbers", "warn_user"]
