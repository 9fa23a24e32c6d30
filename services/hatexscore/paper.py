"""Variant `paper`: the equations as printed.

Source: Hu & Lee, arXiv:2601.13547, Eqs. 2 to 5. Q is "extracted by overlapping normalized tokens
between the explanation and the input text" and must be "a non-trivial span": here the maximal runs
of two tokens or more that both share, one of them no function word, beside what stands in quotation
marks. Runs of one token would make Q of "the" and contradict Table 4, perturbed 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from services.hatexscore.conclusion import statement_anywhere
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.folding import fold
from services.hatexscore.groups import mentions_paper, target_group_identified
from services.hatexscore.languages import Language, Span, Word, words
from services.hatexscore.masking import mask, merge
from services.hatexscore.quotation_marks import quoted_spans
from services.hatexscore.quotes import Quote, locate, quotations
from services.hatexscore.reading import (
    LABEL_UNKNOWN,
    Quoting,
    Reading,
    group_evidence,
    languages_of,
    lexicon_of,
    quote_evidence,
)
from services.hatexscore.runs import Runs
from services.hatexscore.units import word_spans

SHORTEST_RUN = 2  # tokens


def read(request: HatexscoreRequest) -> Reading:
    """Eq. 2, the Q of Eq. 3, Eq. 4."""
    languages = languages_of(request)
    statement = statement_anywhere(request.explanation, languages.explanation)
    stated = statement.label if statement else None
    label = request.predicted_label or stated
    lexicon = lexicon_of(request, languages.explanation)
    found = mentions_paper(
        request.explanation,
        languages.explanation,
        lexicon,
        hateful=label != "non-hateful",  # section 3.3: tied to hateful context, or no target
        quotations=quoted_spans(request.explanation),
    )
    return Reading(
        languages=languages,
        statement=statement,
        htc=float(statement is not None),
        label=label,
        stated_label=stated,
        quoting=_quoting(request, languages.text),
        groups=group_evidence(found),
        tgi=float(target_group_identified(found)),
        tau=request.tau,
        rule=request.consistency_rule or "eq5",
        warnings=() if label else (LABEL_UNKNOWN,),
    )


def _quoting(request: HatexscoreRequest, language: Language) -> Quoting:
    """Quoted material and shared runs; one of them over all tokens is Q = {T}, however short T."""
    quotes, missing = locate(request.text, quotations(request.explanation))
    runs = shared_runs(request.text, request.explanation, language)
    counted = word_spans(request.text, language)
    spans = merge([*((quote.start, quote.end) for quote in quotes), *runs])
    return Quoting(
        evidence=quote_evidence([*quotes, *_unquoted(request.text, runs, quotes)]),
        hallucinated=tuple(missing),
        masked=mask(request.text, spans) if spans else None,
        trivial=any(
            _spans_all(counted, span) for span in (*runs, *((q.start, q.end) for q in quotes))
        ),
        spans=tuple(spans),
    )


def _spans_all(counted: Sequence[Span], span: Span) -> bool:
    """Does one span reach from the text's first word to its last?"""
    return bool(counted) and span[0] < counted[0][1] and span[1] > counted[-1][0]


def _unquoted(text: str, runs: Sequence[Span], quotes: Sequence[Quote]) -> Iterator[Quote]:
    """Runs as evidence: none twice, and of overlapping runs the later one from the first's end."""
    known = {(quote.start, quote.end) for quote in quotes}
    shown = 0
    for start, end in runs:
        begin = max(start, shown)
        shown = max(end, shown)
        part = text[begin:end].strip()
        if part and (start, end) not in known:
            begin = text.index(part, begin)
            yield Quote(begin, begin + len(part), part, part, "exact", 1.0)


def shared_runs(text: str, explanation: str, language: Language) -> list[Span]:
    """Maximal runs of consecutive tokens of the text that are consecutive in the explanation."""
    tokens = [word for word in words(text, language) if word.is_word]
    other = Runs(_normal(word) for word in words(explanation, language) if word.is_word)
    spans: list[Span] = []
    for first, last in other.maximal([_normal(word) for word in tokens]):
        run = tokens[first:last]
        if last - first >= SHORTEST_RUN and not all(word.is_stop for word in run):
            spans.append((run[0].start, max(word.end for word in run)))
    return spans


def _normal(word: Word) -> str:
    return fold(word.text).text
