"""How a Korean sentence says that a text is hateful (혐오, 증오) or not.

A label counts after a mark ("결론: 증오") or before a predicate ("혐오 표현입니다"); negation
follows it ("혐오 표현이 아닙니다") or is its prefix ("비증오적").
"""

from __future__ import annotations

import re

LABELS = 20  # of a sentence that are looked at, from its end
REACH = 200  # characters around a label that may belong to its clause

_TERM = re.compile(
    r"(?P<non>비\s*+(?:-\s*+)?)?(?:증오|혐오)\s*(?:적|성)?(?:인|이)?\s*"
    r"(?:표현|발언|콘텐츠|내용|텍스트|글|말|댓글|문장|스피치|메시지)?"
)
_MARK = re.compile(
    r"(?:결론|판단|판정|라벨|레이블|분류|정답|답변?|결과|예측)\s*(?:[:：=]|은|는|적으로)"
)
_PREDICATE = re.compile(
    r"\s*+(?:\"++\s*+)?(?:입니다|이다|임|이에요|예요|다(?=\W|$)|이며|이고|라고|이라고|라\s|으로|로\s|에\s*해당|에\s*속"
    r"|을\s|를\s|이\s|가\s|은\s|는\s|지\s|이지|과\s*거리|로|합니다|함)"
)
_VERB = re.compile(
    r"입니다|이다|임\b|이에요|예요|다[.!\s]*$|분류|판단|간주|해당|속하|속합|포함|담고|담겨|조장|사용|아니|아닙|아닌"
    r"|않|없|볼\s*수|보입|보인|할\s*수|됩니다|된다|합니다|한다|거리가"
)
_NEGATION = re.compile(r"아니|아닙|아닌|않|없|거리가\s*(?:멀|먼)|못")
_HEDGE = re.compile(
    r"지도?\s*모르|수도\s*있|인지|여부|만약|불분명|불확실|어렵|일\s*수\s*있|가능성|[?？]|까요"
)
_AGAINST = re.compile(
    r"^\s*+(?:을|를|에)?\s*+(?:비판|반대|규탄|고발|지적|보도|비난|대한|관한|대해|방지|금지)"
)
_BREAK = re.compile(r"지만|그러나|하지만|[;；]|때문")


def stated(sentence: str) -> bool | None:
    """True: hateful, False: non-hateful, None: no conclusion."""
    for term in reversed(list(_TERM.finditer(sentence))[-LABELS:]):
        predicate = _BREAK.split(sentence[term.end() : term.end() + REACH])[0]
        if _HEDGE.search(predicate) or _AGAINST.match(predicate):
            continue
        if _is_verdict(sentence[max(0, term.start() - REACH) : term.start()], predicate):
            negations = len(_NEGATION.findall(predicate)) + (term["non"] is not None)
            return negations % 2 == 0
    return None


def _is_verdict(before: str, predicate: str) -> bool:
    """After a mark, alone, or with a predicate of its own."""
    bare = not predicate.strip(" .!。\"'")
    if bare and (_MARK.search(before) or not before.strip(" \"'")):
        return True
    return bool(_PREDICATE.match(predicate) and _VERB.search(predicate))
