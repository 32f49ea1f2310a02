import numpy as np
import pytest

from evidentia.belief import FocalSets, MassFunctions


@pytest.fixture(scope="session")
def extracted(reference):
    """Mass functions, each with what an independent program derives from them."""
    by_hand = reference("credal_measures")
    cases = [{**by_hand["extractMass_A"], "mass": by_hand["mass_A"]}]
    for name in ("ecm_butterfly", "ecm_iris"):
        cases += [case for case in reference(name).values() if isinstance(case, dict) and "Ynd" in case]
    assert len(cases) == 5
    return [
        (MassFunctions(case["mass"], FocalSets(len(case["F"][0]), map(np.flatnonzero, case["F"]))), case)
        for case in cases
    ]
