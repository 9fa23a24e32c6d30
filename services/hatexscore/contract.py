"""HateXScore: does an explanation of a hate-speech decision conclude, quote, name the group, and
cohere? Source: Hu & Lee, EACL 2026, arXiv:2601.13547, section 3. See docs/methods/hatexscore.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)

from services.hatexscore.report import (
    FACETS,
    ConsistencyRule,
    HatexscoreBatchReport,
    HatexscoreResult,
    Label,
    Language,
    Probability,
    Side,
    VocabularyName,
)
from services.hatexscore.verdict import PROBLEMS, finding
from services.hatexscore.vocabulary import (
    MOST_CLASSES,
    MOST_WORDS,
    MOST_WRITTEN_OUT,
    RESERVED,
    SIDES,
    Vocabulary,
    built_in,
    custom_vocabulary,
    invalid_label,
    vocabulary_of_decision,
)
from shared.contracts.elicitation import ExplainableRequest
from shared.contracts.explanation_fields import Explanation, ExplanationFields, written_out
from shared.contracts.language_names import language_name
from shared.contracts.messages import (
    CallersWords,
    Input,
    LanguageTag,
    Message,
    ModelName,
    Parameter,
    RequiredText,
    Share,
    Variant,
    Visible,
)
from shared.contracts.prompt_table import PromptKeys, prompt_tokens
from shared.contracts.request_cost import Size, Work, words_of
from shared.contracts.service import (
    ElicitedExplanation,
    FactPaths,
    FormField,
    MetricContract,
    RivalGroup,
)
from shared.contracts.validation_messages import refusal

DEFAULT_MODEL = "embedded-hate"

MARKS = "\"'\uff02\u201c\u201e\u201f\u00ab\u300c\u300e\u300a\u2018\u201b"  # that open a quotation
MOST_MASKED = 2_000_000  # characters of all random placements
DRAWS: dict[Variant, int] = {"robust": 199, "paper": 20, "reference": 20}  # at most
SECONDS_A_CHARACTER = 1.2e-4  # of text and explanation: words, quotations, the trained reader
SECONDS_A_QUOTATION = 2e-3  # that is looked for among near misses
SECONDS_A_TERM = 1.5e-4  # of a policy of your own

PolicyName = Literal["un", "meta", "twitter", "youtube"]
Term = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), Visible
]
Terms = Annotated[list[Term], Field(max_length=2_000)]
HATEFUL: Side = "hateful"  # the side whose probability counts
LabelText = Annotated[str, StringConstraints(min_length=1, max_length=120), Visible]
LabelTexts = Annotated[list[LabelText], Field(min_length=1, max_length=MOST_WORDS)]
ClassName = Annotated[str, StringConstraints(pattern=r"^\w[\w -]{0,39}$")]
OwnLabels = Annotated[
    dict[ClassName, LabelTexts], Field(min_length=len(SIDES), max_length=MOST_CLASSES)
]
CustomPolicy = Annotated[dict[Term, Terms], Field(min_length=1, max_length=100)]


# The paper's appendix prints a UN list in three languages and the platforms' in English only.
POLICY_LANGUAGES: dict[str, tuple[Language, ...]] = {
    "meta": ("en",),
    "twitter": ("en",),
    "un": ("en", "ko", "zh"),
    "youtube": ("en",),
}


class HatexscoreWeights(Message):
    """Weights of the four components in the score; the default is the paper's mean (Eq. 6)."""

    htc: float = Field(default=1.0, ge=0, le=1_000, description="weight of the Hate-Type Check")
    qf: float = Field(default=1.0, ge=0, le=1_000, description="weight of Quotation Faithfulness")
    tgi: float = Field(
        default=1.0, ge=0, le=1_000, description="weight of Target-Group Identification"
    )
    cc: float = Field(default=1.0, ge=0, le=1_000, description="weight of the Consistency Check")

    @model_validator(mode="after")
    def _some_weight(self) -> Self:
        if not self.htc + self.qf + self.tgi + self.cc > 0:
            raise ValueError("at least one weight must be positive")
        return self


class HatexscoreProbabilities(Message):
    """P(hateful) from the caller's own model, or `null` if the model gave none. If the decision is
    a class of `labels` other than hateful and non-hateful, it is the probability of that class."""

    original: Probability | None = Field(description="P(hateful) of the text, [0, 1]")
    masked: Probability | None = Field(
        description="P(hateful) of the text with the quoted spans masked, [0, 1]"
    )


class HatexscoreOptions(Message):
    """Options for reading the explanation, asking the model and scoring the parts."""

    labels: Annotated[VocabularyName | OwnLabels | None, Parameter] = Field(
        default=None,
        examples=[
            "toxicity",
            {"hateful": ["hate speech"], "offensive": ["offensive"], "non-hateful": ["normal"]},
        ],
        description="words for the classes of the decision, which are searched for in the "
        "explanation: the name of a built-in vocabulary, or your own. Your own needs words "
        "for `hateful` and `non-hateful`, and may add classes, as `three-way` does. Capital "
        "letters match only capital letters; digits and single characters match only in a "
        "label line. Absent: the vocabulary that contains `decision`, else `default`",
    )
    prompt: Annotated[PromptKeys | None, Parameter] = Field(
        default=None,
        description="replaces keys of the model entry's `prompt`, if the entry has "
        "`allow_request_prompt`. For causal models and chat servers",
    )
    reader: Literal["rules", "llm", "auto"] = Field(
        default="auto",
        description="what reads the explanation's conclusion and groups (HTC, TGI). `rules`: the "
        "explanation's fields, or the trained reader for prose; `llm`: `reader_model`; "
        "`auto`: as `rules`, but with a `reader_model` for other languages and uncertain cases",
    )
    reader_model: ModelName | None = Field(
        default=None,
        description="configured language model that reads the explanation; absent: the reader "
        "model in the entry of `model`",
    )
    policy: Annotated[PolicyName | CustomPolicy, Parameter, CallersWords] = Field(
        default="un",
        description='protected groups: a named list, or your own `{"category": ["term", ...]}`',
    )
    tau: Share = Field(default=0.3, description="threshold of the Consistency Check, a probability")
    consistency_rule: ConsistencyRule | None = Field(
        default=None,
        description="the condition on the QF of a non-hateful decision in the Consistency Check: "
        "`causal` 1 - QF < tau, `eq5` QF < tau, `reference` QF >= tau; absent: as in the variant",
    )
    weights: HatexscoreWeights = Field(default_factory=HatexscoreWeights)
    short_text_max_words: int = Field(
        default=5, ge=0, le=50, description="maximum words of a text that may be quoted in full"
    )
    control_draws: int | None = Field(
        default=None,
        ge=0,
        le=200,
        description="maximum number of random spans masked to measure chance; `robust` first "
        "masks 19. For a hateful decision it continues to 39, 79, 139 and all spans until the "
        "result is clear. Absent: 199 in `robust`, fewer for a `text` above 10,050 characters "
        "(2,000,000 characters of masked text at most); else 20",
    )

    @field_validator("labels")
    @classmethod
    def _names_each_side_once(
        cls, labels: VocabularyName | OwnLabels | None
    ) -> VocabularyName | OwnLabels | None:
        if isinstance(labels, dict) and not {*SIDES} <= {*labels}:
            raise ValueError(
                "`labels` lacks words for `hateful` or `non-hateful`; give words for both"
            )
        if isinstance(labels, dict) and not {*labels}.isdisjoint(RESERVED):
            raise ValueError(
                f"a class must not have the name {' or '.join(RESERVED)}; choose another name"
            )
        found = invalid_label(labels) if isinstance(labels, dict) else None
        if found is not None:
            side, place, why = found
            raise refusal((side, place), why)
        return labels

    @model_validator(mode="after")
    def _check_reader(self) -> Self:
        if self.reader == "llm" and self.reader_model is None:
            raise ValueError("the reader `llm` needs a `reader_model`; set it to a language model")
        return self

    @field_validator("policy")
    @classmethod
    def _has_terms(cls, policy: PolicyName | CustomPolicy) -> PolicyName | CustomPolicy:
        if isinstance(policy, dict) and not any(policy.values()):
            raise ValueError("the policy has no terms; add at least one")
        return policy


class HatexscoreRequest(ExplainableRequest):
    """A text, and a model's explanation of its decision about the text."""

    text: Annotated[RequiredText, Input] = Field(description="the moderated text")
    explanation: Annotated[Explanation, Input] = Field(
        default="",
        description="explanation of the decision, as a text or as fields. The variant `robust` "
        "also recognises fields that are sent as a JSON text. An empty text scores 0. "
        "Required unless `explain` is set",
    )
    options: HatexscoreOptions = Field(
        default_factory=HatexscoreOptions,
        description="settings for reading, model calls and scoring",
    )
    decision: Annotated[str | None, Parameter] = Field(
        default=None,
        max_length=60,
        examples=["hateful", "non-hateful", "toxic"],
        description="the explained decision: `hateful`, `non-hateful`, or a class or word of "
        "`labels`; absent: the decision that the explanation states",
    )
    language: Annotated[LanguageTag, Parameter] = Field(
        default="auto",
        examples=["en", "de", "zh-Hant"],
        description="language of the text (BCP 47); `auto` identifies it. An explanation that is "
        "clearly in another language is read in that language. Supported languages of "
        "explanations: en, de, fr, es, it, pt, zh and ko",
    )
    accept_untrained_languages: bool = Field(
        default=False,
        description="also score a text in a language that the model did not learn, with a "
        "warning; otherwise QF, CC and the score of such a text are null",
    )
    probabilities: HatexscoreProbabilities | None = Field(
        default=None,
        description="your own model's probabilities; the service calls no model, "
        "and there is no comparison with chance",
    )

    @property
    def explanation_text(self) -> str:
        """The explanation as one text, into which the offsets of evidence point."""
        return written_out(self.explanation)

    @property
    def explanation_fields(self) -> ExplanationFields | None:
        """The fields of the explanation, or None if it is a text."""
        return self.explanation if isinstance(self.explanation, ExplanationFields) else None

    @property
    def vocabulary(self) -> Vocabulary:
        """The label words that apply to this request."""
        return _in_force(self.options.labels, self.decision)

    @property
    def decision_class(self) -> Label | None:
        """The class of the decision in the request, or None if it has no decision."""
        sent = self.decision
        return None if sent is None else _class_of(self.vocabulary, sent)

    @property
    def most_draws(self) -> int:
        """The maximum number of random spans."""
        if self.options.control_draws is not None:
            return self.options.control_draws
        return min(DRAWS[self.variant], MOST_MASKED // len(self.text))

    @field_validator("decision")
    @classmethod
    def _is_a_label(cls, label: str | None, info: ValidationInfo) -> str | None:
        if label is None or "options" not in info.data:
            return label
        vocabulary = _in_force(info.data["options"].labels, label)
        classes = vocabulary.classes
        if _class_of(vocabulary, label) is None:
            first = [
                word for class_ in classes for word in vocabulary.side(class_)[:MOST_WRITTEN_OUT]
            ]
            accepted = ", ".join(dict.fromkeys([*classes, *first]))
            raise ValueError(f"the label must be one of the accepted words: {accepted}")
        return label

    @model_validator(mode="after")
    def _masks_within_reason(self) -> Self:
        masked = (self.options.control_draws or 0) * len(self.text)
        if masked > MOST_MASKED:
            why = f"`control_draws` x characters of `text` is {masked:,}, more than {MOST_MASKED:,}"
            raise refusal(("options", "control_draws"), why)
        return self

    @field_validator("options")
    @classmethod
    def _check_policy(cls, options: HatexscoreOptions, info: ValidationInfo) -> HatexscoreOptions:
        language = info.data.get("language", "auto").partition("-")[0].lower()
        policy = options.policy
        if isinstance(policy, dict) or language not in get_args(Language):
            return options
        if language not in POLICY_LANGUAGES[policy]:
            named = language_name(language)
            raise refusal(("policy",), f"the policy {policy} has no list in {named}; send your own")
        return options


def judge_labels(
    request: HatexscoreRequest, labels: Sequence[str], decision: Label | None
) -> tuple[str, ...]:
    """Return the model's labels whose probabilities add up to P(hateful). These labels mean hateful
    in the vocabulary, or the class of the decision if it is neither hateful nor non-hateful.
    `paper` and `reference` have only two labels."""
    target = HATEFUL if decision is None or decision in SIDES else decision
    if request.variant != "robust" and target == HATEFUL and HATEFUL in labels:
        return (HATEFUL,)
    vocabulary = request.vocabulary
    return tuple(
        label for label in labels if label == target or vocabulary.label_of(label) == target
    )


def _fits(request: HatexscoreRequest, labels: Sequence[str]) -> bool:
    """Return True if the model's labels fit the decision. A decision other than hateful and
    non-hateful always fits. If the model lacks its label, only one check is skipped."""
    decision = request.decision_class
    return decision not in (None, *SIDES) or bool(judge_labels(request, labels, decision))


def _in_force(labels: VocabularyName | OwnLabels | None, sent: str | None) -> Vocabulary:
    if isinstance(labels, dict):
        return custom_vocabulary(labels)
    if labels is None and sent:
        return vocabulary_of_decision(sent)
    return built_in(labels or "default")


def _class_of(vocabulary: Vocabulary, sent: str) -> Label | None:
    return sent if sent in vocabulary.classes else vocabulary.label_of(sent)


_HATEFUL = {
    "text": "Honestly, those immigrants are ruining our lovely old town, and I do not understand "
    "why nobody on the council does anything about it.",
    "explanation": 'The post says "those immigrants are ruining" and blames immigrants as a group. '
    "Conclusion: the text is hateful.",
    "decision": "hateful",
}
_FIELDS = _HATEFUL | {
    "explanation": {
        "text": "The post blames immigrants as a group for what goes wrong in the town.",
        "reasons": ["It blames a whole group of people."],
        "quotes": ["those immigrants are ruining"],
        "target_groups": ["immigrants"],
        "decision": "hateful",
    },
}
_CHINESE = {
    "text": "今天和同事一起看了一场很好的电影。",
    "explanation": "“很好的电影”只是对电影的评价，没有攻击任何人。结论：非仇恨。",
    "decision": "non-hateful",
}
_KOREAN = {
    "text": "오늘 도서관에서 좋은 책을 빌렸다.",
    "explanation": '"좋은 책을 빌렸다"는 일상을 말할 뿐이다. 이 글은 혐오 표현이 아닙니다.',
    "decision": "non-hateful",
}
_OWN_PROBABILITIES = {
    "text": "Muslims are kind neighbours",
    "explanation": 'The phrase "kind neighbours" praises Muslim people. The text is not hateful.',
    "decision": "non-hateful",
    "probabilities": {"original": 0.02, "masked": 0.02},
}
_OWN_LABELS = _HATEFUL | {
    "explanation": 'The post says "those immigrants are ruining", which blames all immigrants. I '
    "rate it as toxic.",
    "decision": "toxic",
    "options": {"labels": "toxicity"},
}
_OWN_POLICY = {
    "text": "We lost the match again, cyclists everywhere",
    "explanation": '"cyclists everywhere" is a complaint about traffic around the lost match. This '
    "is not hate speech.",
    "language": "en",
    "options": {"policy": {"road users": ["cyclist", "pedestrian"]}},
}


def cost(request: HatexscoreRequest, reads: int) -> Sequence[Work]:
    """Return an upper bound of the cost. It assumes that every mark opens a quotation and that all
    quotations are masked."""
    return tuple(_work_items(request, reads))


def _work_items(request: HatexscoreRequest, reads: int) -> Iterator[Work]:
    explanation = request.explanation_text
    characters = len(request.text) + len(explanation)
    read = Size("characters of `text` and `explanation`", characters, "/text", least=2)
    yield Work((read,), "characters", seconds_each=SECONDS_A_CHARACTER)
    marks = sum(map(explanation.count, MARKS))
    quotations = Size("quotation marks of `explanation`", marks, "/explanation")
    yield Work((quotations,), "quotations", seconds_each=SECONDS_A_QUOTATION)
    if request.options.reader_model is not None and request.options.reader != "rules":
        prompt = Size("tokens of `explanation`", words_of(explanation), "/explanation")
        yield Work((prompt,))
    if isinstance(request.options.policy, dict):
        terms = sum(map(len, request.options.policy.values()))
        size = Size("terms of `policy`", terms, "/options/policy")
        yield Work((size,), "terms", seconds_each=SECONDS_A_TERM)
    if marks and request.probabilities is None:
        draws = Size(
            "texts (`control_draws` + 2)", 2 + request.most_draws, "/options/control_draws"
        )
        tokens = Size("tokens of `text`", max(1, min(words_of(request.text), reads)), "/text")
        yield Work((draws, tokens))
        if request.options.prompt is not None:
            around = Size(
                "tokens of `prompt`", prompt_tokens(request.options.prompt), "/options/prompt"
            )
            yield Work((draws, around))


def elicited(found: ElicitedExplanation) -> dict[str, Any]:
    """Return a HateXScore request made from a model's answer. The model that decided also gives
    P(hateful), since another model would only measure its agreement with the decision."""
    fields: dict[str, Any] = {}
    if found.policy is not None:
        fields["options"] = {"policy": found.policy}
    decided = found.decision
    if decided is not None and _class_of(_in_force(None, decided), decided) is not None:
        fields["decision"] = decided
    return {
        **fields,
        **found.judged_by(HATEFUL),
        "text": found.inputs.get("text"),
        "explanation": found.explanation,
    }


def needs(request: HatexscoreRequest) -> tuple[str, ...]:
    """Return the ability to classify, or nothing if the request has its own probabilities."""
    return ("judge",) if request.probabilities is None else ()


CONTRACT = MetricContract(
    name="hatexscore",
    version="2.0",
    summary="Does the explanation state the decision, quote the post, name the group, and fit "
    "together?",
    request=HatexscoreRequest,
    report=HatexscoreResult,
    explained="decision",
    model_kinds=("classifier", "causal"),
    default_model=DEFAULT_MODEL,
    cost=cost,
    needs=needs,
    writers=("options.reader_model",),
    labels=(HATEFUL,),
    fits=_fits,
    examples={
        "a hateful text": _HATEFUL,
        "as fields": _FIELDS,
        "in Chinese": _CHINESE,
        "in Korean": _KOREAN,
        "your own probabilities": _OWN_PROBABILITIES,
        "your own groups": _OWN_POLICY,
        "a decision in other words": _OWN_LABELS,
    },
    batch_report=HatexscoreBatchReport,
    batch_summary="Means of the four parts with intervals, and label conflicts, over many results",
    batch_intervals=21,
    form=(
        FormField(name="text", label="Text", hint="what was moderated"),
        FormField(
            name="explanation", label="Explanation", hint="the model's explanation of its decision"
        ),
        FormField(
            name="decision",
            label="Decision",
            choices=("hateful", "non-hateful"),
            hint="empty: the decision that the explanation states",
            required=False,
        ),
    ),
    finding=finding,
    problems=PROBLEMS,
    elicited=elicited,
    facts=FactPaths(
        passages=("quote",),
        chance="control.share_beaten",
        rivals=("Their quotes account for the decision", "random spans do"),
        decision_sent="decision",
        decision_stated="stated_decision",
        facets=FACETS,
        last=("class=non-hateful", "quotes=none"),
        groups=(
            RivalGroup(
                path="by_decision.hateful",
                name="hateful decisions",
                better={"qf": "higher", "share_beaten": "higher"},
            ),
            RivalGroup(
                path="by_decision.non-hateful",
                name="non-hateful decisions",
                wanted="masking the quotes should change the model's probability little. Masking "
                "{share} of random spans changes it less",
                better={"qf": "higher", "share_beaten": "lower"},
            ),
        ),
        caveats=("the judge makes",),
    ),
)
