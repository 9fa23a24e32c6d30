"""The three variants of HateXScore, which differ in rules and in how they read explanations.
`robust`, version 2.0, implements the meaning of the paper with its defects repaired.
docs/methods/hatexscore.md lists the deviations. Source: Hu & Lee, arXiv:2601.13547, sections 3.1 to
3.3."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

from services.hatexscore import variant_paper, variant_reference
from services.hatexscore.conclusion import ConclusionRead, ConclusionText, read_conclusions
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.explanation import (
    BY_READER,
    BY_RULES,
    DetectedLanguages,
    ParsedExplanation,
    QuotedSpans,
    detect_languages,
    lexicon_of,
    parsed_explanation,
)
from services.hatexscore.groups import GroupText, groups_of_text, read_mentions
from services.hatexscore.lexicon import UNKNOWN_GROUPS
from services.hatexscore.quotes import merge_spans, quoted_spans
from services.hatexscore.quoting import read_quotations
from services.hatexscore.report import UNLISTED, ConsistencyRule, HatexscoreGroupEvidence
from services.hatexscore.structured import given_conclusion, given_spans, plain_explanation
from shared.contracts.errors import BadInput
from shared.contracts.messages import Variant
from shared.reports.metric import StatedDecision
from shared.text.normalized import NormalizedText, normalize

MOST_LISTED = 5  # quotations that a warning names

NO_GROUP = (
    "the decision is {label}, and neither the text nor the explanation names a group of the "
    "policy, so there is no group to identify"
)


def read_robust(requests: Sequence[HatexscoreRequest]) -> list[ParsedExplanation]:
    """Parse a batch of explanations by the rules of `robust`. The trained text classifier is called
    once for conclusions and once for mentions of groups. Raises Unavailable if it is unavailable.
    Explanations in languages that it does not support stay unread."""
    languages = list(map(detect_languages, requests))
    quoting = list(map(read_quotations, requests, languages))
    conclusions = read_conclusions(list(map(_conclusion_text, requests, languages, quoting)))
    plains = [plain_explanation(request, request.explanation_text) for request in requests]
    texts = list(map(_group_text, requests, languages, plains))
    hateful = [
        (request.decision_class or conclusion.label) in (None, "hateful")
        for request, conclusion in zip(requests, conclusions, strict=True)
    ]
    mentions = read_mentions(texts, hateful)
    return list(map(_parsed, requests, languages, conclusions, quoting, mentions, texts, plains))


def _conclusion_text(
    request: HatexscoreRequest, languages: DetectedLanguages, quoting: QuotedSpans
) -> ConclusionText:
    explanation = normalize(request.explanation_text)
    quoted = [explanation.normalized(*span) for span in quoting.located]
    conclusion = given_conclusion(request)
    if conclusion is None and languages.no_rules is not None:
        conclusion = ConclusionRead(None)
    return ConclusionText(explanation, request.vocabulary, merge_spans(quoted), conclusion)


def _group_text(
    request: HatexscoreRequest, languages: DetectedLanguages, plain: NormalizedText
) -> GroupText:
    """Return the explanation with the groups that the text names, if the policy supports the text's
    language."""
    names = languages.explanation_names
    text = "" if languages.no_rules or languages.no_groups else plain.text
    moderated = UNKNOWN_GROUPS
    with suppress(BadInput):
        lexicon = lexicon_of(request, languages.text_names)
        moderated = groups_of_text(request.text, languages.text_names, lexicon, names)
    targets = given_spans(request, plain, "target_groups")
    lexicon = lexicon_of(request, names)
    return GroupText(text, names, lexicon, quoted_spans(text), moderated, targets)


def _parsed(
    request: HatexscoreRequest,
    languages: DetectedLanguages,
    read: ConclusionRead,
    quoting: QuotedSpans,
    mentions: Sequence[HatexscoreGroupEvidence],
    text: GroupText,
    plain: NormalizedText,
) -> ParsedExplanation:
    parsed = parsed_explanation(request, languages, read, quoting, mentions, plain)
    fields = request.explanation_fields
    if languages.no_rules is None:
        attacked = any(mention.attacked for mention in mentions)
        reader = BY_RULES if fields and fields.is_complete else BY_READER
        parsed = replace(parsed, attacked=attacked, reader=reader)
    unlisted = [UNLISTED] if fields and fields.target_groups and not mentions else []
    parsed = replace(
        parsed,
        warnings=(*parsed.warnings, *_warnings(request, quoting), *unlisted),
        text_groups=tuple(sorted(text.moderated.groups)),
    )
    if parsed.label in (None, "hateful") or parsed.tgi != 0 or parsed.text_groups:
        return parsed
    return replace(parsed, tgi=None, tgi_not_applicable=NO_GROUP.format(label=parsed.label))


def _warnings(request: HatexscoreRequest, quoting: QuotedSpans) -> Iterator[str]:
    if request.vocabulary.of_decision:
        yield (
            f"`decision` selects the vocabulary {request.vocabulary.name}; the explanation is read "
            "with its words and the words for hate; set `labels` for another vocabulary"
        )
    if count := len(quoting.hallucinated):
        subject = "1 quotation is" if count == 1 else f"{count} quotations are"
        yield f"{subject} attributed to the text but not found in it"
    if quoting.negated:
        listed = ", ".join(f'"{words}"' for words in quoting.negated[:MOST_LISTED])
        yield (
            f"the text has a negation before the quoted words, which the quote leaves out: {listed}"
        )
    if quoting.unsearched:
        yield f"{quoting.unsearched} long quotations were searched word for word only"


def read_stated(request: HatexscoreRequest, answer: str) -> StatedDecision | None:
    """Return the conclusion stated in an answer of any language, or None without a conclusion."""
    [read] = read_conclusions([ConclusionText(normalize(answer), request.vocabulary)])
    stated = read.statement
    if stated is None:
        return None
    span = stated.start, stated.end
    by: Literal["rules", "reader"] = "reader" if stated.by == "reader" else "rules"
    return StatedDecision(label=stated.label, start=span[0], end=span[1], words=span, by=by)


@dataclass(frozen=True, slots=True, kw_only=True)
class HatexscoreVariant:
    read: Callable[[Sequence[HatexscoreRequest]], list[ParsedExplanation]]
    consistency_rule: ConsistencyRule  # where the request names none
    reads_quotation_marks: bool = True
    tau: float | None = None  # None: the request's
    # Whether it matters which way masking moves P, whether the asked model makes the decision, and
    # whether the explanation concludes its opposite.
    decision_aware: bool = False
    why_no_control: str | None = None  # None: there is one


VARIANTS: dict[Variant, HatexscoreVariant] = {
    "robust": HatexscoreVariant(
        read=read_robust,
        consistency_rule="causal",
        decision_aware=True,
    ),
    "paper": HatexscoreVariant(read=variant_paper.read_as_printed, consistency_rule="eq5"),
    "reference": HatexscoreVariant(
        read=variant_reference.read_as_released,
        consistency_rule="reference",
        reads_quotation_marks=False,
        tau=variant_reference.TAU,
        why_no_control="variant reference masks letters inside words, which has no random "
        "counterpart",
    ),
}
