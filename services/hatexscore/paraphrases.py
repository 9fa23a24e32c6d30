"""Verdicts put in plain words: what is called likely, "hence the hateful label", superlatives.

A verdict that is called likely is one where more than half speaks for it.

"May be hateful" names a possibility and states nothing. "Most likely hateful", "probably hate
speech", "an 85% chance that it is" lean to one side, as a score of 0.85 in a label line does, and
"a 10% chance that it is" leans to the other. Whoever adds that others are to decide concludes
nothing all the same (`certainty.is_deferred`). "It couldn't be more hateful" denies nothing;
"it was mistaken for hate speech", "that it is hateful has not been shown" and "I'd be hard pressed
to call it hateful" deny it; what somebody fails to see, admits or forgets is so. Where what is said
of a statement is unknown, it stays as it is, for `certainty` to doubt. Source: our own.
"""

from __future__ import annotations

import re

from services.hatexscore.cues_en import RULED, TEXT_NOUN
from services.hatexscore.label_patterns import LABEL_NOUN_AFTER

EVEN = 50.0  # percent

_LIKELY = re.compile(
    r"\b(?:(?:most|very|quite|highly|extremely|overwhelmingly)\s+(?:likely|probabl[ey])|probabl[ey]"
    r"|in\s+all\s+(?:likelihood|probability)|presumably|almost\s+certainly)\b"
)
_OPENS = (
    r"(?:\b(?:there(?:\s+is|['\u2019]s)|i(?:\s+|['\u2019]d\s+)(?:see|say|give)|we\s+see|with|at)\s+)?"
    r"(?:\b(?:an?|about|around|roughly|only|over|some|nearly|approximately|at\s+least|the|just)\s+){0,3}"
)
_SHARE = r"(?P<share>\d{1,3}(?:\.\d{1,3})?)\s*(?:%|percent\b|per\s+cent\b)"
_DEGREE = (
    r"(?:(?:very|rather|quite)\s+)?(?:(?P<high>high|strong|good|great|considerable|substantial|significant|big)"
    r"|(?P<low>low|small|slim|slight|little|remote|minimal|tiny))"
)
_CHANCE = re.compile(
    rf"(?P<has>\b(?:has|carries)\s+)?{_OPENS}(?:{_SHARE}|{_DEGREE})\s+(?:chance|likelihood|probability|possibility)\s+"
    r"(?:(?P<being>(?:of|for)\s+(?:it\s+|this\s+)?being\s+)|that\s+|of\s+)"
)
_OF_CHANCES = "%", "cent", "chance", "ility", "hood"  # what the next two cannot do without
_MEASURED = re.compile(
    rf"(?:\b(?:about|around|roughly|at\s+least)\s+)?{_SHARE}\s+(?P<word>likely|probable|sure|certain|confident)\b"
)


_STATEMENT = (
    r"(?:claim|idea|notion|suggestion|allegation|accusation|assumption|impression|objection|argument|charge|defen[cs]e|excuse"
    r"|plea|theory|contention|assertion|suspicion|view|belief|fear|worry|finding|hypothesis|complaint|conclusion|verdict)s?"
)
_CONCLUDED = re.compile(
    r"[,;]?\s{0,3}\b(?:hence|therefore|thus|so)\s{1,3}(?:the|an?|my|our|this)\s[\s\"]{0,5}$"
)
# "It couldn't be more hateful", "I've never read anything more hateful than this".
_NO_MORE = re.compile(
    r"(?:(?:\b(?:could|can|would|will|does|do|did|have|has)\s{1,3})?\b(?:not|never|cannot|nothing|nobody|no\s{1,3}one|no\s{1,3}\w{1,20}|rarely|seldom|hardly(?:\s{1,3}ever)?)"
    r"|\b\w{2,7}n['\u2019]t)\s[^,;:.()]{0,80}?\bmore\s{1,3}(?:\w{1,20}ly\s{1,3})?$"
)
# "More hateful than offensive": the sentence has no other subject than the text.
_COMPARES = re.compile(
    r"\A\W{0,9}(?:(?:much|far|rather|certainly)\s{1,3})?(?P<how>more|less)\s{1,3}\Z"
)
_THAN = re.compile(r"\s{1,3}than\b")
# "It goes beyond criticism into", "crosses the line from satire to": the label is reached.
_BEYOND = re.compile(
    r"(?<!that\s)(?<!which\s)\b(?:goes|moves|veers|strays|slides|tips|spills|crosses|turns|escalates|descends)\s"
    r"(?:(?:over|across|well|far|right|the|line|boundary|border|clearly)\s){0,4}"
    r"(?:(?:beyond|past|from|out\sof)\s(?:\w[\w'\u2019-]{0,30}\s){1,6}?(?:and\s)?)?(?:in)?to\s(?=(?:an?\s)?$)"
)
_SHORT_OF = re.compile(
    r"\b(?:before|until|unless|without|almost|nearly|hardly|barely|close|short|fear|risk|let)\b[^.;]{0,100}\Z"
)
# "Confidence that the text is hateful: 3%", "the likelihood of hate speech is about 90 %".
_HOW_LIKELY = re.compile(
    r"(?:\b(?:the|my|our)\s)?\b(?:confidence|probability|likelihood|chances?|certainty|odds)\s"
    r"(?:level\s|score\s)?(?:that|of|for|in)\s[^.;:!?]{0,60}\Z"
)
_AMOUNTS = re.compile(
    r"(?:\s(?:speech|content))?[\s\"'*)]{0,4}(?:(?:[:=]|is|at|to\sbe|would\sbe|stands|about|around|only|roughly|estimated"
    rf"|approximately|below|under|above|over)\s{{0,2}}){{1,4}}(?:{_SHARE}|{_DEGREE}(?=\s{{0,3}}(?:$|[.,;!)])))"
)
_DENIED = re.compile(r"\bnot\b|n['\u2019]t\b|\bno\b")
# "All criteria for hate speech are met."
_ALL_OF = re.compile(
    r"(?:\A|[.;:,(\u2014]|\b(?:and|that|as|so|since|because|here))[\s*\"]{0,3}"
    r"(?P<all>(?:(?:all|each|every(?:\sone)?)\s(?:of\s)?(?:the\s)?|the\s)"
    r"(?:criteri(?:a|on)|conditions?|elements?|requirements?|hallmarks?)\s(?:for|of)\s(?:an?\s)?)\Z"
)
_ARE_MET = re.compile(
    r"(?:\s(?:speech|content))?\s(?:is|are)\s(?:all\s|clearly\s|fully\s)?(?:met|satisfied|fulfilled)(?=\s{0,3}(?:$|[.,;:!)]))"
)
_THAN_THIS = re.compile(
    r"\s*(?:(?!than\b)\w+\s*)?(?:$|[.,;:!)\u2014]|than\s+(?:this|that|it|these)\b)"
)


# "The context leaves no room for a hateful reading."
_NO_ROOM = re.compile(
    r"(?:^|(?<=[.;:,]\s)|\b(?:and|but)\s)[^.;:]{0,100}?\b(?:leaves?|left|gives?|gave|offers?|provides?|is|are)\s(?:no|little|hardly\sany)"
    r"\s(?:room|space|scope|basis|grounds?)\sfor\s(?:an?|any|the)\s(?:\w+ly\s)?$"
)
_SMILEY = re.compile(r"\s?[\U0001f600-\U0001f64f\U0001f900-\U0001f9ff]")
_READING = re.compile(r"\s(?:reading|interpretation|understanding|meaning)\b")


_TEXT = rf"(?:it|this|that|these|(?:the|this|that)\s(?:\w{{1,20}}\s)?(?:{TEXT_NOUN}))"
_TAKEN_FOR = (
    r"(?:(?:mistaken|confused)\s(?:for|with)|mis(?:taken\sas|read\sas|labell?ed\sas"
    r"|class(?:ified|ed)\sas|interpreted\sas|understood\sas|judged\sas|identified\sas))\s"
)
_HARD = r"(?:(?:very|rather|quite)\s)?(?:hard|difficult)"
_JUDGE = (
    r"(?:call|see|read|regard|consider|label|classify|describe|construe|interpret|view|find|take)"
)
_JUDGING = (
    r"(?:calling|seeing|reading|regarding|considering|labell?ing|classifying|describing|finding)"
)
_FAILS = (
    r"(?:fail|refuse|neglect|decline)(?:s|d|ed)?\sto"
    r"|(?:is|was|are|were|seems?)\s(?:unable|unwilling|reluctant)\sto"
)
_DOES_NOT = (
    r"(?:does|do|did|can|could|will|would)(?:\snot|n['\u2019]t)|cannot"
    r"|(?:pretend|claim)(?:s|ed)?\snot\sto"
)
# "that" before a statement, not "see that as", "see that post as"
_THAT = (
    r"(?:the\sfact\s)?that\s(?=(?:it|this|these|they|there|the|its|his|her|their|such|what)\s"
    r"|[^,;:.]{1,60}?\b(?:is|are|was|were|has|have|can|could|would|may|might|count|qualif)\w{0,4}\s)"
)
_NOTICE = (
    r"(?:notice[sd]?|reali[sz]e[sd]?|recogni[sz]e[sd]?|see|saw|understand|understood"
    r"|grasp(?:s|ed)?)"
)
# Wordings that turn a verdict round: one of the pieces that none goes without, for the sake of
# time; the wording; what it comes to.
_TURNED = (
    (
        "out of",
        r"\b(?:keep|take|took|kept|leave|left|move|fall|fell|stay|lift|get|got|is|remain)(?:s|d|ed)?\s(?P<it>(?:it|this|the\s\w{1,20})\s)?(?:\w{1,20}ly\s|well\s|just\s)?out\sof\s"
        r"(?=(?:the|any)\s(?:category|class|realm|territory|scope|range)\sof\s|(?:the|any)\s$)",
        r"keeps \g<it>from being in ",
    ),
    (
        "follows",
        r"(?:^|(?<=[,;:.]\s)|(?<=and\s))(?:from\s(?:this|that|all\sthis)\s)?it\s(?:thus\s|therefore\s)?follows\sthat\s",
        "therefore ",
    ),
    # "It never stops being hateful"
    (
        "being | to be ",
        r"\b(?:never|(?:does|do|did)(?:\snot|n['\u2019]t))\s(?:once\s|ever\s)?(?:stop(?:s|ped)?\sbeing|ceas(?:e|es|ed)\sto\sbe)\s",
        "remains ",
    ),
    # "Only a fool would call it hateful", "only by ignoring its end could one call it harmless"
    (
        "only",
        r"\bonly\s(?:an?\s(?:fool|bigot|cynic|pedant|zealot)|someone\swho\s[^,;:.]{3,60}?)\s(?:would|could|can)\s",
        "nobody would ",
    ),
    (
        "only",
        r"\bonly\s(?:by\s(?:ignor|overlook|misread|twist|stretch|distort|leav|cutt|disregard|remov|skipp|tak|pretend)\w*ing|(?:if|when)\s(?:one|you|we|i)\s(?:ignore|overlook|misread|twist|stretch|distort|leave|cut|disregard|remove|skip)s?)"
        r"\b[^,;:.]{1,80}?,?\s(?:could|can|would|might)\s(?:one|you|we|i|anyone|anybody)\s",
        "nobody would ",
    ),
    # "It should not be mistaken for hate speech", "it was mistaken for it", "it was not": unknown
    (
        "mis|confused",
        rf"\b(?:(?:should|must|can|could|may)(?:\s?not|n['\u2019]t)|cannot)\sbe\s{_TAKEN_FOR}",
        "is not ",
    ),
    (
        "mis|confused",
        rf"\b(?:is|was|were|been|being|be|gets|got)\s(?:\w+ly\s|often\s|sometimes\s)?{_TAKEN_FOR}",
        "is not ",
    ),
    (
        "mis|confused",
        rf"\b(?:(?:is|was|were)\snot|(?:is|was|were)n['\u2019]t)\s{_TAKEN_FOR}",
        "may be ",
    ),
    ("mistook", rf"\bmistook\s{_TEXT}\s(?:for|as)\s", "says wrongly that this is "),
    # "One could mistake this for hate speech": whoever mistakes it, it is none
    (
        "mistake|confuse",
        r"(?:(?<!no )(?<!not )(?<!few )"
        r"\b(?:one|you|someone|somebody|people|readers|some|many|i|we)\s(?:could|might|may|can|would)|\b(?:easy|tempting)\sto)\s(?:\w+ly\s|well\s)?"
        rf"(?:mistake|confuse)\s{_TEXT}\s(?:for|with)\s",
        "this is not ",
    ),
    (
        "so much",
        rf"\bso\smuch\sfor\s(?:the|this|that|any)\s{_STATEMENT}\sthat\s",
        "it is false that ",
    ),
    (
        "ed of",
        rf"\b(?:cleared|acquitted|absolved|exonerated)\sof\s(?:(?:any|the|all|every)\s)?(?:{_STATEMENT}\sof\s)?(?:being\s)?",
        "free of ",
    ),
    (
        "see what|find what|stand what",
        r"\b(?:i|we)\s(?:(?:fail|struggle)\sto|cannot|can['\u2019]?t|do\snot|don['\u2019]t)\s(?:see|find|understand)\swhat(?:['\u2019]s|\s(?:is|was|would\sbe|could\sbe))\s(?:so\s|supposed\sto\sbe\s)?",
        "i see nothing ",
    ),
    # "I fail to see how this could be hateful", "how anyone could call it that"
    (
        " how | why ",
        r"\b(?:i|we|one)\s(?:fails?\sto|struggles?\sto|cannot|can['\u2019]?t|do\snot|don['\u2019]t)\s"
        rf"(?:\w+ly\s)?(?:see|understand|imagine)\s(?:how|why)\s{_TEXT}\s(?:could|can|might|would|should)\s(?:\w+ly\s|ever\s)?(?P<not>not\s)?be\s",
        r"it is false that this is \g<not>",
    ),
    (
        " how | why ",
        r"\b(?:i|we|one)\s(?:fails?\sto|struggles?\sto|cannot|can['\u2019]?t|do\snot|don['\u2019]t)\s(?:\w+ly\s)?(?:see|understand|imagine)\s(?:how|why)\s(?:anyone|anybody|someone|one|people|you)\s(?:could|can|might|would|should)\s",
        "nobody would ",
    ),
    (
        "ve to |eed to ",
        r"\b(?:one|you|we|i|anyone|a\sreader)(?:['\u2019]d|\swould)\s(?:have|need)\sto\s(?:twist|stretch|bend|distort|misread|ignore|overlook|squint|torture|be\sblind)\b[^,;:.]{0,40}?\sto\s(?=\w)",
        "i cannot ",
    ),
    # "It takes a lot of ill will to see this as hateful", "it takes little to see that it is"
    (
        "takes|take |require|need",
        r"\b(?:it|one|you|we|i|anyone)(?:\s(?:takes|requires|needs|would\s(?:take|require|need))|['\u2019]d\s(?:take|need))\s(?:an?|much|some|considerable|quite|great|real)\s"
        rf"[^,;:.]{{3,60}}?\s(?P<not>not\s)?to\s(?={_JUDGE}\s(?!(?:that|how|why)\s))",
        r"i cannot \g<not>",
    ),
    (
        "it takes|it require|it need",
        r"\bit\s(?:takes|requires|needs)\s(?:very\slittle|little|not\smuch)\s(?:effort\s|imagination\s|context\s)?to\s"
        r"(?:see|notice|recogni[sz]e|reali[sz]e|understand|tell)\sthat\s",
        "it is true that ",
    ),
    # "One does not need a degree to see that it is"
    (
        "need|have to|has to|take|require",
        r"\b(?:it|one|you|we|i|nobody|no\sone|readers)(?:\s|['\u2019]d\s)(?:(?:do|does|did|need|would)(?:\snot|n['\u2019]t)\s|would\s)?"
        r"(?:needs?|have\sto|has\sto|takes?|requires?|be)\s[^,;:.]{3,60}?\sto\s(?:see|notice|recogni[sz]e|reali[sz]e|understand|tell)\sthat\s",
        "it is true that ",
    ),
    # "The author fails to see that it is", "nobody noticed that it is", "let us not forget that it
    # is": what is not seen is so
    (
        " that ",
        r"(?:\b(?:the|this|its|our|their)\s(?:\w{1,20}\s)?(?:author|writer|user|speaker|poster|commenter)s?|\bs?he|\bthey|\busers"
        rf"|\breaders|\bpeople)\s(?:\w+ly\s|still\s|just\s)?(?:{_FAILS}|{_DOES_NOT})\s(?:\w+ly\s|even\s)?"
        rf"(?:{_NOTICE}|admit|acknowledge|know|appreciate)\s{_THAT}",
        "it is true that ",
    ),
    (
        " that ",
        r"(?:\b(?:the|this|its|our)\s(?:\w{1,20}\s)?(?:model|system|classifier|filter|detector|tool|moderators?|annotators?"
        rf"|reviewers?|raters?|team)\s(?:\w+ly\s)?(?:(?:{_FAILS}|{_DOES_NOT})\s(?:\w+ly\s|even\s)?"
        r"(?:notice|reali[sz]e|recogni[sz]e|grasp|understand)|fail(?:s|ed)?\sto\ssee)"
        rf"|\b(?:nobody|no\sone)\s(?:\w+ly\s)?(?:seems\sto\s(?:have\s)?|has\s)?{_NOTICE})\s{_THAT}",
        "it is true that ",
    ),
    (
        " that ",
        r"(?:\b(?:one|we|you|it|i|let\sus|let['\u2019]s|please|and|but)\s)?(?:(?:must|should|may|can|could|do|does)\s?)?"
        r"(?:\b(?:not|never|cannot)|n['\u2019]t)\s(?:be\s)?(?:forget|overlook|ignore|miss|forgotten|overlooked|ignored)"
        rf"\s{_THAT}",
        "it is true that ",
    ),
    (
        "no getting|no way|lost on",
        r"(?:\bthere(?:\sis|['\u2019]s)\sno\s(?:getting|way)\s(?:around|round|past)\s(?:it[,:]?\s|the\sfact\sthat\s)"
        r"|\bit(?:\sis\snot|\sisn['\u2019]t|['\u2019]s\snot)\slost\son\s(?:me|us|anyone|anybody)\sthat\s)",
        "it is true that ",
    ),
    # "The model should have answered hateful"
    (
        "should",
        r"\b(?:the\s\w{1,20}|it|you|they|we|i)\sshould\s(?P<not>not\s)?have\s(?:answered|said|predicted|chosen|returned"
        rf"|replied|output|(?:labell?ed|marked|classified|flagged|rated|called)\s{_TEXT}(?:\sas)?)\s",
        r"the right label is \g<not>",
    ),
    # "I would be hard pressed to call it hateful", "you'd struggle to call it harmless"
    (
        "hard|difficult|struggle|trouble",
        rf"(?:\bwould|['\u2019]d)\s(?:be\shard[\s-](?:pressed|put)\sto|(?:find\sit\s{_HARD}|struggle)\sto(?=\s{_JUDGE}\s)"
        rf"|have\s(?:(?:a\shard|some)\stime|(?:(?!no\s|little\s)\w+\s)?(?:trouble|difficulty))(?=\s{_JUDGING}\s))\s",
        " cannot ",
    ),
    (
        "trouble|difficulty|problem|qualms",
        r"\b(?:have|had|see|find)\s(?:no|little)\s(?:trouble|difficulty|problem|qualms)\s(?:in\s|about\s|with\s)?"
        rf"(?={_JUDGING}\s)",
        "am ",
    ),
    # "It lacks the targeting of a group that is required for hate speech"
    (
        "required|needed|necessary|essential",
        r"\b(?:lacks|has\sno|ha[sd]\snone\sof|contains\sno(?:ne\sof)?|shows\sno|(?:does\snot|doesn['\u2019]t)\s(?:contain|have|show|include|involve|exhibit|feature))\s"
        r"[^.;:]{3,100}?\s(?:(?:that|which)\s(?:is|are|would\sbe)\s)?(?:required|needed|necessary|essential)\s"
        r"(?:for|to\s(?:be(?:\s(?:called|considered|classified\sas|labell?ed))?|qualify\sas|count\sas|constitute|make\sit))\s"
        r"(?:it\sto\s(?:be|count\sas|qualify\sas)\s)?",
        "is not ",
    ),
    # "Nothing in it comes even close to hate speech", "rude, but well short of hate speech"
    (
        "close to|near",
        r"((?:\b(?:nothing|none|never|not)\b|n['\u2019]t\b)[^.;:,]{0,60}?\s)(?:comes?|came|is|are|gets?)\s(?:even\s|remotely\s"
        r"|anywhere\s){0,2}(?:close|near)(?:\sto)?\s(?=(?:being\s|an?\s)*$)",
        r"\1is ",
    ),
    (
        "short of",
        r"(?<=,)\s(?:but|and|though|yet)\s(?:it\sis\s)?(?:still\s|well\s|far\s|just\s)*short\sof\s(?=(?:being\s|an?\s)*$)",
        " but it is not ",
    ),
    # A verdict behind a dash: "… – a textbook case of hateful content".
    (
        "of ",
        r"(?:\A\W{0,3}|[:\u2013\u2014]\s|\s-\s)(?:an?|the)\s(?:\w+ly\s)?(?:clear(?:-cut)?|textbook|classic|plain|obvious"
        r"|blatant|perfect|prime)\s(?:case|example|instance|piece)\sof\s$",
        "; this is a clear case of ",
    ),
    # "It goes well beyond what could still be called harmless"
    (
        "what c|what m|what w",
        r"\b(?:goes|is|moves|steps|lies|falls)\s(?:well\s|far\s|way\s)?(?:beyond|outside)\swhat\s(?:can|could|may|might"
        r"|would)\s(?:still|reasonably|fairly|charitably|just|any\slonger)\sbe\s(?=\w+ed\s|seen\s)",
        "cannot be ",
    ),
)
# "It could only be called hateful by someone who has not read it."
_ONLY_BE = re.compile(r"\b(?:can|could|would)\sonly\sbe\s(?=(?:\w+ed|seen|found|read)\s)")
_BY_SOME = re.compile(
    r"\s*(?:speech\s)?by\s(?:someone|somebody|those|people|readers|an?\s\w{1,20})\s"
    r"(?:who|that)\s(?:\w+\s){0,2}(?:not|n['\u2019]t|never|ignores?|misreads?|overlooks?|knows?\snothing)\b"
)
_TURNS = tuple(
    (tuple(pieces.split("|")), re.compile(pattern), words) for pieces, pattern, words in _TURNED
)
# "The charge that it is hateful", "that it is hateful": a statement, and what is said of it.
STATED = re.compile(
    rf"(?:^|[.;:,\u2014]|\b(?:and|but|yet|so)\s)\s*(?P<of>(?:the|this|that|any|every|your|his|her|their|its|our|my)\s(?:\w{{1,20}}\s)?"
    rf"{_STATEMENT}\sthat|that)\s(?={_TEXT}(?:\s|['\u2019]s\b)|not?\b)"
)
_HAS = (
    r"\s*(?:speech\s|content\s)?(?:has|have|had|is|was|are|were|remains|stands|seems|would\sbe"
    r"|can\sbe|turn(?:ed|s)\sout(?:\sto\sbe)?|prove[sd](?:\sto\sbe)?|strikes\s(?:me|us)\sas)"
)
_NOT = r"(?P<no>\s?(?:not|never|hardly)|n['\u2019]t|not)?"
_TRUE = (
    r"(?:shown|proven|proved|demonstrated|established|confirmed|substantiated|borne\sout|supported|correct|true|right|justified"
    r"|convincing|valid|sound|well[\s-]founded|upheld|accepted|(?P<doubted>clear|plain|obvious|evident|certain)|undeniable|indisputable|beyond\s(?:dispute|doubt|question)"
    r"|not\sin\s(?:doubt|dispute|question)|the\scase|a\sfact)\b"
)
_FALSE = (
    r"(?:refuted|disproved|rejected|dismissed|withdrawn|wrong|mistaken|false|untenable|absurd|unfounded|baseless|groundless|unproven"
    r"|ridiculous|nonsense|far-?fetched|untrue|incorrect|unconvincing|out\sof\sthe\squestion|a\s(?:misreading|mistake|myth|stretch|misunderstanding)"
    r"|(?P<open>in\s(?:doubt|dispute)))\b"
)
_SAID_OF_IT = (
    (re.compile(rf"{_HAS}{_NOT}\s(?:\w+ly\s|yet\s|been\s|also\s|quite\s){{0,3}}{_TRUE}"), True),
    (re.compile(rf"{_HAS}{_NOT}\s(?:\w+ly\s|yet\s|been\s|also\s|quite\s){{0,3}}{_FALSE}"), False),
    (
        re.compile(
            r"\s*(?:(?P<no>does\snot|doesn['\u2019]t|did\snot|didn['\u2019]t|cannot|fails?\sto)\s)?(?:holds?(?:\sup|\sgood|\swater)?|convinces?|stands?(?:\sup)?|persuades?|succeeds?)(?=\s*(?:$|[.;,!]))"
        ),
        True,
    ),
    (
        re.compile(
            r"\s*(?P<no>(?!))?(?:fails?|failed|collapses|falls\s(?:apart|flat|down)|goes\stoo\sfar|misses\sthe\spoint|(?:rests?|relies|is\sbased)\son\s(?:an?\s)?(?:\w+\s)?(?:mis\w+|error|confusion|mistake))\b(?!\sto\b)"
        ),
        False,
    ),
)


# "Hateful to Jews", "to people who pray", but no "to say so", "to harass": towards whom.
_TO_WHOM = re.compile(
    r"^(\s*(?:speech\s|content\s)?\s*)to\s+(?="
    r"(?:(?:the|all|any|every|many|most|those|these|our|other|some|both|black|white|brown|gay|trans\w*|queer|lesbian"
    r"|bisexual|disabled|deaf|blind|autistic|old(?:er)?|young(?:er)?|poor|(?!punish|publish|banish|vanish|finish)\w+(?:ish|ese|ian|can|ean|ic|im))"
    r"\s+(?:[\w'\u2019-]+\s+){0,2}?)?(?:[\w-]{2,25}(?<!s)s|people|women|men|children|folks?|everyone|everybody|anyone|persons?)"
    r"(?:\s*(?:$|[.,;:!?)\u2014])|\s+(?:and|or|as|because|since|for|in|of|who|from|with|by|alike|everywhere)\b))"
)
# "Not acceptable, hateful": no list of what it is not.
_NOT_GOOD = re.compile(
    r"(?:\bnot|n['\u2019]t)\s+(?:\w{1,20}ly\s+)?(?:acceptable|ok(?:ay)?|fine|alright|all\s+right|allowed|permissible|harmless"
    r"|safe|benign|innocent|innocuous|appropriate|funny|civil)\s*,\s*(?=(?:\w{1,20}ly\s+)?[\s\"]{0,3}$)"
)


def in_plain_words(before: str, after: str) -> tuple[str, str]:
    """What stands around a label word, lower case: before it "likely" and "not likely" for a
    chance, "it is" for a superlative, a verb of judging for "hence the … label"."""
    before, after = _NOT_GOOD.sub(" unacceptable, ", before), _SMILEY.sub("", after)
    after = _TO_WHOM.sub(r"\1towards ", after)
    if any(one in before for one in _OF_CHANCES):  # for the sake of time
        before = _MEASURED.sub(_as_measured, _CHANCE.sub(_as_likely, before))
    before = _LIKELY.sub("likely", before)
    before = before if _SHORT_OF.search(before) else _BEYOND.sub("is ", before)
    if _THAN.match(after):
        before = _COMPARES.sub(r"it is \g<how> ", before)
    if "more" in before and _THAN_THIS.match(after):
        before = _NO_MORE.sub(" it is ", before)
    if (reading := _READING.match(after)) is not None and _NO_ROOM.search(before):
        before, after = _NO_ROOM.sub(" this is not ", before), after[reading.end() :]
    before, after = _settled(*_measured(_straight(before, after), after))
    noun = LABEL_NOUN_AFTER.match(after)
    if noun is None:
        return before, after
    said = _CONCLUDED.sub("; labelled as ", RULED.sub(_as_ruled, before))
    return said, after if said == before else after[noun.end() :]


def _as_ruled(said: re.Match[str]) -> str:
    return f" i {'do not ' if said['undone'] else ''}label it as "


def _measured(before: str, after: str) -> tuple[str, str]:
    """ "It is likely", "it is not likely" for a share told behind the label, "it is" for criteria
    that are met."""
    all_of = _ALL_OF.search(before) if (met := _ARE_MET.match(after)) else None
    if met and all_of:
        return f"{before[: all_of.start('all')]}it is ", after[met.end() :]
    amounts = _AMOUNTS.match(after)
    asked = _HOW_LIKELY.search(before) if amounts else None
    if amounts is None or asked is None:
        return before, after
    denied = _DENIED.search(asked.group()) is not None
    share = float(amounts["share"] or (100 if amounts["high"] else 0))
    if share == EVEN:
        return f"{before[: asked.start()]}it may be ", after
    said = "it is not likely " if (share < EVEN) != denied else "it is likely "
    return before[: asked.start()] + said, after[amounts.end() :]


# "Anyone claiming this is hateful hasn't read the last sentence", "… is mistaken".
_WHO_CLAIMS = re.compile(
    r"\b(?:anyone|anybody|whoever|everyone|those|people)\s(?:who\s)?(?:claim|say|think|argu|believ|insist|maintain|pretend)"
    rf"\w{{0,3}}\s(?:that\s)?(?={_TEXT}(?:\s(?:is|was)|['\u2019]s|is)\b[^,;:.]{{0,20}}\Z)"
)
_DISPROVED = re.compile(
    r"\s*(?:speech\s)?(?:(?:has|have|did|cannot\shave|can['\u2019]?t\shave)\s?(?:not|n['\u2019]t)?\s?(?:read|seen|noticed|understood|understand|looked)"
    r"|(?:is|are)\s(?:\w+ly\s)?(?:wrong|mistaken|misreading|ignoring|overlooking|missing|fooling|kidding)|misse[sd]|ignores?|overlooks?|misreads?"
    r"|must\shave\s(?:missed|overlooked|misread)|should\s(?:re)?read|needs?\sto\s(?:re)?read)\b"
)


# "If this is hate speech, then so is every weather report."
_IF_SO = re.compile(
    rf"(?:\A|(?<=[.;:]\s))\W{{0,3}}(?:but\s)?if\s{_TEXT}\s(?:is|counts\sas|were)\s(?=(?:an?\s)?\Z)"
)
_SO_IS = re.compile(
    r"(?:\sspeech)?[\s\"]{0,3},?\s(?:then\s)?so\s(?:is|are|was|would\sbe)\s(?:every|any|all|each|half|most|my|an?)\b"
)


def _straight(before: str, after: str) -> str:
    """Without the wordings that turn a verdict round."""
    if _DISPROVED.match(after):
        before = _WHO_CLAIMS.sub("it is false that ", before)
    if _SO_IS.match(after):
        before = _IF_SO.sub("this is not ", before)
    for pieces, pattern, words in _TURNS:
        if any(piece in before for piece in pieces):
            before = pattern.sub(words, before)
    return _ONLY_BE.sub("cannot be ", before) if _BY_SOME.match(after) else before


def _is_doubt(said: re.Match[str]) -> bool:
    """ "It is not clear", "it is in doubt"."""
    told = said.groupdict()
    return bool(told.get("doubted") and told["no"]) or bool(told.get("open") and not told["no"])


def _settled(before: str, after: str) -> tuple[str, str]:
    """ "It is false that it is" for a statement of which that is said behind its label."""
    found = list(STATED.finditer(before))
    if not found:
        return before, after
    stated = found[-1]
    for pattern, holds in _SAID_OF_IT:
        said = pattern.match(after)
        if said is not None and not _is_doubt(said):
            turned = "true" if holds == (said["no"] is None) else "false"
            opening = before[: stated.start("of")]
            return f"{opening}it is {turned} that {before[stated.end() :].lstrip()}", after[
                said.end() :
            ]
    return before, after


def _leans(found: re.Match[str]) -> bool | None:
    """Does more than half speak for it? None where it is even."""
    if found["share"] is None:
        return found["high"] is not None
    share = float(found["share"])
    return None if share == EVEN or share > 2 * EVEN else share > EVEN


def _as_likely(found: re.Match[str]) -> str:
    leans = _leans(found)
    if leans is None:
        return found.group()
    degree = "likely " if leans else "not likely "
    return f"is {degree}" if found["has"] or found["being"] else f"{degree}that "


def _as_measured(found: re.Match[str]) -> str:
    share = float(found["share"])
    return found["word"] if EVEN < share <= 2 * EVEN else found.group()
