"""Words that carry no information about a post: function words, months, and words that occur in
every statement."""

from __future__ import annotations


def _entries(text: str) -> frozenset[str]:
    return frozenset(text.casefold().replace(",", " ").split())


FUNCTION_WORDS = _entries("""
a, an, the, this, that, these, those, i, me, my, mine, we, us, our, ours, you, your, yours, he,
him, his, she, her, hers, it, its, they, them, their, theirs, who, whom, whose, which, what,
where, when, why, how, and, or, but, nor, so, yet, if, unless, because, since, as, than, then,
though, although, while, whereas, whether, until, till, of, in, on, at, by, for, with, without,
within, from, to, into, onto, out, off, over, under, up, down, about, above, below, between,
among, after, before, during, through, against, toward, towards, via, per, is, am, are, was, were,
be, been, being, do, does, did, done, doing, have, has, had, having, can, could, may, might, must,
shall, should, will, would, ought, not, no, none, nothing, nobody, never, neither, either, both,
all, any, some, each, every, other, another, such, same, own, only, also, too, very, much, many,
more, most, less, least, few, just, even, still, again, once, here, there, now, today, later,
soon, however, therefore, thus, hence, please, thank, thanks, dear, hello, hi, yes, one, two,
three, first, second, third, don't, doesn't, didn't, isn't, aren't, wasn't, weren't, can't,
cannot, won't, i'm, you're, it's, we're, they're, i've, we've, got, get, gets, let, lets, im, ok,
rather, quite, instead, else, anyone, everyone, someone, something, anything, everything, myself,
yourself, itself, themselves, ever, etc, upon, whatever, whoever, like, well, around, back, amp
""")
GENERIC = _entries("""
post, posts, posted, posting, content, comment, comments, listing, listings, message, messages,
video, videos, image, images, photo, photos, picture, pictures, review, reviews, item, items,
text, upload, uploaded, publish, published, publication, account, accounts, profile, page,
platform, site, service, services, user, users, member, members, community, team, reader, seller,
sellers, buyer, poster, author, people, person, human, moderator, moderators, reviewer, staff,
reason, reasons, ground, grounds, decision, decisions, decide, decided, remove, removed, removal,
delete, deleted, take, takes, taken, took, restrict, restricted, restriction, suspend, suspended,
disable, disabled, hide, hidden, block, blocked, visible, visibility, available, access, rule,
rules, policy, policies, guideline, guidelines, standard, standards, term, terms, condition,
conditions, section, clause, article, paragraph, point, law, laws, legal, illegal, unlawful, act,
code, contract, contractual, violate, violates, violated, violating, violation, violations,
breach, breaches, breached, infringe, infringes, infringed, infringement, contrary, prohibit,
prohibits, prohibited, forbid, forbids, forbidden, ban, bans, banned, allow, allows, allowed,
permit, permitted, accept, incompatible, compatible, consider, considered, considers, determine,
determined, find, found, detect, detected, detection, identify, identified, automatic, automated,
automatically, means, tool, system, systems, fact, facts, circumstance, circumstances, statement,
explanation, explain, appeal, complaint, court, dispute, settlement, body, redress, internal,
scope, territorial, duration, date, day, days, month, months, week, weeks, year, years, apply,
applies, applied, application, effect, notice, notify, notified, report, reported, information,
measure, measures, use, used, uses, using, say, says, said, state, states, stated, write, writes,
written, wrote, contain, contains, containing, include, includes, including, make, makes, made,
give, given, gives, go, goes, going, see, seen, show, shows, shown, concern, concerns, concerning,
follow, follows, following, case, way, thing, things, part, whole, time, right, rights, question,
specific, relevant, particular, certain, european, union, country, countries, category, type,
kind, form, link, url, full, fully, eu, dsa, refer, refers, referred, reference, base, based,
basis, result, meet, meets, comply, compliance, place, word, words, sentence, context, know, want,
wants, need, needs, try, come, comes, came, look, looks, looked, mention, mentions, mentioned,
inappropriate, harmful, offensive, unacceptable, abusive, material, materials, aware, safe,
safety, respect, respectful, experience, understand, ensure, protect, digital, inform, impose,
imposed, deactivate, deactivated, careful, carefully, quality, strike, repeated, permanent,
permanently, immediate, worldwide, regret, correspondence, new, good, great, really, put, keep,
think, thought, believe, claim, claims
""")
MONTHS = _entries("""
january, february, march, april, june, july, august, september, october, november, december, jan,
feb, mar, apr, jun, jul, aug, sep, sept, oct, nov, dec, may
""")
GERMAN_NO_CONTENT = _entries("""
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
""")
