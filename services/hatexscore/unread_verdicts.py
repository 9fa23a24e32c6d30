"""Whether an explanation without a conclusion that was read may state one all the same.

Eq. 2 gives 0 to a missing or an ambiguous judgement. The rules know both: no word of a verdict, or
every one of them in a question, a doubt, an appeal or a definition that nothing answers later. A
word of a verdict in any other wording may state one that they do not read: then HTC is unknown.

Source: our own. Linear in the explanation; patterns are tried sentence by sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from services.hatexscore.cues_en import TEXT_NOUN
from services.hatexscore.vocabulary import Reading, Vocabulary
from services.hatexscore.words import Span

MOST = 600  # characters of a sentence that are looked at, from its end
SETTLED = ("asked", "instruction", "hedged", "appeal")  # moods of which no verdict is made

# Words of a verdict beside those of the vocabulary: of rules and of what moderators do.
_CUE = re.compile(
    r"\b(?:violat\w+|breach\w*|infring\w+|contraven\w+|polic(?:y|ies)|guidelines?"
    r"|(?:community|platform|house|content|our|the|any|no|of)\s+(?:rules?|standards?)"
    r"|rule\s+\d+|flagged|flag|classif(?:y|ied|ies)|categori[sz]ed|labell?ed|verdict|removal|removed"
    r"|take(?:n|s)?\s+(?:it\s+)?down|reinstated?|restored|approved|false\s+(?:positive|alarm)"
    r"|hateful\w*|hate\s+speech|anti-?hate|line\s+(?:is|was)\s+crossed)\b"
    r"|违反|违规|违背|触犯|准则|规定|规范|政策|标记|举报|下架|删除|误判|判定|归类|定性|仇恨"
    r"|위반|정책|규정|지침|가이드라인|신고|삭제|분류|판정|혐오|증오"
)
_QUESTION = re.compile("[?？][\\s\"”'’)]*$|吗[。\\s]*$")
# What hate speech is, what a policy bans, what is to be answered: no verdict on this text.
_DEFINES = re.compile(
    r"\b(?:is|are|was|were|be)\s+defined\s+as\b|\brefers\s+to\b|\bdenotes\b|\bis\s+speech\s+that\b"
    r"|\b(?:text|post|comment|message|reply|remark|content)\s+is\s+(?:one|any)\s+that\b"
    r"|\blabel\s+definitions?\b|\boptions?\s*:|\b(?:hateful|hate\s+speech|toxic|safe)\s+means\b"
    r"|\b(?:polic(?:y|ies)|rules?|guidelines?|terms|laws?|standards?)\s+(?:prohibits?|bans?|forbids?"
    r"|define[sd]?|(?:do|does)\s+not\s+(?:allow|permit))\b"
    r"|是指|指的是|定义为|的定义是|标签说明|标签定义"
    r"|(?:政策|规定|准则|规则|法律)(?:禁止|不允许)"
    r"|라벨\s*(?:설명|정의)|(?:이란|란)\s|(?:정책|규정|지침|규칙|법)(?:은|이|에서)\s.{0,20}금지"
    r"|가운데\s*하나로\s*답"
)
_APPEALS = re.compile(
    r"\bno\s+place\s+(?:in|on|for)\b|容忍|让我们|法外之地|零容忍|공동체를\s*함께|용납|맞서|만듭시다"
)
_UNDECIDED = re.compile(
    r"\b(?:cannot|can\s*not|can['\u2019]t|could\s+not|couldn['\u2019]t|unable\s+to|not\s+able\s+to"
    r"|impossible\s+to|hard\s+to|difficult\s+to)\s+(?:say|tell|decide|determine|know|judge|assess"
    r"|analy[sz]e|be\s+(?:sure|certain|decided|determined))\b(?!\s+that\b)"
    r"|\bno\s+(?:decision|judge?ment|verdict|classification)\s+(?:is|was|can|could)\b"
    r"|\bnot\s+(?:entirely\s+|quite\s+)?(?:sure|certain|clear)\s+(?:if|whether|that)\b"
    r"|\bunclear\s+(?:if|whether)\b"
    r"|(?:无法|难以|不能)(?:判断|确定|断定|判定|分析|决定)"
    r"|판단(?:하기\s*(?:어렵|힘들)|할\s*수\s*없)|분석할\s*수\s*없|단정(?:하기|할\s*수)"
)
# What may settle a doubt, or go back on it, without a word of the vocabulary.
_ANSWERS = re.compile(
    r"\b(?:but|yet|however|though|still|nonetheless|nevertheless|actually|in\s+fact|i|we|my|our"
    r"|no|not|none|nothing|yes|it\s+(?:is|does)|this\s+(?:is|does|one)|so|answer|exactly|neither"
    r"|right|wrong|correct|mistak\w+|error)\b|n['\u2019]t\b"
    r"|但|然而|不过|其实|实际上|我|不|没|是的|对|错|误|所以|因此|正是"
    r"|그러나|하지만|지만|실제로|사실|나는|저는|아니|않|없|그렇|맞|틀|잘못"
)
# "Clean water", "a normal life", "safe to say": said of something else than a text.
_OF_A_THING = re.compile(
    rf"\s+(?:to\s+say\b|(?!(?:{TEXT_NOUN}|label|rating|class\w*|category|verdict|side|territory|to|in"
    r"|as|by|for|and|or|but|with|under|here|than|if|because|since|rather|enough|overall|it|this|the"
    r"|is|was|not|no|from|at|on|of|that|which)\b)[a-z]{3,})"
)
# "It may look hateful, but …": of the same sentence.
_BUT = re.compile(r"\b(?:but|yet|however)\b|(?<![不非])但|然而|不过|其实")


@dataclass(frozen=True, slots=True)
class _Sentence:
    end: int
    text: str
    readings: tuple[Reading, ...]

    @property
    def is_settled(self) -> bool:
        """Is every word of a verdict in it one of which no verdict is made?"""
        moods = {one.clause.mood for one in self.readings}
        if _DEFINES.search(self.text) or _APPEALS.search(self.text):
            return moods <= {*SETTLED, "general"}
        known = self.readings or _QUESTION.search(self.text) or _UNDECIDED.search(self.text)
        return bool(known) and moods <= {*SETTLED}


def may_conclude(
    plain: str,
    spans: Sequence[Span],
    vocabulary: Vocabulary,
    readings: Sequence[Reading],
) -> bool:
    """Of an explanation of which no conclusion was read.

    plain: in lower case without mark-up and quotations. spans: its sentences, in order.
    """
    held: dict[Span, list[Reading]] = {}
    for one in readings:
        held.setdefault((one.start, one.end), []).append(one)
    met: list[_Sentence] = []
    for span in spans:
        text = plain[max(span[0], span[1] - MOST) : span[1]]
        if span in held or _CUE.search(text) or _has_label(text, vocabulary):
            met.append(_Sentence(span[1], text, tuple(held.get(span, ()))))
    return any(not one.is_settled or _is_answered(plain, one) for one in met)


def _has_label(text: str, vocabulary: Vocabulary) -> bool:
    return any(
        found.word.side == "hateful" or found.denied or not _OF_A_THING.match(text, found.end)
        for found in vocabulary.find(text, text)
    )


def _is_answered(plain: str, sentence: _Sentence) -> bool:
    """Does anything follow a question, or words that may settle it a doubt?"""
    after = plain[sentence.end : sentence.end + MOST]
    if _QUESTION.search(sentence.text) and not _UNDECIDED.search(after):
        return any(map(str.isalnum, after))
    doubts = [one for one in sentence.readings if one.clause.mood in ("asked", "hedged", "appeal")]
    turned = any(_BUT.search(plain, one.word.end, sentence.end) for one in doubts)
    return turned or (bool(doubts) and _ANSWERS.search(after) is not None)
