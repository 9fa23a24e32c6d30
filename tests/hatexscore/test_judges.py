"""Any judge that reaches `hateful` gives QF, the number of a plain loop (acceptance row 13)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from services.hatexscore.contract import CONTRACT, HatexscoreRequest
from services.hatexscore.metric import SERVICE
from services.hatexscore.model_calls import RandomPlacements
from services.hatexscore.quotes import mask_spans
from services.hatexscore.report import HatexscoreCategoryEvidence, HatexscoreResult
from services.registry import contracts
from shared.contracts.calls import Example
from shared.contracts.errors import BadInput, ModelCannot
from shared.contracts.judgement import Judgement, Reading, from_counts, unread, with_mass
from shared.contracts.messages import MAX_TEXT, ModelUse, UnreadCode
from shared.models.catalogue.catalogue import Catalogue, load_catalogue
from shared.models.catalogue.entry import ModelEntry
from shared.models.server_check import probe
from tests.flat_requests import flat_request
from tests.hatexscore.fake import FakeClassifier, binding, surely
from tests.hatexscore.fake import bound as bound_head
from tests.judges import TinyJudges, tiny_judges
from tests.tiny_models.__main__ import main as tiny_models

TEXT = "Those immigrants are ruining our town"
QUOTED = (17, 37)
MASKED = mask_spans(TEXT, [QUOTED])
USER = "Post: {text}\nThis is"
LABELS = ("hateful", "non-hateful")
OFFENSIVE = '{ hateful = ["hate speech", "offensive"], non-hateful = ["normal"] }'
HEAD = 'labels = { hateful = ["yes", "perhaps"], non-hateful = ["no"] }'


def asking(model: str = "embedded-hate", **more: object) -> HatexscoreRequest:
    return flat_request(
        HatexscoreRequest,
        {
            "text": TEXT,
            "explanation": 'It says "are ruining our town", blaming immigrants for it. '
            "Conclusion: hateful.",
            "decision": "hateful",
            "language": "en",
            "model": model,
            **more,
        },
    )


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TinyJudges]:
    drawn = [mask_spans(TEXT, spans) for spans in RandomPlacements.of(TEXT, [QUOTED]).draws(0, 20)]
    texts = [USER.replace("{text}", text) for text in (TEXT, MASKED, *drawn)]
    folder = tmp_path_factory.mktemp("judges")
    with tiny_judges(folder, "hate", USER, texts, LABELS, HEAD) as made:
        yield made


@pytest.fixture
def judges(tiny: TinyJudges) -> Iterator[TinyJudges]:
    with tiny.bound() as made:
        yield made


def of_verbalizers(judges: TinyJudges, text: str) -> float:
    """P(hateful)."""
    return judges.shares(USER.replace("{text}", text))[0]


def of_head(judges: TinyJudges, text: str) -> float:
    """P(hateful): the outputs `perhaps` and `yes` of the raw head."""
    [row] = judges.models.local_classifier("encoder").logits([text])
    shares = np.exp(row - row.max())
    return float(shares[1:].sum() / shares.sum())


@pytest.mark.parametrize(
    ("model", "reading", "oracle"),
    [
        ("encoder", None, of_head),
        ("served-head", None, of_head),
        ("causal", "verbalizers", of_verbalizers),
        ("scored", "scored", of_verbalizers),
    ],
)
def test_the_same_request_by_every_kind_of_judge(
    judges: TinyJudges,
    model: str,
    reading: Reading | None,
    oracle: Callable[[TinyJudges, str], float],
) -> None:
    original, masked = oracle(judges, TEXT), oracle(judges, MASKED)
    report = SERVICE.score(asking(model, decision=decided(original)))
    assert report.masked_text == MASKED
    assert report.probability_original == pytest.approx(original, abs=1e-5)
    assert report.probability_masked == pytest.approx(masked, abs=1e-5)
    assert report.components.qf == pytest.approx(faithful(original, masked), abs=1e-5)
    assert report.score is not None
    assert report.reasons == ()
    drawn = RandomPlacements.of(TEXT, [QUOTED]).draws(0, 20)
    drops = [abs(original - oracle(judges, mask_spans(TEXT, spans))) for spans in drawn]
    assert report.control is not None
    assert report.control.drops == pytest.approx(drops, abs=1e-5)
    assert [use.name for use in report.provenance.models] == [model]
    told = report.probability_reading
    assert (told and told.reading) == reading
    if told is not None:
        assert 0.01 < (told.mass or 0) <= 1


def test_a_server_that_lists_some_tokens_is_as_sure_as_its_list(judges: TinyJudges) -> None:
    judge = judges.models.judge("chat")
    [text], [masked] = (judge.judgements([Example(text=one)]) for one in (TEXT, MASKED))
    read_p = None if text.unread else text.unwrap()[0]
    label = "hateful" if read_p is None else decided(read_p)
    report = SERVICE.score(asking("chat", decision=label))
    told = report.probability_reading
    unlisted = [one.unread.code for one in (text, masked) if one.unread]
    if unlisted:
        assert codes(report)["qf"] == unlisted[0]
        return
    assert told is not None
    assert told.reading == "top-logprobs"
    assert told.uncertainty == max(text.uncertainty, masked.uncertainty) <= 0.01
    qf = faithful(text.unwrap()[0], masked.unwrap()[0])
    assert report.components.qf == pytest.approx(qf, abs=1e-5)


def test_requests_of_several_judges_in_a_batch_score_as_alone(judges: TinyJudges) -> None:
    names = ["encoder", "causal", "served-head", "scored"]
    together = SERVICE.score_batch([asking(name) for name in names])
    for name, one in zip(names, together, strict=True):
        alone = SERVICE.score(asking(name))
        assert one.score == pytest.approx(alone.score, abs=1e-9)


OWN = "Hm. {text}\nThis is"


@pytest.mark.parametrize("model", ["causal", "scored"])
def test_a_requests_own_prompt_is_asked_in_the_place_of_the_entrys(
    judges: TinyJudges, model: str
) -> None:
    usual = SERVICE.score(asking(model))
    alone, beside = SERVICE.score_batch([asking(model, prompt={"user": OWN}), asking(model)])
    original = judges.shares(OWN.replace("{text}", TEXT))[0]
    masked = judges.shares(OWN.replace("{text}", MASKED))[0]
    assert alone.probability_original == pytest.approx(original, abs=1e-5)
    assert alone.probability_masked == pytest.approx(masked, abs=1e-5)
    assert beside.probability_original == pytest.approx(usual.probability_original, abs=1e-9)
    [own], [theirs] = alone.provenance.models, usual.provenance.models
    assert own.prompt_sha256
    assert theirs.prompt_sha256
    assert own.prompt_sha256 != theirs.prompt_sha256
    assert alone.provenance.parameters["prompt"]["user"] == OWN


def test_an_encoder_takes_no_prompt(judges: TinyJudges) -> None:
    with pytest.raises(BadInput, match="takes no prompt") as caught:
        SERVICE.score(asking("encoder", prompt={"user": OWN}))
    assert caught.value.pointer == "/options/prompt"


def test_a_server_without_log_probabilities_gives_no_number(judges: TinyJudges) -> None:
    report = SERVICE.score(asking("silent"))
    assert (report.score, report.components.qf, report.control) == (None, None, None)
    assert codes(report) == {part: "no-logprobs" for part in ("qf", "cc", "score")}


def decided(original: float) -> str:
    """The decision of a judge with this P: any other is not explained by it."""
    return "hateful" if original >= 0.5 else "non-hateful"


def faithful(original: float, masked: float) -> float:
    """QF of the judge's own decision."""
    lost = max(0.0, original - masked)
    return lost if decided(original) == "hateful" else 1 - lost


def codes(report: HatexscoreResult) -> dict[str, UnreadCode | str]:
    return {reason.component: reason.code for reason in report.reasons}


@pytest.mark.parametrize(
    ("preset", "more"),
    [
        ("hatexplain", ""),
        ("toxic-bert", ""),
        ("detoxify-multilingual", ""),
        ("hatexplain", f"labels = {OFFENSIVE}"),
    ],
    ids=["three outputs", "multi-label", "one output", "many to one"],
)  # fmt: skip
def test_heads_of_every_form_score(preset: str, more: str, tmp_path: Path) -> None:
    from services.inference.local_models import LocalModels

    tiny_models(["make", str(tmp_path / "tiny"), "--like", preset])
    (tmp_path / "models.toml").write_text(
        f'schema = 2\n[[models]]\nname = "m"\nsource = "path:tiny"\npreset = "{preset}"\n'
        f'device = "cpu"\n{more}\n', "utf-8"
    )  # fmt: skip
    models = LocalModels(load_catalogue(tmp_path / "models.toml"))
    with binding(models):
        model = models.local_classifier("m")
        column = model.labels.index("hateful")
        [original], [masked] = model.probabilities([TEXT]), model.probabilities([MASKED])
        label = decided(float(original[column]))
        report = SERVICE.score(asking("m", control_draws=2, decision=label))
    assert report.probability_original == pytest.approx(original[column], abs=1e-5)
    assert report.probability_masked == pytest.approx(masked[column], abs=1e-5)
    qf = faithful(float(original[column]), float(masked[column]))
    assert report.components.qf == pytest.approx(qf, abs=1e-5)
    assert report.score is not None


@dataclass
class Saying(FakeClassifier):
    """Judgements by a function of the text."""

    says: Callable[[str], Judgement] = lambda text: with_mass(LABELS, (0.5, 0.5), 1, "scored")

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        return [self.says(example.text) for example in examples]


def saying(says: Callable[[str], Judgement]) -> HatexscoreResult:
    with bound_head(Saying(labels=LABELS, says=says)):
        return SERVICE.score(asking())


def read(text: str, mass: float = 0.9) -> Judgement:
    p = surely(text)
    return with_mass(LABELS, (p, 1 - p), mass, "top-logprobs")


@pytest.mark.parametrize("code", ["answer-unread", "label-not-listed", "text-too-long"])
@pytest.mark.parametrize("which", [TEXT, MASKED])
def test_p_that_was_not_read_is_null_with_the_judges_reason(which: str, code: UnreadCode) -> None:
    report = saying(lambda text: unread(LABELS, code, "no") if text == which else read(text))
    parts = report.components
    assert (report.score, parts.qf, parts.cc, report.control) == (None, None, None, None)
    assert None not in (parts.htc, parts.tgi)
    assert codes(report) == {"qf": code, "cc": code, "score": code}
    assert (report.probability_original is None) == (which == TEXT)
    assert {reason.detail for reason in report.reasons} <= set(report.warnings)


def test_random_texts_that_were_not_read_leave_no_control() -> None:
    whole = {TEXT, MASKED}
    report = saying(
        lambda text: read(text) if text in whole else unread(LABELS, "answer-unread", "x")
    )
    assert report.control is None
    assert report.score is not None
    drawn = len(RandomPlacements.of(TEXT, [QUOTED]).draws(0, 20))
    said = f"{drawn} of {drawn} randomly masked texts could not be read"
    assert any(said in one for one in report.warnings)


def test_little_mass_is_told() -> None:
    report = saying(lambda text: read(text, mass=0.2 if text == MASKED else 0.9))
    assert report.score is not None
    assert "low-mass: embedded-hate gives all labels together a probability of only 0.2" in (
        report.warnings
    )
    assert report.probability_reading is not None
    assert report.probability_reading.mass == 0.2


@pytest.mark.parametrize(
    ("model", "said"), [("scored", "yes"), ("served-head", "yes"), ("silent", "no (no-logprobs)")]
)
def test_models_check_claims_what_holds(judges: TinyJudges, model: str, said: str) -> None:
    catalogue = judges.models._catalogue
    claimed = probe(catalogue.entry(model)).metrics
    assert claimed["HateXScore"] == said
    report = SERVICE.score(asking(model, variant="paper"))
    assert (report.components.qf is not None) == (said == "yes")
    assert claimed["FTC"] == (said if said != "yes" else "no (does not report entailment)")
    assert claimed["ICE"] == (said if said != "yes" else "words")
    ice = contracts()["ice"]
    asked = ice.request.model_validate(
        {**ice.examples["attention, which might be chance"], "model": model}
    )
    with pytest.raises(ModelCannot, match="it shows neither attention nor gradients"):
        catalogue.check_request(ice, model, asked)
    catalogue.check_request(ice, model, asked.model_copy(update={"attribution": "lime"}))


@pytest.mark.parametrize(("draws", "code"), [(199, "votes-too-coarse"), (200, None)])
def test_few_votes_are_too_coarse_for_a_difference(draws: int, code: str | None) -> None:
    report = saying(lambda _: from_counts({"hateful": draws - 20, "non-hateful": 20}, draws))
    assert codes(report).get("qf") == code
    assert (report.components.qf is None) == (code is not None)


def test_what_tells_no_hateful_is_refused_when_it_is_posted() -> None:
    bare = ModelEntry(name="bare", kind="causal", source="path:none")
    nli = ModelEntry(name="nli", kind="classifier", source="embedded:nli")
    judge = ModelEntry.model_validate(
        {
            "name": "judge", "kind": "causal", "source": "path:none",
            "prompt": {"verbalizers": {"hateful": ["yes"], "non-hateful": ["no"]}},
        }
    )  # fmt: skip
    found = Catalogue((bare, nli, judge), Path())
    found.check_request(CONTRACT, "judge", asking("judge"))
    with pytest.raises(BadInput, match=r"causal model without a prompt.*\[models.prompt\]"):
        found.check_request(CONTRACT, "bare", asking("bare"))
    with pytest.raises(BadInput, match="needs a model with the labels hateful, but 'nli' has "):
        found.check_request(CONTRACT, "nli", asking("nli"))
    sent = asking("nli", probabilities={"original": 0.9, "masked": 0.1})
    found.check_request(CONTRACT, "nli", sent)


def test_a_masked_text_may_be_longer_than_a_text() -> None:
    text = "word " * 3_999 + "zebra"
    with bound_head(FakeClassifier()) as model:
        explanation = 'It says "zebra". Conclusion: hateful.'
        report = SERVICE.score(asking(text=text, explanation=explanation, control_draws=0))
    assert len(text) == MAX_TEXT < len(report.masked_text or "")
    assert model.calls == [[text, report.masked_text]]


class NamingGuard(FakeClassifier):
    """It names a category where it is asked to."""

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        return [
            one.model_copy(update={"categories": {"S10": "Hate"}} if example.categories else {})
            for one, example in zip(super().judgements(examples), examples, strict=True)
        ]


def test_what_a_guard_names_is_evidence_of_its_own() -> None:
    with bound_head(FakeClassifier(hateful=surely)):
        plain = SERVICE.score(asking())
    with bound_head(NamingGuard(hateful=surely)):
        named = SERVICE.score(asking())
    [one] = named.evidence[len(plain.evidence) :]
    assert isinstance(one, HatexscoreCategoryEvidence)
    assert (one.kind, one.category, one.text) == ("category", "S10", "Hate")
    assert (one.start, one.end) == (None, None)
    assert named.model_copy(update={"evidence": plain.evidence}) == plain


class Strict(FakeClassifier):
    """Its entry has a `threshold`."""

    least = 0.5

    @property
    def use(self) -> ModelUse:
        return super().use.model_copy(update={"thresholds": {"hateful": self.least}})


@pytest.mark.parametrize(("least", "agrees"), [(0.3, True), (0.8, False)])
def test_the_threshold_of_an_entry_says_what_the_model_decides(least: float, agrees: bool) -> None:
    model = Strict(hateful=lambda text: 0.6 if text == TEXT else 0.2)
    model.least = least
    with bound_head(model):
        report = SERVICE.score(asking())
    assert report.model_agrees is agrees
    assert (report.components.qf is not None) is agrees
    assert report.probability_original == pytest.approx(0.6)  # P itself is never changed
