"""The client reads a result, and the command shows it."""

from __future__ import annotations

import pytest

from services.explanations.contract import CONTRACT, ExplanationsRequest
from services.explanations.service import SERVICE
from tests.explanations.scripted import saying
from touchstone_client.cli.output import Output
from touchstone_client.cli.scoring import show_result
from touchstone_client.models import ExplanationsResult, HatexscoreResult


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("your own answer", ("answered: hateful", "The post blames immigrants", "hatexscore")),
        ("a refusal", ("refused: no decision", "metrics do not score it")),
    ],
)
def test_a_result_is_read_and_shown(
    name: str, shown: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with saying(""):
        found = SERVICE.score(ExplanationsRequest.model_validate(CONTRACT.examples[name]))
    read = ExplanationsResult.model_validate(found.model_dump(mode="json"))
    assert [type(one) for one in read.scores] == [HatexscoreResult] * len(found.scores)
    capsys.readouterr()
    show_result(Output(is_json=False), read)
    said = capsys.readouterr()
    assert all(words in said.out for words in shown)
    assert "no model was called" in said.err
