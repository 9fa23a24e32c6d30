"""Reported speech in German: verbs, speakers, the subjunctive, and where the platform speaks again.

The subject may stand behind its verb, so that a speaker is sought on both sides of it, within its
clause. A verb in Konjunktiv I ("das Konto sei gesperrt") reports by itself, unless the platform
speaks before it in the sentence. Time is linear in the words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from services.sor.reported_speech import (
    Grammar,
    KnownWords,
    Region,
    Speaker,
    SpokenSentence,
    reports,
    spoken,
    word_set,
)
from services.sor.sentences import Span, StatementSentence

_PRESENT = ("e", "st", "t", "en", "est", "et")
_PAST = ("te", "test", "ten", "tet", "ete", "eten")


def _forms(stems: str) -> frozenset[str]:
    """Of weak verbs, with their participle."""
    found = set[str]()
    for stem in word_set(stems):
        found |= {stem + ending for ending in _PRESENT + _PAST} | {f"ge{stem}t", f"{stem}t"}
        found |= {f"{stem}n"} if stem.endswith(("er", "el")) else set()  # "fordern"
    return frozenset(found)


SAYING = word_set("""
schreibe schreibst schreibt schreiben schrieb schrieben geschrieben versprich verspricht
versprichst versprechen versprach versprachen versprochen gesagt heißt hieß steht stehen stand
klagt klagte jammert jammerte beteuert beteuerte wünscht wünschte hofft hoffte träumt träumte
lese liest lesen gibt geben gab gaben wirft werfen warf nennt nennen nannte nannten genannt rät
raten riet rätst ruft rufen rief riefen wirbt werben warb bewirbt bewerben schwört schwören
enthält enthalten enthielt beschreibt beschreiben beschrieb bietet bieten bot boten bittet
bitten bat baten empfiehlt empfehlen spricht sprechen sprach zitieren zitiert zitierte droht
fügt fügen
""") | _forms("""
behaupt sag mein erklär garantier kündig droh warn forder verlang beklag scherz prahl erzähl bericht
versicher unterstell beschuldig bezeichn zitier leugn list frag such zeig lob verbreit laut
erwähn deut witzel spött vermut
""") - word_set("meine meinen liste suche frage laute")  # fmt: skip
PARTICLES = {  # without which these verbs say something else
    "steh": ("darin", "dort", "hierin"), "stand": ("darin", "dort", "hierin"),
    "gib": ("an",), "geb": ("an",), "gab": ("an",), "kündig": ("an",), "füg": ("an", "hinzu"),
    "wirft": ("vor",), "werf": ("vor",), "warf": ("vor",), "deut": ("an",),
}  # fmt: skip
SHOWING = word_set("""
nennt nennen nannte nannten genannt bietet bieten bot boten enthält enthalten enthielt
beschreibt beschreiben beschrieb zeigt zeigen zeigte gezeigt sucht suchen suchst suche listet
listen gelistet wirbt werben bewirbt bewerben verbreitet verbreiten spricht sprechen ruft rufen
rät raten wirft werfen bittet bitten empfiehlt empfehlen steht stehen stand gibt geben gab gaben
fügt fügen lese liest lesen heißt hieß lautet lauten
""")  # of others than the post they report nothing
PLATFORM = word_set("""
wir moderator moderatorin moderatoren moderation team mitarbeiter mitarbeiterin redakteur
redakteurin redaktion prüfer prüferin prüfteam sachbearbeiter sachbearbeiterin kollege kollegin
kollegen entscheidung bescheid mitteilung fachkraft plattform algorithmus software system
klassifikator admin administrator unser unsere unserer unseres unserem unseren ergebnis
rechtsbehelfe
""")
RULES = word_set("""
regel regeln richtlinie richtlinien abschnitt ziffer § §§ art artikel gesetz agb kodex
hausordnung netiquette klausel punkt nr nummer standards nutzungsbedingungen grundsätze
regelwerk vorgaben verordnung absatz kapitel anhang stgb dsa
""")
_POST_ENDINGS = (
    "beitrag", "beitrags", "beitrages", "kommentar", "kommentars", "inserat", "inserats",
    "anzeige", "video", "videos", "text", "texts", "eintrag", "eintrags", "rezension",
    "bewertung", "werbung", "angebot", "angebots", "petition", "bild", "foto", "nachricht",
    "rezept", "titel", "überschrift", "beschreibung", "verfasser", "verfasserin", "autor",
    "autorin", "verkäufer", "verkäuferin", "anbieter", "post", "posts", "aufruf", "gedicht",
    "profiltext", "thread", "clip", "bildtext", "geschichte", "lied", "refrain", "aufkleber",
    "schaubild", "karikatur", "meme", "flugblatt", "antwort", "spruch", "parole", "zeile", "zeilen",
)  # fmt: skip
OF_POST = word_set("sie du ihr er es darin dort hierin") | set(_POST_ENDINGS)
PRONOUNS = word_set("er es sie dort darin")
NOUNS = word_set("""
behauptung aussage gerücht vorwurf versprechen drohung ankündigung these warnung zusage meldung
unterstellung garantie rede legende satz gedanke parole mythos
""")
TO_YOU = word_set("ihnen dir euch")
ACCOUNTS = word_set("konto profil kanal account seite")
OPENERS = word_set("weil da nach nachdem obwohl wegen trotz aufgrund mit in was")
RELATIVE = word_set("der die das dem den denen welcher welche welches welchem welchen")
MODALS = word_set("""
kann können kannst könnt darf dürfen darfst muss müssen musst soll sollen sollten möchten möchte
möchtest wollen willst bitte recht
""")
MEANT = word_set("soll sollen sollten will wollen")  # "the chart is meant to show"
CONDITIONS = word_set("wenn falls sofern ob sobald")
JOINING = word_set("und oder aber sondern doch sowie")
STRONG = word_set("""
deshalb daher darum weshalb weswegen somit folglich deswegen demnach hiermit
""")
SUBJUNCTIVE = word_set("""
sei seien werde habe könne müsse solle wolle dürfe bleibe lasse gebe gehe komme wisse mache
stehe
""")
POINTING = word_set(
    "was das dies damit womit wodurch dadurch darin beides die der solche und ein eine"
)
INTO_RULES = word_set("entgegen gemäß nach gegen unter")
BROKEN = (
    "verstöss", "verstoss", "verletz", "verbiet", "verbot", "untersag", "unzulässig", "strafbar",
    "betrug", "beleidig", "belästig", "diskriminier", "rechtswidrig", "missbr",
)  # fmt: skip
PLACED = word_set("in für ab bis weltweit europaweit überall seit vom")  # where, and how long
BEING = word_set("wurde wurden ist sind bleibt bleiben wird werden war waren")
ALLEGED = word_set("angeblich vermeintlich angebliche angeblichen")
SOURCES = word_set("laut zufolge")
RETOLD = word_set("wonach demzufolge")  # what a message says
WISHES = word_set("will wollte möchte")


def german_reports(text: str, sentences: Sequence[StatementSentence]) -> Iterator[Span]:
    """What others are reported to say, in order."""
    known = KnownWords(PLATFORM, RULES, OF_POST)
    return reports(list(spoken(text, sentences, known)), GRAMMAR, known)


def _region(one: SpokenSentence, place: int, floor: int, speaker: Speaker | None) -> Region | None:
    """What the word at this place brings. floor: the end of the region before."""
    word, (start, end) = one.words[place], one.clause(place)
    if (region := _without_verb(one, place)) is not None:
        return region
    if word == "so" and place == start and end == len(one) and _is_of_post(one, place + 1, 4):
        return floor, end  # "…, so der Verfasser"
    if _is_verb(one, place) and speaker in ("post", "other"):
        return _spoken(one, place, of_post=speaker == "post")
    if word in NOUNS and not one.has(PLATFORM, place - 3, 3) and one.part(end, 1) == ["dass"]:
        return end, _end(one, end - 1)
    said = speaker in ("post", "other")
    if word in SUBJUNCTIVE and (said or _is_indirect(one, place, start)):
        return max(floor, start), _end(one, place)
    return _supposed(one, place, max(floor, start), end)


def _without_verb(one: SpokenSentence, place: int) -> Region | None:
    """By a word or a place that says that somebody else speaks."""
    word = one.words[place]
    if place == 0 and (region := _set_in_post(one)) is not None:
        return region
    if word in ALLEGED:
        return place, _end(one, place)
    if word in SOURCES:
        return _according(one, place)
    ours = one.has(PLATFORM | RULES, max(0, place - 4), min(4, place))
    return (place, _end(one, place)) if word in RETOLD and not ours else None


def _set_in_post(one: SpokenSentence) -> Region | None:
    """Such as "In Ihrer Geschichte ordnet ein Bürgermeister an": what goes on in there."""
    head = one.part(0, 3)
    if len(head) < 3 or head[0] not in ("in", "auf", "im"):
        return None
    noun = 1 if head[0] == "im" else 2
    ours = PLATFORM | RULES | BEING | {"sie", "du", "ihr"}
    inside = one.words[noun].endswith(_POST_ENDINGS) and noun + 1 not in one.borders
    if not inside or one.has(ours, noun + 1, 12):
        return None
    return noun + 1, _end(one, noun)


def _is_verb(one: SpokenSentence, place: int) -> bool:
    """No noun, which has a capital: "Bei Fragen", "mit dem Versprechen". Any other verb, too, where
    the post has it and a clause or a colon follows that is about no rule."""
    noun = place > 0 and one.sentence.words[place].text[0].isupper()
    if one.words[place] in SAYING:
        return not noun
    if one.words[place] in WISHES:
        return any(word.endswith(_POST_ENDINGS) for word in one.words[max(0, place - 3) : place])
    start, end = one.clause(place)
    clause = set(one.words[start:end])
    if noun or place == start or clause & (BEING | PLATFORM | RULES | MODALS | TO_YOU):
        return False
    told = one.part(end, 1) == ["dass"] or (end < len(one) and ":" in one.gap(end))
    ours = any(word.endswith(_POST_ENDINGS) for word in clause)
    return (
        told
        and ours
        and one.words[place].endswith(("t", "te", "ll"))
        and not one.is_of_rule(end, RULES, BROKEN)
    )


def _spoken(one: SpokenSentence, place: int, *, of_post: bool) -> Region | None:
    """The predicate of the post, or what another says: what stands behind the next comma."""
    word, (_, end) = one.words[place], one.clause(place)
    if of_post:
        return place, _end(one, place, of_object=word in SHOWING)
    told = end < len(one) and (one.words[end] == "dass" or ":" in one.gap(end))
    return (end, _end(one, end - 1)) if told and word not in SHOWING else None


def _supposed(one: SpokenSentence, place: int, start: int, end: int) -> Region | None:
    """Such as "soll für 30 Tage gesperrt worden sein", "will gesperrt worden sein"."""
    if one.words[place] not in ("soll", "sollen", "will", "wollen") or end - place < 3:
        return None
    last = one.words[end - 2 : end]
    done = last[0] == "worden" or (last[0].startswith("ge") and one.words[place][0] == "s")
    told = last[1] in ("sein", "haben") and done
    return (start, _end(one, place)) if told else None


def _according(one: SpokenSentence, place: int) -> Region | None:
    """To the post, or whoever is neither the platform nor a rule."""
    start, _ = one.clause(place)
    first = place + 1 if one.words[place] == "laut" else max(start, place - 4)
    if one.has(PLATFORM | RULES, first, 4):
        return None
    return place, _end(one, place, of_object=True)


def _speaker(
    one: SpokenSentence, place: int, _floor: int, before: Speaker | None
) -> Speaker | None:
    """Of a verb, from its clause; None: it reports nothing. before: of the verb before."""
    start, end = one.clause(place)
    left, right = one.words[start:place], one.words[place + 1 : min(end, place + 6)]
    around = {*left, *right}
    modals = MODALS - MEANT if _is_of_post(one, start, place - start) else MODALS
    infinitive = one.words[place].endswith("en") and not modals.isdisjoint(around)
    if infinitive or one.words[place - 1 : place] == ["zu"] or not CONDITIONS.isdisjoint(around):
        return None
    if _asks_us(one.words[place], around) or not _has_particle(one, place, around):
        return None
    if place == start and right[:1] in (["sie"], ["du"], ["uns"], ["mir"], ["ihr"]):
        return None  # "Schreiben Sie uns"
    if not (PLATFORM | RULES).isdisjoint(left) or not PLATFORM.isdisjoint(right[:4]):
        return "platform"
    if left and left[0] in JOINING and not left[1:]:
        return before
    about_us = one.after_platform and around & OF_POST <= PRONOUNS
    if about_us and around & PRONOUNS and "sie" not in left[:1]:
        return "platform"
    ours = "uns" not in around and _is_of_post(one, start, end - start)
    return "post" if ours else "other"


def _asks_us(verb: str, around: set[str]) -> bool:
    """Such as "Sie haben uns gefragt", "Sie fragten nach dem Grund"."""
    if verb.startswith(("frag", "gefragt")) and around & {"grund", "warum"}:
        return True
    return "uns" in around and verb in ("fragen", "gefragt", "fragten", "bitten", "baten")


def _has_particle(one: SpokenSentence, place: int, around: set[str]) -> bool:
    """ "Sie geben an", "kündigen an", "darin steht": else it is another verb."""
    for stem, particles in PARTICLES.items():
        if one.words[place].startswith(stem):
            noun = stem.startswith("st") and any(w.endswith(_POST_ENDINGS) for w in around)
            return noun or not around.isdisjoint(particles)
    return True


def _is_of_post(one: SpokenSentence, place: int, count: int) -> bool:
    """Also of compounds: "Verkaufsangebot"."""
    return any(w in OF_POST or w.endswith(_POST_ENDINGS) for w in one.part(place, count))


def _is_indirect(one: SpokenSentence, place: int, start: int) -> bool:
    """Not "es sei denn", no imperative ("oder gehe vor Gericht"), nothing that the platform says
    before."""
    before, after = one.part(place - 1, 1 if place else 0), one.part(place + 1, 1)
    if place == start or before[0] in JOINING | {"ich"} or after[:1] in (["denn"], ["ich"]):
        return False
    return not one.has(PLATFORM | {"ich"}, 0, place)


def _end(one: SpokenSentence, place: int, *, of_object: bool = False) -> int:
    """Where the platform speaks again. of_object: "bietet Eier an und wurde gelöscht" ends, too."""
    start, _ = one.clause(place)
    inserted = start in one.borders and one.has(RELATIVE, start, 2)  # ", mit dem"
    inside = one.words[0] in OPENERS or inserted
    of_ours = one.words[0] == "wir" and place > 1 and not one.has(RELATIVE, 0, 1)
    for at in range(place + 1, len(one)):
        joined = at + 1 if one.words[at] in JOINING else at
        if inside and at in one.borders and one.words[at] in BEING:
            return at
        if of_ours and at in one.borders and one.words[at] in PLACED:
            return at
        if at == place + 1:
            continue
        if at in one.borders or joined > at:
            if _speaks_again(one, at, joined, of_object=of_object):
                return at
        elif (
            of_object and one.words[at] in INTO_RULES and not RULES.isdisjoint(one.part(at + 1, 3))
        ):
            return at
    return len(one)


def _speaks_again(one: SpokenSentence, at: int, joined: int, *, of_object: bool) -> bool:
    """Behind a comma, or a word that joins."""
    head = one.part(joined, 4)
    if not STRONG.isdisjoint(head[:3]) or "wir" in head[:3] or head[:1] in (["unser"], ["unsere"]):
        return True
    if joined > at and head[:1] and head[0] in BEING:
        return of_object
    ours = head[:1] in (["ihr"], ["ihre"], ["dein"], ["deine"]) and not BEING.isdisjoint(head[2:])
    turned = joined > at and one.words[at] in ("doch", "aber")
    ours = ours or (turned and not BEING.isdisjoint(head[2:]))
    if ours and (_is_of_post(one, joined + 1, 1) or one.has(ACCOUNTS, joined + 1, 1)):
        return True
    if at not in one.borders or not head or head[0] not in POINTING:
        return False
    return one.is_of_rule(joined, RULES, BROKEN)


GRAMMAR = Grammar(_is_verb, _speaker, _region)
