"""Quotation marks that quote something else than the text.

Calling a quotation hallucinated is an accusation. So a quotation that the text does not hold is
hallucinated only where its clause attributes it to the text ("the word …", "it says …").
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from services.hatexscore.quote_spelling import idioms, is_label, plain_name
from services.hatexscore.quotes import Quotation, quoted_spans
from services.hatexscore.report import QuotationReason
from services.hatexscore.words import Language

REACH = 160  # characters of the clause on either side of a quotation
BLANK = "\u25a1"  # stands for a quotation

_BORDER = re.compile(
    r"[.!?;\n\u3002\uff01\uff1f\uff1b](?=\s|$)|[\u3002\uff1b\n]|,\s(?=(?:but|while|whereas|which"
    r"|although"
    r"|though|because|so|where|not|unlike|instead)\b)|\b(?:but|whereas|while|although)\b|지만|는데|但",
    re.IGNORECASE,
)
_LABELS = re.compile(
    r"(?:labels?|verdict|conclusion|decision|answer|class(?:ified)?|categor\w+|rat(?:ed|ing)|as"
    r"|is|are|be"
    r"|not|called|considered|severity|side|policy|为|是|作|标签|结论|判断|类别|属于|라벨|결론|분류|판정)\W{0,4}$",
    re.IGNORECASE,
)
_ATTRIBUTES = re.compile(
    r"\b(?:words?|phrases?|terms?|expressions?|slogans?|sentences?|hashtags?|verbs?|nouns?"
    r"|adjectives?"
    r"|epithets?|slurs?|nicknames?|insults?|commands?|statements?|openings?|lines?|claims?"
    r"|wording"
    r"|quot\w+|emojis?|metaphors?|remarks?|questions?|threats?)\W{0,3}(?:such as |of |is |are )?"
    r"(?:□\W{0,3}(?:and |or |, )?){0,5}□"
    r"|\b(?:says?|said|saying|writes?|wrote|written|writing|us(?:es?|ed|ing)|calls?|called"
    r"|calling|states?|stated"
    r"|reads?|tells?|claims?|asks?|shouts?|declares?|adds?|mentions?|contains?|includ\w+"
    r"|describ\w+"
    r"|accus\w+|compar\w+|refer\w*|employs?|ends?|begins?|opens?|urges?|labels|brands|likens?"
    r"|demands?"
    r"|insults)\b[^□]{0,50}□(?:[^□]{0,20}□){0,4}"
    r"|□(?:[^□]{0,12}□){0,4}\W{0,3}(?:is|are|was|were) (?:a|an|the)? ?(?:\w+ )?(?:phrase|word"
    r"|slur|insult|threat|term|command|claim)"
    r"|(?:写|说|称|骂|用|提到|使用|一词|词语|叫|喊|词|句|表示|声称|形容|比作)[^□。]{0,8}□"
    r"|□[^□。]{0,4}(?:这样的字眼|一词|这个词|这句|等词|的说法|等字眼|一语|一句)"
    r"|□\W{0,2}(?:이?라는|이?라고|라며|등의|같은)\s?(?:말|표현|단어|문구|구절|부르|부른|쓰|쓴"
    r"|적|말한|말하|비|지칭|주장|하|한|그|쫓)|□는\s?표현"
    r"|(?:표현|단어|말|문구|욕설)\s?(?:인\s)?□",
    re.IGNORECASE,
)
_POST_SAYS = re.compile(  # at the end of what stands before a quotation
    r"(?<!\bif )(?<!\bhad )(?<!\bunless )(?<!\bwhen )(?<!\bwhere )\b(?:it|(?:the|this) (?:\w+'s )?"
    r"(?:post|text|comment|tweet|message|content|author|poster|writer))"
    r" (?:\w+ly )?(?:says|said|states|stated|reads|writes|wrote|claims|claimed|puts it"
    r"|call(?:s|ed)(?: \w+){1,4})(?: that)?[\s,:]*$",
    re.IGNORECASE,
)
_SOURCE_FIRST = re.compile(  # "The policy is clear: it says"
    r"\W*(?:(?:the|our|their|an?|this|as|in|under|another|earlier|previous) ){1,3}(?:\w+ )?"
    r"(?:polic(?:y|ies)|guidelines?|rules?|standards?|definitions?|dictionar\w+|section|law"
    r"|headline|song|proverb|repl(?:y|ies)|report\w*|complain\w*|appeal|appellant)\b",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"\b(?:polic(?:y|ies)|guidelines?|rules?|standards?|terms of service|definitions?"
    r"|dictionar\w+|section|tier"
    r"|law|criteri\w+|means?|meaning|i\.e|impl(?:y|ies|ied|ying)|suggest\w*|stands? for"
    r"|equivalent|translat\w+"
    r"|amounts?|if|had the|would|could|might|may|readers?|instead of|unlike|rather than|no"
    r"|nobody|nowhere|nothing|neither|never|nor|refrains?|stops? short"
    r"|(?:\w+n't|not)(?! (?:only|just|hesitate|stop|leave|kind))|in effect|in other words|like|i"
    r"|we|my|our|above|earlier|previous\w*|so[- ]called|another|other users?"
    r"|repl(?:y|ies|ied)|commenters?|report\w*|complain\w*|appeal|appellant|objection"
    r"|moderators?|headline|song|proverb|saying|supposed"
    r"|contrast|(?:sort|kind) of|tone|severity)\b"
    r"|规定|政策|准则|定义|意思|意味|所谓|如果|没有|并未|而不是|我|投诉|上文|前述|定为|暗示|即"
    r"|정책|규정|지침|기준|뜻|의미|이른바|만약|없|아니|않|검토자|신고|위에서|앞에서|저는|내가|대신",
    re.IGNORECASE,
)


def kinds_of(
    explanation: str,
    language: Language,
    quoted: Sequence[Quotation],
    occurring: Collection[Quotation],
) -> dict[Quotation, QuotationReason]:
    """Return why a quotation is none of the text, for those that are none.

    occurring: the quotations that the text holds. The name of a label that the text holds is a
    quotation, unless its clause labels the text with it.
    """
    found: dict[Quotation, QuotationReason] = {}
    for quotation, (before, after) in _clauses(explanation, quoted).items():
        if is_label(quotation.text, language):
            alone = not any(map(str.isalnum, before + after))
            if quotation not in occurring or alone or _LABELS.search(before):
                found[quotation] = "label"
        elif quotation in occurring:
            continue
        elif plain_name(quotation.text) in idioms(language):
            found[quotation] = "idiom"
        elif _is_of_another(before, after):
            found[quotation] = "other_source"
    return found


def attributed(explanation: str, quoted: Sequence[Quotation]) -> set[Quotation]:
    """Return the quotations that the explanation says are words of the text."""
    return {
        quotation
        for quotation, (before, after) in _clauses(explanation, quoted).items()
        if _says_the_post(before)
        or (
            any(
                match.start() <= len(before) < match.end()
                for match in _ATTRIBUTES.finditer(before + BLANK + after)
            )
            and not _is_of_another(before, after)
        )
    }


def _says_the_post(before: str) -> bool:
    return _POST_SAYS.search(before) is not None and _SOURCE_FIRST.match(before) is None


def _is_of_another(before: str, after: str) -> bool:
    if _says_the_post(before):
        return False
    return bool(_ELSEWHERE.search(before) or _ELSEWHERE.search(after))


def _clauses(explanation: str, quoted: Sequence[Quotation]) -> dict[Quotation, tuple[str, str]]:
    """Return the clause before and after each quotation, each quotation as a box."""
    spans = quoted_spans(explanation)
    pieces, gaps, position, length = [], [], 0, 0
    for start, end in spans:
        pieces += [explanation[position:start], BLANK]
        gaps.append(length + start - position)
        length = gaps[-1] + 1
        position = end
    masked = "".join([*pieces, explanation[position:]]).replace("\u2019", "'")
    found = {}
    number = 0
    for quotation in sorted(quoted, key=lambda one: one.start):
        while number + 1 < len(spans) and spans[number][1] <= quotation.start:
            number += 1
        box = gaps[number] if spans else 0
        before, after = masked[max(0, box - REACH) : box], masked[box + 1 : box + 1 + REACH]
        borders = [match.end() for match in _BORDER.finditer(before)]
        border = _BORDER.search(after)
        found[quotation] = (
            before[borders[-1] :] if borders else before,
            after[: border.start()] if border else after,
        )
    return found
