"""The conclusion that an explanation states: which side of the labels, or none (HTC).

Source: Hu & Lee, arXiv:2601.13547, section 3.1, Eq. 2, and our own rules for real explanations: a
sentence that classifies this text outranks one that speaks of the category in general, of another
text, of a part or of what ought to be; among those, the word's rank, then a mark of finality, then
the last place decides. The variants `paper` and `reference` have readings of their own.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from services.hatexscore import (
    back_references,
    certainty,
    conclusion_en,
    conclusion_ko,
    conclusion_zh,
    decision_acts,
    label_patterns,
    no_decision,
)
from services.hatexscore.quotes import quoted_spans
from services.hatexscore.report import Confidence, Form, HatexscoreOtherVerdict, Label, SetAside
from services.hatexscore.vocabulary import Clause, Reading, Vocabulary, WordInText
from services.hatexscore.words import Language, Span, detect_language, sentences
from shared.readers.decision_words import EMPTY_SQUARE, NO, TICKED_BOX, YES

MOST_SENTENCES = 400  # that are looked at, from the end
MOST_WORDS = 20  # label words of a sentence, from its end
MOST_OTHERS = 10  # verdicts that do not hold, reported
LONGEST_LABEL = 60  # characters in quotation marks
REACH = 100  # characters before a word that may be an instruction

NEAR_NEITHER = 60  # characters before a label that hold its "neither"
NEAR = 8  # characters before a quoted answer that hold its colon
_ANSWER = re.compile(f"{YES}|{NO}")
# "[ ] yes [x] no": of boxes only what is ticked is said.
_UNTICKED = re.compile(
    rf"{EMPTY_SQUARE}[^\[(\n\u2610-\u2612]{{1,40}}|{TICKED_BOX}|[\u2611\u2612](?=\s*\w)"
)
# "hate_speech": []
_EMPTY = re.compile(
    r"(?<=[:=\uff1a] )(?:\[[ \u00a0]{0,3}\]|\{[ ]{0,3}\})|(?<=[:=\uff1a])(?:\[\]|\{\})"
)
_MARKUP = str.maketrans(dict.fromkeys("*_#`>{}[]\u200b", " "))
_LABEL = re.compile(
    r"[\W_]*(?:(?:not|non|un|no|a|is|非|不是|비)[\s\-]*)*"
    r"(?:hateful|hate(?:[\s-]*speech)?|label|conclusion|prediction|verdict|classification"
    r"|仇恨(?:言论|性)?|결론|(?:혐오|증오)(?:적(?:인)?|\s*표현)?)[\W_]*",
    re.IGNORECASE,
)
_READERS = {
    "en": conclusion_en.read_word,
    "zh": conclusion_zh.read_word,
    "ko": conclusion_ko.read_word,
}
_BETWEEN_SIDES = re.compile(
    r"[\s\"',]*(?:(?:or|/|\||vs\.?|versus|and|或者?|还是|또는|혹은|이나|、)[\s\"']*(?:(?:a|not"
    r"|is)\s+)*|,[\s\"']*(?:a\s+)?)"
)
_NEITHER = re.compile(r"\bneither\s+(?:\w+\s+){0,3}[\"']?$")
_NOR = re.compile(r"(?:\s+speech|\s+content)?[\s\"',]*nor\s+(?:\w+\s+){0,3}[\"']?")
_EITHER_OR = frozenset(
    {"or", "/", "|", "vs", "vs.", "versus", "或", "或者", "还是", "또는", "혹은"}
)
_INSTRUCTION = re.compile(
    r"^\W*(?:please\s+)?(?:answer|reply|respond|choose|options?|labels|possible|select"
    r"|output|pick|classify|decide)\b(?!\s*[:=\u2192\u21d2\u27a1-])[^.;!?\n]{0,60}$"
    r"|\b(?:options?\s*(?:are|were|include|[:=(])|label\s+definitions?|definitions?\s*:|answer\s+with|possible\s+(?:labels"
    r"|answers))\b[^.;!?\n]{0,80}$"
    r"|(?:标签|分类|类别|라벨|분류)\s*(?:说明|定义|설명|정의|기준|选项)|(?:请|请选择"
    r"|选择)[^，。；]{0,30}$"
)
# "Labelled normal. However, it contains hate speech": the later verdict turns against the earlier.
_TURN = re.compile(
    r"\b(?:but|however|yet|nevertheless|nonetheless|in\s+(?:fact|reality|truth)|actually|really"
    r"|instead|rather|on\s+(?:closer|second)|after\s+all)\b|(?<![不非])但|然而|不过|其实|实际上|事实上|却"
    r"|그러나|하지만|실제로|사실|오히려"
)


@dataclass(frozen=True, slots=True)
class ConclusionStatement:
    """A sentence of the explanation, explanation[start:end], and the label that it states.

    word: as written; None, with form and confidence, where no rules of this module read it.
    """

    start: int
    end: int
    label: Label
    word: str | None = None
    form: Form | None = None
    confidence: Confidence | None = None


@dataclass(frozen=True, slots=True)
class VerdictsRead:
    """The conclusion, None where there is none, and what was not believed, the last first.

    unread: the sentences by which an explanation without one may state one all the same.
    """

    conclusion: ConclusionStatement | None
    others: tuple[HatexscoreOtherVerdict, ...]
    unread: tuple[Span, ...] = ()


def read_conclusion(explanation: str, vocabulary: Vocabulary, language: Language) -> VerdictsRead:
    """What an explanation concludes in the words of a vocabulary. Linear in its length."""
    plain = _plain(explanation, vocabulary)
    spans = sentences(explanation, language)
    readings = list(_read_all(explanation, plain, spans, vocabulary, language))
    live = [reading for reading in readings if reading.clause.mood == "asserted"]
    chosen = _select(live) or _resumed(plain, readings)
    chosen, uncertain = _believed(plain, vocabulary, language, chosen, live)
    others = [
        HatexscoreOtherVerdict(start=reading.start, end=reading.end, label=reading.label, why=why)
        for reading in reversed(readings)
        if reading.label is not None
        and (why := _other_reason(reading, chosen, uncertain)) is not None
    ]
    statement = None if chosen is None else _statement(explanation, chosen, live)
    statement = statement or _statement_of_act(explanation, plain, spans, others)
    if statement is not None:
        return VerdictsRead(statement, _few(others))
    undecided = no_decision.undecided(plain, spans[-MOST_SENTENCES:], vocabulary, readings)
    met = {(one.start, one.end) for one in others}
    others += [
        HatexscoreOtherVerdict(start=one.span[0], end=one.span[1], label=label, why="uncertain")
        for one in reversed(undecided)
        if one.word is not None
        and (label := one.word.label(one.denials)) is not None
        and one.span not in met
    ]
    unbelieved = [(one.start, one.end) for one in others if one.why == "uncertain"]
    unread = [*unbelieved[: int(uncertain)], *(one.span for one in undecided)]
    return VerdictsRead(None, _few(others), tuple(dict.fromkeys(unread)))


def _unless_deferred(plain: str, reading: Reading) -> Reading:
    """Hedged, where it is a mere leaning and somebody else is to decide."""
    told = reading.clause.mood in ("asserted", "general", "partial")
    if not (told and certainty.is_deferred(plain, reading)):
        return reading
    return replace(reading, clause=replace(reading.clause, mood="hedged"))


def _few(others: Sequence[HatexscoreOtherVerdict]) -> tuple[HatexscoreOtherVerdict, ...]:
    return tuple(dict.fromkeys(others))[:MOST_OTHERS]


def _resumed(plain: str, readings: Sequence[Reading]) -> Reading | None:
    """The last general statement that resumes what was said of this text."""
    moods = ("general", "partial")  # "reporting a number is not hateful in itself"
    general = [one for one in readings if one.clause.mood in moods and one.label is not None]
    found = (certainty.resumed(plain, one) for one in reversed(general))
    return next((one for one in found if one is not None), None)


def _is_uncertain(
    plain: str,
    vocabulary: Vocabulary,
    language: Language,
    chosen: Reading,
    live: Sequence[Reading],
) -> bool:
    """May the chosen reading be the opposite of what is meant?"""
    if certainty.is_outranked_unread(plain, vocabulary, chosen):
        return True
    sentence = plain[chosen.start : chosen.end]
    word, clause, later = chosen.word, chosen.clause, plain[chosen.end :]
    inside = replace(word, start=word.start - chosen.start, end=word.end - chosen.start)
    read_in = _language(sentence, language)
    if read_in == "zh":
        return certainty.is_uncertain_zh(*conclusion_zh.clause_of(sentence, inside), clause, later)
    if read_in == "ko":
        return certainty.is_uncertain_ko(*conclusion_ko.clause_of(sentence, inside), clause, later)
    around = conclusion_en.clause_of(sentence, inside)
    if _is_contradicted(chosen, live) and not certainty.is_plain(around):
        return True
    return certainty.is_uncertain(around, clause, later)


def _believed(
    plain: str,
    vocabulary: Vocabulary,
    language: Language,
    chosen: Reading | None,
    live: Sequence[Reading],
) -> tuple[Reading | None, bool]:
    """The chosen reading, or another that says the same with confidence by a word of no lower
    rank, where none says the opposite; and whether that leaves nothing of it."""
    if chosen is None:
        return None, False
    if chosen.label == "non-hateful" and vocabulary.is_open_to(chosen.word.word, plain):
        return None, True
    if not _is_uncertain(plain, vocabulary, language, chosen, live):
        return chosen, False
    if any(one.label not in (None, chosen.label) for one in live):
        return None, True
    for one in reversed(live):
        strong = one.word.word.is_decisive >= chosen.word.word.is_decisive
        same = one.label == chosen.label and one is not chosen and strong
        if same and not _is_uncertain(plain, vocabulary, language, one, live):
            return one, False
    return None, True


def _is_contradicted(chosen: Reading, live: Sequence[Reading]) -> bool:
    """Does a verdict of the same strength say the opposite, and neither settle the other?"""
    if chosen.turns or chosen.clause.rejected:
        return False
    return any(
        one.label not in (None, chosen.label)
        and not one.clause.rejected
        and _rank(one) >= _rank(chosen)
        for one in live
    )


def names_label(quoted: str) -> bool:
    """Is the quoted material only the name of a label, as in: it is labelled "hateful"?"""
    return len(quoted) <= LONGEST_LABEL and _LABEL.fullmatch(quoted) is not None


def _statement(
    explanation: str, chosen: Reading, live: Sequence[Reading]
) -> ConclusionStatement | None:
    if chosen.label is None:
        return None
    strength = _rank(chosen)[:2]
    contested = any(
        one.label is not None and one.label != chosen.label and _rank(one)[:2] >= strength
        for one in live
    )
    inferred = chosen.clause.rejected or not chosen.word.word.is_decisive
    confidence: Confidence = "contested" if contested else "inferred" if inferred else "plain"
    word = explanation[chosen.word.start : chosen.word.end]
    return ConclusionStatement(
        chosen.start, chosen.end, chosen.label, word, chosen.clause.form, confidence
    )


def _statement_of_act(
    explanation: str,
    plain: str,
    spans: Sequence[Span],
    others: Sequence[HatexscoreOtherVerdict],
) -> ConclusionStatement | None:
    """What was done with the text, where nothing classifies it; not against a doubtful verdict."""
    act = decision_acts.read_act(plain, spans)
    if act is None or any(
        one.why == "uncertain"
        and one.label != act.label
        and not (act.corrects and one.end <= act.span[0])
        for one in others
    ):
        return None
    word = explanation[slice(*act.words)].strip(" .;:,|=-*")
    return ConclusionStatement(*act.span, act.label, word, "classification", "inferred")


def _select(live: Sequence[Reading]) -> Reading | None:
    """The strongest, of equals the last. A rejected label gives way to any verdict after it."""
    stating = [
        reading
        for reading in live
        if reading.label is not None
        and (reading.word.word.is_decisive or not reading.clause.conceded)
        and not (
            reading.clause.rejected
            and any(one.start > reading.start and not one.clause.rejected for one in live)
        )
    ]
    ranked = [(_rank(reading), place, reading) for place, reading in enumerate(stating)]
    return max(ranked, key=lambda each: each[:2])[2] if ranked else None


# A bare verdict is often a predication whose subject is dropped: no weaker.
FORMS: dict[Form, int] = {"bare": 0, "predication": 0, "classification": 1, "final": 2}


def _rank(reading: Reading) -> tuple[bool, bool, int]:
    """Word rank, no concession, form. What turns against what was said before is no mere reason."""
    clause = reading.clause
    form = FORMS[clause.form]
    form = max(form, FORMS["classification"]) if reading.turns else form
    return reading.word.word.is_decisive, not clause.conceded, form


def _other_reason(reading: Reading, chosen: Reading | None, uncertain: bool) -> SetAside | None:
    """Why a reading is not the conclusion; None for the conclusion and what agrees with it."""
    mood = reading.clause.mood
    if mood == "asked" or mood == "instruction":
        return None
    if mood != "asserted":
        return mood
    if uncertain:
        return "uncertain"
    if chosen is None or reading.label == chosen.label:
        return None
    return "outranked" if _rank(reading) < _rank(chosen) else "earlier"


def _read_all(
    explanation: str, plain: str, spans: Sequence[Span], vocabulary: Vocabulary, language: Language
) -> Iterator[Reading]:
    """Every use of a label word as a predicate, in order. spans: of the sentences."""
    looked_at = max(0, len(spans) - MOST_SENTENCES)
    named = back_references.NamedLabels(plain)
    for place, span in enumerate(spans):
        words = list(_words(explanation, plain, span, vocabulary))
        known = language if place >= looked_at else None
        found = [_unless_deferred(plain, one) for one in _of_sentence(plain, span, words, known)]
        yield from named.before(span, found)
        yield from found
        yield from named.after(span, found)


def _of_sentence(
    plain: str, span: Span, words: Sequence[WordInText], language: Language | None
) -> Iterator[Reading]:
    for number, word in enumerate(words):
        reading = _read(plain, span, word, _neighbors(words, number), language)
        if reading is not None:
            yield reading


def _neighbors(
    words: Sequence[WordInText], number: int
) -> tuple[WordInText | None, WordInText | None]:
    """The label words before and after this one in its sentence."""
    following = words[number + 1] if number + 1 < len(words) else None
    return words[number - 1] if number else None, following


def _words(
    explanation: str, plain: str, span: Span, vocabulary: Vocabulary
) -> Iterator[WordInText]:
    start, end = span
    found = vocabulary.find(plain[start:end], explanation[start:end], in_line=True)
    for word in deque(found, MOST_WORDS):
        yield WordInText(word.start + start, word.end + start, word.word, word.denied)


def _read(
    plain: str,
    span: Span,
    word: WordInText,
    beside: tuple[WordInText | None, WordInText | None],
    language: Language | None,
) -> Reading | None:
    """language: of the explanation; None: only label lines are read."""
    clause = _label_line(plain, span, word)
    if clause is None and label_patterns.in_column(plain, word.start, word.end):
        clause = Clause("final")
    if clause is None:
        if word.word.line_only or language is None:
            return None
        start, end = span
        sentence = plain[start:end]
        inside = WordInText(word.start - start, word.end - start, word.word, word.denied)
        clause = _READERS[_language(sentence, language)](sentence, inside)
    if clause is None:
        return None
    if _is_instruction(plain, span, word, *beside, denied=clause.denials % 2 == 1):
        clause = Clause(clause.form, "instruction", clause.denials)
    elif _denies_both_sides(plain, word, *beside):
        clause = Clause(clause.form, "hedged", clause.denials)
    turns = _TURN.search(plain, max(span[0], word.start - REACH), word.start) is not None
    return Reading(*span, word, clause, word.label(clause.denials), turns)


def _label_line(plain: str, line: tuple[int, int], word: WordInText) -> Clause | None:
    """The clause of a label line around `word`; None where the word stands in none.

    plain: the explanation in lower case without mark-up. line: the span of the line.
    """
    before = plain[max(line[0], word.start - label_patterns.REACH) : word.start]
    after = plain[word.end : min(line[1], word.end + label_patterns.BEYOND)]
    answer = label_patterns.ANSWER.match(after)
    answered = label_patterns.is_asked(before, after)
    if answered and (label_patterns.is_even_score(after) or label_patterns.is_unanswered(after)):
        return Clause("bare", "hedged")
    key = label_patterns.LINE.search(before)
    if answer is not None and (answered or key is not None):
        earlier = key is not None and key["earlier"] is not None
        denials = int(answer["no"] is not None)
        return Clause("final", "earlier" if earlier else "asserted", denials)
    score = label_patterns.is_low_score(after) if answered else None
    if score is not None:
        return Clause("bare", denials=int(score), rejected=True)
    ends = label_patterns.ENDS.match(after)
    clause = None if ends is None or key is None else _behind_key(key, after, word, ends)
    if clause is not None:
        return clause
    keyed = word.word.line_only and label_patterns.KEYED.search(before)
    if ends is not None and (
        keyed or (word.word.capitals and label_patterns.ANY_KEY.search(before))
    ):
        return Clause("final")
    if (
        word.word.line_only
        and label_patterns.ALONE.fullmatch(before)
        and label_patterns.ALONE.fullmatch(after)
    ):
        return Clause("bare")
    return None


def _behind_key(key: re.Match[str], after: str, word: WordInText, ends: re.Match[str]) -> Clause:
    """The clause of "label: x"; hedged where x is crossed out or a grade says otherwise."""
    denials = len(label_patterns.DENIAL.findall(key["value"])) + (ends["ko"] is not None)
    low = label_patterns.is_low_grade(key) and word.label(denials) == "hateful"
    if low or label_patterns.CROSSED.match(after):  # crossed out, or marked as bad: either
        return Clause("final", "hedged", denials)
    return Clause("final", "earlier" if key["earlier"] else "asserted", denials)


def _language(sentence: str, language: Language) -> Language:
    """A sentence may be in another language than the explanation; labels alone tell nothing."""
    return detect_language(sentence) if len(sentence) > LONGEST_LABEL // 6 else language


def _is_instruction(
    plain: str,
    span: Span,
    word: WordInText,
    previous: WordInText | None,
    following: WordInText | None,
    *,
    denied: bool,
) -> bool:
    """Two labels to choose from, or their definitions. "Contains no hateful or offensive words"
    denies both."""
    if _INSTRUCTION.search(plain[max(span[0], word.start - REACH) : word.start]):
        return True
    beside = [one.word for one in (previous, following) if one is not None]
    if denied and word.word not in beside:
        return False
    listed = following is not None and _are_sides(plain, word, following, _BETWEEN_SIDES.fullmatch)
    return listed or (
        previous is not None
        and _are_sides(plain, previous, word, lambda link: link.strip(" \"'") in _EITHER_OR)
    )


def _denies_both_sides(
    plain: str, word: WordInText, previous: WordInText | None, following: WordInText | None
) -> bool:
    """Is it neither the one nor the other, as in "neither clearly hateful nor harmless"?

    With a third class, "neither hate speech nor offensive" is as plain a denial as any.
    """
    pairs = ((previous, word), (word, following))
    return any(
        left is not None
        and right is not None
        and right.word.side == "non-hateful"
        and right.word.kind != "one_way"
        and _NEITHER.search(plain[max(0, left.start - NEAR_NEITHER) : left.start]) is not None
        and _are_sides(plain, left, right, _NOR.fullmatch)
        for left, right in pairs
    )


def _are_sides(
    plain: str, left: WordInText, right: WordInText, links: Callable[[str], object]
) -> bool:
    """Are these the two sides, with nothing but such a link between them?"""
    between = plain[left.end : right.start]
    opposed = right.label(0) not in (None, left.label(0))
    return opposed and len(between) < LONGEST_LABEL and bool(links(between))


def _plain(explanation: str, vocabulary: Vocabulary) -> str:
    """Lower case, mark-up blank, quotations but label names as quotation marks; offsets kept."""
    said = _EMPTY.sub(lambda empty: "no".ljust(len(empty.group())), explanation)
    ticked = _UNTICKED.sub(lambda box: " " * len(box.group()), said)
    lowered = (c.lower() if len(c.lower()) == 1 else c for c in ticked)
    plain = "".join(lowered).translate(_MARKUP)
    characters = list(plain)
    for start, end in quoted_spans(explanation):
        inside = plain[start + 1 : end - 1].strip(" .,:")
        keyed = _ANSWER.fullmatch(inside) and plain[max(0, start - NEAR) : start].rstrip().endswith(
            (":", "：")
        )
        if keyed or (len(inside) <= LONGEST_LABEL and _is_label(inside, vocabulary)):
            characters[start] = characters[end - 1] = " "
        else:
            characters[start:end] = '"' * (end - start)
    return "".join(characters)


def _is_label(quoted: str, vocabulary: Vocabulary) -> bool:
    """A label, or the key of one, as JSON has it; "yes, hateful" is one, too."""
    quoted = quoted.removeprefix("yes, ").removeprefix("no, ")
    is_key = label_patterns.KEY_ALONE.fullmatch(quoted) is not None
    return is_key or vocabulary.label_of(label_patterns.ASKING.sub("", quoted)) is not None
