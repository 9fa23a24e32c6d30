"""German words that say something of a post, and what their inflections have in common."""

from __future__ import annotations

from services.sor.sentences import StatementWord

_NO_CONTENT = """
aber absatz abschnitt alle allein allem allen aller alles also andere anderen anderer anzeige
artikel auch auf aufgrund aus automatisch automatisiert automatisierte automatisierten außerdem
außergerichtliche bedingungen begründung bei beide beim beitrag beitrags beiträge bereits
beschwerde bestimmungen bin bis bitte bzw community-richtlinien dabei dadurch dafür daher damit
danach dann daran darauf darf darin darum darüber das dass daten dauer dauerhaft davon dazu dein
deine deinem deinen deiner dem den denen denn der deren des deshalb dessen dich die dienst dies
diese diesem diesen dieser dieses dir doch dort durch dürfen eben eigene eigenen ein eine einem
einen einer eines eingeschränkt einige einzige entdeckt entfernt entscheidung entschieden entweder
erfüllt erkannt etc etwa etwas euch euer eure europäischen falls fällt für gegen gegenüber geht
gelten geltenden gelöscht gemeinschaftsrichtlinien gemeinschaftsstandards gemeldet gemäß genau
geprüft gericht gern gerne gesetz gesperrt getroffen gibt gilt grund gründe habe haben hat hatte
hatten heute hier hiermit hierzu hinaus hinweis ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres
immer indem inhalt inhalte inhalts innerhalb inserat insofern jede jedem jeden jeder jedes jedoch
jemand kann kannst kein keine keinem keinen keiner kommentar konnte konto können könnt laut liegt
länder mache machen maßnahme mehr mein meine meldung mensch mich mir mit mitarbeiter mitarbeiterin
mittel mitteln moderator moderatorin muss möchten möglich müssen nach nachdem nicht nichts noch
nummer nun nur nutzer nutzerin nutzungsbedingungen ober oder ohne paragraf person plattform post
profil prüfung punkt regel regeln respektvoll respektvollen richtlinie richtlinien schon sehr sein
seine seinem seinen seiner seit seite selbst sich sicher sicherheit sie sind sobald sofern
software solche solchen soll sollen sollte somit sondern sonst soweit sowie sowohl standards
stehen steht stellt streitbeilegungsstelle system team text unbefristet union uns unser unsere
unserem unseren unserer unter verletzt verletzung verstoß verstoßen verstößt video viel viele vom
von vor vorgaben wann war waren warum was weder weil weiter weitere weiteren welche welchem
welchen welcher weltweit wenn wer werden widerspruch wie wieder wir wird wo wurde wurden ziffer zu
zudem zum zur zwar zwischen über überall
"""
NO_CONTENT = frozenset(_NO_CONTENT.casefold().split())
ENDINGS = ("ungen", "ung", "ern", "en", "em", "er", "es", "st", "te", "e", "n", "s", "t")
SHORTEST_STEM = 4


def is_content(word: StatementWord) -> bool:
    """Whether a German word says something of a post."""
    folded = word.folded
    return len(folded) > 3 and folded.isalpha() and folded not in NO_CONTENT


def german_stem(word: StatementWord) -> str | None:
    """What the inflections of a German word have in common, crude; None of a word that says
    nothing."""
    if not is_content(word):
        return None
    folded = word.folded
    for ending in ENDINGS:
        if folded.endswith(ending) and len(folded) - len(ending) >= SHORTEST_STEM:
            return folded.removesuffix(ending)
    return folded
