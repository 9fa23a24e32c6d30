"""A real causal model, two random layers small, behind the real port: the seams hold."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from services.hlv import prompts
from services.hlv.metric import SERVICE
from services.worker import local
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.ports import Models
from tests.fakes import bound_models
from tests.hlv.judges import GREEDY, NLI, OPTIONS, request

score = SERVICE.score
score_batch = SERVICE.score_batch

WHY = [{"explanation": "A sleeping dog is at rest.", "label": "A"}]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Models]:
    """One causal model, `stub`, that reads 2,048 tokens."""
    from tests.inference.shapes import save_llama

    folder = tmp_path_factory.mktemp("causal")
    save_llama(folder / "weights", reads=2_048)
    entry = '[[models]]\nname = "stub"\nkind = "causal"\nsource = "path:weights"\ndevice = "cpu"\n'
    (folder / "models.toml").write_text(entry, encoding="utf-8")
    made = local(load_catalogue(folder / "models.toml"))
    with bound_models(made):
        yield made


def test_first_tokens_are_those_of_the_model(models: Models) -> None:
    asked = request(explanations=WHY, judge=GREEDY | {"methods": ["logits"]})
    report = score(asked)
    found = report.components.methods[0].baseline
    assert found is not None
    assert found.values is not None
    shown = prompts.rotate_options(asked.options, 0)
    prompt = prompts.as_prompt(prompts.choice_prompt(asked, shown, ""), chat=True)
    writer = models.writer("stub")
    written = [spelling + key for key in "ABC" for spelling in ("", " ")]
    scored = writer.score([prompt] * 6, written)
    single = [one.tokens[0].logprob if len(one.tokens) == 1 else -np.inf for one in scored]
    mass = np.exp(np.array(single).reshape(3, 2)).sum(axis=1)
    assert list(found.values.values()) == pytest.approx(list(mass / mass.sum()), abs=1e-4)
    assert found.label_mass == pytest.approx(mass.sum(), abs=1e-4)
    assert sum(found.values.values()) == pytest.approx(1)
    assert report.components.methods[0].gain is not None


def test_all_methods_of_a_model_that_babbles(models: Models) -> None:
    """Nothing it writes can be read, or hardly anything: told, never filled in."""
    how = {"temperature": 1.0, "runs": 2, "max_tokens": 4}
    reports = score_batch([request(judge=how, seed=seed) for seed in (1, 2)])
    for report in reports:
        assert [one.method for one in report.components.methods] == ["rank", "logits", "score"]
        rank, _, rated = (one.baseline for one in report.components.methods)
        assert rank is not None
        assert rated is not None
        assert rank.runs == 2
        assert rank.invalid_runs == 0 or any("could not be read" in w for w in report.warnings)
        assert rated.runs or any("no answer could be read" in w for w in report.warnings)
    assert reports[0].provenance.models[0].sha256


def test_sampled_answers_repeat_with_their_seed_alone_and_in_a_batch(models: Models) -> None:
    how = {"temperature": 1.0, "runs": 2, "methods": ["rank"], "max_tokens": 4}
    one, other = request(judge=how, seed=5), request(judge=how, seed=6, question=NLI)
    together = score_batch([other, one])[1]
    assert score(one).model_dump_json() == together.model_dump_json()
    assert len(OPTIONS) == len(together.gold.ranks)
