"""Explain and score against a real OpenAI-compatible server: llama.cpp, serving the tiny Llama."""

from __future__ import annotations

import pytest

from services.explanations.contract import ExplanationsRequest
from services.explanations.service import SERVICE
from tests.explanations.scripted import of_own_job
from tests.haf.test_conversation import TEXT
from tests.haf.test_served import _bound as _bound  # the server, for this module too
from tests.haf.tiny_llama import STAGES


@pytest.mark.usefixtures("_bound")
def test_a_served_model_decides_explains_and_is_scored() -> None:
    body = {"text": TEXT, "model": "served", "language": "en", "prompt": "haf-justify"}
    found = SERVICE.score(ExplanationsRequest.model_validate({**body, "score": ["haf"]}))
    told = found.elicitation
    assert told.answer in STAGES["<justify>"]
    assert (told.outcome, told.decision) == ("answered", "toxic")
    assert "".join(told.answer[token.start : token.end] for token in told.tokens) == told.answer
    tokens = [token.model_dump() for token in told.tokens]
    justify = {"text": told.answer, "tokens": tokens}
    own = {"text": TEXT, "language": "en", "responses": {"justify": justify}}
    assert found.scores == (of_own_job("haf", own),)
    assert found.scores[0].score is not None
    assert found.provenance.model is not None
    assert found.provenance.model.device == "server"
    assert told.reasoning_tokens is None
