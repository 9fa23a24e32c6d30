"""Variant `robust`: decision, stance or answer, and reasons of a response; refusals told apart.

Source: Mothilal et al., arXiv:2506.19113, section 3.1 and Table 5; README.md lists every kind of
difference to the released parser. The decision is looked for where the list has not begun.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from services.haf.report import Answer, DecidedBy, Stage, Stance
from shared.readers.refusals import REFUSAL, REFUSES_WITHIN
from shared.text.english import straighten_apostrophes

Span = tuple[int, int]  # character offsets into the response, exclusive end


@dataclass(frozen=True, slots=True)
class ParsedStatement:
    """A sentence or a reason; `span` is None where it does not stand in the response as such."""

    text: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class DecisionVerdict:
    """What a later stage's decision says about the reasons, and how sure that is.

    certainty: [0, 1]: of the cues that fired, the share that agrees; of a model, its probability
    or the share of the winning side.
    """

    answer: Answer
    judge: DecidedBy
    certainty: float


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision sentence, and what it answers; `verdict` is None where a model must say."""

    statement: ParsedStatement
    verdict: DecisionVerdict | None = None


@dataclass(frozen=True, slots=True)
class ParsedResponse:
    decision: Decision | None
    stance: Stance
    reasons: tuple[ParsedStatement, ...]
    refusal: bool


_TURN = re.compile(
    r"^(?:however|that said|nevertheless|nonetheless|on the other hand|additionally|furthermore|"
    r"moreover)\b",
    re.IGNORECASE,
)

_THOUGHT = "</think>"  # ends what a reasoning model thought, which is no answer


def parse_response(response: str, stage: Stage) -> ParsedResponse:
    start = response.rfind(_THOUGHT) + len(_THOUGHT) if _THOUGHT in response else 0
    found = [item for item in items(response) if item.begin >= start]
    before: Span = (start, found[0].begin if found else len(response))
    intro = _introduction(response, before)
    listed = reasons(response, found)
    if not listed and _refuses(intro):
        return ParsedResponse(decision=None, stance="unclear", reasons=(), refusal=True)
    decision = _initial(intro) if stage == "justify" else _find_decision(intro)
    given = listed or _in_prose(response, before, intro, decision, stage)
    stance = stance_of(decision.statement.text) if decision and stage == "justify" else "unclear"
    return ParsedResponse(decision, stance, tuple(given), refusal=False)


def _refuses(intro: list[ParsedStatement]) -> bool:
    first = [straighten_apostrophes(each.text) for each in intro[:REFUSES_WITHIN]]
    return any(map(REFUSAL.search, first)) and not any(
        explicit(text) or (names_toxicity(text) and not REFUSAL.search(text)) for text in first
    )


def _initial(intro: list[ParsedStatement]) -> Decision | None:
    """The first sentence that takes a stance, else the first one at all."""
    asserted = _filter_sentences(intro)
    taking = [each for each in asserted if stance_of(each.text) != "unclear"]
    chosen = (taking or asserted)[:1]
    return Decision(chosen[0]) if chosen else None


def _find_decision(intro: list[ParsedStatement]) -> Decision | None:
    """The first sentence that answers; else the first that speaks of toxicity; else the first."""
    asserted = _filter_sentences(intro)
    answering = [each for each in asserted if answers(each.text)]
    about_toxicity = [each for each in asserted if names_toxicity(each.text)]
    chosen = (answering or about_toxicity or asserted)[:1]
    if not chosen:
        return None
    following = [each.text for each in intro[intro.index(chosen[0]) + 1 :]]
    return Decision(chosen[0], read_verdict(chosen[0].text, following))


def _filter_sentences(intro: list[ParsedStatement]) -> list[ParsedStatement]:
    """Without questions, where there is anything else: a repeated question decides nothing."""
    return [each for each in intro if not each.text.rstrip("*_\"'”’)").endswith("?")] or intro


def _introduction(response: str, region: Span) -> list[ParsedStatement]:
    """The sentences before the list, without headings and, where others are, announcements."""
    found = [each for each in sentences(response, region) if not is_heading(each.text)]
    return [each for each in found if not each.text.endswith(":")] or found


def _in_prose(
    response: str,
    region: Span,
    intro: list[ParsedStatement],
    decision: Decision | None,
    stage: Stage,
) -> list[ParsedStatement]:
    """A reason that is no list item: behind a label, or the sentences after the decision."""
    after = decision.statement.span[1] if decision and decision.statement.span else region[0]
    behind = labelled(response, (after, region[1]))
    if behind is not None:
        return [behind]
    following = [each for each in intro if each.span and each.span[0] >= after]
    if stage != "justify" and not _needs_more(decision):
        following = _from_turn(following)
    kept = [each for each in following if is_reason(each.text) and not _meta(each, stage)]
    spans = [each.span for each in kept if each.span is not None]
    if not spans or decision is None:
        return []
    whole = (spans[0][0], spans[-1][1])
    return [ParsedStatement(response[whole[0] : whole[1]], whole)]


def _from_turn(following: list[ParsedStatement]) -> list[ParsedStatement]:
    """Who says that the reasons suffice gives another one only after a "however"."""
    for place, each in enumerate(following):
        if _TURN.match(each.text) and not explicit(each.text):
            return following[place:]
    return []


def _meta(each: ParsedStatement, stage: Stage) -> bool:
    """Speaks of reasons instead of giving one; in later stages also of toxicity alone."""
    if explicit(each.text):
        return True
    return stage == "justify" and opening(each.text) is not None and len(each.text) < 20


def _needs_more(decision: Decision | None) -> bool:
    """Whether a later stage did not say that the reasons suffice: then prose is a reason."""
    return (
        decision is not None
        and decision.verdict is not None
        and decision.verdict.answer in ("insufficient", "doubtful")
    )


_MARKER = re.compile(
    r"^([ \t]*)(?:\*\*|__)?"
    r"(?:\(?\d{1,2}[.)]|[-*•–](?=[ \t])|reason\s+\d{1,2}\s*[:.)])"
    r"[ \t]*(?:\*\*(?=[ \t]))?[ \t]*",
    re.MULTILINE | re.IGNORECASE,
)
_BOLD_HEAD = re.compile(r"^([ \t]*)(?=\*\*[^*\n]{2,80}\*\*)", re.MULTILINE)
_BLANK = re.compile(r"\r?\n[ \t]*(?:\r?\n|```)")  # a code fence ends a paragraph, too
_LABEL = re.compile(
    r"^[\W_]*(?:(?:the|my|specific|other|an?)\s+)?(?:additional\s+|further\s+)?"
    r"(?:reason(?:s|\(s\))?(?:ing)?|justifications?|explanations?)"
    # "for", and what for: at most 30 characters, or nothing but blanks
    r"(?:\s+for(?:\s++[\w ]{1,30}|(?=\s[^\S ]*+ )))?(?:\s+\d+)?\s*+(?:\*\*)?\s*+:[\s*_]*",
    re.IGNORECASE,
)
_DECISION = re.compile(r"^[\W_]*(?:my\s+)?(?:decision|conclusion|stance|answer)\b", re.IGNORECASE)
_NOTHING = re.compile(
    r"^[\W_]*(?:none|n/a|not applicable|no (?:additional|further|other|more))\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_LETTER = re.compile(r"[^\W_]")
_NAME = re.compile(r"[\w ]+")

FEWEST_WORDS = 3  # fewer are a heading
LONGEST_HEADING = 40  # characters


@dataclass(frozen=True, slots=True)
class ListItem:
    """A list item: where its line begins, and where its text stands."""

    begin: int
    text: Span


def items(response: str) -> list[ListItem]:
    """The list's items, each with the sub-items below it; bold headings where there are none."""
    found = _items(response, _MARKER)
    return found if found else _items(response, _BOLD_HEAD)


def reasons(response: str, found: list[ListItem]) -> list[ParsedStatement]:
    """The items' texts: up to a blank line, labels and headings left away."""
    statements = [_item_statement(response, item) for item in found]
    return [each for each in statements if is_reason(each.text)]


def is_reason(text: str) -> bool:
    """Neither a heading, nor the decision, nor "None"."""
    if _DECISION.match(text) or _NOTHING.match(text):
        return False
    bare = _LABEL.sub("", text)
    return len(_WORD.findall(bare)) >= FEWEST_WORDS and not re.search(r":[\s*_]*$", bare)


def is_heading(text: str) -> bool:
    """A few words and a colon ("**Decision:**")."""
    letters = [found.start() for found in _LETTER.finditer(text)]
    if not letters or letters[-1] - letters[0] >= LONGEST_HEADING:
        return False
    core, rest = text[letters[0] : letters[-1] + 1], text[letters[-1] + 1 :]
    return ":" in rest and _NAME.fullmatch(core) is not None


def labelled(response: str, region: Span) -> ParsedStatement | None:
    """A single reason behind a label ("Reason: ..."), up to a blank line."""
    for line in re.finditer(r"[^\n]+", response[region[0] : region[1]]):
        label = _LABEL.match(line.group())
        if label:
            start = region[0] + line.start() + label.end()
            stated = statement_at(response, start, _paragraph_end(response, start, region[1]))
            return stated if is_reason(stated.text) else None
    return None


def _items(response: str, marker: re.Pattern[str]) -> list[ListItem]:
    marks = [m for m in marker.finditer(response) if not _DECISION.match(response, m.end())]
    blanks = [blank.start() for blank in _BLANK.finditer(response)]
    top: list[re.Match[str]] = []
    for mark in marks:
        indent = len(mark.group(1))
        if top and indent > len(top[-1].group(1)) and _same_paragraph(blanks, top[-1], mark):
            continue  # a sub-item belongs to the item above it
        top.append(mark)
    if not top:
        return []
    ends = [*(mark.start() for mark in top[1:]), len(response)]
    return [ListItem(mark.start(), (mark.end(), end)) for mark, end in zip(top, ends, strict=True)]


def _same_paragraph(blanks: list[int], above: re.Match[str], mark: re.Match[str]) -> bool:
    return bisect_left(blanks, above.end()) == bisect_left(blanks, mark.start())


def _item_statement(response: str, item: ListItem) -> ParsedStatement:
    start, limit = item.text
    end = _paragraph_end(response, start, limit)
    first = response[start:end]
    if re.search(r":[\s*_]*$", first.strip()) and end < limit:  # a heading: what follows is meant
        end = _paragraph_end(response, end + len(_BLANK.match(response, end).group()), limit)  # type: ignore[union-attr]
    label = _LABEL.match(response[start:end])
    return statement_at(response, start + (label.end() if label else 0), end)


def _paragraph_end(response: str, start: int, limit: int) -> int:
    blank = _BLANK.search(response, start, limit)
    return blank.start() if blank else limit


_MORE = (
    r"\b(?:additional|further|more|another|other|new|extra)\b(?:\s+[\w'()-]+){0,4}?\s+"
    r"(?:reason|reasoning|context|information|justification|explanation|evidence|detail)s?"
)
_REQUIRED = r"\b(?:required|needed|necessary|warranted|essential|called for)\b"
_GIVEN = r"\b(?:identif\w+|find|found|see|provide|offer|have|think of)\b"
_PATTERNS: tuple[tuple[str, Answer], ...] = (
    (rf"{_MORE}.*?{_REQUIRED}", "insufficient"),
    (rf"\b(?:requires?|needs?|necessitates?)\b.*?{_MORE}", "insufficient"),
    (rf"\bthere (?:is|are|exists?)\b.*?{_MORE}", "insufficient"),
    (rf"{_GIVEN}.*?{_MORE}", "insufficient"),
    (rf"\bno\s+(?:\w+\s+){{0,2}}?{_MORE}", "insufficient"),  # the "no" denies it
    (r"\b(?:sufficient(?:ly)?|suffices?|enough|adequate(?:ly)?|complete)\b", "sufficient"),
    (r"\b(?:insufficient|inadequate|incomplete)\b", "insufficient"),
    (r"\bunnecessary\b", "sufficient"),
)
_CUES = tuple((re.compile(pattern), answer) for pattern, answer in _PATTERNS)
_DOUBT = re.compile(
    r"\b(?:may|might|could|maybe|perhaps|possibly|potentially|arguably|unclear|unsure|uncertain|"
    r"not (?:strictly|necessarily|entirely|absolutely)|would (?:be )?(?:helpful|useful|beneficial|"
    r"strengthen|help)|can be (?:helpful|useful))\b"
)
LONGEST_CLAUSE = 600  # characters: what is longer is read so far

_NONE = re.compile(
    r"^[\W_]*(?:additional|further|more|other)\s+reasons?(?:\(s\))?[\W_]{0,9}:[\W_]{0,9}(?:none|n/a)\b",
    re.IGNORECASE,
)
_OPPOSITE: dict[Answer, Answer] = {"sufficient": "insufficient", "insufficient": "sufficient"}
_BY_OPENING: dict[str, Answer] = {"yes": "insufficient", "no": "sufficient"}


def read_verdict(decision: str, following: Sequence[str] = ()) -> DecisionVerdict | None:
    """The answer of a decision sentence; None where the rules see none.

    Explicit cues decide by majority, a tie is `doubtful`; a leading yes or no decides only where
    there is no cue and the sentence is not about toxicity: "Yes, the text is toxic" answers another
    question and is irrelevant (Table 5 of the paper). The certainty is the share of all cues,
    openings and those of the following sentences included, that agree.
    """
    cues = explicit(decision)
    word = opening(decision)
    openings = [_BY_OPENING[word]] if word else []
    if cues:
        counted = Counter(cues).most_common()
        most = [answer for answer, count in counted if count == counted[0][1]]
        chosen = most[0] if len(most) == 1 else "doubtful"
    elif names_toxicity(decision):
        cues, chosen = ["irrelevant"], "irrelevant"
    elif openings:
        cues, openings, chosen = openings, [], openings[0]
    else:
        return None
    later = [cue for sentence in following for cue in explicit(sentence)]
    every = [*cues, *openings, *later]
    return DecisionVerdict(chosen, "rules", max(every.count(chosen), 1) / len(every))


def answers(sentence: str) -> bool:
    """Whether it says anything about additional reasons, or begins with a bare yes or no."""
    return bool(explicit(sentence)) or (
        opening(sentence) is not None and not names_toxicity(sentence)
    )


def explicit(sentence: str) -> list[Answer]:
    """One answer for each clause that speaks of what is required or suffices."""
    if _NONE.match(sentence):
        return ["sufficient"]
    return [cue for clause in clauses(sentence) if (cue := _cue(clause)) is not None]


def _cue(whole: str) -> Answer | None:
    clause = whole[:LONGEST_CLAUSE]
    for pattern, answer in _CUES:
        found = pattern.search(clause)
        if found is None:
            continue
        if _DOUBT.search(clause):
            return "doubtful"
        denied = NEGATION.search(clause[: found.end()])
        return _OPPOSITE[answer] if denied and "unnecessary" not in found.group() else answer
    return None


_TOXIC = re.compile(r"\b(non[-‐‑–]?\s?)?toxic(?:ity)?\b", re.IGNORECASE)
_REASON_FOLLOWS = re.compile(
    r"\b(?:because|since|due to|as it|given that|for the following)\b", re.IGNORECASE
)
NEGATION = re.compile(
    r"\b(?:no|not|never|neither|nor|without|cannot|lacks?|free (?:of|from))\b|n't\b"
)
_HEDGE = re.compile(
    r"\b(?:may|might|could|maybe|perhaps|possibly|potentially?|probabl[ye]|likely|unlikely|seems?|"
    r"seemingly|appears?|suggests?|partial(?:ly)?|mild(?:ly)?|slightly|somewhat|borderline|"
    r"ambiguous|neutral|to some (?:extent|degree))\b"
)
_BETWEEN = re.compile(r"\bas (?:neutral|ambiguous|borderline)\b")
_OPENING = re.compile(r"^\W*(?:decision\W+)?(yes|no)\b(?=[\s*_]*(?:[,.;:!–—-]|$))", re.IGNORECASE)
_STANCE_OF_OPENING: dict[str | None, Stance] = {"yes": "toxic", "no": "non-toxic"}
_NO_DENIAL = re.compile(
    r"\b(?:(?:without|beyond)(?: an?y?)?|no|not in)(?: \w+)? doubt\b|\bno question\b|"
    r"\bnot (?:only|just|merely|simply)\b"
)
_RESTATED_TASK = re.compile(r"\bwhy (?:it|(?:the|this) (?:\w+ )?text) is (?:\w+ )?$", re.IGNORECASE)


def stance_of(sentence: str) -> Stance:
    """Toxic, maybe, non-toxic, or unclear where it does not say.

    The first mention decides, with what stands before it; a cause that follows does not. Whole
    words: the released parser looks for substrings, so that "contribute" is a hedge ("but").
    """
    plain = _REASON_FOLLOWS.split(straighten_apostrophes(sentence), maxsplit=1)[0]
    found = _TOXIC.search(plain)
    if found is None:
        between = _BETWEEN.search(plain.lower())
        return "maybe" if between else _STANCE_OF_OPENING.get(opening(sentence), "unclear")
    before = _NO_DENIAL.sub("", plain[: found.start()].lower())
    if re.search(r"\bwhether\b", before):
        return "unclear"  # "I cannot tell whether it is toxic"
    after = plain[found.end() :].lower()
    if _HEDGE.search(before) or re.match(r"\s+(?:to some|in part|at most)\b", after):
        return "maybe"
    # "No, the text is toxic" denies nothing but an expectation
    if found.group(1) or NEGATION.search(_OPENING.sub("", before, count=1)):
        return "non-toxic"
    return "toxic"


def names_toxicity(sentence: str) -> bool:
    """Whether it says of the text that it is, or is not, toxic; not merely why it would be."""
    found = _TOXIC.search(sentence)
    return found is not None and not _RESTATED_TASK.search(sentence[: found.start()])


def opening(sentence: str) -> str | None:
    """`yes` or `no` where the sentence begins with it."""
    found = _OPENING.match(sentence)
    return found.group(1).lower() if found else None


_BORDER = re.compile(r"(?<=[.!?])[\"'”’)*_]*\s+|\n+")
_CLAUSE = re.compile(
    r"[,;:–—]|\s-\s|\b(?:but|however|although|though|yet|because|since|whereas)\b", re.IGNORECASE
)
_SENTENCE_LETTER = re.compile(r"[^\W\d_]")


def statement_at(text: str, start: int, end: int) -> ParsedStatement:
    """This stretch of the text without blanks around it."""
    inner = text[start:end]
    start += len(inner) - len(inner.lstrip())
    stripped = inner.strip()
    return ParsedStatement(stripped, (start, start + len(stripped)))


def sentences(text: str, region: Span) -> list[ParsedStatement]:
    """The sentences of a region that hold a letter, in order."""
    begin, end = region
    cuts = [begin]
    for border in _BORDER.finditer(text, begin, end):
        closing = len(border.group()) - len(border.group().lstrip("\"'”’)*_"))
        cuts += [border.start() + closing, border.end()]
    cuts.append(end)
    found = [statement_at(text, *pair) for pair in zip(cuts[::2], cuts[1::2], strict=True)]
    return [each for each in found if _SENTENCE_LETTER.search(each.text)]


def clauses(sentence: str) -> list[str]:
    """The sentence cut where its thought turns, lower case, curly apostrophes made straight."""
    return [part.strip() for part in _CLAUSE.split(straighten_apostrophes(sentence.lower()))]
