"""English clauses that speak of a label, or of a threshold or a rule named after one.

"The classification as normal is wrong", "toxic is the right label", "I agree with the label"; "the
bar for hate speech is not met", "violates the hate speech policy": whether it is met, kept or
broken decides, not the word.

Source: our own. Every pattern meets at most the few hundred characters around one label word.
"""

from __future__ import annotations

import re

from services.hatexscore.cues_en import JUDGE, JUDGES

_DECISION = (
    r"(?:label|verdict|answer|classification|category|decision|choice|rating|conclusion|call|class"
    r"|judge?ment|assessment|tag|fit|description)"
)
# "Toxic is the right label", "I am left with toxic as the label".
TOO_STRONG = re.compile(
    r"^[\s\"]*(?:is|was|would\s+be|seems|may\s+be)(?P<no>\s+not|n['\u2019]t)?\s+(?:\w+\s+)?too\s+(?:strong"
    r"|harsh|big|heavy|loaded|severe)\b"
)
PREFERRED = re.compile(
    rf"^[\"\s]*(?:(?:is|was|seems|remains|would\s+be|does|do|did)(?P<no>\s+not|n['\u2019]t)?\s+)?"
    rf"(?:(?<=\s)(?:the|my|our)\s+(?:\w+\s+){{0,2}}{_DECISION}\b|(?:best\s+)?(?:fits?|appl(?:y"
    rf"|ies))\b(?!\s+to\b)"
    # "… is the one that fits"
    rf"|(?:(?<=\s)(?:exactly|just|precisely)\s+)?(?<=\s)the\s+(?:\w+\s+)?(?:one|option|word|term)\s+(?:(?:that|which)\s+)?(?:best\s+)?"
    rf"(?:fits?|applies|i)\b|(?:is\s+)?(?:clos(?:e|er)|near(?:er)?)\s+to\s+the\s+(?:mark|truth)\b"
    r"|(?:comes|came)\s+closer\b|hits?\s+the\s+mark\b)"
    rf"|^[\"\s]*(?:as|for)\s+(?:the|my|our|its)\s+(?:\w+\s+){{0,2}}{_DECISION}\b"
)
# "The right label would be hateful."
LABEL_WOULD_BE = re.compile(
    rf"\b{_DECISION}\s+(?:here\s+)?would\s+(?:\w+ly\s+|then\s+|have\s+to\s+)*be\b"
)
# "A more fitting label for it might be offensive": another one is rejected by it, no hedge.
BETTER_LABEL = re.compile(
    rf"\b(?:an?|the)\s+(?:\w+\s+)?(?:more\s+\w+|better|fairer|truer)\s+{_DECISION}\s+"
    rf"(?:for\s+(?:this|it|the)(?:\s+\w+){{0,2}}\s+)?(?:would|might|may|could|should|is)\s+"
    rf"(?:\w+ly\s+)?(?:be\s+)?"
)
# "The slur justifies its classification as hateful."
EARNS_LABEL = re.compile(
    rf"\b(?:{JUDGES}|justifying|supporting|warranting|reinforcing|solidifying|confirming|earning"
    rf"|(?:lead|point|result|speak|argu|contribut)\w*\s+(?:to|towards|in|for"
    rf"|in\s+favou?r\s+of))\s+(?:its|the|this|that|an?)\s+(?:\w+\s+)?(?:classification"
    rf"|categori[sz]ation|designation"
    rf"|labell?ing|classifying)\s+(?:of\s+(?:it|this|the)(?:\s+\w+)?\s+)?(?:as|of)\s+(?:an?\s+"
    rf"|the\s+|not\s+|being\s+"
    rf"|label\s+|form\s+of\s+|\w+ly\s+)*[\s\"]*$"
)
# "It attacks nobody, which supports its classification as normal": of all that stands before.
WHICH_EARNS = re.compile(
    rf"\bwhich\s+(?:(?:also|further|\w+ly)\s+)*(?=(?:{JUDGES})\s+(?:its|the|this)\s+(?:\w+\s+)?"
    r"(?:classif|categori|designat|label))"
)
# "The label of hate speech signifies …", "based on the label of hate": named, and nothing is said.
NAMED_LABEL = re.compile(
    rf"^\W*(?:(?:given|with|from|about|by|under|on|for|of)\s+)?(?:the|its|a|this)\s+"
    rf"(?:[\w'\u2019-]+\s+){{0,2}}{_DECISION}\s+(?:of|as)\s+[\s\"]*$"
)
# "The model's prediction of hateful is driven by one word": reported, and perhaps rejected later.
PREDICTED = re.compile(
    r"^\W*(?:the|this|its)\s+(?:[\w'\u2019-]+\s+){0,2}(?:prediction|output)\s+of\s+[\s\"]*$"
)
# "I agree with the non-hateful label."
ENDORSES = re.compile(
    r"\b(?:agree[sd]?|concur(?:s|red)?|disagree[sd]?)\s+with\s+(?:the|this|that|its)\s+(?:\w+\s+)?$"
    r"|\b(?:argu|speak|spoke|count|weigh|point|tell|plead|tip)\w*\s+(?:\w+ly\s+)?(?:against"
    r"|for|in\s+favou?r\s+of"
    r"|to(?:wards)?|away\s+from)\s+(?:an?|the|any)\s+(?:\w+\s+)?$"
    r"|\b(?:support|favou?r|justif|suggest|indicat)\w*\s+an?\s+(?:\w+\s+)?$"
    r"|\b(?:confirm|support|uphold|endors|share|reject|disput|contest|justif|affirm"
    r"|warrant|reinforc|strengthen|explain)\w*\s+(?:the|this|that|its|his|her)\s+(?:\w+\s+)?$"
)
BRACKETED = re.compile(rf"\b{_DECISION}\s*\((?=[\s\"]*$)")
CLOSED = re.compile(r"^([\s\"]*)\)")
CHEAPENS = (
    "cheapens",
    "trivialises",
    "trivializes",
    "dilutes",
    "devalues",
    "distorts",
    "stretches",
)
# "The normal label does not account for the slur", "fails to reflect": what a label must do.
FAILS_AFTER = re.compile(
    r"^[\s\"]*(?:label|classification|verdict|rating|tag|category|assessment|judge?ment|prediction"
    r"|reading)?\s*(?:(?P<no>does\s+not|doesn['\u2019]t|did\s+not|cannot|can\s+not|fails?\s+to"
    r"|is\s+unable"
    r"\s+to)\s+(?:\w+ly\s+)?(?:account|reflect|capture|consider|represent|convey|describe|do"
    r"|express"
    r"|acknowledge|match|suit|recogni[sz]e|address|align|fit|take|hold|apply|stand|seem|appear"
    r"|make)"
    r"|(?:ignores|overlooks|misses|disregards|contradicts|downplays|understates|overstates))\b"
)
SUFFICES = ("fits", "applies", "holds", "fails", "misses", *CHEAPENS)  # that need no adjective
_REJECTING = (
    r"wrong|incorrect|mistaken|false|inaccurate|unjustified|unwarranted|misplaced|error"
    r"|mistake|far|harsh"
    r"|strong|unfair|overstated|overstatement|exaggerated|exaggeration|unfounded|misleading|stretch"
    r"|inappropriate|untenable|rejected|withdrawn|removed|dropped|lifted|reversed|overturned|ignore"
    r"|overlook|misread|misunderstand|inconsistent|questionable|problematic|doubtful|dubious"
    r"|flawed|debatable|inadequate|insufficient|unsuitable|misguided|erroneous|contradictory"
    r"|contradicted|surprising|puzzling|off|untrue|disputable"
)
REJECTING = frozenset(_REJECTING.split("|"))
VERDICT_AFTER = re.compile(
    r"^[^.;!?]{0,80}?\b(?P<verb>is|are|was|were|seems|appears|looks|sounds|(?:would|should)(?:\s+not"
    r"|n['\u2019]t)?\s+be"
    r"|does|do|did"
    r"|isn['\u2019]t"
    r"|doesn['\u2019]t|goes|fits|applies|holds|fails|misses|cheapens|trivialises|trivializes"
    r"|dilutes|devalues|distorts|stretches)\b"
    r"\s*(?P<no>not\s+|n['\u2019]t\s+)?(?:\w+ly\s+|therefore\s+|thus\s+|hence\s+|quite\s+|a\s+"
    r"|an\s+|the\s+|too\s+|to\s+|well\s+"
    r"|fully\s+)*(?P<judged>correct|right|justified|accurate|appropriate"
    r"|founded|grounded|reasonable|plausible|convincing|understandable|defensible"
    r"|fitting|apt|fair|warranted|true|valid|sound|tenable|supported|case|fit|apply|hold|stand"
    r"|here|word|term"
    rf"|{_REJECTING})?"
)
# "… as hateful because the claims are false": the reason rejects no label. A closed ", which …,"
# does not end what is said of it.
BEHIND_THE_LABEL = re.compile(
    r"\b(?:because(?!\s+of\b)|since\b|as\s+(?:it|the|this|that)\b"
    r"|which\b(?![^,;:]{0,80},\s+(?:is|was|seems|does|would|has)\b))"
)
LABEL_SUBJECT = re.compile(
    rf"\b(?:labels?|predictions?|assessments?|decisions?|classifications?|categor(?:y|ies)"
    rf"|verdicts?|ratings?|tags?|readings?"
    rf"|judge?ments?|descriptions?|conclusions?|claims?|idea|suggestion|calling|classing"
    rf"|classifying|labell?ing|marking|describing|considering|rating|treating|to\s+(?:{JUDGE}))\b"
)
LABEL_NOUN_AFTER = re.compile(
    r"^[\s\"']*(?:labels?|flags?|tags?|ratings?|classifications?|verdicts?|predictions?"
    r"|readings?)\b"
)

# "A thin line between mockery and hate": named, and not yet said on which side this text is.
BETWEEN = re.compile(
    r"\b(?:line|difference|distinction|boundary|border|divide)\s+between\s+(?:[\w'\u2019-]+\s+){1,5}?and"
    r"(?:\s+\w+)?\s*$"
)
# "Hate speech requires …", "to be hateful, a text must …": its conditions are told.
DEFINES = re.compile(
    r"^[\s\"]*(?:speech|content)?\s*(?:requires?|needs|presupposes|demands|involves|consists|has\s+to|must"
    r"|means|has\s+(?:two|three|four|several))\b"
)
# "The threshold for hate speech is not met": what is met or crossed, and whether it is.
THRESHOLD = (
    r"(?:threshold|bar|line|level|standard|definition|criteri(?:a|on)|requirements?"
    r"|conditions?|test|tests"
    r"|thresholds|standards|mark)"
)
THRESHOLD_BEFORE = re.compile(
    rf"\b{THRESHOLD}\s+(?:\w+\s+){{0,2}}?(?:for|of|to\s+be|to\s+count\s+as"
    rf"|into)\s+(?:being\s+)?(?:\w+\s+)?$"
)
MET_AFTER = re.compile(
    rf"^[\s-]*(?P<noun>{THRESHOLD}\s+)?(?:here\s+)?(?:is|are|was|were|has"
    rf"|have)(?:\s+\w+ly)?(?P<no>n['\u2019]t"
    r"|\s+(?:not|never|hardly))?\s+(?:yet\s+|clearly\s+|been\s+|being\s+|fully\s+|therefore\s+)*"
    r"(?P<un>un)?(?:met|reached|satisfied|fulfilled|crossed|passed|exceeded|surpassed)\b"
)
# "Violates the hate speech policy", "in breach of the rules on hateful conduct".
VIOLATES = re.compile(
    r"\b(?:violat\w+|breach\w*|contraven\w+|infring\w+|break(?:s|ing)?|broke|against|afoul"
    r"|foul|outside"
    r"|counter\s+to|contrary\s+to|at\s+odds|conflict\w*\s+with|in(?:consistent|compatible)\s+with"
    r"|prohibited|banned|forbidden|barred|disallowed|removed|actionable)\b[^,;:]{0,60}$"
)
RESPECTS = re.compile(
    r"\b(?:compl(?:y|ies|iant)|consistent|in\s+line|within|adher\w+|abid\w+|conforms?|follows?"
    r"|respects?"
    r"|allowed|permitted)\b[^,;:]{0,60}$"
)
RULES = (
    r"(?:polic(?:y|ies)|rules?|guidelines?|standards?|terms|laws?|provisions?|clauses?|sections?"
    r"|code)"
)
RULES_AFTER = re.compile(
    rf"^[\s-]*(?:and\s+\w+\s+)?(?:content\s+|conduct\s+|speech\s+)?{RULES}"
    r"\b(?!\s+(?:is|are|was|does|prohibits?|bans?))"
)
RULES_BEFORE = re.compile(
    rf"\b{RULES}\s+(?:on|against|about|regarding|concerning|prohibiting|banning|for|covering"
    rf"|around)"
    r"\s+(?:the\s+)?(?:use\s+of\s+)?(?:\w+\s+(?:and|or)\s+)?$"
)


def unmet(own: str, after: str) -> bool | None:
    """Of a threshold or a rule whose name holds the word: is it not met, or respected?

    None where none is spoken of. "The bar for hate speech is not met": True; "violates the hate
    speech policy": False.
    """
    met = MET_AFTER.match(after)
    if met is not None and (met["noun"] or THRESHOLD_BEFORE.search(own)):
        return bool(met["no"]) != bool(met["un"])
    if not (RULES_AFTER.match(after) or RULES_BEFORE.search(own)):
        return None
    if VIOLATES.search(own):
        return False
    return True if RESPECTS.search(own) else None
