"""Yes and no, where the prompt is known to ask "is this hateful?"."""

from __future__ import annotations

from services.explanations.contract import ExplanationsRequest
from services.explanations.prompts import load_prompts
from services.explanations.service import SERVICE
from services.explanations.yes_or_no import asks_if_hateful


def test_no_prompt_of_ours_asks_for_yes_or_no() -> None:
    assert not any(asks_if_hateful(one) for one in load_prompts().values())


def test_the_question_of_a_request_decides_what_no_means() -> None:
    for question, decision in [
        ("Is this post hateful?", "non-hateful"),
        ("Is this post acceptable?", None),
    ]:
        request = ExplanationsRequest.model_validate(
            {
                "text": "The bakery opens at six.",
                "prompt": {"user": question + "\n{text}"},
                "answer": {"text": "No. It tells when a bakery opens."},
                "score": {
                    "sor": {},
                    "hatexscore": {"probabilities": {"original": 0.2, "masked": 0.1}},
                },
            }
        )
        found = SERVICE.score(request)
        assert found.elicitation.decision == decision
        told = [one.detail for one in found.unscored if one.metric == "hatexscore"]
        assert any("no conclusion there" in one for one in told) == (decision is not None)
