"""Who speaks where a case is reviewed: whoever appeals, reports or decides, besides the text.

"The appellant says "it was only a joke"", "the reporter wrote "…"", `User claims: "this is not
hate speech, it is my opinion"`: words on the text, and none of it. The user who wrote the text is
heard in both, so that what he is quoted with decides: a plea for the text is not in the text.
Source: our own. Patterns meet the clause around one quotation, at most a few hundred characters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from services.hatexscore.words import Language


@dataclass(frozen=True, slots=True)
class Parties:
    """before, after: a party of the case, at the end of what precedes a quotation, and behind it.

    named: words of the text, which a party may name: "the reviewer flagged the word …".
    user: its author or a pronoun. plea: what is said for a text, in its defence.
    """

    before: re.Pattern[str]
    after: re.Pattern[str]
    named: re.Pattern[str]
    user: re.Pattern[str]
    plea: re.Pattern[str]


_ASKS = r"(?:appeal|report|flag|complain|object|petition|protest|contest|disput|challeng|notifi)"
_CASE = (
    r"(?:appeals?|complaints?|objections?|counter-?notices?|tickets?|reports?|flags?|defen[cs]e|statements?"
    r"|notifications?|petitions?|request\sfor\s(?:a\s)?review|review\srequests?|case\snotes?|reply\sto\sus)"
)
_PARTY = (
    r"(?:appell?ants?|appealers?|complainants?|petitioners?|claimants?|reporters?|flaggers?|notifiers?|reviewers?|moderators?"
    r"|mods?|admins?|administrators?|arbiters?|arbitrators?|adjudicators?|assessors?|support\s(?:agents?|staff|team)"
    rf"|who\s(?:ha[sd]\s|have\s)?(?:\w+ly\s)?{_ASKS}\w*(?:\s(?:it|this|them|the\s\w+))?|{_ASKS}ing\s(?:user|member|party|reader|person)s?"
    rf"|(?:in|with|from)\s(?:the|this|that|their|his|her|an?|its)\s(?:\w+\s)?{_CASE}|{_CASE})"
)
_TEXT = (
    r"(?:(?:the|this|that|its|their|his|her)\s(?:\w+\s)?(?:text|post|comment|tweet|message|statement|caption|poem|joke"
    r"|headline|sentence|words?|phrases?|terms?|expressions?|slurs?|lines?|quotes?|language)|it)"
)
EN = Parties(
    re.compile(rf"\b{_PARTY}\b(?=[^\u25a1.;]{{0,80}}$)(?!.*\b{_TEXT}\b)"),
    re.compile(
        rf",?\s(?:(?:as|so)\s)?(?:the|an?|one|our|his|her|their)?\s?(?:\w+\s)?(?:{_PARTY})\b(?=\s\w)"
        rf"|,?\s(?:(?:\w+\s){{0,3}})?(?:in|with)\s(?:the|their|his|her|an?)\s(?:\w+\s)?{_CASE}\b"
    ),
    re.compile(
        r"\b(?:words?|phrases?|terms?|expressions?|slurs?|lines?|hashtags?|span|sentences?)[\s:,]*$"
    ),
    re.compile(
        r"\b(?:users?|authors?|writers?|posters?|speakers?|members?|account\s(?:holder|owner)s?|he|she|they|you)\b"
        r"[^\u25a1.;]{0,60}$"
    ),
    re.compile(
        r"\b(?:(?:not|no|never|nothing|n't|isn't|wasn't)\s(?:\w+\s){0,3}?(?:hat(?:e|ed|eful)|racis[mt]|sexist|offen[cs]\w+"
        r"|harm\w*|insult\w*|attack\w*|slur|rules?|wrong|serious\w*|bad|mean(?:t|\sit)?)|(?:just|only|merely|purely|clearly|simply)"
        r"\s(?:\w+\s){0,2}?(?:jok(?:e|ing)|kidding|opinions?|satire|irony|sarcas\w+|teasing|banter|fun|humou?r|meant|meaning)"
        r"|my\s(?:\w+\s)?(?:opinion|view|post|comment|tweet|message|account|video|words)|free(?:dom\sof)?\s(?:speech|expression)"
        r"|out\sof\scontext|(?:did|do)\s?n[o']t\s(?:mean|intend)|i\s(?:only\s|just\s)?meant|(?:restore|reinstate|give|put)\s(?:me\s)?"
        r"(?:it|my)\b|unfair\w*|by\smistake|(?:wrong|mistaken)ly)\b"
    ),
)
ZH = Parties(
    re.compile(
        "(?:申诉人|申诉者|上诉人|举报人|举报者|投诉人|投诉者|审核员|复审员|审查员|版主|管理员|(?:申诉|举报|投诉|辩解)(?:中|里|书|信|时)?)"
        "(?=[^□。；]{0,30}$)(?!.*(?:原文|文中|帖子?里|帖中))"
    ),
    re.compile(
        "[，,]?(?:申诉人|申诉者|举报人|举报者|投诉人|投诉者|审核员|版主|管理员)(?:说|称|写|表示)"
    ),
    re.compile("(?:词|词语|短语|字眼|用语)[：:]?$"),
    re.compile("(?:用户|作者|发帖人|发帖者|楼主|[他她])[^□。；]{0,20}$"),
    re.compile(
        "玩笑|不是(?:在)?(?:仇恨|歧视|攻击)|我(?:自己)?的(?:观点|意见|看法|帖子|评论|言论)|言论自由|没有恶意|并无恶意|恢复|断章取义|无意"
    ),
)
KO = Parties(
    re.compile(
        r"(?:신고자|신고인|이의\s?(?:제기자|신청인|신청자)|항소인|민원인|검토자|심사자|관리자|운영자|중재자|(?:이의\s?신청|신고|항소|소명)(?:서|문)?에서)"
        r"(?=[^□.;]{0,40}$)(?!.*(?:원문|본문))"
    ),
    re.compile(r"(?:이?라고|고)\s(?:신고자|신고인|이의\s?제기자|검토자|관리자|운영자)"),
    re.compile(r"(?:단어|표현|문구|구절)(?:인|는|은)?\s?$"),
    re.compile(r"(?:사용자|이용자|작성자|글쓴이|그)(?:은|는|이|가)\s[^□.;]{0,30}$"),
    re.compile(
        r"농담|장난|혐오(?:\s?표현)?(?:이|가|는)?\s?아[니닙]|(?:제|내)\s?(?:의견|생각|글|댓글|게시물)|표현의\s?자유|의도(?:는|가)?\s?(?:아니|없)|복구"
    ),
)
PARTIES: dict[Language, Parties] = {"en": EN, "zh": ZH, "ko": KO}


def speaks_in_the_case(quoted: str, before: str, after: str, language: Language) -> bool:
    """Are these the words of a party of the case, or the user's plea for the text?

    before, after: of the clause, in lower case.
    """
    parties = PARTIES[language]
    if parties.named.search(before):
        return False
    if parties.before.search(before) or parties.after.match(after):
        return True
    pleads = parties.plea.search(quoted.lower().replace("\u2019", "'"))
    return pleads is not None and parties.user.search(before) is not None
