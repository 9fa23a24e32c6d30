"""Over weights in this process, and through `POST /v1/explanations`: a tiny Llama made on the spot.

Its weights are random and small, so that every letter is about as likely next: a label is half of
the alphabet. Nothing is known of its reasons, so that laws are tested and no scores.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from string import ascii_letters
from typing import Any

import numpy as np
import pytest

from services.consistency.contract import ConsistencyRequest
from services.consistency.metric import SERVICE
from services.consistency.model_calls import explanation_prompt
from services.consistency.report import ConsistencyResult
from services.explanations.contract import ExplanationsRequest
from services.explanations.service import SERVICE as EXPLANATIONS
from services.worker import local
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.ports import models
from tests.fakes import bound_models
from tests.promises import as_promised
from tests.tiny_models.causal import CAUSAL, STEEP, save_causal

ENTRIES = """
schema = 2

[[models]]
name = "tiny"
kind = "causal"
source = "path:tiny"
device = "cpu"
languages = ["*"]

[models.prompt]
style = "raw"
user = "Is this safe? {text}\\nAnswer:"
verbalizers = { safe = SAFE, unsafe = UNSAFE }
"""
TEXT = "Our neighbours painted their fence again, and the dog likes it"
EXPLANATION = 'It says "painted their fence", which is harmless.'


@pytest.fixture(scope="module")
def models_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch
    from transformers import LlamaForCausalLM

    folder = tmp_path_factory.mktemp("consistency")
    save_causal(folder / "tiny", CAUSAL["llama-guard-3"])
    model = LlamaForCausalLM.from_pretrained(folder / "tiny")
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.div_(STEEP)
    model.save_pretrained(folder / "tiny")
    halves = {"UNSAFE": ascii_letters[1::2], "SAFE": ascii_letters[::2]}
    entries = ENTRIES
    for name, letters in halves.items():
        entries = entries.replace(f" {name}", f" {json.dumps(list(letters))}")
    (folder / "models.toml").write_text(entries, "utf-8")
    return folder / "models.toml"


@pytest.fixture(autouse=True)
def _bound(models_file: Path) -> Iterator[None]:
    with bound_models(local(load_catalogue(models_file))):
        yield


def request(**more: Any) -> ConsistencyRequest:
    body = {"text": TEXT, "explanation": EXPLANATION, "model": "tiny", "language": "en", **more}
    return ConsistencyRequest.model_validate(body)


@pytest.mark.parametrize("variant", ["robust", "paper"])
def test_a_language_model_here_has_both_parts(variant: str) -> None:
    report = SERVICE.score(request(variant=variant, draws=19, orders=2))
    assert report.parts == ("simulatability", "attribution")
    assert report.components.cited_words == 3
    assert len(report.word_values) == report.components.words == 11
    assert report.provenance.models[0].sha256
    assert report.provenance.parameters["explanation_prompt"]["turns"]


def test_contributions_are_differences_of_the_model_s_own_numbers() -> None:
    asked = request(parts=["attribution"])
    report = SERVICE.score(asked)
    label = report.decision
    assert label is not None
    without = TEXT.replace("fence ", "")
    prompts = [explanation_prompt(asked, label, text) for text in (TEXT, without)]
    scored = models().writer("tiny").score(prompts, [EXPLANATION] * 2)
    whole, less = [sum(token.logprob for token in one.tokens) for one in scored]
    [own] = [one for one in report.word_values if TEXT[one.start : one.end] == "fence"]
    assert own.explanation == pytest.approx(whole - less, abs=1e-4)


def test_alone_as_among_others() -> None:
    several = [request(), request(text=f"{TEXT}, too", draws=19), request(parts=["attribution"])]
    alone = [SERVICE.score(one) for one in several]
    for one, own in zip(SERVICE.score_batch(several), alone, strict=True):
        assert (one.decision, one.components.simulatability) == (
            own.decision,
            own.components.simulatability,
        )
        values = [[word.answer, word.explanation] for word in one.word_values]
        expected = [[word.answer, word.explanation] for word in own.word_values]
        assert np.allclose(values, expected, atol=1e-4)


def explained(**score: Any) -> Any:
    """In one job: asked, explained, scored."""
    asked = ExplanationsRequest.model_validate(
        {
            "text": TEXT,
            "model": "tiny",
            "language": "en",
            "prompt": {
                "user": "{{note}} {text}\nWhy is it {label}?",
                "reader": "none",
            },
            "target_label": "safe",
            "style": "raw",
            "generation": {"max_tokens": 12},
            "score": {"consistency": {"parts": ["attribution"], **score}},
        }
    )
    return EXPLANATIONS.score(asked)


def test_its_own_explanation_is_scored_in_the_same_job() -> None:
    found = explained()
    judged = found.elicitation.p
    assert judged is not None
    decided = max(judged, key=judged.__getitem__)
    [report] = found.scores
    assert isinstance(report, ConsistencyResult)
    assert report.provenance.models[0].name == "tiny"
    if decided != "safe":  # the label that it was told to explain is not its answer
        assert {reason.code for reason in report.reasons} == {"model-disagrees"}
        return
    [turn] = report.provenance.parameters["explanation_prompt"]["turns"]
    assert turn["content"] == "{{note}} {text}\nWhy is it safe?"
    body = {
        "text": TEXT,
        "explanation": found.elicitation.explanation,
        "model": "tiny",
        "decision": "safe",
        "language": "en",
        "parts": ["attribution"],
        "explanation_prompt": report.provenance.parameters["explanation_prompt"],
        "preceding": found.elicitation.answer.partition(found.elicitation.explanation)[0],
    }
    own = SERVICE.score(ConsistencyRequest.model_validate(body))
    [use] = own.provenance.models
    for name in ("answer", "explanation"):
        values = [[getattr(one, name) for one in r.word_values or ()] for r in (own, report)]
        assert values[0]
        assert as_promised(use, *values)
    assert as_promised(use, [own.score or 0.0], [report.score or 0.0])
