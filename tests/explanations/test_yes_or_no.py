"""Yes and no, where the prompt is known to ask "is this hateful?"."""

from __future__ import annotations

import pytest

from services.explanations.contract import ExplanationsRequest
from services.explanations.prompts import load_prompts
from services.explanations.service import SERVICE
from services.explanations.yes_or_no import asks_if_hateful, is_asked_if_hateful, read_yes_or_no
from tests.explanations.elicited_answers import answers, read_label


@pytest.mark.parametrize(
    "prompt",
    [
        "Is this post hateful?\n\n{text}",
        "{text}\n\nDoes the text above contain hate speech? Answer and explain.",
        "Read the following comment and tell me: is it hateful?\n{text}",
        "这段文字是仇恨言论吗？\n{text}",
        "이 글은 혐오 표현입니까?\n{text}",
    ],
)
def test_a_prompt_that_asks_whether_a_text_is_hateful(prompt: str) -> None:
    assert is_asked_if_hateful(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "Is this post hateful or non-hateful?\n{text}",
        "Is this post not hateful?\n{text}",
        "Isn't this post hateful?\n{text}",
        "Is this post free of hate speech?\n{text}",
        "Is this post acceptable?\n{text}",
        "What makes this post hateful?\n{text}",
        "Why is this post hateful?\n{text}",
        "Is a group named? Is the post hateful?\n{text}",
        "Decide if the post is hateful.\n{text}",
        "这段文字不是仇恨言论吗？\n{text}",
    ],
)
def test_a_prompt_whose_yes_may_mean_something_else(prompt: str) -> None:
    assert not is_asked_if_hateful(prompt)


def test_no_prompt_of_ours_asks_for_yes_or_no() -> None:
    assert not any(asks_if_hateful(one) for one in load_prompts().values())


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("Yes.", "hateful"),
        ("No", "non-hateful"),
        ("**Yes**", "hateful"),
        ("<answer>No</answer>", "non-hateful"),
        ("**No.** It thanks a nurse.", "non-hateful"),
        ("Yes, because it calls a people vermin.", "hateful"),
        ("It thanks a nurse.\n\nAnswer: No", "non-hateful"),
        ("No.\nIt thanks a nurse.\nFinal answer: no", "non-hateful"),
        ("是的。它侮辱了一个族群。", "hateful"),
        ("不是。", "non-hateful"),
        ("네. 특정 집단을 모욕합니다.", "hateful"),
        ("아니요. 날씨 이야기입니다.", "non-hateful"),
        ("Is it hateful? Yes. A people is called vermin.", "hateful"),
        ("Q: Does the post contain hate speech?\nA: No. It thanks a nurse.", "non-hateful"),
        ('My answer to "Is this hateful?" is no, because it thanks a nurse.', "non-hateful"),
        ("Yes, absolutely. A people is called vermin.", "hateful"),
        ("Without a doubt, no.", "non-hateful"),
        ("Thankfully, no: it thanks a nurse.", "non-hateful"),
    ],
)
def test_yes_is_hateful_and_no_is_not(answer: str, label: str) -> None:
    read = read_yes_or_no(answer)
    assert read is not None
    assert read.label == label
    word = answer[slice(*read.words)].casefold().partition(",")[0]
    assert word in ["yes", "no", "是的", "不是", "네", "아니요"]


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "No problem, here is my analysis.",
        "Certainly! Here is my analysis. It thanks a nurse.",
        "Of course. Let me look at the post. It thanks a nurse.",
        "No group is named.",
        "Yes, I can help with that.",
        "No, I cannot decide that.",
        "No. It depends on the context.",
        "Yes and no.",
        "Yes or no?",
        "Yes. But it quotes a song.",
        "Yes.\nFinal answer: no",
        "Yes. On reflection the post is not hateful.",
        "A group is named: yes. It is praised.",
        "Step 1. Is a group named?\nYes, women. They are praised.",
        "Nothing is said.",
        "Is a group named? Yes.",
        "Is it not hateful? Yes.",
        'My answer to "Is a group named?" is yes.',
        "Some may find it hateful. I don't know.",
        "Some may find it hateful. I don't, but it is hateful.",
    ],
)
def test_whatever_may_mean_something_else_is_left_unread(answer: str) -> None:
    assert read_yes_or_no(answer) is None


@pytest.mark.parametrize(
    ("question", "decision"),
    [("Is this post hateful?", "non-hateful"), ("Is this post acceptable?", None)],
)
def test_the_question_of_a_request_decides_what_no_means(
    question: str, decision: str | None
) -> None:
    request = ExplanationsRequest.model_validate(
        {
            "text": "The bakery opens at six.",
            "prompt": {"user": question + "\n{text}"},
            "answer": {"text": "No. It tells when a bakery opens."},
            "score": {"sor": {}, "hatexscore": {"probabilities": {"original": 0.2, "masked": 0.1}}},
        }
    )
    found = SERVICE.score(request)
    assert found.elicitation.decision == decision
    told = [one.detail for one in found.unscored if one.metric == "hatexscore"]
    assert any("no conclusion there" in one for one in told) == (decision is not None)


@pytest.mark.parametrize("batch", [f"elicited_{number}" for number in range(1, 12)])
def test_no_elicited_answer_is_inverted(batch: str) -> None:
    """Batches whose labels were written first; the figures of the first reading are in the card."""
    found = [(one.expected, read_label(one)) for one in answers(batch)]
    assert all(read in (expected, None) for expected, read in found)
    stated = [expected == read for expected, read in found if expected]
    assert sum(stated) >= 0.95 * len(stated)
