"""The parts of an explanation that are known before any model is called. All three variants use the
same type."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import get_args

from services.hatexscore import kernel
from services.hatexscore.conclusion import ConclusionRead, ConclusionStatement
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.lexicon import (
    Lexicon,
    NameLanguage,
    custom_lexicon,
    load_lexicon,
)
from services.hatexscore.quote_search import Quote
from services.hatexscore.quotes import quoted_spans
from services.hatexscore.report import (
    HatexscoreComponents,
    HatexscoreGroupEvidence,
    HatexscoreHallucinatedQuote,
    HatexscoreOtherQuotation,
    HatexscoreQuoteEvidence,
    HatexscoreReaderUse,
    Label,
    Part,
)
from services.hatexscore.vocabulary import SIDES
from services.hatexscore.words import Language, Span, detect_language
from shared.contracts.language_names import language_name
from shared.contracts.messages import LanguageFound, ReasonCode
from shared.models.catalogue.catalogue import READER
from shared.text.language import (
    SURE,
    UNDECIDED,
    Obstacle,
    assume_language,
    find_language,
    requested_language,
)
from shared.text.normalized import NormalizedText

OTHER_GROUPS = (
    "the explanation and the text name different groups of the policy; TGI only checks whether a "
    "group is named"
)
LABEL_UNKNOWN = (
    "the decision is unknown, because none was sent and the explanation states none; values that "
    "depend on the decision are undefined"
)


PRINTED: tuple[Language, ...] = get_args(Language)  # that the variants of old read
READ: tuple[NameLanguage, ...] = get_args(NameLanguage)
DECISION_ONLY = ("nl",)  # the reader reads decisions in them, but not well enough whom they defend
BY_RULES = HatexscoreReaderUse(by="rules")
BY_READER = HatexscoreReaderUse(by="reader", model=READER.name)
UNREAD: ReasonCode = "conclusion-unread"
NOT_SURE = Obstacle(
    UNREAD, "the reader could not tell which decision the explanation states, if any"
)


@dataclass(frozen=True, slots=True)
class DetectedLanguages:
    """The languages of text and explanation, which may differ.

    `text` and `explanation` are the languages whose word analysers are used. They are chosen by
    script if a language has no analyser. `text_names` and `explanation_names` are the languages
    for group names. `no_rules` says why conclusion and groups of the explanation cannot be
    read, `no_groups` why only its groups cannot. Otherwise they are None."""

    text: Language
    explanation: Language
    text_names: NameLanguage
    explanation_names: NameLanguage
    found_text: LanguageFound
    found_explanation: LanguageFound
    no_rules: Obstacle | None
    no_groups: Obstacle | None = None

    @property
    def explanation_code(self) -> str:
        """Return the language of the explanation. If it is undecided, return the language of its
        group names."""
        if self.found_explanation.code != UNDECIDED or self.no_rules is not None:
            return self.found_explanation.code
        return self.explanation_names


@dataclass(frozen=True, slots=True)
class QuotedSpans:
    """The quotations of the text in an explanation (the set Q of the HateXScore paper, Eq. 3).

    `masked` is the text with the quoted spans masked, or None without a quotation. `trivial` is
    True if the whole text is quoted. `spans` has the merged spans that `masked` replaces, if the
    variant has offsets. `other` has quotations from another source. `unsearched` counts long
    quotations that were only searched word for word; they never count as hallucinated. `negated`
    has quotes that follow a negation in the text. `located` has the spans of the explanation that
    quote the text.
    """

    evidence: tuple[HatexscoreQuoteEvidence, ...]
    hallucinated: tuple[HatexscoreHallucinatedQuote, ...]
    masked: str | None
    trivial: bool
    spans: tuple[Span, ...]
    other: tuple[HatexscoreOtherQuotation, ...] = ()
    unsearched: int = 0
    negated: tuple[str, ...] = ()
    located: tuple[Span, ...] = ()

    @property
    def counts(self) -> bool:
        return self.masked is not None and not self.trivial


@dataclass(frozen=True, slots=True)
class ParsedExplanation:
    """The data of an explanation that the score needs in addition to probabilities.

    `htc` and `tgi` are 0 or 1, or None if unread (reasons: `no_htc`, `no_tgi`). `label` is the
    decision from the request or, if there is none, the one that the explanation states.
    `reader` identifies the reader of the explanation, or is None. `attacked` is True if the
    explanation reports an attack on a group; None means the same as naming a group.
    `tgi_not_applicable` says why there is no group to identify, or is None. `text_groups` has
    the policy's groups that the text names, or None if they were not searched."""

    languages: DetectedLanguages
    statement: ConclusionStatement | None
    htc: float | None
    label: Label | None
    stated_decision: Label | None
    quoting: QuotedSpans
    groups: tuple[HatexscoreGroupEvidence, ...]
    tgi: float | None
    warnings: tuple[str, ...]
    no_htc: Obstacle | None = None
    no_tgi: Obstacle | None = None
    attacked: bool | None = None
    tgi_not_applicable: str | None = None
    text_groups: tuple[str, ...] | None = None
    reader: HatexscoreReaderUse | None = BY_RULES

    @property
    def rests_on_quotes(self) -> bool:
        """Return True if the decision is not `non-hateful` and the explanation quotes the post."""
        return self.label != "non-hateful" and bool(self.quoting.evidence)

    @property
    def is_unread(self) -> bool:
        """Return True if the language is not supported, or the text classifier is unsure of the
        conclusion."""
        return self.languages.no_rules is not None or (
            self.no_htc is not None and self.no_htc.code == UNREAD
        )


def parsed_explanation(
    request: HatexscoreRequest,
    languages: DetectedLanguages,
    read: ConclusionRead,
    quoting: QuotedSpans,
    found: Sequence[HatexscoreGroupEvidence],
    plain: NormalizedText | None = None,
) -> ParsedExplanation:
    """Combine the parts of an explanation. Parts in an unsupported language are left out. `plain`
    is the text to which the offsets of the mentions refer; None is the original explanation."""
    statement = read.statement
    if statement and not statement.is_named and request.decision_class not in (None, *SIDES):
        statement = None  # that it is no hate speech does not tell which other class it is
    is_read = read.is_read and (statement is not None or read.statement is None)
    stated = statement.label if statement else None
    label = request.decision_class or stated
    obstacle = None if is_read else NOT_SURE
    in_text = {mention.in_text for mention in found if mention.counts}
    parsed = ParsedExplanation(
        languages=languages,
        statement=statement,
        htc=None if obstacle else float(statement is not None),
        no_htc=obstacle,
        label=label,
        stated_decision=stated,
        quoting=quoting,
        groups=tuple(
            _as_sent(mention, request.explanation_text, plain) if plain else mention
            for mention in found
        ),
        tgi=float(any(mention.counts for mention in found)),
        warnings=(
            *(() if label else (LABEL_UNKNOWN,)),
            *((obstacle.detail,) if obstacle else ()),
            *((OTHER_GROUPS,) if in_text and not in_text & {True, None} else ()),
        ),
    )
    return where_read(request, parsed)


def detect_languages(
    request: HatexscoreRequest, known: Sequence[NameLanguage] = READ
) -> DetectedLanguages:
    """Return the languages of the text and of its explanation. A language in the request is that of
    the text.

    The explanation's language is used if it is identified with certainty; its quotations are
    ignored. A text in an unrecognised language is assumed to share the explanation's. A very short
    explanation takes the text's language if the scripts agree. `known` has the languages in which
    explanations can be read.
    """
    sent = requested_language(request)
    text = find_language(request.text, sent)
    words = _own_words(request)
    explanation = find_language(words)
    if sent is not None and (explanation.code == UNDECIDED or explanation.confidence < SURE):
        explanation = find_language(words, sent)
    text = assume_language(text, explanation)
    read_text, read_own = _analyser(text, request.text), _analyser(explanation, words)
    text_names = _names(text, read_text)
    if not any(map(str.isalpha, words)):
        return DetectedLanguages(
            read_text, read_text, text_names, text_names, text, explanation, None
        )
    names = _names(explanation, read_own)
    if explanation.code == UNDECIDED and read_text == read_own:
        names = text_names
    obstacle, no_groups = None, None
    fields = request.explanation_fields
    if explanation.code not in (*known, UNDECIDED) and not (fields and fields.is_complete):
        obstacle = _without_rules(explanation.code, known)
        read_own = "en"
    if known == READ and explanation.code in DECISION_ONLY:
        obstacle, no_groups = None, obstacle
    return DetectedLanguages(
        read_text, read_own, text_names, names, text, explanation, obstacle, no_groups
    )


def _names(found: LanguageFound, analyser: Language) -> NameLanguage:
    return next((printed for printed in READ if printed == found.code), analyser)


_BLOCK_QUOTE = re.compile(r"^[ \t]{0,3}>[^\n]*", re.MULTILINE)
REPEATED_LINES = 50  # of the text, the longest, that are looked for in the explanation
SHORTEST_REPEATED = 12  # characters of such a line


def _own_words(request: HatexscoreRequest) -> str:
    """Return the explanation without quotations and without lines copied from the text. If no word
    remains, return the whole explanation."""
    if request.explanation_fields is not None:
        return request.explanation_fields.prose
    explanation = request.explanation_text
    pieces, position = [], 0
    for start, end in quoted_spans(explanation):
        pieces.append(explanation[position:start])
        position = end
    words = " ".join([*pieces, explanation[position:]])
    lines = sorted({line.strip() for line in request.text.splitlines()}, key=lambda x: (-len(x), x))
    for line in lines[:REPEATED_LINES]:
        if len(line) >= SHORTEST_REPEATED:
            words = words.replace(line, " ")
    for less in (_BLOCK_QUOTE.sub(" ", words), words):
        if any(map(str.isalpha, less)):
            return less
    return explanation


def _analyser(found: LanguageFound, text: str) -> Language:
    return next((printed for printed in PRINTED if printed == found.code), None) or detect_language(
        text
    )


def _without_rules(code: str, known: Sequence[str]) -> Obstacle:
    message = (
        f"the explanation's language is {language_name(code)}, which the reader does not "
        f"know; it reads {', '.join(known)}"
    )
    detail = f"{message}; set `reader_model` to a language model that reads this language"
    return Obstacle("no-rules", detail)


def where_read(request: HatexscoreRequest, parsed: ParsedExplanation) -> ParsedExplanation:
    """Remove the parts of the result that have no rules for the explanation's language: the
    conclusion and groups, or only the groups."""
    obstacle = parsed.languages.no_rules
    if obstacle is None:
        no_groups = parsed.languages.no_groups
        if no_groups is None:
            return parsed
        return replace(parsed, groups=(), tgi=None, tgi_not_applicable=None, no_tgi=no_groups)
    warnings = (*dict.fromkeys((*parsed.warnings, obstacle.detail)),)
    return unread(request, replace(parsed, warnings=warnings), obstacle, None)


def unread(
    request: HatexscoreRequest,
    parsed: ParsedExplanation,
    obstacle: Obstacle,
    reader: HatexscoreReaderUse | None,
) -> ParsedExplanation:
    """Return `parsed` without conclusion and groups. `obstacle` says why these are missing."""
    unknown = [LABEL_UNKNOWN] if request.decision is None else []
    return replace(
        parsed,
        statement=None,
        htc=None,
        label=request.decision_class,
        stated_decision=None,
        groups=(),
        tgi=None,
        tgi_not_applicable=None,
        warnings=tuple(dict.fromkeys((*parsed.warnings, *unknown))),
        no_htc=obstacle,
        no_tgi=obstacle,
        reader=reader,
    )


def lexicon_of(request: HatexscoreRequest, language: NameLanguage) -> Lexicon:
    """Return the policy's list of group names in the explanation's language. Raises BadInput if
    there is none."""
    if isinstance(request.options.policy, dict):
        return custom_lexicon(request.options.policy)
    return load_lexicon(request.options.policy, language)


def quote_evidence(quotes: Iterable[Quote]) -> tuple[HatexscoreQuoteEvidence, ...]:
    return tuple(HatexscoreQuoteEvidence(**asdict(quote)) for quote in quotes)


def _as_sent(
    mention: HatexscoreGroupEvidence, explanation: str, plain: NormalizedText
) -> HatexscoreGroupEvidence:
    """Return the mention with offsets into the original explanation."""
    start, end = plain.original(mention.start or 0, mention.end or 0)
    offsets = {"start": start, "end": end, "text": explanation[start:end]}
    return mention.model_copy(update=offsets)


def total_score(
    request: HatexscoreRequest, parsed: ParsedExplanation, components: HatexscoreComponents
) -> float | None:
    """Return the score, a weighted mean of the components (Eq. 6 of the HateXScore paper). Return
    None if a weighted component is None or if no applicable component has weight."""
    weighed = applicable_weights(request, parsed)
    if not any(weighed.values()):
        return None
    values = [getattr(components, part) for part in weighed]
    return kernel.weighted_mean(values, list(weighed.values()))


def applicable_weights(request: HatexscoreRequest, parsed: ParsedExplanation) -> dict[Part, float]:
    """Return the weights of the components that apply to this request."""
    own = request.options.weights
    every: dict[Part, float] = {"htc": own.htc, "qf": own.qf, "tgi": own.tgi, "cc": own.cc}
    return {part: weight for part, weight in every.items() if part not in not_applicable(parsed)}


def not_applicable(parsed: ParsedExplanation) -> dict[Part, str]:
    """Return the components that do not apply, with the reason."""
    return {"tgi": parsed.tgi_not_applicable} if parsed.tgi_not_applicable else {}
