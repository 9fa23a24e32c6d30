"""An answer of yes or no to a prompt that asks "is this hateful?".

"Yes." says nothing without its question, so that metrics, who are shown the explanation alone,
leave it unread. Here the question is known. Read only where it is the prompt's one question, names
one side of the decision and denies nothing; and only an answer that begins or ends with the word,
never doubts it, and names no label by itself. Source: our own; an inverted decision is worse than a
missing one.
"""

from __future__ import annotations

import re

from services.explanations.prompts import ElicitationPrompt
from shared.reports.metric import StatedDecision

_QUESTION = re.compile(r"[^?？.。!！\n]{1,400}[?？]")  # the last sentence, to its mark
_ASKS_YES_NO = re.compile(
    r"^\W*(?:please\s+)?(?:\w+[\s,:]+){0,12}?(?:is|are|does|do|would)\b|吗[?？]$|是否"
    r"|(?:까|나요|가요|ㄴ가요)[?？]$",
    re.IGNORECASE,
)
_OPEN = re.compile(r"\b(?:what|which|who|whom|whose|why|how|where|when)\b", re.IGNORECASE)
_HATEFUL = re.compile(
    r"\b(?:hateful|hate(?:[\s-]+(?:speech|content))?|hatred)\b|仇恨|혐오|증오", re.IGNORECASE
)
_DENIED = re.compile(
    r"\b(?:not|non|no|or|free|without|lack\w*|harmless|acceptable|safe|allowed)\b|n['\u2019]t\b"
    r"|[不非没无]|还是|或|아니|아닌|않|없|비(?=혐오|증오)",
    re.IGNORECASE,
)
_SURELY = r"(?:absolutely|definitely|certainly|clearly|undoubtedly)"
_ASIDE = (  # that stands before the word and settles nothing: "Unfortunately, yes"
    r"(?:(?:unfortunately|sadly|regrettably|thankfully|fortunately|obviously|without\s+(?:a|any)\s+doubt"
    r"|in\s+(?:short|my\s+(?:view|opinion|reading|assessment|judge?ment))|to\s+me|so|well|overall"
    r"|i(?:['\u2019]d|\s+would)\s+(?:say|answer)"
    r"|(?:based\s+on|judging\s+(?:by|from)|taking|given)\s[^\s,.;!?\n][^,.;!?\n]{0,59}"
    rf"|{_SURELY})[\s,]+){{0,2}}"
)
_SAYS_SO = r"(?:say|think|believe)\s+(?:so|it\s+(?:is|does))"
_YES = (
    rf"(?:(?:yes|yep|yeah|yup)(?:,?\s+(?:{_SURELY}|indeed|of\s+course|it\s+(?:is|does)|i\s+do|very\s+much(?:\s+so)?"
    rf"|i(?:['\u2019]d|\s+would)?\s+{_SAYS_SO}))?"
    rf"|i(?:['\u2019]d|\s+do|\s+would)?\s+{_SAYS_SO}(?:,\s+yes)?|it\s+(?:is|does)|{_SURELY}|of\s+course|indeed|affirmative|是的?|肯定的|对|네|예|ja|oui|sí|si|sim|да|はい|そうです)"
)
_NO = (
    rf"(?:(?:no|nope|nah)(?:,?\s+(?:not\s+(?:at\s+all|really)|{_SURELY}\s+not|by\s+no\s+means"
    rf"|it\s+(?:is\s+not|isn['\u2019]t|does\s+not|doesn['\u2019]t)"
    rf"|i\s+(?:don['\u2019]t|do\s+not|would\s+not|wouldn['\u2019]t)\s+{_SAYS_SO}))?"
    r"|not\s+(?:in\s+my\s+(?:view|opinion|reading|book|judge?ment)|to\s+(?:me|my\s+mind)|as\s+i\s+(?:see|read)\s+it)"
    rf"|not\s+(?:at\s+all|really)|{_SURELY}\s+not|by\s+no\s+means"
    r"|it\s+(?:is\s+not|isn['\u2019]t|does\s+not|doesn['\u2019]t)"
    rf"|i\s+(?:don['\u2019]t|do\s+not|would\s+not|wouldn['\u2019]t)\s+{_SAYS_SO}"
    r"|negative|不是|不|否定的|否|아니[요오]|nein|non|n[ãa]o|nee|нет|いいえ|違います)"
)
# "Certainly! Here is my analysis": how an answer opens that decides later.
_NO_OPENER = (
    r"(?![\W_]{0,9}(?:here\b|let\s+me|below\b|i['\u2019]ll|i\s+(?:can|will|have)\b|i['\u2019]ve|happy\s+to"
    r"|glad\s+to|the\s+following|allow\s+me|first\b|to\s+(?:answer|decide|analy[sz]e)))"
)
_MUST = (
    r"(?:is|was|must\s+be|has\s+to\s+be|would\s+be|can\s+only\s+be)(?:\s+(?:a\s+clear|in\s+the))?"
)
_WORD = re.compile(
    r"^[^\w\n]*(?:<?(?:answer|label|decision|verdict|score|result|output|conclusion)>[^\w\n]*)?(?:(?:(?:the|my|final|short)[^\S\n]+){0,4}"
    rf"(?:answer|verdict|conclusion|decision|答案|结论|답변?|결론|최종\s*답변)\s*(?:{_MUST}|：|:|[是为은는])"
    rf"[^\w\n]*)?{_ASIDE}(?:(?P<no>{_NO})|(?P<yes>{_YES})){_NO_OPENER}"
    r"(?:(?=[^\w\n/]*+(?:/\w{1,20}>[^\w\n]*+)?$)|[*_\"]{0,3}(?:[.!;:。！；：]|\s*[-\u2013\u2014]\s|[,，]\s*"
    r"(?=(?:it|this|the\s+(?:post|text|comment|message|tweet|statement)|because|since|as)\b"
    r"|[^\x00-\x7f])))",
    re.IGNORECASE | re.MULTILINE,
)
_RESTATED = re.compile(  # before the question that an answer repeats
    r"^\W{0,9}(?:q(?:uestion)?|问题?|질문)\s{0,3}[:.：]\s{0,3}", re.IGNORECASE
)
_ANSWERS_IT = re.compile(r"\s{0,9}\W{0,9}(?:a|答|답)\s{0,3}[:：]\s{0,3}", re.IGNORECASE)
_TOLD = re.compile(  # the same as a clause
    r"^\W{0,9}(?:you\s+(?:asked|want(?:ed)?\s+to\s+know)(?:\s+me)?\s+(?:if|whether)\s"
    r"[^.:;?!\n]{1,200}[.:;]"
    r"|(?:the|your)\s+question\s+(?:here\s+)?is\s+(?:if|whether)\s[^.:;?!\n]{1,200}?[,.:;]\s+"
    r"(?:and\s+)?(?=(?:the|my)\s+answer\b)"
    r"|[您你](?:想|要)?(?:问|知道)(?:的是)?[^。！？：\n]{1,100}[。：]"
    r"|(?:my|the)\s+answer\s+to\s+(?:the\s+question\s+)?[\"\u201c][^\"\u201d\n]{1,200}[\"\u201d]\s+is\b"
    r"|to\s+answer\s+(?:your|the)\s+question\s*[:,])",
    re.IGNORECASE,
)
# "Some may find this hateful. I don't": what others find, and whether the writer does
_OTHERS_FIND = re.compile(
    r"\b(?:some|many|others?|one|people)\b[^.;:!?\n]{0,40}?\b(?:may|might|could|would|will)\s+"
    r"(?:find|call|consider|see|think|say)\b[^.;:!?,\n]{0,40}?\bhate(?:ful|\s+speech)\s*[.;,]\s*"
    r"(?:but\s+)?i\s+(?:(?P<no>do\s*n['\u2019]t|do\s+not|disagree)|(?P<yes>do|agree))\s*[.:;!\u2014]",
    re.IGNORECASE,
)
# "Yes, because they cannot …" doubts nothing either.
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])|\n|\b(?:because|since|as)\b|$", re.IGNORECASE)
_DIGIT = re.compile(r"[\W_]{0,9}(?:(?P<yes>1|true)|(?P<no>0|false))[\W_]{0,9}", re.IGNORECASE)
_DOUBTS = re.compile(  # wherever they stand
    r"\b(?:unable|unclear|unsure|uncertain|not\s+(?:sure|certain|clear)|depends?|context|maybe|perhaps"
    r"|however|sorry|wait|actually|unless|(?:i|we|one)\s+(?:cannot|can['\u2019]t|can\s+not|could|may|might)"
    r"(?!\s+(?:deny|ignore|overlook|help|but)\b)"
    r"|(?:it|this|that|which|post|text|comment)\s+(?:could|may|might|can)\s+(?:also\s+)?(?:be|go|mean))\b"
    r"|(?:^|(?<=[.!?]\s)|\n\s{0,9})(?:but|yet|still)\b"
    r"|\b(?:aber|jedoch|vielleicht|könnte|pero|quizás?|tal\s+vez|podría|mais|cependant|peut-être"
    r"|pourrait|ma|però|forse|potrebbe|mas|porém|talvez|poderia|maar|misschien|но|однако|возможно"
    r"|может)\b|かもしれ|しかし|ただし"
    r"|可能|也许|无法|不能|不确定|如果|但|然而|取决于|抱歉|수도|모르|없습니다|지만|하지만|만약|죄송|맥락",
    re.IGNORECASE,
)
_DOUBTS_BESIDE = re.compile(  # in the sentence of yes or no
    r"\b(?:cannot|can(?:no|['\u2019])t|could|might|may|possibl[ye]|but|although|though|yet|if|whether|both"
    r"|either)\b",
    re.IGNORECASE,
)


def decides_if_hateful(prompt: ElicitationPrompt) -> bool:
    """Is the decision one of hateful or not?"""
    return prompt.reader == "hatexscore"


def asks_if_hateful(prompt: ElicitationPrompt) -> bool:
    """Does yes mean hateful, and no the other?"""
    return decides_if_hateful(prompt) and is_asked_if_hateful(
        f"{prompt.system or ''}\n{prompt.user}"
    )


def is_asked_if_hateful(prompt: str) -> bool:
    """Is the one question of a prompt whether a text is hateful, as in "Is this post hateful?"?"""
    asked: list[str] = _QUESTION.findall(prompt)
    if len(asked) != 1:
        return False
    [question] = asked
    return bool(_ASKS_YES_NO.search(question.strip()) and _is_about_hate(question))


def _is_about_hate(question: str) -> bool:
    """Does yes mean hateful, whatever else is said?"""
    return bool(
        _HATEFUL.search(question) and not _DENIED.search(question) and not _OPEN.search(question)
    )


def read_yes_or_no(answer: str) -> StatedDecision | None:
    """The decision of an answer to such a question, as its first line or sentence has it, or a
    line such as `Answer: yes`; None for anything that may mean something else."""
    if (told := _beside_others(answer) or _as_digit(answer)) is not None:
        return told
    answer = _without_question(answer)
    found = [match for match in _WORD.finditer(answer) if _is_apart(answer, match)]
    if not found or len({match["yes"] is None for match in found}) != 1:
        return None
    if _HATEFUL.search(answer) or _DOUBTS.search(answer) or any(map(_is_doubted, found)):
        return None
    return _decision(found[-1])


def _is_doubted(match: re.Match[str]) -> bool:
    """In its own sentence: what a text "cannot" do is told in the next ones."""
    end = _SENTENCE_END.search(match.string, match.end())
    sentence = match.string[match.start() : end.end() if end else None]
    return _DOUBTS_BESIDE.search(sentence) is not None


def asks_itself(answer: str) -> bool:
    """Does the answer begin with that question, whatever its prompt asked?"""
    return _without_question(answer) != answer


def _as_digit(answer: str) -> StatedDecision | None:
    """Of an answer that is 1 or 0, true or false, and nothing else."""
    digit = _DIGIT.fullmatch(answer)
    return None if digit is None else _decision(digit)


def _decision(match: re.Match[str]) -> StatedDecision:
    side = "no" if match["yes"] is None else "yes"
    label = "non-hateful" if side == "no" else "hateful"
    return StatedDecision(label=label, start=match.start(), end=match.end(), words=match.span(side))


def _without_question(answer: str) -> str:
    """Blanks in the place of the question that the answer begins with, if it asks the same."""
    repeated = _RESTATED.match(answer)
    start = repeated.end() if repeated else 0
    told = _TOLD.match(answer) or _QUESTION.match(answer, start)
    if told is None:
        return answer
    asked = told.group()
    if not (_is_about_hate(asked) if _TOLD.match(answer) else is_asked_if_hateful(asked)):
        return answer
    marked = _ANSWERS_IT.match(answer, told.end())
    end = marked.end() if marked else told.end()
    return " " * end + answer[end:]


def _beside_others(answer: str) -> StatedDecision | None:
    """Of an answer that tells how others may find the text, and whether the writer does."""
    told = _OTHERS_FIND.search(answer)
    if told is None or _HATEFUL.search(answer, told.end()) or _DOUBTS.search(answer, told.end()):
        return None
    return _decision(told)


def _is_apart(answer: str, match: re.Match[str]) -> bool:
    """The first words of the answer, or a line that is nothing else."""
    ends = answer.find("\n", match.start())
    line = answer[match.start() : None if ends < 0 else ends]
    return not answer[: match.start()].strip() or match.end() - match.start() >= len(line.rstrip())
