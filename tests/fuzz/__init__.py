"""Random tables and settings × every method, against the laws that a fit must keep.

Methods are found by their records and settings drawn from their declared parameters, so that a method that is added
tomorrow is in the run tomorrow. ``make fuzz`` is the long form; ``tests/test_fuzz.py`` runs a short one. A case is a
method and a number, ``ecm:123``, from which all of it is drawn: a failure is repeated by ``python -m fuzz ecm:123``.
"""
