"""What a later stage's decision says about the reasons: rules, one cue a clause.

The question is always whether an additional reason is required. "Yes, the text is toxic" answers
another question: it is irrelevant (Table 5 of the paper), which is looked for before yes and no.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from services.haf.parsed import Verdict
from services.haf.report import Answer
from services.haf.sentences import clauses
from services.haf.stance import NEGATION, names_toxicity, opening

_MORE = (
    r"\b(?:additional|further|more|another|other|new|extra)\b(?:\s+[\w'()-]+){0,4}?\s+"
    r"(?:reason|reasoning|context|information|justification|explanation|evidence|detail)s?"
)
_WANTED = r"\b(?:required|needed|necessary|warranted|essential|called for)\b"
_FOUND = r"\b(?:identif\w+|find|found|see|provide|offer|have|think of)\b"
_PATTERNS: tuple[tuple[str, Answer], ...] = (
    (rf"{_MORE}.*?{_WANTED}", "insufficient"),
    (rf"\b(?:requires?|needs?|necessitates?)\b.*?{_MORE}", "insufficient"),
    (rf"\bthere (?:is|are|exists?)\b.*?{_MORE}", "insufficient"),
    (rf"{_FOUND}.*?{_MORE}", "insufficient"),
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


def verdict(decision: str, following: Sequence[str] = ()) -> Verdict | None:
    """The answer of a decision sentence; None where the rules see none.

    Explicit cues decide by majority, a tie is `doubtful`; a leading yes or no decides only where
    there is no cue and the sentence is not about toxicity. The certainty is the share of all cues,
    openings and those of the following sentences included, that agree.
    """
    cues = explicit(decision)
    opened = opening(decision)
    openings = [_BY_OPENING[opened]] if opened else []
    if cues:
        chosen = _majority(cues)
    elif names_toxicity(decision):
        cues, chosen = ["irrelevant"], "irrelevant"
    elif openings:
        cues, openings, chosen = openings, [], openings[0]
    else:
        return None
    later = [cue for sentence in following for cue in explicit(sentence)]
    every = [*cues, *openings, *later]
    return Verdict(chosen, "rules", max(every.count(chosen), 1) / len(every))


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


def _majority(cues: Sequence[Answer]) -> Answer:
    counted = Counter(cues).most_common()
    most = [answer for answer, count in counted if count == counted[0][1]]
    return most[0] if len(most) == 1 else "doubtful"
