"""Thresholds and rules whose name holds a label word: "the bar for hate speech is not met".

Whether it is met, kept or broken decides, not the word: "violates the hate speech policy".

Source: our own. Every pattern meets at most the few hundred characters around one label word.
"""

from __future__ import annotations

import re

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
