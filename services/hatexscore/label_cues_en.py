"""English clauses that speak of a label, or of a threshold or a rule named after one.

"The classification as normal is wrong", "toxic is the right label", "I agree with the label"; "the
bar for hate speech is not met", "violates the hate speech policy": whether it is met, kept or
broken decides, not the word.

Source: our own. Every pattern meets at most the few hundred characters around one label word.
"""

from __future__ import annotations

import re

from services.hatexscore.cues_en import JUDGE

_DECISION = (
    r"(?:label|verdict|answer|classification|category|decision|choice|rating|conclusion|call|class"
    r"|judge?ment|assessment|tag|fit|description)"
)
# "Toxic is the right label", "I am left with toxic as the label".
PREFERRED = re.compile(
    rf"^[\"\s]*(?:(?:is|was|seems|remains|would\s+be|does|do|did)(?P<no>\s+not|n['\u2019]t)?\s+)?"
    rf"(?:(?<=\s)(?:the|my|our)\s+(?:\w+\s+){{0,2}}{_DECISION}\b|(?:fits?|appl(?:y|ies))\b(?!\s+to\b))"
    rf"|^[\"\s]*(?:as|for)\s+(?:the|my|our|its)\s+(?:\w+\s+){{0,2}}{_DECISION}\b"
)
# "I agree with the non-hateful label."
ENDORSES = re.compile(
    r"\b(?:agree[sd]?|concur(?:s|red)?|disagree[sd]?)\s+with\s+(?:the|this|that|its)\s+(?:\w+\s+)?$"
    r"|\b(?:confirm|support|uphold|endors|share|reject|disput|contest)\w*\s+(?:the|this|that)\s+(?:\w+\s+)?$"
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
SUFFICES = ("fits", "applies", "holds", "fails", "misses", *CHEAPENS)  # that need no adjective
_REJECTING = (
    r"wrong|incorrect|mistaken|false|inaccurate|unjustified|unwarranted|misplaced|error|mistake|far|harsh"
    r"|strong|unfair|overstated|overstatement|exaggerated|exaggeration|unfounded|misleading|stretch"
    r"|inappropriate|untenable|rejected|withdrawn|removed|dropped|lifted|reversed|overturned|ignore"
    r"|overlook|misread|misunderstand"
)
REJECTING = frozenset(_REJECTING.split("|"))
VERDICT_AFTER = re.compile(
    r"^[^.;!?]{0,80}?\b(?P<verb>is|are|was|were|seems|would\s+be|should\s+be|does|do|did|isn['\u2019]t"
    r"|doesn['\u2019]t|goes|fits|applies|holds|fails|misses|cheapens|trivialises|trivializes"
    r"|dilutes|devalues|distorts|stretches)\b"
    r"\s*(?P<no>not\s+|n['\u2019]t\s+)?(?:\w+ly\s+|quite\s+|a\s+|an\s+|the\s+|too\s+|to\s+|well\s+"
    r"|fully\s+)*(?P<judged>correct|right|justified|accurate|appropriate"
    r"|fitting|apt|fair|warranted|true|valid|sound|tenable|supported|case|fit|apply|hold|stand"
    r"|here|word|term"
    rf"|{_REJECTING})?"
)
LABEL_SUBJECT = re.compile(
    rf"\b(?:labels?|predictions?|assessments?|decisions?|classifications?|categor(?:y|ies)|verdicts?|ratings?|tags?|readings?"
    rf"|judge?ments?|descriptions?|conclusions?|claims?|idea|suggestion|calling|classing"
    rf"|classifying|labell?ing|marking|describing|considering|rating|treating|to\s+(?:{JUDGE}))\b"
)
LABEL_NOUN_AFTER = re.compile(
    r"^[\s\"']*(?:labels?|flags?|tags?|ratings?|classifications?|verdicts?|predictions?|readings?)\b"
)

# "The threshold for hate speech is not met": what is met or crossed, and whether it is.
THRESHOLD = (
    r"(?:threshold|bar|line|level|standard|definition|criteri(?:a|on)|requirements?|conditions?|test|tests"
    r"|thresholds|standards|mark)"
)
THRESHOLD_BEFORE = re.compile(
    rf"\b{THRESHOLD}\s+(?:\w+\s+){{0,2}}?(?:for|of|to\s+be|to\s+count\s+as|into)\s+(?:being\s+)?(?:\w+\s+)?$"
)
MET_AFTER = re.compile(
    rf"^[\s-]*(?P<noun>{THRESHOLD}\s+)?(?:here\s+)?(?:is|are|was|were|has|have)(?:\s+\w+ly)?(?P<no>n['\u2019]t"
    r"|\s+(?:not|never|hardly))?\s+(?:yet\s+|clearly\s+|been\s+|being\s+|fully\s+|therefore\s+)*"
    r"(?P<un>un)?(?:met|reached|satisfied|fulfilled|crossed|passed|exceeded|surpassed)\b"
)
# "Violates the hate speech policy", "in breach of the rules on hateful conduct".
VIOLATES = re.compile(
    r"\b(?:violat\w+|breach\w*|contraven\w+|infring\w+|break(?:s|ing)?|broke|against|afoul|foul|outside"
    r"|prohibited|banned|forbidden|barred|disallowed|removed|actionable)\b[^,;:]{0,60}$"
)
RESPECTS = re.compile(
    r"\b(?:compl(?:y|ies|iant)|consistent|in\s+line|within|adher\w+|abid\w+|conforms?|follows?|respects?"
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
    rf"\b{RULES}\s+(?:on|against|about|regarding|concerning|prohibiting|banning|for|covering|around)"
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
