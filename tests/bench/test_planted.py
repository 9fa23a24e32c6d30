"""The planted bench: its texts have the causes they claim, and at level 0 what must be seen is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from bench import planted_model
from bench.planted import Claim, Sizes, checked, markdown, measure
from bench.planted_ice import asked_of
from bench.planted_model import CLS, arithmetic, judged_by, trained
from bench.planted_texts import LONGEST, PLANTS, SHORTEST, by_arithmetic, ladder
from shared.contracts.calls import Example, ExampleRows, Row
from shared.models.ports import models
from shared.statistics.seeds import generator

# Of n words each cause of an AND is needed by itself, so that 4/n of all pairs do as much as both
# causes: p <= 0.05 asks for 80 words or more, and a text has 60 to 90.
UNATTAINABLE = {
    "ICE / AND / true / N",
    "ICE / AND / true / reading cause",
}


@pytest.mark.parametrize("name", sorted(PLANTS))
def test_the_label_is_what_the_plant_says_and_the_cause_makes_it(name: str) -> None:
    plant, random = PLANTS[name], generator(0, "texts", name)
    judge = by_arithmetic(plant)
    texts = [plant.write(random) for _ in range(300)]
    assert 0.4 < np.mean([text.label for text in texts]) < 0.6
    for text in texts:
        assert SHORTEST <= len(text.words) <= LONGEST
        assert (judge(text.words) > 0.5) == bool(text.label)
        assert bool(text.cause) == (text.label == 1 and name != "length")
        without = [word for place, word in enumerate(text.words) if place not in text.cause]
        if text.cause:
            assert judge(without) < 0.5
            for span, place in zip(text.spans(text.cause), text.cause, strict=True):
                assert text.text[span["start"] : span["end"]] == f"w{text.words[place]}"


def test_the_rungs_of_a_ladder() -> None:
    random = generator(0, "ladder")
    for name in ("AND", "bigram"):
        text = PLANTS[name].write(random, 1)
        rungs = ladder(PLANTS[name], text, random)
        assert set(rungs) == {"true", "half", "padded", "swapped", "random"}
        assert set(rungs["padded"]) > set(rungs["true"]) > set(rungs["half"])
        assert not set(rungs["swapped"]) & set(rungs["true"])
        assert len(rungs["random"]) == len(rungs["swapped"]) == 2
    assert rungs["swapped"][1] - rungs["swapped"][0] == 1
    length = PLANTS["length"]
    assert set(ladder(length, length.write(random, 1), random)) == {"random"}
    rows = {one.row for one in asked_of(PLANTS["OR"], 0, 12)}
    assert {"one of two", "both", "the only one", "negated"} <= rows


def test_the_judge_answers_rows_as_a_model_does() -> None:
    with judged_by(arithmetic(PLANTS["token"]).score) as judge:
        example = Example(text="w1 w7 w250")
        [tokens] = judge.tokens([example])
        assert tokens.ids == (CLS, 1, 7, 250)
        rows = (
            Row(),
            Row(kept=(0, 1, 3)),
            Row(replaced=((2, judge.tokens([example])[0].mask_id or 0),)),
        )
        [found] = models().judge("any").judge_rows([ExampleRows(example=example, rows=rows)])
        assert found[:, 1].tolist() == [0.98, 0.02, 0.02]
        [one] = judge.judgements([Example(text="w2 [MASK] w3")])
        assert one.probabilities == pytest.approx((0.98, 0.02))


def test_a_model_is_the_same_when_it_is_trained_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planted_model, "EPOCHS", 1)
    monkeypatch.setattr(planted_model, "TEST_TEXTS", 50)
    rows = [(1, 7, 9), (7,), (), (1, 2, 3, 4, 5)]
    scores = [trained(PLANTS["token"], seed, texts=128).score(rows) for seed in (0, 0, 1)]
    assert scores[0].tolist() == scores[1].tolist() != scores[2].tolist()
    assert ((scores[0] > 0) & (scores[0] < 1)).all()


def test_the_last_layer_is_whole_at_the_first_place() -> None:
    torch.manual_seed(3)
    network = planted_model.Network().eval()
    ids = torch.tensor([[CLS, 5, 7, 9], [CLS, 3, planted_model.PAD, planted_model.PAD]])
    there = network.words(ids) + network.places(torch.arange(4))
    for layer in network.layers:
        there = layer(there, src_key_padding_mask=ids == planted_model.PAD)
    assert torch.allclose(network(ids), network.head(there[:, 0])[:, 0], atol=1e-6)


def test_a_trained_model_is_kept_and_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planted_model, "EPOCHS", 1)
    monkeypatch.setattr(planted_model, "TEST_TEXTS", 50)
    rows = [(1, 7, 9), (7,)]
    first = trained(PLANTS["token"], 0, texts=128, store=tmp_path)
    [kept] = tmp_path.glob("*.safetensors")
    made = kept.stat().st_mtime_ns
    again = trained(PLANTS["token"], 0, texts=128, store=tmp_path)
    assert again.score(rows).tolist() == first.score(rows).tolist()
    assert (again.seconds, kept.stat().st_mtime_ns) == (first.seconds, made)
    trained(PLANTS["token"], 1, texts=128, store=tmp_path)
    trained(PLANTS["AND"], 0, texts=128, store=tmp_path)
    assert len(list(tmp_path.glob("*.safetensors"))) == 3


@pytest.mark.parametrize(
    ("rate", "said"),
    [
        ([0.95, 0.9, 0.98], "shown"),
        ([0.85, 0.7, 0.93], "too few to tell"),
        ([0.3, 0.2, 0.4], "**missed**"),
        (None, "not shown"),
    ],
)
def test_so_few_that_nothing_is_refuted_are_no_miss(rate: list[float] | None, said: str) -> None:
    tables = {"ICE": {"token": {"true": {"n": 40, "S": rate}}}}
    one = checked(Claim("ICE", "token", "true", "S", 0.9), tables, level=1)
    assert list(markdown({"claims": [one]}))[-1].endswith(f"| {said} |")


def test_level_0_shows_what_must_be_seen() -> None:
    found = measure(["token", "AND"], Sizes(0, texts=40, size_texts=40, seeds=1, items=20))
    claims = {
        " / ".join((one["metric"], one["plant"], one["row"], one["field"])): one["met"]
        for one in found["figures"]["claims"]
    }
    refuted = {
        " / ".join((one["metric"], one["plant"], one["row"], one["field"]))
        for one in found["figures"]["claims"]
        if one["met"] is False and not one["open"]
    }
    assert refuted <= UNATTAINABLE
    for name in (
        "ICE / token / true / S",
        "ICE / AND / true / S",
        "ICE / AND / half / S",
        "ICE / token / random / S",
        "ICE / AND / swapped / S",
        "ICE / AND / negated / S against",
        "ICE / token / areas / true against swapped",
        "HateXScore / token / true / p <= .05",
        "HateXScore / token / negated / opposes",
        "FTC / toy inference / true / skill",
        "FTC / toy inference / true / skill p",
        "FTC / toy inference / swapped / skill",
        "FTC / toy inference / true, a judge that always says entailment / skill",
        "CoT2EL / units / others / kept",
        "HAF / repeated reason / repeated reason / dis falls",
        "HLV / annotators / mixtures / monotone",
        "Consistency / copying / faithful / score",
        "Consistency / copying / unfaithful / score - chance",
    ):
        assert claims[name] is True, name
    half = found["figures"]["tables"]["ICE"]["AND"]["half"]
    assert half["ties"] == 1  # half of an AND alone: sufficiency cannot see it
    assert found["ratios"].keys() == claims.keys()
    assert len(claims) > len([name for name in claims if name.startswith("ICE")]) > 20
    lines = list(markdown(found["figures"]))
    assert len(lines) == len(claims) + 2
    assert all(line.count("|") == 9 for line in lines)
