"""The words by which a statement of reasons says what Article 17(3) DSA asks for, in English.

From the regulation's text (Regulation (EU) 2022/2065, Article 17, recitals 54 and 55) and from the
descriptions of the DSA Transparency Database's attributes, each with what else people call it. An
entry that ends in "*" stands for all words that begin so; entries of several words are phrases.
"""

from __future__ import annotations


def _entries(text: str) -> tuple[str, ...]:
    return tuple(entry.strip() for entry in text.replace("\n", " ").split(",") if entry.strip())


RESTRICTION = _entries("""
remov*, delet*, took down, taken down, take down, taking down, takedown, came down, disabl*, hid,
hidden, hide, hides, hiding, block*, restrict*, limited, demot*, downrank*, deprioriti*, suspen*,
terminat*, closed, close your account, ban, banned, bans your, banning, lock*, demoneti*, withdr*,
unlist*, delist*, geoblock*, geo block*, withheld, withhold*, unpublish*, pulled, freez*, frozen,
froze, muted, silenced, no longer visible, no longer shown, no longer available, no longer
appear*, no longer accessible, not visible, cannot be seen, can no longer, labelled, labeled,
warning label, age gat*, age restrict*, reduced, reach has been, reduce*, visibility, stripped,
cut off, excluded, exclusion, shadow*, paused, halted, stopped, deactivat*, inaccessible,
unavailable, offline, turned off, switched off, filtered out, ranked lower, shown less, does not
appear, erased, put behind, made invisible, gone, can't be, cannot be, any longer, any more, not
shown, no longer, not accessible, shut*, stopped showing, off our, kept from, barred, bar, strip*,
retract*, cancel*, refus*, denied, not published, rejected, mask*, blur*, warning, made private,
now private, set to private, cannot, can't, lost, loses, vanish*, disappear*, ended, end of,
downscal*, take off, taken off, took off, taken out, took out, takes out, blank*, redact*, cover*,
sanction*, strike, downgraded, downgrade, moved, invisible, invalidated, expelled, revok*,
quarantin*, nuked, axed, yanked, binned, booted, kicked, wiped, scrubbed, purged, zapped, is down,
are down, went down, came off, not available, not eligible
""")
AUTOMATION = _entries("""
automat*, algorithm*, machine, machines, classifier*, software, ai, artificial intelligence,
computer*, bot, bots, robot*, filter, filters, system, systems, tool, tools, technolog*, hash*,
detector*, detection model*, language model*, model, script, scripts, scanner*, neural*, program,
programme, program's, learning model*, screening, crawler*, matching, without human*, no human*,
untouched by human*, unattended, electronically, engine
""")
EXPLICIT_AUTOMATION = _entries("""
automat*, algorithm*, machine*, classifier*, software, ai, artificial intelligence, bot, bots,
robot*, without human*, no human*, no person, nobody, electronically
""")
PEOPLE = _entries("""
human*, person, persons, people, moderator*, staff, employee*, colleague*, manual*, by hand,
reviewer*, agent, agents, specialist*, analyst*, officer*, member of our, member of the, members
of our, member of staff, someone, somebody, nobody, case handler*, editor, editors, lawyer*,
trained eye*, admin, admins, administrator*, two of us, one of us, expert, experts, worker*,
adviser*, advisor*, curator*, clerk*, operator*, colleagues, man made, examiner*
""")
FOUND = _entries("""
detect*, identif*, found, find, finds, finding, flag*, spot*, discover*, surfac*, picked up, picks
up, pick up, caught, catch, notice*, noticing, scan*, screen*, located, locate, recogni*,
attention, came across, come across, stumbled, turned up, brought up, singled out, highlighted,
queue, queued, selected, marked, alert*, raised, uncover*, encounter*, trigger*, match*, tracked
down, pointed, signall*, traced, unearth*, sweep, search
""")
NOTIFIER = _entries("""
user, users, member, members, reader*, neighbour*, neighbor*, someone, somebody, visitor*,
customer*, buyer*, viewer*, listener*, follower*, participant*, flagger*, notifier*, rights
holder*, rightsholder*, owner*, authorit*, police, association, organisation*, organization*,
third party, third parties, complainant, another account, parent*, subscriber*, brand, company,
photographer, author, player*, guest*, tenant*, colleague*, agency, maker, manufacturer,
publisher, hotline, notice, notices, notification*, people, person, mother, father, teacher,
resident*, passenger*, student*
""")
REPORTED = _entries("""
reported, notified us, flagged, complained, alerted us, alerted, told us, informed us, wrote to
us, contacted us, pointed it out, pointed us, became aware, made us aware, made aware, aware of,
learned of, learnt of, heard of, heard from, called our attention, denounced, turned to us, wrote
in, pointed out, drew our attention, brought to our attention, our attention, brought it to, tip,
tipped, tip off, sent us, flagged it, flagged the, flagged your, flagged this, a notice, notice
by, notice from, notices from, a report, report by, report from, reports by, reports from, two
reports, several reports, many reports, user report, user reports, trusted flagger, article 16,
reporting user, a complaint by, a complaint from, complaint from, complaint by, complaints from,
complaints by, notification by, notification from, hint from, on the basis of a notice, received
a, received two, received several, asked us to, request from, request by, a request, third party
notice, flagged by, reports about, reports of, notifier, made a report, filed a report, filed a
notice, submitted a notice, rights notice
""")
NOTED = _entries("""
source, origin, notice, notices, notification, report, reports, complaint, how we noticed, how it
was found, how we found, flag, flags, alert, hint, tip
""")
DECIDED = _entries("""
decid*, decision*, review*, assess*, judg*, conclud*, conclusion*, determin*, the call, final
call, verdict, examin*, check*, evaluat*, looked, look, looks, read, reading, viewed, watched,
weighed, considered, handled, made, taken, took, approv*, confirm*, acted, action, actioned,
applied, measure*, removal, removed, restrict*, suspend*, disabled, demot*, block*, blocked,
deleted, ruled, ruling, moderation, moderated, chose, chosen, processed, outcome, signed off, sign
off, judgement, intervened, intervention, steps, step, came from, done, carried out, imposed, took
down, taken down, hid, hidden, withdrawn, closed, opinion, final say, settled, weigh*, adjudicat*,
resolved, enforc*, inspect*, stud*, went through, finalis*, finaliz*, issued, order*, perform*,
done by, undertaken, responsib*, executed, execut*, labelled, demoneti*, took part, issu*, down,
locked
""")
USED = _entries("""
use, used, uses, using, involv*, play*, relied, rely, employ*, part, role, means, process,
entire*, throughout, at any stage, either step, whole, fully, wholly, purely, solely, entirely,
case, handled, procedure, start to finish, both, at no point, contributed, any point, stage, run,
manual*, operat*
""")
LAW = _entries("""
law, laws, act, acts, code, codes, statute*, statutory, regulation, regulations, directive*,
ordinance*, decree*, legislation, criminal, penal, stgb, gdpr, dsgvo, §, §§, illegal*, unlawful*,
offence*, offense*, constitution, copyright, trade mark, trademark, treaty, gesetz, bgb, urhg,
uwg, court order, lawful, civil code
""")
LAW_NOUNS = frozenset(
    _entries("""
act, code, law, statute, regulation, directive, ordinance, decree, gesetz, stgb, legislation,
constitution, order, rules, treaty, convention, bill
""")
)
UNTOLD_LAW = frozenset(
    _entries("""
applicable, national, local, the, of, european, eu, union, relevant, member, state, states, our,
any, and, under, domestic, civil, public, current, by, with, to, this, that, existing, in,
federal, or, a, other, country, for, your, mandatory, digital, services, against, as, is,
violates, breaks, infringes, breaches, which, criminal, state's, country's
""")
)
POLICY = _entries("""
terms, tos, t&c, t&cs, guideline*, policy, policies, rule, rules, standard, standards, conditions,
agreement, rulebook, house rules, eula, tou, aup, agb, code of conduct, charter, netiquette,
clause*, requirements, user agreement, contract, contractual*, principles, statutes, regulations,
handbook, etiquette, faq, acceptable use, code, manual
""")
POLICY_NOUNS = frozenset(
    _entries("""
terms, guideline, guidelines, policy, policies, rule, rules, standard, standards, conditions,
agreement, rulebook, conduct, eula, tou, aup, agb, charter, netiquette, clause, requirements,
contract, principles, handbook, etiquette, section, use, code, tos, manual, ban, prohibition,
heading, chapter
""")
)
CLAUSE = frozenset(
    _entries("""
section, sections, clause, clauses, rule, rules, point, points, paragraph, para, paras, article,
articles, art, arts, chapter, no, number, part, item, sec, s, ss, guideline, guidelines, standard,
standards, policy, term, principle, title, annex, appendix, provision, §, §§, subsection, letter,
sentence, schedule, eula, tou, aup, agb, terms, requirement, conditions, heading, tos, code,
numbers, nr, act, chap, stgb, bgb, urhg, t&c, t&cs, sect, subsec
""")
)
OF_THE_WHOLE = frozenset(
    _entries("""
our, the, community, user, users, content, platform, platform's, house, general, company, posting,
site, site's, forum, service, services, these, its, those, their, terms, conditions, of, use,
usage, acceptable, marketplace, seller, member, members, group, website, network, app, standards,
policy, policies, rules, guidelines, conduct, code, and, existing, current, published,
contractual, written, agreed, binding, applicable, own, online, which, with, to, against, a, an,
by, in, under, following, violates, violated, breached, breaches, breaking, breaks, broke,
infringes, infringed, certain, all, some, any, various, several, one, more, internal, basic,
standing, relevant, official, latest, updated, global, public, safety, moderation, common, your,
such, same, as, on, for, per, moderators, editorial, this, that, is, legal, respective, account,
meet, follow, followed, respect, customer, listing, listings, publication, publishing, social,
media, comment, commenting, comments, channel, board, participation, quality, board's, store,
shop, portal, partner, creator, creators, breach, violation, infringement, between, us, you,
review, reviews, user's, video, videos, stream
""")
)
TIES = frozenset(
    _entries("""
on, against, about, for, concerning, regarding, prohibiting, prohibits, prohibit, forbidding,
forbids, forbid, banning, bans, ban, covering, covers, called, titled, entitled, named, headed,
of, requires, require, requiring, excludes, exclude, excluding, that, which, governing, under, to,
relating, dealing, disallow, disallows, where, saying, says, stating, states, allow, allows,
permit, permits, do, does, reserve, reserves, limit, limits, demand, demands, over, around, known
""")
)
BROKEN = _entries("""
violat*, breach*, infring*, contrary, against, break*, broke, broken, contraven*, prohibit*, ban*,
forbid*, forbad*, ground, grounds, basis, under, pursuant, based, incompatib*, conflict*, rely,
relied, relies, offend*, fall*, cover*, disallow*, not allow*, not permit*, fails, fail, at odds,
runs counter, disregard*, non compliance, according, cites, cite, rest*, applied, apply, invoke*,
ties, outside, unlawful*, illegal*, legal, contractual, reason, not comply, does not meet,
respect, amount*, offence*, agreed, inconsistent
""")
PROVISIONS = _entries(
    "digital services act, dsa, 2022/2065, 2065, article 16, article 17, article 20, article 21"
)
PLACES = _entries("""
austria, belgium, bulgaria, croatia, cyprus, czechia, czech republic, denmark, estonia, finland,
france, germany, greece, hungary, ireland, italy, latvia, lithuania, luxembourg, malta,
netherlands, poland, portugal, romania, slovakia, slovenia, spain, sweden, iceland, liechtenstein,
norway, switzerland, united kingdom, uk, britain, england, scotland, wales, united states, usa, us
only, canada, australia, turkey, ukraine, serbia, india, japan, brazil, eu, european union, eea,
european economic area, member state, member states, worldwide, world wide, global*, everywhere,
all countries, every country, any country, country, countries, territor*, region, regions,
regional*, international*, europe, wherever, anywhere, geograph*, border*, location, locations,
world, planet, jurisdiction*, irrespective of where, regardless of where, no matter where, all
users, every user, all readers, all visitors, all viewers, whatever country, irrespective of the,
eu wide, union wide, europe wide, nationwide, continent*, the union, overseas, abroad, states,
nowhere, bavaria, catalonia, flanders, nation, nations, dach, benelux, nordic, market, markets,
bloc, mexico, argentina, chile, peru, colombia, china, korea, israel, egypt, south africa, kenya,
nigeria, new zealand, russia, thailand, vietnam, indonesia, philippines, singapore, malaysia,
pakistan, morocco, tunisia, albania, bosnia, kosovo, montenegro, macedonia, moldova, monaco
""")
RULE_NOUNS = frozenset(_entries("laws, rules, guidelines, policies, standards, terms"))
MEASURES = frozenset(
    _entries("decision, measure, removal, restriction, deletion, suspension, it, this")
)
REACH = _entries("""
visib*, appl*, effect*, access*, shown, show, view*, seen, see, available, availab*, unavailable,
block*, hidden, restrict*, limit*, remov*, disabl*, valid, scope, reach*, extend*, cover*, force,
measure*, decision*, suspen*, demot*, withheld, withdrawn, offline, concern*, taken down, took
down, came down, down, confined, territor*, removal, gone, deleted, holds, users, users in, no
longer, invisible, geoblock*, label*, ban, geograph*, stay*, countries, anywhere, everywhere,
wherever, worldwide, global*, where, territory, reader*, visitor*, people, audience*, take*,
bind*, geographic*, affect*, only, nowhere, opened, lock*
""")
LASTING = _entries("""
permanent*, indefinite*, for good, no end date, without end, no expiry, unlimited, open ended,
time limit, unlimited in time, expir*, for ever, forever, until further notice, for the time
being, immediate effect, effective immediately, with effect from, from today, as of today, as of
now, immediately, as long as, temporar*, stays down, until, lasting, end date, takes effect, took
effect, effective, remains in force, in force, will not be restored, will be lifted, lifted,
lapse*, ends on, ends, ending, starting, starts, started, not be reversed, of unlimited duration,
duration, not limited in time, from now on, with immediate, time limited, no date, irrevocabl*,
without limit, for life, comes to an end, come back, comes back, restored, runs out, begins,
began, beginning, suspended for, onwards, no fixed term, no set term, returns, return on,
reinstat*, does not end, will not end, never end*, straight away, tonight, today, remain removed,
remains removed, remain hidden, stays removed, stays hidden, stays in place, remains in place
""")
UNITS = frozenset(
    _entries("""
day, days, week, weeks, month, months, year, years, hour, hours, fortnight
""")
)
NUMBERS = frozenset(
    _entries("""
one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, fourteen, thirty,
sixty, ninety, a, an, first, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth,
half, fifteen, twenty, forty, several
""")
)
ORDINALS = frozenset(
    _entries("""
one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, first, second, third,
fourth, fifth, sixth, seventh, eighth, ninth, tenth, i, ii, iii, iv, v, vi, vii, viii, ix, x, xi,
xii, thirteen, fourteen, fifteen
""")
)
MONTHS = frozenset(
    _entries("""
january, february, march, april, june, july, august, september, october, november, december, jan,
feb, mar, apr, jun, jul, aug, sep, sept, oct, nov, dec, may
""")
)
DATED = frozenset(
    _entries("""
of, posted, published, dated, uploaded, written, submitted, created, sent, wrote, shared,
received, reported
""")
)
COMPLAINT = _entries("""
second review, checked by us, checked again by, appeals team, complaints team, complaints desk,
have it checked, have this decision checked, fresh review, appeal, appeals, appealing, complaint,
complaints, complain, object, objection*, contest*, challeng*, disput*, review, reviewed, second
look, reconsider*, re examin*, reexamin*, look again, looked at again, revisit*, reopen*,
complaint handling, internal complaint*, counter notice, ask us again, fresh look, look at it
again, take another look, another look, rethink, reassess*, internal review, internal procedure,
checked again, re check, recheck*, reply to this, write to us, let us know, tell us, contact us,
get in touch, remedy, remedies, redress, respond, answer us, overturn*, protest, re review,
counter statement, can disagree, may disagree
""")
OPEN_TO_YOU = _entries("""
tap, click, press, contact, like a, let us, you can, you may, you have, you could, you are free,
you are entitled, you also, if you, should you, do you, when you, may be, can be, entitled, free
of charge, within, send, sent to, possible, possibilit*, open, opens, right, rights, invite*,
button, form, link, lodge*, file, filed, submit, submitted, available, against, decision, days,
months, weeks, portal, dashboard, inbox, settings, option*, route, routes, way, ways, avenue*,
means, up to you, choose, free, at your disposal, e mail, email, recourse, disagree, remain*,
still, request a, alternatively, not agree, turn to, bring, go to, besides, instead, also, through,
via, inside, before a, ask, seek, using, use
""")
SETTLEMENT = _entries("""
out of court, dispute settlement, dispute resolution, settlement body, settlement bodies, mediat*,
arbitrat*, ombuds*, conciliat*, adr, certified body, certified bodies, independent body,
independent bodies, extrajudicial*, dispute body, dispute bodies, article 21, art 21, appeals
centre, settle it out, settled out, settle disputes, outside the courts, outside court, without
going to court, certified dispute*, accredited body, impartial body, alternative dispute
""")
COURT = _entries("""
court, courts, judicial*, a judge, judges, legal action, legal proceedings, legal remed*,
litigat*, lawsuit*, sue, sue us, tribunal*, legal route, judiciary, proceedings, courthouse, take
legal, take us to court, to law, civil action, injunction, magistrate*, judge
""")
BECAUSE = _entries("""
because, since, therefore, thus, hence, which is, this is, that is, counts as, count as, counted
as, fall under, falls under, falls within, fall within, falls into, amount* to, constitut*,
qualif*, is covered, covers, covered, considered, regard*, treat*, definition, means that, reason,
that is why, this is why, is why, exactly what, prohibit*, forbid*, forbad*, bans, banned, does
not allow, do not allow, not permitted, not allowed, not permit, rules out, reserve*, requires,
require, required, applies to, as it, as the, as your, as you, so it, so the, so this, so we, we
consider, consider*, we regard, we see it, so that, makes it, make it, aimed at, intended,
intends, such a, such an, offence, is what, within the meaning, consequently, accordingly,
disallow*, out of bounds, may not, must not, must be, must, only if, unless, is illegal, is
unlawful, are illegal, an example of, a form of, an instance of, form of, kind of, type of,
satisf*, meets, given that, for this reason, explanation, explain*, in that, by offering, by
asking, by selling, by posting, by naming, whereas, contrary to, goes beyond, went beyond,
ineligible, targets, not the kind, exclud*, infringes that, infringes this, violates that,
violates this, infringes it, breaks this, breaks it, breaks that, breaches it, breaches this, same
as, precisely, turns it, turns this, equals, equal to, tantamount, invites, encourages, would be,
enough to, presents, endanger*, danger*, risk, risks, risky, harmed, harms, hurt*, mislead*,
misled, deceiv*, deception, damage*, misus*, threat*, unsafe, hazard*, prevent*, there to,
purpose, serves, in order to, could, might, can be, may be, can cause, incit*, promot*,
encouraging, crime, such as this, is there, here that, pass on, nothing else, stands for, aims,
aim, intention, the point of, described in, like this, like that, like yours, exactly this,
exactly that, this kind, these, it does, you do, you did, in this case, here the, here you, case
here, applies here, applies, does not matter, protects, protect, poison*, injur*, vulnerab*,
unlawfully, only with, needs a, needs an, subject to, deprives, exploits
""")
ABBREVIATIONS = frozenset(
    _entries("""
art, arts, no, nos, sec, s, ss, para, paras, e, g, i, approx, ca, cf, eg, ie, mr, mrs, ms, dr, vs,
st, nr, ch, cl, pt, p, pp, chap, jan, feb, mar, apr, jun, jul, aug, sep, sept, oct, nov, dec, abs,
sect, subsec, inc, co, corp, incl, resp, fig, vol, esp, viz, prof, messrs,
ziff, abschn, lit, kap, gem, evtl, inkl, anh, anm, buchst, unterabs, sog, exkl, bspw
""")
)
GERMAN_MONTHS = frozenset(
    _entries("""
januar, jänner, februar, märz, april, mai, juni, juli, august, september, oktober, november,
dezember
""")
)
FUNCTION_WORDS = frozenset(
    _entries("""
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
)
GENERIC = frozenset(
    _entries("""
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
)
OF_THIS_POST = frozenset(
    _entries("""
you, your, yours, it
""")
)
POST_NOUNS = frozenset(
    _entries("""
post, listing, comment, video, review, message, advert, ad, advertisement, image, photo,
photograph, picture, offer, item, text, caption, profile, content, entry, thread, reply, upload,
event, group, story, clip, song, poem, recipe, article, note, line, title, headline, description,
question, answer, status, tweet, reel, stream, announcement, invitation, page, book, flyer,
poster, product, seller, author, uploader, writer, bio, username
""")
)
DETERMINERS = frozenset(_entries("the, this, that, your"))
RULE_VERBS = _entries("""
prohibit*, forbid*, bans, disallow*, does not allow, do not allow, not permitted, not allowed,
rules out, does not permit, do not permit
""")
DISSENT = frozenset(
    _entries("""
disagree, disagrees, mistaken, mistake, wrong, unhappy, disagreement, options, unjustified,
remedies, redress, appeal, object
""")
)
REDRESS = frozenset(
    _entries("""
remedies, remedy, redress, appeals, recourse, rights
""")
)
OF_READERS = frozenset(
    _entries("""
write, tell, contact, let, get, reply, respond, answer
""")
)
OBJECTING = frozenset(
    _entries("""
disagree, wrong, mistake, mistaken, agree, unjustified, error, incorrect, decision, object,
appeal, complaint, unfair, incorrectly, mistakenly, overlooked, reconsider, objection
""")
)
OBJECTIONS = _entries("""
object, challeng, contest, disput, protest
""")
ALLOWING = frozenset(
    _entries("""
may, can, could, right, wish, want, possible, possibility, free, entitled, decision, disagree,
option, against, like, within, route, open, through, via, wrong, form
""")
)
WE = frozenset(
    _entries("""
we, we've, i, i've
""")
)
WAS = frozenset(
    _entries("""
was, were, been, being
""")
)
ADVERBS = frozenset(
    _entries("""
have, had, has, also, therefore, now, then, to, thus, been, not, only, so, be, today, hereby,
yesterday, already
""")
)
IRREGULAR = frozenset(
    _entries("""
took, put, cut, hid, shut, withdrew, withdrawn, set, drawn, frozen, froze, split, swept, kept
""")
)
STEPS = _entries("""
receiv, review, detect, notic, determin, consider, conclud, report, flag, identif, post, publish,
upload, list, look, check, examin, assess, notif, inform, decid, discover, spot, alert, confirm,
believ, need, want, offer, describ, contact, complain, classif, regard, bas, concern, appli,
support, allow, permit, prohibit, requir, expect, involv, use, surfac, pick, judg, deem, convinc,
ask, raised, mention, submit, creat, shar, sent, made, recorded, produced, matched, select, verif,
evaluat, analy, process, reach, weighed, written, print, approved, wond, point, caus, located,
caught, seen, scanned, screened, handled, born, told, agreed, issued, signed, filmed, automat,
carried, conducted, disclos, started, looked, contain, intend, reserv, violat, breach, infring,
drawn, occur, happen, help, hop, appreciat, thank, respect, explain, clos to, welcom, limited to
""")
OUR_OWN = frozenset(
    _entries("""
our, us, my, we, at
""")
)
ANYBODY = frozenset(
    _entries("""
person, persons, people, someone, somebody, nobody, agent, agents, expert, experts, officer,
officers, editor, editors, lawyer, lawyers, worker, workers, admin, admins, employee, employees,
operator, operators, specialist, author
""")
)
DECISIVE = _entries("""
decid, decision, judg, assess, review, examin, verdict, determin, measure, handled, evaluat,
looked, look, approv, confirm, moderat, weigh, conclu, remov, ordered, checked, signed
""")
OF_DECISIONS = _entries("""
automat, decid, decision, both, neither, judg, assess, alone, fully
""")
EVERY = frozenset(
    _entries("""
all, every, throughout, across, whole, entire, each, any
""")
)
OF_TIME = frozenset(
    _entries("""
start, starts, from, since, until, duration, period, end, ends, effective, when, starting,
beginning, valid
""")
)
