"""Variant `paper`: a conclusion statement wherever it stands, quotations included.

Source: Hu & Lee, arXiv:2601.13547, section 3.1, Eq. 2.
Deviates: the released code takes any "hate speech", "yes" or "no" anywhere for a conclusion and
ignores negation; here a sentence must say it, negation turns it, a hedge or a question voids it.
These patterns are those of version 1; `conclusion.py` reads for `robust`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from services.hatexscore.conclusion import ConclusionStatement
from services.hatexscore.report import Label
from shared.text.sentences import Span, sentences

_MARKUP = str.maketrans(dict.fromkeys("*_#`>{}[]\u200b", " "))


def statement_anywhere(explanation: str) -> ConclusionStatement | None:
    """As printed (Eq. 2): a conclusion statement wherever it stands, quotations included."""
    return _last_statement(_plain(explanation), sentences(explanation))


def _last_statement(plain: str, spans: Iterable[Span]) -> ConclusionStatement | None:
    for start, end in reversed(list(spans)):
        label = _label(plain[start:end])
        if label is not None:
            return ConclusionStatement(start, end, label)
    return None


def _label(sentence: str) -> Label | None:
    """The label that a lower-case sentence states; the three languages use different scripts."""
    for rules in _RULES:
        for term in reversed(list(rules.term.finditer(sentence))[-LABELS:]):
            clause = rules.clause(sentence, term)
            if clause is not None:
                negated = term.groupdict().get("non") is not None
                negations = len(rules.negation.findall(clause)) + negated
                return "non-hateful" if negations % 2 else "hateful"
    return None


def _plain(explanation: str) -> str:
    """Lower case without mark-up, character for character."""
    lowered = (c.lower() if len(c.lower()) == 1 else c for c in explanation)
    return "".join(lowered).translate(_MARKUP)


LABELS = 20  # of a sentence that are looked at, from its end


@dataclass(frozen=True, slots=True)
class _ConclusionRules:
    """How one language says that a text is hateful.

    term:   a label; its group `non`, if it has one, denies it.
    clause: the words about a label in which negations count; None where it is no verdict.
    """

    term: re.Pattern[str]
    negation: re.Pattern[str]
    clause: Callable[[str, re.Match[str]], str | None]


REACH_EN = 600  # characters before a label that may belong to its clause

_TERM_EN = re.compile(
    r"(?P<non>\b(?:non|un)[\s\-\u2010-\u2013]*)?"
    r"(?:(?<=non)|(?<=un)|\b)(?:hateful|hate[\s\-\u2010-\u2013]?speech|hate(?=\W*$))\b"
    r"(?!\s+(?:detection|polic\w+|laws?|rules?|guidelines?|definitions?|crimes?))"
)
_MARK_EN = re.compile(
    r"(?:conclusion|verdict|label|decision|classification|answer|judge?ment|prediction|assessment"
    r"|result|category|rating|determination|evaluation)\W{0,3}\s*(?:is\b|as\b|[:：=\-\u2013\u2014])"
)
_BREAK_EN = re.compile(
    r"[;:\u2014]|\s-\s|\bbut\b|\bbecause\b|\bsince\b|\balthough\b|\bthough\b|\bwhile\b|\bhowever\b"
    r"|\bwhereas\b|\byet\b|\bthat\b(?=\s+(?:the|this|it|these|such)\b)|\bwhich\b|\bso\b"
    r"|\b(?:and|as)\b(?=\s+(?:it|this|the|is|are|does|do|therefore|thus|constitutes?|qualif)\b)"
)
_COMMA_EN = re.compile(_BREAK_EN.pattern + "|,")
# "I do not think that it is hateful", "no evidence that it is": the negation reaches over "that".
_TRANSPARENT_EN = re.compile(
    r"\b(thinks?|believes?|says?|agrees?|feels?|finds?|means?|impl(?:y|ies)|suggests?|evidence"
    r"|indications?|signs?|reasons?|case|proof|grounds)\s+that\b"
)
_IDIOM_EN = re.compile(
    r"\b(?:no|without|little)\s+(?:(?:a|any)\s+)?(?:shadow\s+of\s+a\s+)?(?:doubt|question|ambiguity)"
    r"|\bnot\s+(?:only|just|merely|simply)\b|\bno\s+less\b"
)
_NEGATION_EN = re.compile(
    r"\b(?:not|never|no|neither(?!.*\bnor\b)|nor|cannot|without|lacks?|lacking|fails?\s+to|falls?\s+short\s+of"
    r"|far\s+from|free\s+(?:of|from)|rather\s+than|absence\s+of|devoid\s+of|isnt|doesnt)\b"
    r"|n['\u2019]t\b"
)
_HEDGE_EN = re.compile(
    r"\b(?:may|might|could|possibly|perhaps|potentially|maybe|whether|if|unless|unclear|unsure"
    r"|uncertain|ambiguous|to\s+determine|to\s+decide)\b"
)
_SUBJECT_EN = re.compile(
    r"\b(?:texts?|posts?|comments?|tweets?|messages?|statements?|sentences?|contents?|remarks?|it"
    r"|this|that|these|they|there|which|language|utterance|passage|speech|input|example|joke|phrase"
    r"|wording|expression|use|usage|line|reply|caption|title|meme|i|we)\b|\"\""
)
_PREDICATE_EN = re.compile(
    r"\b(?:is|are|was|were|be|been|being|seems?|appears?|considered?|deem(?:ed)?|regard(?:ed)?"
    r"|classif(?:y|ied)|label(?:led|ed)?|categori[sz]ed?|judged?|rated?|flag(?:ged)?|mark(?:ed)?"
    r"|constitut(?:es?|ing)|qualif(?:y|ies|ying)|amounts?|counts?|falls?|contains?|includes?"
    r"|cross(?:es)?|rises?|represents?|meets?|uses?|express(?:es)?|promotes?|conveys?|spreads?"
    r"|remains?|makes?|targets?|has|have|isn|aren|wasn|doesn|isnt|show(?:s|ed)?|reach(?:es)?)\b"
    r"|\b(?:it|this|that)['\u2019]s\b"
)
_AGAINST_EN = re.compile(
    r"\b(?:about|against|condemn\w*|criti\w*|report\w*|discuss\w*|counter\w*|anti|regarding"
    r"|concerning|oppos\w*|mention\w*|victims?|denounc\w*|fight\w*)\b"
)
_BARE_EN = re.compile(
    r"(?:\W|\b(?:therefore|thus|so|hence|overall|finally|in|conclusion|summary|final|my|the|a|an"
    r"|answer|not|clearly|definitely|explicitly|implicitly|text|post|yes|no|label|verdict)\b)*"
)
_AFTER_BARE_EN = re.compile(
    r"\s*+(?:speech|content|text|language)?\s*+(?:$|[.,;!)]|because|since|as\b)"
)


def _read_en(sentence: str, term: re.Match[str]) -> str | None:
    """A label counts where it ends a bare verdict ("Conclusion: hateful.") or where a clause
    predicates it of the text ("it does not cross the line into hate speech")."""
    clause = None if sentence.rstrip().endswith(("?", "？")) else _label_en(sentence, term)
    return None if clause is None or _HEDGE_EN.search(clause) else clause


def _label_en(sentence: str, term: re.Match[str]) -> str | None:
    """The words before the label that belong to its verdict; negation works inside its clause."""
    before = sentence[max(0, term.start() - REACH_EN) : term.start()]
    marks = list(_MARK_EN.finditer(before))
    verdict = before[marks[-1].end() :] if marks else before
    verdict = _IDIOM_EN.sub(" ", _TRANSPARENT_EN.sub(r"\1", verdict))
    if _BARE_EN.fullmatch(verdict) and (marks or _AFTER_BARE_EN.match(sentence, term.end())):
        return re.sub(r"^\W*(?:yes|no)\b\W*[,.]", " ", verdict)
    for border in (_COMMA_EN, _BREAK_EN):
        clause = border.split(verdict)[-1]
        predicate = _PREDICATE_EN.search(clause)
        if predicate and not _AGAINST_EN.search(clause, predicate.end()):
            return clause if marks or _SUBJECT_EN.search(before) else None
    return None


REACH_KO = 200  # characters around a label that may belong to its clause

_TERM_KO = re.compile(
    r"(?P<non>비\s*+(?:-\s*+)?)?(?:증오|혐오)\s*(?:적|성)?(?:인|이)?\s*"
    r"(?:표현|발언|콘텐츠|내용|텍스트|글|말|댓글|문장|스피치|메시지)?"
)
_MARK_KO = re.compile(
    r"(?:결론|판단|판정|라벨|레이블|분류|정답|답변?|결과|예측)\s*(?:[:：=]|은|는|적으로)"
)
_PREDICATE_KO = re.compile(
    r"\s*+(?:\"++\s*+)?(?:입니다|이다|임|이에요|예요|다(?=\W|$)|이며|이고|라고|이라고|라\s|으로|로\s|에\s*해당|에\s*속"
    r"|을\s|를\s|이\s|가\s|은\s|는\s|지\s|이지|과\s*거리|로|합니다|함)"
)
_VERB_KO = re.compile(
    r"입니다|이다|임\b|이에요|예요|다[.!\s]*$|분류|판단|간주|해당|속하|속합|포함|담고|담겨|조장|사용|아니|아닙|아닌"
    r"|않|없|볼\s*수|보입|보인|할\s*수|됩니다|된다|합니다|한다|거리가"
)
_NEGATION_KO = re.compile(r"아니|아닙|아닌|않|없|거리가\s*(?:멀|먼)|못")
_HEDGE_KO = re.compile(
    r"지도?\s*모르|수도\s*있|인지|여부|만약|불분명|불확실|어렵|일\s*수\s*있|가능성|[?？]|까요"
)
_AGAINST_KO = re.compile(
    r"^\s*+(?:을|를|에)?\s*+(?:비판|반대|규탄|고발|지적|보도|비난|대한|관한|대해|방지|금지)"
)
_BREAK_KO = re.compile(r"지만|그러나|하지만|[;；]|때문")


def _read_ko(sentence: str, term: re.Match[str]) -> str | None:
    """A label counts after a mark ("결론: 증오") or before a predicate ("혐오 표현입니다");
    negation follows it ("혐오 표현이 아닙니다") or is its prefix ("비증오적")."""
    before = sentence[max(0, term.start() - REACH_KO) : term.start()]
    predicate = _BREAK_KO.split(sentence[term.end() : term.end() + REACH_KO])[0]
    if _HEDGE_KO.search(predicate) or _AGAINST_KO.match(predicate):
        return None
    bare = not predicate.strip(" .!。\"'")
    if bare and (_MARK_KO.search(before) or not before.strip(" \"'")):
        return predicate
    predicates = _PREDICATE_KO.match(predicate) and _VERB_KO.search(predicate)
    return predicate if predicates else None


REACH_ZH = 200  # characters before a label that may belong to its clause

_TERM_ZH = re.compile(r"仇恨(?:言论|性|内容|表达|情绪|语言|信息)*(?!犯罪|政策|检测|法|定义)")
_MARK_ZH = re.compile(r"(?:结论|判断|判定|标签|分类|答案|结果|判决|预测)\s*(?:[:：=]|是|为)")
_BREAK_ZH = re.compile(r"[，,；;：:、]|但是?|然而|不过|虽然|尽管|因为|所以|因此|而是")
_PREDICATE_ZH = re.compile(
    r"是|属于?|构成|包含|含有|含|带有|视为|认为|归类|归为|判为|判定|具有|存在|表达|达到|有|涉及|传播|宣扬|算"
)
_HEDGE_ZH = re.compile(
    r"可能|也许|或许|是否|如果|若|倘若|难以|无法(?:判断|确定|决定)|不确定|不清楚|吗|[?？]$"
)
_IDIOM_ZH = re.compile(
    r"不仅仅?|不但|不只|不光|毫无疑问|无疑|不可否认|毋庸置疑|不得不|非常|不同|不满|不幸|无论|不管"
)
_NEGATION_ZH = re.compile(r"没有?|不|未|无|并非|绝非|而非|(?<![并绝而])非")
_AGAINST_ZH = re.compile(r"反对|谴责|批评|抵制|关于|讨论|针对|打击|受害|引用")
_BARE_ZH = re.compile(r"(?:\W|因此|所以|总之|综上所述|综上|最终|为|是|该?文本|非|不是|并非|属于?)*")


def _read_zh(sentence: str, term: re.Match[str]) -> str | None:
    """A label counts after a mark ("结论：仇恨") or where a verb predicates it ("不构成仇恨言论");
    subjects are dropped, so none is required. Negation precedes the verb or the label."""
    clause = _label_zh(sentence, term)
    hedged = clause is not None and _HEDGE_ZH.search(clause + sentence[term.end() :][-1:])
    return None if hedged else clause


def _label_zh(sentence: str, term: re.Match[str]) -> str | None:
    before = sentence[max(0, term.start() - REACH_ZH) : term.start()]
    marks = list(_MARK_ZH.finditer(before))
    verdict = _IDIOM_ZH.sub("", before[marks[-1].end() :] if marks else before)
    clause = _BREAK_ZH.split(verdict)[-1]
    if _AGAINST_ZH.search(clause):
        return None
    if marks or _PREDICATE_ZH.search(clause):
        return clause
    rest = sentence[term.end() :].strip(" 。.!！的")
    return verdict if _BARE_ZH.fullmatch(verdict) and not rest else None


_RULES = (
    _ConclusionRules(_TERM_EN, _NEGATION_EN, _read_en),
    _ConclusionRules(_TERM_ZH, _NEGATION_ZH, _read_zh),
    _ConclusionRules(_TERM_KO, _NEGATION_KO, _read_ko),
)
