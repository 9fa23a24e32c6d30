from __future__ import annotations

from itertools import islice

import numpy as np

from services.ice.contract import IceRequest
from services.ice.experiment import Experiment
from services.ice.model_calls import run_experiments
from services.ice.variants import released
from shared.statistics.seeds import generator
from tests.ice.planted import planted


def test_the_rationale_is_never_drawn() -> None:
    text = "w10 w11 w12 w13 w14 w15"
    spans = [{"start": 0, "end": 7}]
    asked = IceRequest.model_validate(
        {"text": text, "rationale": spans, "options": {"draws": 13, "null": "tokens"}}
    )
    with planted():
        [(experiment, _)] = run_experiments([asked])
        assert isinstance(experiment, Experiment)
    [trial] = experiment.trials
    subsets = experiment._drawn[trial.null.key].subsets
    found = [subsets[place] for place in experiment.null_positions(trial)]
    assert trial.rationale == (0, 1)
    assert len(set(found)) == 13
    assert (0, 1) not in found


def test_a_key_is_content() -> None:
    def first(*about: object) -> float:
        return float(generator(*about).random())  # type: ignore[arg-type]

    assert first(0, "a", None) == first(0, "a", None)
    keys = [(0, "a", None), (1, "a", None), (0, "b", None), (0, "a", "b"), (0, "ab", None)]
    assert len({first(*key) for key in keys}) == len(keys)
    assert first(0, "\ud800") != first(0, "\ud801")


def test_released_draws_are_numpy_s_global_ones() -> None:
    state = np.random.get_state()  # noqa: NPY002 - what the released code uses
    try:
        np.random.seed(42)  # noqa: NPY002
        positions = np.arange(1, 11)
        theirs = [
            tuple(sorted((np.random.choice(positions, 3, replace=False) - 1).tolist()))  # noqa: NPY002
            for _ in range(20)
        ]
    finally:
        np.random.set_state(state)  # noqa: NPY002
    assert list(islice(released(42, 10, 3), 20)) == theirs
