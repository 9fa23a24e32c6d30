"""How an English sentence says that a text is hateful or not.

A label counts where it ends a bare verdict ("Conclusion: hateful.") or where a clause predicates it
of the text ("it does not cross the line into hate speech"). Negation works inside its clause.
"""

from __future__ import annotations

import re

LABELS = 20  # of a sentence that are looked at, from its end
REACH = 600  # characters before a label that may belong to its clause

_TERM = re.compile(
    r"(?P<non>\b(?:non|un)[\s\-\u2010-\u2013]*)?"
    r"(?:(?<=non)|(?<=un)|\b)(?:hateful|hate[\s\-\u2010-\u2013]?speech|hate(?=\W*$))\b"
    r"(?!\s+(?:detection|polic\w+|laws?|rules?|guidelines?|definitions?|crimes?))"
)
_MARK = re.compile(
    r"(?:conclusion|verdict|label|decision|classification|answer|judge?ment|prediction|assessment"
    r"|result|category|rating|determination|evaluation)\W{0,3}\s*(?:is\b|as\b|[:：=\-\u2013\u2014])"
)
_BREAK = re.compile(
    r"[;:\u2014]|\s-\s|\bbut\b|\bbecause\b|\bsince\b|\balthough\b|\bthough\b|\bwhile\b|\bhowever\b"
    r"|\bwhereas\b|\byet\b|\bthat\b(?=\s+(?:the|this|it|these|such)\b)|\bwhich\b|\bso\b"
    r"|\b(?:and|as)\b(?=\s+(?:it|this|the|is|are|does|do|therefore|thus|constitutes?|qualif)\b)"
)
_COMMA = re.compile(_BREAK.pattern + "|,")
# "I do not think that it is hateful", "no evidence that it is": the negation reaches over "that".
_TRANSPARENT = re.compile(
    r"\b(thinks?|believes?|says?|agrees?|feels?|finds?|means?|impl(?:y|ies)|suggests?|evidence"
    r"|indications?|signs?|reasons?|case|proof|grounds)\s+that\b"
)
_IDIOM = re.compile(
    r"\b(?:no|without|little)\s+(?:(?:a|any)\s+)?(?:shadow\s+of\s+a\s+)?(?:doubt|question|ambiguity)"
    r"|\bnot\s+(?:only|just|merely|simply)\b|\bno\s+less\b"
)
_NEGATION = re.compile(
    r"\b(?:not|never|no|neither(?!.*\bnor\b)|nor|cannot|without|lacks?|lacking|fails?\s+to|falls?\s+short\s+of"
    r"|far\s+from|free\s+(?:of|from)|rather\s+than|absence\s+of|devoid\s+of|isnt|doesnt)\b"
    r"|n['\u2019]t\b"
)
_HEDGE = re.compile(
    r"\b(?:may|might|could|possibly|perhaps|potentially|maybe|whether|if|unless|unclear|unsure"
    r"|uncertain|ambiguous|to\s+determine|to\s+decide)\b"
)
_SUBJECT = re.compile(
    r"\b(?:texts?|posts?|comments?|tweets?|messages?|statements?|sentences?|contents?|remarks?|it"
    r"|this|that|these|they|there|which|language|utterance|passage|speech|input|example|joke|phrase"
    r"|wording|expression|use|usage|line|reply|caption|title|meme|i|we)\b|\"\""
)
_PREDICATE = re.compile(
    r"\b(?:is|are|was|were|be|been|being|seems?|appears?|considered?|deem(?:ed)?|regard(?:ed)?"
    r"|classif(?:y|ied)|label(?:led|ed)?|categori[sz]ed?|judged?|rated?|flag(?:ged)?|mark(?:ed)?"
    r"|constitut(?:es?|ing)|qualif(?:y|ies|ying)|amounts?|counts?|falls?|contains?|includes?"
    r"|cross(?:es)?|rises?|represents?|meets?|uses?|express(?:es)?|promotes?|conveys?|spreads?"
    r"|remains?|makes?|targets?|has|have|isn|aren|wasn|doesn|isnt|show(?:s|ed)?|reach(?:es)?)\b"
    r"|\b(?:it|this|that)['\u2019]s\b"
)
_AGAINST = re.compile(
    r"\b(?:about|against|condemn\w*|criti\w*|report\w*|discuss\w*|counter\w*|anti|regarding"
    r"|concerning|oppos\w*|mention\w*|victims?|denounc\w*|fight\w*)\b"
)
_BARE = re.compile(
    r"(?:\W|\b(?:therefore|thus|so|hence|overall|finally|in|conclusion|summary|final|my|the|a|an"
    r"|answer|not|clearly|definitely|explicitly|implicitly|text|post|yes|no|label|verdict)\b)*"
)
_AFTER_BARE = re.compile(
    r"\s*+(?:speech|content|text|language)?\s*+(?:$|[.,;!)]|because|since|as\b)"
)


def stated(sentence: str) -> bool | None:
    """True: hateful, False: non-hateful, None: no conclusion. `sentence` is in lower case."""
    if sentence.rstrip().endswith(("?", "？")):
        return None
    for term in reversed(list(_TERM.finditer(sentence))[-LABELS:]):
        clause = _clause(sentence, term)
        if clause is not None and not _HEDGE.search(clause):
            negations = len(_NEGATION.findall(clause)) + (term["non"] is not None)
            return negations % 2 == 0
    return None


def _clause(sentence: str, term: re.Match[str]) -> str | None:
    """The words before the label that belong to its verdict; None where it is no verdict."""
    before = sentence[max(0, term.start() - REACH) : term.start()]
    marks = list(_MARK.finditer(before))
    verdict = before[marks[-1].end() :] if marks else before
    verdict = _IDIOM.sub(" ", _TRANSPARENT.sub(r"\1", verdict))
    if _BARE.fullmatch(verdict) and (marks or _AFTER_BARE.match(sentence, term.end())):
        return re.sub(r"^\W*(?:yes|no)\b\W*[,.]", " ", verdict)
    for border in (_COMMA, _BREAK):
        clause = border.split(verdict)[-1]
        predicate = _PREDICATE.search(clause)
        if predicate and not _AGAINST.search(clause, predicate.end()):
            return clause if marks or _SUBJECT.search(before) else None
    return None
