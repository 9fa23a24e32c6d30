"""The request of ICE, which tests whether the words that an explanation marks matter more to the
model than random words. Source: Basu & Chakraborty, arXiv:2603.18579, section 3. See
docs/methods/ice.md."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, field_validator, model_validator

from services.ice.cost import cost, server_cost
from services.ice.report import (
    Aspect,
    IceAttributedSpan,
    IceBatchReport,
    IceBatchReportRequest,
    IceResult,
    IceSpan,
    NullKind,
    Operator,
    RowKind,
    StratumKind,
)
from services.ice.verdict import PROBLEMS, finding
from shared.contracts.calls import AttributionMethod, Template
from shared.contracts.messages import (
    MAX_TEXT,
    Input,
    LanguageRequest,
    Message,
    ModelName,
    Parameter,
    RequiredText,
    Visible,
    Word,
)
from shared.contracts.prompt_table import PromptKeys
from shared.contracts.service import (
    FactPaths,
    FormField,
    MetricContract,
)

DEFAULT_MODEL = "embedded-hate"
TOKEN_OPERATORS: tuple[Operator, ...] = ("mask_unk", "mask_pad")

MethodName = Literal["attention", "gradient", "integrated_gradients", "lime"]
Method = MethodName | AttributionMethod
Methods = Method | Annotated[tuple[Method, ...], Field(min_length=1, max_length=8)]
Values = Annotated[tuple[IceAttributedSpan, ...], Field(min_length=1, max_length=MAX_TEXT)]
Budget = Annotated[float, Field(gt=0, le=1)]
Label100 = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), Visible
]
MOST_QUOTATIONS = 200


def _check_quotations(given: tuple[IceSpan | str, ...]) -> tuple[IceSpan | str, ...]:
    if sum(isinstance(item, str) for item in given) > MOST_QUOTATIONS:
        raise ValueError(f"at most {MOST_QUOTATIONS:,} quotations")
    return given


Spans = (
    Annotated[
        tuple[IceSpan | RequiredText, ...],
        Field(min_length=1, max_length=MAX_TEXT),
        AfterValidator(_check_quotations),
    ]
    | RequiredText
)


class IceNamedExplanation(Message):
    """The caller's own explanation: spans with a value each, or spans alone."""

    name: Annotated[str, Word] = Field(
        pattern=r"^[\w.:+ -]{1,64}$",
        description="name of the explanation in the report; stored even if texts are not stored",
    )
    attributions: Values | None = None
    rationale: Spans | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.attributions is None) == (self.rationale is None):
            raise ValueError("give either `attributions` or `rationale`")
        return self


ROBUST: dict[str, Any] = {
    "alternative": "greater",
    "aspects": ("sufficiency", "necessity"),
}
PUBLISHED: dict[str, Any] = {
    "alternative": "two-sided",
    "aspects": ("sufficiency",),
}
DRAWS = 199
PUBLISHED_DRAWS = 50


class IceOptions(Message):
    """Settings of the test: how tokens are ranked, removed and compared with random sets."""

    template: Annotated[Template | None, Parameter] = Field(
        default=None, description="prompt template; only for causal models"
    )
    prompt: Annotated[PromptKeys | None, Parameter] = Field(
        default=None,
        description="replaces keys of the model entry's `prompt`, if the entry has "
        "`allow_request_prompt`. For causal models and chat servers; not together"
        " with `template`",
    )
    rank_by: Literal["value", "magnitude"] = Field(
        default="value",
        description="whether tokens are ranked by their signed or their absolute value",
    )
    k: Budget | Annotated[tuple[Budget, ...], Field(min_length=1, max_length=10)] = Field(
        default=0.2, description="size of a rationale, as a share of the eligible tokens"
    )
    rows: RowKind | None = Field(
        default=None,
        description="units of rationales and operators: the model's tokens, or words of the "
        "text, which work with every model. Absent: tokens if the model shows them, else words",
    )
    operators: tuple[Operator, ...] = Field(
        default=("delete",),
        min_length=1,
        max_length=5,
        description="how the other tokens or words are removed; `mask_unk` and `mask_pad` are "
        "for tokens only",
    )
    null: NullKind | None = Field(
        default=None,
        description="the structure that random rationales share with an explanation made of spans. "
        "Absent: `words` for single scattered words, else `spans`. An explanation with values is "
        "compared with random tokens",
    )
    strata: StratumKind | None = Field(
        default=None,
        description="draw random tokens that are as rare as the explanation's (by quintiles of "
        "the text, from a list of English word frequencies), or that have the same part of "
        "speech (English). For the nulls `tokens` and `words`",
    )
    match_tokens: bool = Field(
        default=False,
        description="draw random spans with the same number of words and about as many tokens "
        "(within a factor of 1.25). Ignored with a warning if fewer than 19 exist. For rows "
        "of tokens only",
    )
    aspects: tuple[Aspect, ...] = Field(
        default=ROBUST["aspects"],
        min_length=1,
        max_length=2,
        description="the tests of the rationale. `sufficiency`: does it alone keep the decision? "
        "`necessity`: does its removal change the decision? Both together allow a causal "
        "reading. Absent: both, or `sufficiency` for variants `paper` and `reference`. The "
        "score is based on `sufficiency`",
    )
    draws: int | None = Field(
        default=None,
        ge=1,
        le=10_000,
        description="number of random rationales; if there are fewer other placements, all of "
        "these are used; absent: 199, or 50 for variants `paper` and `reference`",
    )
    alternative: Literal["two-sided", "greater"] = Field(
        default=ROBUST["alternative"],
        description="`greater`: test whether the explanation is better than random ones; "
        "`two-sided`: also test whether it is worse. For a passage, `two-sided` needs a text "
        "of about 40 words instead of about 20. Absent: `greater`, or `two-sided` for "
        "variants `paper` and `reference`",
    )
    infills: int = Field(
        default=4,
        ge=1,
        le=32,
        description="number of random fillings of each mask, over which results are averaged",
    )
    infill_pool: Annotated[tuple[RequiredText, ...], Input] = Field(
        default=(),
        max_length=1_000,
        description="texts whose tokens fill masks; the text that is tested is left out",
    )
    infill_excluded: Annotated[tuple[Label100, ...], Parameter] = Field(
        default=(),
        max_length=200,
        description="words that are never filled in, in addition to the words of the labels",
    )
    eligible: Literal["text", "all"] | None = Field(
        default=None,
        description="tokens that a rationale may contain: the tokens of the text, or also those "
        "of the template; absent: `text`, or `all` for variant `reference`",
    )
    alpha: float = Field(
        default=0.05, gt=0, lt=0.5, description="significance level of the verdicts"
    )
    nsr_epsilon: float = Field(
        default=0.05, gt=0, le=1, description="NSR is null if |s(x) - s(empty)| is below this value"
    )
    fluency_model: ModelName | None = Field(
        default=None,
        description="language model that measures how much less fluent the perturbed texts are "
        "than the original (`distance.perplexity_ratio`), for which it reads about 50 texts. "
        "Absent: not measured",
    )
    token_values: bool = Field(
        default=False,
        description="whether the report lists each token with its value in every explanation, "
        "for example to draw a heat map",
    )

    @field_validator("k", "operators", "aspects")
    @classmethod
    def _check_unique(cls, given: object) -> object:
        if isinstance(given, tuple) and len(set(given)) < len(given):
            raise ValueError("lists an entry twice; list each entry once")
        return given

    @field_validator("aspects")
    @classmethod
    def _sort_aspects(cls, given: tuple[Aspect, ...]) -> tuple[Aspect, ...]:
        if "sufficiency" not in given:
            raise ValueError("`aspects` must contain `sufficiency`, because the score measures it")
        return tuple(sorted(given, reverse=True))

    @model_validator(mode="after")
    def _check_prompt(self) -> Self:
        if self.template is not None and self.prompt is not None:
            raise ValueError("`template` and `prompt` are both given; send only one of them")
        return self

    @model_validator(mode="after")
    def _check_pool(self) -> Self:
        if "infill" in self.operators and not self.infill_pool:
            raise ValueError("the operator `infill` needs an `infill_pool`; add one")
        return self

    @property
    def budgets(self) -> tuple[float, ...]:
        return self.k if isinstance(self.k, tuple) else (self.k,)


class IceRequest(LanguageRequest):
    """A text, and one or more explanations that refer to positions in the text."""

    text: Annotated[RequiredText, Input] = Field(description="the text that the model judged")
    text_pair: Annotated[RequiredText | None, Input] = Field(
        default=None, description="the second text of a pair; only for encoders"
    )
    decision: Annotated[str | None, Parameter] = Field(
        default=None,
        min_length=1,
        max_length=64,
        description="the explained decision, a label of the model, whose probability is the score; "
        "absent: the model's own",
    )
    attribution: Methods | None = Field(
        default=None, description="explanations that the service computes: one, or a list"
    )
    attributions: Annotated[Values | None, Input] = Field(
        default=None,
        description="values of tokens that you computed; a token without a value has 0",
    )
    rationale: Annotated[Spans | None, Input] = Field(
        default=None,
        description="spans without values (quoted or highlighted), or quotations of the text as "
        "strings; `k` does not change their size. A passage can be tested exactly in a text "
        "of about 20 words or more, 40 where `alternative` is `two-sided`",
    )
    explanations: Annotated[tuple[IceNamedExplanation, ...], Input] = Field(
        default=(), max_length=8, description="more explanations of your own, by name"
    )
    human: Annotated[Spans | None, Input] = Field(
        default=None,
        description="spans that people marked, or quotations: for plausibility, in addition to "
        "faithfulness",
    )
    options: IceOptions = Field(default_factory=IceOptions, description="settings of the test")

    @model_validator(mode="after")
    def _set_defaults(self) -> Self:
        """Set the variant's defaults after the fields are parsed. The messages are frozen, so
        fields are set directly, in a copy."""
        usual = ROBUST if self.variant == "robust" else PUBLISHED
        missing = {name: usual[name] for name in usual.keys() - self.options.model_fields_set}
        self.__dict__["options"] = self.options.model_copy()
        self.options.__dict__.update(missing)
        return self

    @model_validator(mode="after")
    def _check_rows(self) -> Self:
        if self.options.rows == "words" and (why := self.needs_tokens):
            raise ValueError(f"{why} needs rows of tokens; leave `rows` out, or set it to `tokens`")
        return self

    @model_validator(mode="after")
    def _check_inputs(self) -> Self:
        if not (self.attribution or self.attributions or self.rationale or self.explanations):
            raise ValueError("give `attribution`, `attributions`, `rationale` or `explanations`")
        return self

    @model_validator(mode="after")
    def _check_variant(self) -> Self:
        if self.variant == "robust":
            return self
        for name in ("null", "strata", "fluency_model"):
            if getattr(self.options, name) is not None:
                raise ValueError(f"`{name}` is only for the variant `robust`; leave it out")
        plain = {
            "aspects": ("sufficiency",),
            "alternative": "two-sided",
            "match_tokens": False,
        }
        for name, only in plain.items():
            if getattr(self.options, name) != only:
                raise ValueError(f"`{name}` other than {only!r} needs the variant `robust`")
        return self

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        own = {"attributions": self.attributions, "rationale": self.rationale}
        names = [*map(label, self.methods), *(name for name, given in own.items() if given)]
        names += [one.name for one in self.explanations]
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise ValueError(f"two explanations are called {twice[0]!r}; give each its own name")
        return self

    @model_validator(mode="after")
    def _spans_are_inside(self) -> Self:
        lengths = {"text": len(self.text), "text_pair": len(self.text_pair or "")}
        named = [spans for one in self.explanations for spans in (one.attributions, one.rationale)]
        for spans in (self.attributions, self.rationale, self.human, *named):
            for span in spans or ():
                if isinstance(span, IceSpan) and span.end > lengths[span.of]:
                    raise ValueError(
                        f"a span ends at {span.end}, after the end of `{span.of}`; check "
                        "its offsets"
                    )
        return self

    @property
    def needs_tokens(self) -> str | None:
        """The setting that only works with tokens, or None if words suffice."""
        of_tokens = [one for one in self.options.operators if one in TOKEN_OPERATORS]
        if of_tokens:
            return f"the operator {of_tokens[0]}"
        if self.variant == "reference":
            return "variant reference"
        if self.options.match_tokens:
            return "`match_tokens`"
        return "`eligible: all`" if self.options.eligible == "all" else None

    @property
    def most_draws(self) -> int:
        """The requested number of draws, or else the default."""
        if self.options.draws is not None:
            return self.options.draws
        return DRAWS if self.variant == "robust" else PUBLISHED_DRAWS

    @property
    def draws_tokens(self) -> bool:
        """True if explanations are compared with sets of single tokens: on request, or in the
        variants `paper` and `reference`."""
        return self.options.null == "tokens" or self.variant != "robust"

    @property
    def methods(self) -> tuple[Method, ...]:
        if self.attribution is None:
            return ()
        return self.attribution if isinstance(self.attribution, tuple) else (self.attribution,)


def label(method: Method) -> str:
    """Return the display name of a computed explanation, with the options that differ from the
    defaults."""
    if not isinstance(method, AttributionMethod):
        return method
    usual = AttributionMethod(name=method.name)
    options = [
        str(getattr(method, option))
        for option in ("attention", "gradient", "steps", "samples", "seed")
        if getattr(method, option) != getattr(usual, option)
    ]
    return ":".join([method.name, *options])


_TEXT = (
    "Those immigrants are ruining our lovely old town again, and if nobody does something soon, "
    "the immigrants will ruin the next town, too."
)
_ATTENTION = {"text": _TEXT, "attribution": "attention", "options": {"k": 0.1}}
_QUOTED = {"text": _TEXT, "rationale": [{"start": 0, "end": 16}], "options": {"draws": 99}}
_WORDS = {
    "text": _TEXT,
    "rationale": ["Those immigrants"],
    "options": {"rows": "words", "draws": 99},
}
_LIME = {"text": _TEXT, "attribution": "lime", "language": "en", "options": {"k": 0.1}}
_COMPARED = {
    "text": _TEXT,
    "attribution": ["lime", "attention"],
    "human": [{"start": 6, "end": 16}],
    "options": {
        "k": [0.1, 0.2],
        "operators": ["delete", "infill"],
        "draws": 79,
        "infill_pool": ["The garden was green after the rain", "We lost the match and went home"],
    },
}


def needs(request: IceRequest) -> tuple[str, ...]:
    """Return what the model must support: variations of tokens or of words, and attributions other
    than LIME."""
    methods = [one if isinstance(one, str) else one.name for one in request.methods]
    inside = ("attributions",) if set(methods) - {"lime"} else ()
    tokens = request.options.rows == "tokens" or request.needs_tokens is not None
    return ("token_rows" if tokens else "word_rows", *inside)


CONTRACT = MetricContract(
    name="ice",
    version="2.0",
    summary="Do the words that the explanation marks matter more to the model than random words?",
    request=IceRequest,
    report=IceResult,
    explained="decision",
    model_kinds=("classifier", "causal"),
    default_model=DEFAULT_MODEL,
    cost=cost,
    server_cost=server_cost,
    needs=needs,
    examples={
        "a quotation": _QUOTED,
        "a quotation, in words": _WORDS,
        "the words that LIME finds": _LIME,
        "LIME against attention": _COMPARED,
        "attention, which might be chance": _ATTENTION,
    },
    batch_request=IceBatchReportRequest,
    batch_report=IceBatchReport,
    batch_summary="Win rates with intervals, tests over examples and configurations, and plots",
    batch_intervals=10,
    batch_plots=("win-rates",),
    form=(
        FormField(
            name="text",
            label="Text",
            hint="the moderated text; testing a quoted passage takes about 20 words, or about"
            " 40 for a two-sided test",
        ),
        FormField(
            name="attribution",
            label="Explanation to test",
            choices=("attention", "gradient", "integrated_gradients", "lime"),
            hint="computed by the service; or send your own `rationale` or `attributions` below",
            required=False,
        ),
    ),
    finding=finding,
    problems=PROBLEMS,
    facts=FactPaths(
        passages=("rationale",),
        parts=tuple(
            f"components.tests.0.{name}"
            for name in ("win_rate", "strict_win_rate", "effect", "drop", "nsr")
        ),
        chance="components.tests.0.win_rate",
        rivals=("Their words keep the model's decision", "random words do"),
        decision_stated="decision",
        chance_score=0.5,
    ),
)
