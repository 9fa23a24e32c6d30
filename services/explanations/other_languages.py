"""Decisions in prose of languages that the metric's rules do not read: "Nein, der Beitrag ist nicht
hasserfüllt", "Este texto es odioso porque …".

Read only where everything that names hate speaks for the same side, nothing is doubted, and the
label is said of the text or beside a yes or no that agrees. Source: our own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from shared.readers.decision_words import HATEFUL
from shared.reports.metric import StatedDecision

_YES = r"ja|oui|s[ií]|sim|да"
_NO = r"nein|non|no|n[ãa]o|нет|nee"
# What denies a label some words before it.
_DENIES = re.compile(
    r"\b(?:nicht|kein\w{0,2}|niet|geen|pas|aucun\w{0,2}|no|ning[uú]n\w{0,2}|sin|non|nessun\w{0,2}"
    r"|senza|n[ãa]o|nem|nenhum\w{0,2}|sem|не|нет|без|ohne|zonder|sans)\b",
    re.IGNORECASE,
)
_DOUBTS = re.compile(
    r"\b(?:aber|jedoch|vielleicht|könn\w+|möglich\w*|wenn|falls|ob|oder|unklar|kommt\s+darauf"
    r"|mais|cependant|peut|pourrait|si|ou|selon"
    r"|pero|quiz[áa]s?|tal\s+vez|puede|podr[íi]a|depende|sino"
    r"|ma|forse|potrebbe|pu[òo]|dipende|per[òo]|mas|talvez|pode|poderia|por[ée]m"
    r"|maar|misschien|hangt|но|может|возможно|если|или|зависит|wait|but|or)\b|[?？]",
    re.IGNORECASE,
)
_LEADS = re.compile(rf"\W*(?:(?P<yes>{_YES})|(?P<no>{_NO}))\s?[,.:;!\u2013\u2014-]", re.IGNORECASE)
_TEXT_IS = re.compile(  # "Der Text ist", "Ce message n'est pas", "Это высказывание является"
    r"(?:(?:d(?:er|ieser?|as|eze|it|e)|het|ce(?:t|tte)?|l[ea]|el|est[ea]|il|questo|quest[ao]|o|a|это"
    r"т?)\s|l['\u2019]|quest['\u2019])"
    r"(?:text[eo]?|beitrag|kommentar|nachricht|post|tweet|bericht|message|commentaire|publication"
    r"|mensaje|comentario|publicaci[oó]n|testo|messaggio|commento|mensagem|coment[áa]rio|tekst"
    r"|текст|сообщение|высказывание|комментарий)\s"
    r"(?:(?:daher|eindeutig|klar|donc|clairement|por\stanto|claramente|quindi|chiaramente|portanto)\s)?"
    r"(?:ist|enthält|stellt|n['\u2019]est|est|contient|ne\scontient|constitue|(?:no\s)?(?:es|contiene)"
    r"|(?:non\s)?(?:è|contiene)|(?:n[ãa]o\s)?(?:é|cont[ée]m)|is|bevat|(?:не\s)?(?:является|содержит))\s"
    r"[^,.;:!?\n]{0,30}$",
    re.IGNORECASE,
)
_THIS_IS = re.compile(  # "No es un mensaje de odio", "Das ist keine Hassrede", "это не …"
    r"\W*(?:(?:no\s)?es|(?:n[ãa]o\s)?é|(?:non\s)?è|c['\u2019]est|ce\sn['\u2019]est|это"
    r"|(?:das|dies|es|hier)\s(?:ist|handelt\ses\ssich)|(?:dit|het)\sis)\s[^,.;:!?\n]{0,30}$",
    re.IGNORECASE,
)
_LABEL = re.compile(rf"(?<!\w){HATEFUL}", re.IGNORECASE)
_RULED = re.compile(r"hate|[^a-z\u0400-\u04ff]", re.IGNORECASE)  # the metric's rules read it
_CLAUSE = re.compile(r"[,.;:!?\n\u2013\u2014(]")
REACH = 80  # characters before a label


def read_other_languages(answer: str) -> StatedDecision | None:
    """The decision of such an answer; None for anything that may mean something else."""
    found = list(_named(answer))
    if len({denied for _, denied, _ in found}) != 1 or _DOUBTS.search(_without_lead(answer)):
        return None
    leads = _LEADS.match(answer)
    label, denied, of_text = found[0]
    if _RULED.match(label.group()):
        return None
    if leads is not None and (leads["no"] is not None) != denied:
        return None
    if leads is None and not of_text:
        return None
    side = "non-hateful" if denied else "hateful"
    return StatedDecision(label=side, start=0, end=label.end(), words=label.span())


def _named(answer: str) -> Iterator[tuple[re.Match[str], bool, bool]]:
    """Each label, whether its clause denies it, and whether it is said of the text."""
    for label in _LABEL.finditer(answer):
        before = answer[max(0, label.start() - REACH) : label.start()]
        start = max((mark.end() for mark in _CLAUSE.finditer(before)), default=0)
        clause = before[start:]
        yield label, _DENIES.search(clause) is not None, _is_of_text(clause)


def _is_of_text(clause: str) -> bool:
    return (_TEXT_IS.search(clause) or _THIS_IS.match(clause)) is not None


def _without_lead(answer: str) -> str:
    """Without its yes or no: "si" is a doubt elsewhere."""
    leads = _LEADS.match(answer)
    return answer[leads.end() :] if leads else answer
