"""German statements of reasons: what a sentence discloses, and which of its words say something.

Rules of our own, as those of English (`disclosures`), and simpler: stems that stand together in a
sentence. From the German text of Regulation (EU) 2022/2065, Article 17, and what people write.
Of a sentence 1,000 characters are read: time is linear in the length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from services.sor.concepts import ReadSentence
from services.sor.denied_redress import without_denied_german
from services.sor.disclosures import SUBSTANCE, ItemMatch
from services.sor.german_words import german_stem, is_content
from services.sor.grounds import VAGUE
from services.sor.post_facts import PostWords
from services.sor.report import SorItemName, SorRoute
from services.sor.sentences import SHORT, Span, StatementWord, words


def _any(stems: str) -> re.Pattern[str]:
    """One of the stems, which stand between commas; a line break in one is none."""
    return re.compile("|".join(re.split(r",\s+", re.sub(r"\n(?=\|)", "", stems.strip()))))


RESTRICTION = _any(r"""
entfern, gelösch, lösch, sperr, blockier, ausgeblendet, einschränk, eingeschränkt, beschränk,
\bschränk(?:en|t|ten|te)\b, \bblende[nt]\b,
herabgestuft, herabstuf, deaktivier, suspendier, gekündigt, kündig,
nicht mehr (?:öffentlich |länger )?(?:sichtbar|angezeigt|verfügbar|abrufbar|zu sehen),
nicht mehr (?:öffentlich |länger )?(?:auffindbar|einsehbar|erreichbar|zugänglich), unsichtbar,
zurückgezogen, demonetarisier, eingefroren, gedrosselt, reichweite, verborgen, verwarn,
warnhinweis, altersbeschränk, ausgesetzt, aberkannt, geschlossen, heruntergenommen, vom netz,
offline, entzogen, aus dem angebot, weniger (?:oft|häufig|personen), maßnahme, stillgelegt,
verdeckt, zurückgestuft, weggenommen, runtergenommen, rausgenommen, rausgeworfen, rausgeflogen,
rausgeschmissen, verschwunden, gebannt, dichtgemacht, verbannt, ausgeschlossen, abgelehnt,
\b(?:ist|sind|bleibt|bleiben|war|waren) (?:(?:jetzt|nun|ab sofort|damit|deshalb|daher|also|erst
|erstmal|schon|bereits|heute|vorerst) ){0,3}(?:weg|raus|fort|draußen|nicht mehr da)\b,
\b(?:weg|raus|fort|draußen|nicht mehr da) (?:ist|sind|bleibt|bleiben|war|waren)\b
""")
PLACE = _any(r"""
europäischen? union, \beu\b, \bewr\b, wirtschaftsraum, mitgliedstaat, deutschland, österreich,
schweiz, bundesgebiet, frankreich, weltweit, europaweit, überall, \bländern?\b, \bland\b,
räumlich, territorial, gebiet, inland, staaten, (?:unions|landes|bundes)weit, \bin europa\b,
\bmärkten?\b, belgien, niederlande, luxemburg, dänemark, schweden, finnland, norwegen, island\b,
irland, großbritannien, königreich, spanien, portugal, italien, griechenland, malta, zypern, polen,
tschechien, slowakei, slowenien, ungarn, rumänien, bulgarien, kroatien, estland, lettland, litauen,
liechtenstein, türkei, ukraine, serbien, \busa\b, kanada, australien, indien, japan, brasilien
""")
# Said of a measure without a verb: "Ort: alle Länder", "in keinem Land mehr".
EVERY_PLACE = re.compile(
    r"\b(?:alle[nrs]?|sämtliche[nrs]?|jede[nmrs]?|keine[nmrs]?|beide[nrs]?|gesamte[nrs]?) "
    r"(?:eu-?)?(?:ländern?|land|mitgliedstaaten?|staaten|märkten?|markt|regionen|gebieten?)\b"
)
OF_RULES = _any(r"gesetze, vorschriften, unsere regeln, unsere richtlinien, \bregeln gelten")
REACH = _any(r"""
\bgilt\b, \bgelten\b, betrifft, wirkt, erstreckt, sichtbar, abrufbar, begrenzt, räumlich, geltung,
zugänglich, einsehbar, wirksam, weltweit, europaweit, überall, betroffen, umfasst, zu sehen,
sehen kann, unionsweit
""")
LASTING = _any(r"""
dauerhaft, unbefristet, auf dauer, endgültig, unbegrenzt, zeitlich, befristet, bis auf weiteres,
\bbis (?:du|sie|ein), für immer, vorübergehend, enddatum, ablaufdatum, dauer,
\d (?:tag|woche|monat|stunde|jahr), \bein(?:en|e)? (?:tag|woche|monat|jahr),
\b(?:zwei|drei|vier|fünf|sechs|acht|zehn|zwölf) (?:tage|wochen|monate|jahre),
\b(?:sieben|vierzehn|dreißig) tage, \bein(?:tägig|wöchig|monatig|jährig),
\b(?:seit|ab|vom|bis|bis zum|ab dem|seit dem) \d{1,2}\. ?(?:\d|[a-zä]{3,9}),
\b(?:wurde|wurden|haben|ist|sind) (?:[^\s,;]+ ){0,5}am \d{1,2}\. ?(?:\d|[a-zä]{3,9})
""")
AUTOMATION = _any(r"""
automati, algorithm, software, künstliche[rn]? intelligenz, \bki\b, klassifikator, filter,
maschin, \bbots?\b, system, computer, erkennungs, modell, technisch
""")
EXPLICIT_AUTOMATION = _any(r"automati, algorithm, maschinell, software, \bki\b")
USED = _any("eingesetzt, verwendet, genutzt, zum einsatz, benutzt, einsatz, beteiligt")
PEOPLE = _any(r"""
mitarbeiter, mitarbeitend, moderator, moderation, kolleg, mensch, \bperson\b, von hand, händisch,
manuell, redakt, prüfer, team\b, sachbearbeit, fachkraft, fachkräft, jurist, angestellt
""")
FOUND = _any("""
erkannt, erkennt, entdeck, gefunden, aufgefallen, fiel .{0,30}auf, aufgespürt, gestoßen,
identifiziert, erfasst, bemerkt, markiert, angeschlagen, schlug, herausgefiltert, ermittelt,
festgestellt, auffällig, auffinden, aufspüren, erkennen, entdecken, ermitteln,
stieß, fand , aussortiert, erkennung
""")
REPORTED = _any("""
gemeldet, meldete, meldung, hinweis(?:e|es)? (?:ein|von|durch|aus|an|de[rs]), nutzerhinweis,
hingewiesen, aufmerksam (?:gemacht|geworden|wurden), hinweisgeber, angezeigt hat, beschwerte sich,
beschwerde (?:einer|eines|von)
""")
DECIDED = _any(r"""
entschied, entscheid, geprüft, prüfte, prüfung, beurteil, bewert, begutacht, angesehen, sah sich,
gelesen, \blas\b, ordnete, angeordnet, abgeschaltet, deaktiviert, beschlossen, getroffen,
bestätigt, entfernt, gelöscht, gesperrt, veranlasst, durchgesehen
""")
OF_DECISIONS = _any("entscheid, entschied, beide, ohne mensch, kein mensch, vollständig")
OF_PEOPLE = _any(r"""
entscheid, entschied, geprüft, prüfte, prüfung, beurteil, angesehen, sah sich, bewert, bestätigt,
beschlossen, \blas\b, ordnete, angeordnet
""")
NOBODY = _any("ohne mensch, kein mensch, keine mensch, ohne mitwirk, ohne zutun")
POLICY = _any(r"""
richtlinie, regeln\b, regelwerk, regel\b, nutzungsbedingung, \bagb\b, standards, hausordnung,
geschäftsbedingung, grundsätze, kodex, policy, vorgaben, netiquette
""")
LAW = re.compile(r"§+ ?\d|\bart(?:ikel|\.) ?\d")
OF_THE_ACT = _any(r"digital services act, \bdsa\b, digitale dienste, 2022/2065")
CLAUSE = re.compile(
    r"\b(?:ziffer|ziff\.|nummer|nr\.|abschnitt|abschn\.|punkt|regel|klausel|kapitel|kap\.|absatz"
    r"|richtlinie|anhang|grundsatz|standard) ?(?:nr\. ?)?\d"
)
SUBJECT = re.compile(
    r"(?:richtlinien?|regeln?|standards|bedingungen|grundsätzen?|policy|vorgaben|kodex)"
    r"(?: ?\([^)]{4,80}\)| (?:zu|zum|zur|gegen|über|für|bei) \w{4})"
)
COMPOUND = re.compile(r"\b(\w{4,40}?)s?-?(?:richtlinien?|regeln?|policy)\b")
OF_THE_WHOLE = frozenset(
    re.findall(
        r"\w+",
        "gemeinschaft community nutzung nutzer plattform verhalten haus forum foren markt "
        "marktplatz grund inhalt allgemein spiel",
    )
)
HEADING = re.compile(r"\W{0,3}(?:begründung|gründe?|warum|weshalb|wieso)\s?(?:[:?\u2013\u2014-]|$)")
LINK = _any(r"""
\bweil\b, \bda\b, \bdenn\b, deshalb, \bdaher\b, damit, somit, folglich, aufgrund, \bwegen\b,
insofern, dadurch, darin, stellt, fällt, verstößt, verstoß, verletz, gilt als, handelt es sich,
\bist (?:ein|eine|einen|das|dies)\b, erfüllt, strafbar, verboten, untersag, täusch, ergibt sich
""")
COMPLAINT = _any("""
beschwerde, widerspruch, widersprechen, einspruch, beschweren, erneut prüfen, überprüfung,
erneute prüfung
""")
OPEN = _any(r"""
können, kannst, könnt, möglich, \brecht\b, steht, stehen, zeit für, haben sie, innerhalb, binnen,
einlegen, einreichen, erheben, \bfrei\b, dürfen, formular, schaltfläche, offen, möchten,
beantragen
""")
SETTLEMENT = _any(r"außergerichtlich\w*, streitbeilegung\w*, schlichtung\w*")
COURT = _any(r"gericht, \bklage, \bklagen, rechtsweg")
# What opens a list of the ways of redress, which are nouns then: "Rechtsbehelfe: Beschwerde".
REMEDIES = _any("rechtsbehelf, rechtsmittel, rechtsschutz, abhilfe, (?:ihre|deine|eure) rechte:")
INTERNAL = _any("""
intern(?:es|e|er|en) (?:beschwerde|widerspruch|überprüfung|prüfung), beschwerdeverfahren,
beschwerdestelle, beschwerdemanagement, widerspruchsverfahren, widerspruchsstelle
""")
# A provision or a clause by its number, its parts, its law and what a bracket calls it.
CITATION = re.compile(
    r"(?i:(?:§+|art(?:ikel|\.)|ziffer|ziff\.|nummer|nr\.|abschnitt|abschn\.|punkt|klausel|kapitel"
    r"|kap\.|absatz|regel|richtlinie|anhang|grundsatz|standard) ?(?:nr\. ?)?"
    r"\d+(?:\.\d+)* ?(?:[a-z]\b)?"
    r"(?:,? (?:und |bis |§+ ?)?(?:(?:abs|nr|s|lit|alt|var|hs)\.|absatz|satz|nummer|ziffer"
    r"|halbsatz)? ?\d+ ?(?:[a-z]\b)?){0,6})"
    r"(?: (?i:des|der|dem|im|in|von|unserer|unseres|unseren) (?:[\w-]+ ){0,2}?"
    r"[\w-]*(?i:gesetz|buch|ordnung|richtlinie|regel|bedingung|standard|grundsätze|kodex|agb)\w*"
    r"| [A-ZÄÖÜ][A-Za-zäöüß]{0,12}[A-Z]\b)?(?: ?\([^()]{1,80}\))?"
)
# What a rule does: the words about it are the rule's own.
RULING = _any(r"""
verbiete, verboten, verbot, untersag, unzulässig, zulässig, erlaub, gestatte, unter strafe,
strafbar, bestraf, regelt, lautet, besagt, schreibt vor, schützt, dürfen, \bdarf\b, duldet, dulden,
toleri, nicht zugelassen, nicht gestattet, wonach, definier, bestimmt, lassen wir, keine[nr]? platz
""")
# Behind which the post is told again, unless the rule goes on.
CAUSE = re.compile(
    r"[,:\u2013\u2014-] ?(?:und zwar |nämlich )?\b(?:weil|da|denn|indem|insofern|sofern|nachdem)\b"
    r"|[;\u2013\u2014]| - "
)
OF_A_RULE = re.compile("|".join(rule.pattern for rule in (LAW, POLICY, CLAUSE)))
OF_THIS_POST = re.compile(
    r"\b(?:ihre?[nmrs]?|deine?[nmrs]?|sie|du|(?:der|die|das|den|dem|dieser|dieses|diesen|diese) "
    r"(?:beitrag|inserat|anzeige|video|kommentar|text|post|angebot|bild|foto|profil|nachricht))\b"
)
LONGEST = 1_000  # characters of a sentence that are read
Told = Callable[[str], bool]
QUOTED = 3  # words that a quotation of the post counts as
OWN = 2  # words of an explanation that are none of the post's


@dataclass(frozen=True, slots=True)
class _Sentence:
    """Its text in lower case, and its words."""

    told: str
    one: ReadSentence

    @property
    def content(self) -> int:
        """Different words that say something."""
        return len({word.folded for word in self.one.sentence.words if is_content(word)})


def find_german_items(
    sentences: Sequence[ReadSentence], text: str, post: PostWords
) -> list[ItemMatch]:
    """Of every sentence, in order. text: the statement, quotations of the post blanked."""
    found: list[ItemMatch] = []
    after_redress, headed, of_post = False, False, frozenset(word.folded for word in post.words)
    for one in sentences:
        start, end = span = one.sentence.span
        each = _Sentence(text[start : min(end, start + LONGEST)].lower(), one)
        routes = list(_routes(each.told, after_redress))
        if routes:
            offered = _routes(without_denied_german(each.told), after_redress)
            found += [ItemMatch("redress", span, route=route) for route in offered]
        else:
            headed = headed or HEADING.match(each.told) is not None
            items = _items(each, of_post, headed=headed)
            found += [ItemMatch(item, span, value) for item, value in items]
        headed = HEADING.fullmatch(each.told) is not None
        after_redress = bool(routes) or _opens_redress(each.told)
    return found


def _items(
    one: _Sentence, of_post: frozenset[str], *, headed: bool
) -> Iterator[tuple[SorItemName, float]]:
    means = False
    for item, told in TOLD.items():
        if told(one.told):
            means = means or item.startswith("automated")
            yield item, 1.0
    if _lasts(one):
        yield "duration", 1.0
    ground = german_reference(one.told)
    if ground is not None:
        yield "ground", ground
    if (not means or ground) and _has_reason(one, of_post, headed=headed):
        yield "explanation", 1.0


def _has_reason(one: _Sentence, of_post: frozenset[str], *, headed: bool) -> bool:
    """A link or a heading, and more words that say something than the facts of the post."""
    sentence = one.one.sentence
    if not (LINK.search(one.told) or headed) or one.content + QUOTED * sentence.quoted < SUBSTANCE:
        return False
    own = {word.folded for word in sentence.words if is_content(word)}
    return len(own - of_post) >= OWN


def _restriction(told: str) -> bool:
    return RESTRICTION.search(told) is not None


def _territory(told: str) -> bool:
    if OF_RULES.search(told) and not RESTRICTION.search(told):
        return False
    if EVERY_PLACE.search(told):
        return True
    return bool(PLACE.search(told) and (REACH.search(told) or RESTRICTION.search(told)))


def _lasts(one: _Sentence) -> bool:
    if not LASTING.search(one.told):
        return False
    short = len(one.one.sentence.words) <= SHORT
    return bool(short or RESTRICTION.search(one.told) or REACH.search(one.told))


def _is_general(told: str) -> bool:
    """Such as "Automatisierte Mittel wurden nicht eingesetzt": of detection and of the decision."""
    used = EXPLICIT_AUTOMATION.search(told) and USED.search(told)
    return bool(used) and not (
        FOUND.search(told) or REPORTED.search(told) or OF_DECISIONS.search(told)
    )


def _detection(told: str) -> bool:
    if REPORTED.search(told) or _is_general(told):
        return True
    return bool(FOUND.search(told) and (AUTOMATION.search(told) or PEOPLE.search(told)))


def _decision(told: str) -> bool:
    if _is_general(told):
        return True
    if not DECIDED.search(told):
        return False
    found = FOUND.search(told) or REPORTED.search(told)
    if PEOPLE.search(told) and not NOBODY.search(told):
        return not found or OF_PEOPLE.search(told) is not None
    return bool(AUTOMATION.search(told)) and (not found or OF_DECISIONS.search(told) is not None)


def german_reference(told: str) -> float | None:
    """1: a provision of a law, or a clause by number or subject; `VAGUE`: a document alone; None:
    no ground. The articles of the DSA itself are none. told: in lower case."""
    if LAW.search(told) and not OF_THE_ACT.search(told):
        return 1.0
    if not POLICY.search(told):
        return 1.0 if CLAUSE.search(told) else None
    compounds = {match[1] for match in COMPOUND.finditer(told)} - OF_THE_WHOLE
    named = any(not one.startswith(tuple(OF_THE_WHOLE)) for one in compounds)
    return 1.0 if CLAUSE.search(told) or SUBJECT.search(told) or named else VAGUE


def german_reference_of(text: str) -> float:
    """Of a field that holds nothing but the ground: 1 with a number or a subject."""
    numbered = any(word.folded[0].isdigit() for word in words(text))
    return 1.0 if numbered else german_reference(text.lower()) or has_german_reason(text) * 1.0


def _opens_redress(told: str) -> bool:
    """Such as "Nicht einverstanden?", "Rechtsbehelfe:": what follows says what can be done."""
    return "einverstanden" in told or REMEDIES.search(told) is not None


def _routes(told: str, after_redress: bool) -> Iterator[SorRoute]:
    settled, rest = SETTLEMENT.search(told), SETTLEMENT.sub(" ", told)
    named = REMEDIES.search(told) or INTERNAL.search(told)
    opened = after_redress or named is not None or OPEN.search(told) is not None
    complained = COMPLAINT.search(rest) and not re.search("beschwerde (?:einer|eines|von)", rest)
    if complained and opened:
        yield "internal_complaint"
    if settled:
        yield "out_of_court_settlement"
    if COURT.search(rest) and (opened or settled or complained):
        yield "court"


TOLD: Mapping[SorItemName, Told] = {
    "restriction": _restriction,
    "automated_detection": _detection,
    "automated_decision": _decision,
    "territorial_scope": _territory,
}


def own_german_words(sentences: Sequence[ReadSentence], text: str) -> dict[str, StatementWord]:
    """Stem → the first word that says something and is no rule's: from the mention of a law, a
    policy or a clause to the next mention of this post."""
    own: dict[str, StatementWord] = {}
    for one in sentences:
        rules = list(_rule_spans(text, one.sentence.span))
        for word in one.sentence.words:
            of_rule = any(start <= word.start < end for start, end in rules)
            if not of_rule and (stem := german_stem(word)) is not None:
                own.setdefault(stem, word)
    return own


def _rule_spans(text: str, span: Span) -> Iterator[Span]:
    start, end = span[0], min(span[1], span[0] + LONGEST)
    written = text[start:end]
    told = written.lower()
    if len(told) != end - start:  # folding that moves offsets: no word of it counts
        yield span
        return
    place = 0
    while (found := OF_A_RULE.search(told, place)) is not None:
        place = _end_of_rule(written, told, found)
        yield start + found.start(), start + place


def _end_of_rule(written: str, told: str, mention: re.Match[str]) -> int:
    """Where the rule's own words end: before the post is named again, or why it falls under the
    rule. Of a provision that is only cited, behind its number and its law."""
    behind = OF_THIS_POST.search(told, mention.end())
    end = behind.start() if behind else len(told)
    cause = CAUSE.search(told, mention.end(), end)
    clause = cause.start() if cause else end
    if RULING.search(told, mention.start(), clause):
        return end
    cited = CITATION.match(written, mention.start())
    return cited.end() if cited else clause


def has_german_reason(text: str) -> bool:
    """Of a field that holds nothing but an explanation."""
    return len({word.folded for word in words(text) if is_content(word)}) >= SUBSTANCE
