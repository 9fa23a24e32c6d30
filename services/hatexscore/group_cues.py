"""Words around a group mention that say what it is: a ground, a bystander, a possibility."""

from __future__ import annotations

import re
from dataclasses import dataclass

from services.hatexscore.words import Language

NOTHING = re.compile(r"(?!)")


# "People living with a disability": a category that the people are named by.
LIVING_WITH = re.compile(
    r"\b(?:people|persons?|those|individuals?|children|adults|men|women|workers|someone|anyone|citizens)\s"
    r"(?:who\s(?:are\s)?)?(?:living\s|live\s|born\s)?(?:with|have|has|having)\s(?:(?:an?|any|some|their)\s)?"
    r"(?:[\w-]+\s)?$",
    re.IGNORECASE,
)
# "Group: women": a field for whom the attack is on.
TARGET_FIELD = re.compile(
    r"(?:^|[\n|*_\"'-])\W*(?:(?:targeted|protected|attacked|affected|target)[\s_]+)?(?:group|community|victim)s?"
    r"\W{0,4}[:=|]\W*$",
    re.IGNORECASE,
)
# "Target? Women." "Who is attacked? Women.": a question that the mention answers.
WHO_IS_IT = re.compile(
    r"\W*(?:\w+\W+)?(?:who|whom|(?:which|what)\s+(?:group|people))\b[^?]{0,60}\?\W*"
    r"|\W*(?:\w+\W+){0,3}(?:target\w*|attacked|victims?|affected|demeaned|insulted)(?:\W+\w+){0,3}\s*\?\W*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class GroundRules:
    """no_noun: a category word that is an adjective or an -ism and names nobody.

    before, after: what makes a category the ground of an attack: "because of their race".
    """

    no_noun: re.Pattern[str]
    before: re.Pattern[str]
    after: re.Pattern[str]


_OWNER = r"(?:their|his|her|its|one's|someone's|people's|a\sperson's)"
_BECAUSE = (
    r"(?:based\s(?:up)?on|because\sof|due\sto|on\s(?:the\s)?(?:basis|grounds?)\sof|on\saccount\sof"
    r"|by\s(?:reason|virtue)\sof|owing\sto|rooted\sin|in\sview\sof)"
)
_ATTACKS = r"(?:attack|insult|mock|ridicul|demean|target|denigrat|degrad|deri)\w*(?:\son)?"
_LISTED = (
    r"(?:(?:an?|the|real|perceived|assumed|presumed|supposed|alleged|own)\s){0,2}"
    r"(?:(?:[\w-]+\s)?[\w-]+(?:,\s|\s(?:or|and)\s|,\s(?:or|and)\s)){0,5}(?:(?:their|his|her|own)\s){0,2}$"
)

GROUNDS: dict[Language, GroundRules] = {
    "en": GroundRules(
        re.compile(
            r"(?:racial|racially|racis[tm]|religious|religiously|ethnic|ethnically|sexis[tm]"
            r"|casteis[tm]|ageis[tm]|ableis[tm])\b"
        ),
        re.compile(
            rf"\b(?:{_BECAUSE}\s(?:{_OWNER}\s)?|(?:for|over|{_ATTACKS})\s{_OWNER}\s){_LISTED}",
            re.IGNORECASE,
        ),
        NOTHING,
    ),
    "zh": GroundRules(
        re.compile("主义|歧视"),
        re.compile(
            "(?:基于|因为|因|由于|出于|根据|凭|以)(?:其|他们的|她们的|对方的|别人的|他人的|某人的)?"
            "(?:[^，。；！？的]{1,6}[、和或与及])?$"
        ),
        re.compile(
            "(?:(?:[、和或与及])[^，。；]{1,6})?(?:的|等)?(?:原因|缘故|理由|为由|身份而|而被)"
        ),
    ),
    "ko": GroundRules(
        re.compile("차별|주의|적$"),
        NOTHING,
        re.compile(
            r"(?:[이과와나,]\s?[가-힣]{1,6}){0,3}[을를에의이가과와으로]{0,2}\s?"
            r"(?:이유|근거|기반|때문|따라|따른|탓|빌미)"
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class BystanderRules:
    """own, some, by: what stands before the name, at its end; judge, acquaintance: its noun.

    judges: what such a person does, right behind; complains: what any person does who is none.
    """

    own: re.Pattern[str]
    acquaintance: re.Pattern[str]
    some: re.Pattern[str]
    by: re.Pattern[str]
    judge: re.Pattern[str]
    judges: re.Pattern[str]
    complains: re.Pattern[str] = NOTHING


_FRIEND = (
    r"(?:colleague|friend|neighbou?r|teacher|doctor|boss|wife|husband|partner|sister|brother|cousin"
    r"|uncle|aunt|mother|father|classmate|roommate|co-?worker|dentist|moderator|reviewer|reader"
    r"|editor|annotator|grandmother|grandfather|student|intern|translator|lawyer|team|staff)"
)
_JUDGE = (
    r"(?:moderator|reviewer|court|judge|annotator|rater|editor|reader|colleague|commenter|expert"
    r"|lawyer|teacher|translator|friend|neighbou?r|user|jury|juror|tribunal|linguist|scholar"
    r"|journalist|reporter|newspaper|analyst|assessor|evaluator|labell?er|student|volunteer|viewer"
    r"|listener|witness|speaker)"
)
_COMPLAINS = (
    r"(?:complain|report|flag|agree|object|confirm|condemn|criticis|criticiz|reject|disagree|protest|notic"
    r"|apologi|intervene|respond|answer|reply|replied|shar|repost|like[ds])"
)
_DETERMINER = r"(?:an?|one|two|three|four|five|several|some|another|the|both|many|most|few|\d+)"
_JUDGING = (
    r"(?:agree|report|flag|find|found|judge|call|say|said|think|thought|consider|confirm|note"
    r"|complain|condemn|read|see|saw|regard|rule|point|argue|critici[sz]e|reject|review|remove|mark"
    r"|label|rate|classif|explain|describe|translate|wrote|write|told|ask|warn|object)"
)

BYSTANDERS: dict[Language, BystanderRules] = {
    "en": BystanderRules(
        own=re.compile(r"\b(?:my|our|your)\s(?:\w+\s)?$", re.IGNORECASE),
        acquaintance=re.compile(rf"^[\s-]*(?:\w+\s)?{_FRIEND}s?\b", re.IGNORECASE),
        some=re.compile(rf"(?:^|\s){_DETERMINER}\s(?:\w+\s)?$", re.IGNORECASE),
        by=re.compile(
            r"\b(?:by|according\sto|asked|consulted|informed|told|thanks?\sto)\s(?:\w+\s){0,2}$",
            re.IGNORECASE,
        ),
        judge=re.compile(rf"^[\s-]*(?:\w+\s)?{_JUDGE}s?\b", re.IGNORECASE),
        complains=re.compile(
            rf"\s?(?:who\s)?(?:(?:has|have|had|also|later|then|rightly)\s){{0,2}}{_COMPLAINS}\w*",
            re.IGNORECASE,
        ),
        judges=re.compile(
            rf"\s?(?:(?:has|have|had|also|rightly|later|then|would)\s){{0,2}}{_JUDGING}\w*",
            re.IGNORECASE,
        ),
    ),
    "zh": BystanderRules(
        own=re.compile("(?:我|我的|我们的|我们|本站的|一位|两位|一名|两名|几位)$"),
        acquaintance=re.compile(
            "^(?:同事|朋友|邻居|老师|医生|同学|室友|审核员|版主|管理员|读者|编辑|评审)"
        ),
        some=re.compile("(?:一位|两位|一名|两名|几位|几名|某位)$"),
        by=re.compile("(?:由|被|据|根据)(?:一位|两位|一名|两名|几位|几名)?$"),
        judge=re.compile(
            "^(?:审核员|版主|管理员|读者|编辑|评审|法官|法院|同事|朋友|邻居|专家|译者)"
        ),
        judges=re.compile(
            "[^，。]{0,4}(?:认为|举报|同意|判定|指出|表示|说|觉得|看来|报告|标记|裁定)"
        ),
    ),
    "ko": BystanderRules(
        own=re.compile(r"(?:^|\s)(?:내|제|나의|저의|우리|저희)\s*$"),
        acquaintance=re.compile(
            r"^\s*(?:동료|친구|이웃|선생님|의사|상사|관리자|독자|편집자|검토자|룸메이트)"
        ),
        some=re.compile(r"(?:한|두|세|어느|몇몇)\s?(?:명의\s?)?$|^$"),
        by=NOTHING,
        judge=re.compile(
            r"^\s*(?:관리자|검토자|독자|편집자|판사|법원|동료|친구|이웃|전문가|번역가|운영자)"
        ),
        judges=re.compile(
            r"[가-힣]{0,2}\s?(?:[가-힣]{1,12}\s){0,3}"
            "(?:신고|동의|말했|말한|판단|지적|생각|보고|판결|인정)"
        ),
    ),
}

# "not X but Y", before Y
CONTRASTED = re.compile(
    r"\b(?:but|rather)\s(?:(?:rather|also|only|the|all|at|on|to|for|of|against|instead|towards?)\s){0,3}$",
    re.IGNORECASE,
)
# "leaves X out of it"
LEAVES = re.compile(r"\b(?:leav(?:e|es|ing)|left|keep|keeps|kept|keeping)\s(?:\w+\s){0,2}$")
LEFT_OUT = re.compile(
    r"^(?:\s\w+){0,3}?\s(?:out\s(?:of|entirely|altogether)|alone|in\speace|out\W*$)"
)

HEDGES: dict[Language, re.Pattern[str]] = {
    "en": re.compile(r"\b(?:may|might|could|possibly|perhaps|potentially)\b", re.IGNORECASE),
    "zh": re.compile("可能|也许|或许"),
    "ko": re.compile(r"수도?\s?있|지도\s?모르|지도\s?모른|가능성"),
}

# What a quotation does to a group when it is no attack.
PRAISES: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"\b(?:prais|thank|welcom|celebrat|honou?r|defend|admir|compliment|congratulat|appreciat"
        r"|applaud|greet|respects?\b|supports?\b|support(?:ed|ing)|invit|sympathi|friendl|kindl|polite)\w*",
        re.IGNORECASE,
    ),
    "zh": re.compile("赞扬|称赞|赞美|表扬|感谢|欢迎|庆祝|祝贺|尊重|支持|钦佩|友好|友善|问候|邀请"),
    "ko": re.compile("칭찬|감사|환영|축하|존중|지지|존경|응원|인사|초대|친절|우호"),
}
