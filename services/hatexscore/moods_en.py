"""Words and patterns that tell what an English clause about a label word asserts: whether it asks,
doubts, supposes, reports, appeals, speaks in general, or judges this text.

Source: our own. Every pattern meets at most the few hundred characters around one label word.
"""

from __future__ import annotations

import re

from services.hatexscore.cues_en import AUXILIARY, JUDGE, JUDGES, SAY, TEXT_NOUN

# "Less a joke than plain hate": it is the second. "More of a joke than hate": it is the first.
_DISPLAY = (
    r"(?:(?:[\w-]{1,20}\s+){0,2}(?:display|form|act|piece|expression|show|case|example|outburst"
    r"|instance|matter|dose|bit|burst|statement|declaration|sort|kind)\s+of\s+(?:an?\s+|the\s+)?)?"
)
_COMPARED_TO = (
    r"(?:(?:an?|the|of|about|to|like|plain|pure|open|outright|sheer|simple|mere|\w{1,20}ly)\s+)"
    r"{0,3}"
)
LESS_THAN = re.compile(
    rf"\bless\s+{_COMPARED_TO}[\w'\u2019-]{{1,30}}(?:\s+[\w'\u2019-]{{1,30}}){{0,4}}?\s+than\s+"
    rf"(?={_COMPARED_TO}{_DISPLAY}[\s\"]{{0,3}}$)"
)
MORE_THAN = (
    rf"(?:more|closer\s+to)\s+{_COMPARED_TO}[\w'\u2019-]{{1,30}}(?:\s+[\w'\u2019-]{{1,30}}){{0,4}}?\s+than"
    rf"(?=\s+{_COMPARED_TO}[\s\"]{{0,3}}$|\s*$)"
)
_OBJECT = (
    rf"(?:\s+(?:it|this(?:\s+(?:one|{TEXT_NOUN}))?|that\s+one|(?:the|that)\s+(?:\w+\s+)?"
    rf"(?:{TEXT_NOUN})))?"
)
# "Not criticism of a government but hatred of its people", "satire rather than hate".
NOT_BUT = re.compile(
    r"(?:\bnot|n['\u2019]t)\s+(?:(?:about|an?|any|just)\s+)?[\w'\u2019-]{1,30}(?:\s+[\w'\u2019-]{1,30}){0,6}\s*,?\s*but\s*$"
)
OF_THEM = re.compile(
    r"\s+(?:of|for|towards?|against)\s+(?:an?|the|its|their|his|her|those|these|all|any|people|women"
    r"|men|foreigners|others|\w+s)\b"
)
BARE_CONTRAST = re.compile(
    r"\W*(?!.{0,80}\b(?:is|are|was|were|does|do|has|have|reads?|seems?|looks?)\b)"
    r"(?:[\w'\u2019-]{1,30}\s+){1,8}(?:rather\s+than|instead\s+of|not|than)"
    r"(?:\s+(?:an?|outright|plain|of|to|real|actual))*[\s\"]*"
)
# "We are looking at hate speech": this is it.
FACED_WITH = re.compile(
    r"\b(?:we|you|i)(?:\s+(?:are|am)|['\u2019](?:re|m))(?P<no>\s+not|n['\u2019]t)?\s+(?:\w+ly\s+)?"
    r"(?:looking\s+at|dealing\s+with|faced\s+with|confronted\s+with|talking\s+about|witnessing"
    r"|seeing|reading)\s"
)
# "A rule against hate" rules against nothing; "under clause 2(b), hateful content" names it.
RULE_AGAINST = re.compile(
    r"\b(rules?|polic(?:y|ies)|guidelines?|provisions?|bans?|prohibition|clause|section|standard)\s+against\b"
)
CLAUSE_NAMED = re.compile(
    r"\b(?:clause|section|rule|policy|article|paragraph|point|guideline|chapter|category)\s+"
    r"(?:no\.?\s*)?(?:\d[\w.]{0,6}|[a-z])(?:\s?\(\w{1,4}\)){0,3}\s*(?:[,:(\u2013\u2014-]|of|on)+\s*(?:of\s+|on\s+)?[\"\s(]*$"
)
# "Not abusive, and not toxic either": each is denied by itself.
NOT_LIST = re.compile(
    r"\bnot\s+[\w-]{1,30}(?:\s+[\w-]{1,30}){0,2}?\s*(?:,\s*(?:and|or|nor)?|and|or|nor)\s*(?=(?:\w+ly\s+)?not\b)"
)
# What is done to a text judges it: "remove this as", "was taken down for", "let it pass as".
DECISION_ACTS = re.compile(
    rf"\b(?:(?:remov|delet|eras|block|reject|hid|pull)(?:e|es|s|ed|den|ing)?(?P<removed>{_OBJECT})"
    rf"|t(?:ak(?:e|es|en|ing)|ook)(?P<down>{_OBJECT})\s+down)\s+(?:as(?:\s+being)?|for(?:\s+being)?"
    r"|(?:on|under)\s+(?:the\s+)?(?:grounds?|heading|charge)\s+of|because\s+of|due\s+to)\s"
    rf"|\b(?:(?:keep|kept|leav|left|allow|approv|pass|clear)(?:e|es|s|ed|ing)?(?P<kept>{_OBJECT})"
    rf"(?:\s+up)?|let(?:s|ting)?(?P<let>{_OBJECT})\s+(?:stand|pass|through|be))\s+as\s"
)
# "You can't call this anything but": it is called so.
NO_OTHER = re.compile(
    r"\b(?:hard|difficult|impossible|cannot|can\s*n?['\u2019]t)\b(?P<what>(?:(?!\s(?:or|and)\s)[^.;:,]){0,60}?)"
    r"\bany(?:thing|\s+\w+)\s+(?:other\s+than|but|except)(?:\s+that)?\b"
)
# "The second line makes it clear that it is": it tells of the whole.
REVEALS = re.compile(
    r"\b(?:makes?|made|shows?|showed|reveals?|confirms?|proves?|demonstrates?|settles)\s+(?:it\s+)?"
    rf"(?:\w+\s+)?that\s+(?:it|this|the\s+(?:\w+\s+)?(?:{TEXT_NOUN}))\b"
)
# "Removed for hate speech, then restored", "labelled hateful: wrong", "turns hate into a joke".
# "The very opposite of hateful"; "Going with hate."
OPPOSITE = re.compile(r"\b(?:(?:an?|the|quite\s+the)\s+)?(?:very\s+)?opposite\s+of\s+")
GOING_WITH = re.compile(
    r"^(\W*)(?:(?:going|settling|siding|sticking|opting)\s+(?:with|for|on)|(?:chang|switch|revis|amend|updat|correct)ing"
    r"\s+(?:it|this|(?:the|my|our|its)\s+\w+)\s+(?:from\s+[\w-]+\s+)?to)\s+(?=(?:\w+\s+){0,2}[\s\"]*$)"
)
UNDONE = re.compile(
    r"(?<!\bnot )(?<!\bnot be )(?<!n['\u2019]t be )(?<!\bnever be )"
    r"\b(?:restored|reinstated|overturned|reversed|put\s+back|undone|lifted|revoked|withdrawn)\b"
)
REFUTED = re.compile(
    r"\W{1,3}(?:wrong|mistaken|incorrect|false|nonsense|no[.!,;]|not\s+(?:so|true|right)|hardly)\b"
)
TURNED = re.compile(r"\b(?:turn|transform|convert|chang|soften)\w*\s+(?:an?\s+|the\s+)?$")
INTO = re.compile(r"\s+(?:\w+\s+)?into\b")
# Words that look like a denial and are none, and what a reader may skip.
IDIOM = re.compile(
    r"(?:\bnot|n['\u2019]t)\s+(?:only|just|merely|simply|solely)\b"
    r"|(?:(?:\bnot|n['\u2019]t)\s+(?:\w+\s+){0,2}any|\b(?:no|without|little|beyond))\s+(?:(?:a|any"
    r"|the)\s+)?(?:reasonable\s+)?(?:shadow\s+of\s+a\s+)?"
    r"(?:doubt|question|ambiguity|denying|mistaking|hesitation|arguing|reservations?|exception)\b"
    r"|(?:\bnot|n['\u2019]t)\s+so\s+much\s+[^,.;]{1,60}?\s+as\s+(?:it\s+is\s+)?(?=(?:\w+ly\s+"
    r"|an?\s+)?[\s\"]*$)"
    r"|(?:\b(?:cannot|no|not|never|hardly|scarcely|barely|rarely|seldom|few|hard\s+to)|n['\u2019]t)\b[^.;:,]{0,30}?\b(?:clearer|better|plainer"
    r"|more\s+\w+)\s+(?:case|example|instance|illustration)\s+of\b"
    r"|\bnothing\s+(?:to\s+(?:see|report|worry\s+about|add|remove|act\s+on|flag)|wrong|bad|unusual"
    r"|out\s+of\s+(?:place|the\s+ordinary)|problematic|concerning|of\s+concern|alarming|amiss"
    r"|special|serious)(?:\s+(?:here|there|(?:about|in|with)\s+\w+(?:\s+\w+)?))?"
    r"(?=\s*[,;:.\u2014-])|\brather\s+than\s+(?:just|merely|only|simply)\b"
    r"|\bno\s+\w+\s+other\s+than\b|\btakes?\s+(?:no|little)\s+\w+\s+to\b|\bno\s+less\b"
    r"|\bno\s+matter\b|\bno\s+way\s+around\b|\bno\s+choice\s+but\b"
    r"|\bnothing\s+(?:but|other\s+than|less\s+than|short\s+of)\b|\bnothing\s+if\s+not\b"
    r"|\b(?:cannot|can\s*not|can['\u2019]t)\s+(?:help\s+but|be\s+(?:denied|disputed|ignored"
    r"|overlooked))\b"
    r"|(?:\bnot|n['\u2019]t)\s+(?:be\s+)?(?:hesitate|hesitant|hesitating|hard|difficult)\s+to\b"
    r"|\b(?:hard|difficult|impossible)\s+not\s+to\b"
    r"|\b(?:nothing|no\s+\w+|hardly\s+\w+)\s+(?:could|can|would|is)\s+(?:be\s+)?(?:more"
    r"|clearer|plainer)\b|\bundeniabl[ey]\b"
    r"|\bmore\s+(?:often|likely)\s+than\s+not\b|\bif\s+not\b|\bwhether\s+or\s+not\s+(?:it\s+was\s+)?intended\b"
    r"|\b(?:un)?intentionally\s+or\s+not\b|\bjoke\s+or\s+not\b|\bnot\s+to\s+mention\b"
    r"|\b(?:nobody|no\s+one|no\s+\w+|(?:can|could)(?:not|n['\u2019]t|\s+not)|hard\s+to"
    r"|impossible\s+to)\b[^,;:]{0,80}?\bmistak\w+\s+(?:it|this|(?:this|the)\s+\w+)\s+for"
    r"\s+anything\s+(?:but|other\s+than)\b"
    r"|\b(?:no|nobody|no\s+one|cannot|can['\u2019]t)\s+(?:\w+\s+)?(?:den(?:y|ies|ied)|disput(?:e|es"
    r"|ed))\b"
    # what is denied is a weakening: "does not change the fact that", "does nothing to soften"
    r"|(?:\b(?:not|cannot|nothing|never|hardly|neither|no\s+\w+|fails?)|n['\u2019]t)\s+(?:to\s+"
    r"|can\s+|could\s+"
    r"|will\s+|does\s+|\w+ly\s+|in\s+any\s+way\s+)*(?:chang|alter|negat|diminish|mitigat|excus|hid"
    r"|mask|conceal|disguis|lessen|undo|eras|reduc|soften|obscur|outweigh|offset|detract|distract"
    r"|dilut)(?:e|es|s|ed|ing)?\b"
    r"|\bnothing\s+(?:about|in)\s+(?:[\w'\u2019-]+\s+){1,5}?(?:chang|alter|excus|hid|mask|soften"
    r"|lessen)(?:e|es|s)?\b"
    # "no other category than", "nothing else but": all but this is denied
    r"|(?:\b(?:no|not|nothing|never)|n['\u2019]t)\b(?:(?!\s(?:or|and)\s)[^.;:,]){0,80}?"
    r"\b(?:other|else|otherwise)\b(?:(?!\s(?:or|and)\s)[^.;:,]){0,30}?"
    r"\b(?:than|besides|but|except(?:\s+for)?|apart\s+from|beyond)\b"
)
# "Does not make it any less hateful", "nothing about the tone makes this less toxic".
THIS_IS = re.compile(r"\b(?:this|it|the\s+\w+)\s+(?:is|was)\b")
NO_LESS = re.compile(
    r"(?:\b(?:not|cannot|nothing|never|hardly|neither)|n['\u2019]t)\s+"
    r"(?:(?:about|in)\s+(?:[\w'\u2019-]+\s+){1,5}?|\w+ly\s+|in\s+any\s+way\s+)?"
    r"makes?\s+(it|this|that|(?:this|the)\s+\w+)\s+(?:any\s+|the\s+)?less\b"
)
# "Lack of slurs" as what makes a verdict: a negation of the subject alone, not of its verb.
SUBJECT_LACKS = re.compile(
    rf"\b(?:lack|absence|dearth)\s+of\b(?:(?!\b(?:that|which|who"
    rf"|to\s+(?:be|say|support|suggest|justify|warrant|indicate|show|prove|believe|think))\b)"
    rf"[^,;:]){{1,120}}?(?=(?<!\bto)\s(?:{JUDGES}|{AUXILIARY}|indicate|suggest|speak|tip"
    rf"|distinguish(?:es)?|separates?"
    r"|differentiates?|prevents?|stops?|saves?|sets?|also|further"
    r"|\w+\s+(?:(?:to|in|for|towards)\s+)?(?:its|this|the)\s+(?:\w+\s+)?(?:classif|categori|label"
    r"|designat)\w*)\b)"
)
NO_LIST = re.compile(
    r"\bno\s+[\w'-]+(?:\s+[\w'-]+){0,3}\s*(?:,|\band\b|\bor\b|,\s*(?:and|or)\b)\s*(?=no\b)"
)
NEGATION = re.compile(
    r"\b(?:not|never|no|none|nothing|nobody|neither|nor|cannot|without|hardly|scarcely|barely"
    r"|lack(?:s|ed|ing)?|absen(?:ce|t)|devoid|(?:free|clear|short|shy)\s+(?:of|from)|fail(?:s|ed"
    r"|ing)?\s+to"
    r"|(?:rather\s+than|instead\s+of|as\s+opposed\s+to)(?!\s*\")(?![^,]*(?:,|\b(?:is|are|was|were"
    r"|leads?|makes?|constitutes)\b))|everything\s+but|anything\s+(?:but|(?:other|less)\s+than|short\s+of)|(?:far|miles)\s+from"
    r"|(?:false|untrue|wrong|incorrect|inaccurate|mistaken|unfair|unjustified|misleading|mistake"
    r"|error|exaggeration|overstatement|stretch|misreading|inappropriate"
    r"|misconception|myth|fallacy|misunderstanding|illusion|too\s+far)(?=\s+(?:not\s+)?(?:to|that)\b)"
    r"|den(?:y|ies|ied|ying)|doubts?|doubted|disagrees?|reject(?:s|ed|ing)?(?!\s+(?:\w+\s+){1,2}as\b)|rul(?:e|es|ed"
    r"|ing)\s+out|(?:disput|contest|dismiss|refut|rebut|challeng)\w*\s+(?:the|any|this"
    r"|that)\s+(?:\w+\s+)?(?:claim|idea"
    r"|notion|suggestion|argument|charge|accusation|allegation|view|classification|label)"
    r"|few(?=\s+(?:would|will|could|can|people|readers)\b)|(?:little|few)(?=\s+(?:in|of|about|here)\b)"
    r"|(?:wrong|mistaken|incorrect|false|erroneous|unfair)ly|in\s+error|by\s+mistake|in\s+vain"
    r"|vainly|(?:argu|speak|spoke|count|weigh|point|tell|plead|recommend|advis|advice|decid|rul|vot"
    r"|caution|warn|lean|come\s+down|came\s+down)\w*\s+(?:\w+ly\s+)?(?:against|away\s+from)"
    r"|(?:(?:no\s+one|nobody|not|hard\s+to|impossible\s+to)\b[^,;:]{0,40}?\b)?(?:mistak"
    r"|confus)\w+\s+(?:it|this|(?:this|the)\s+\w+)\s+(?:for|with)"
    r"|(?:hesitat\w+|reluctant|loath|unwilling|disinclined|unlikely)\s+to|(?:falls?|fell|lies?"
    r"|remains?|is|stays?)\s+(?:\w+ly\s+|well\s+)?outside"
    r"|(?:insufficient|inadequate|scant|little)\s+(?:\w+\s+)?(?:evidence|grounds?|reasons?|basis"
    r"|cause|justification|support|indication|proof)"
    r"|(?:prevent|keep|stop|sav|preclud|distinguish|separat|differentiat|disqualif|exempt)(?:e|es|s"
    r"|ed|ing|y|ies)?\s+(?:[\w'\u2019-]+\s+){0,4}?from"
    rf"|{MORE_THAN}|far\s+be\s+it\s+from|(?:just\s+|on\s+)?this\s+side\s+of"
    r"|(?:opposite|antithesis|reverse)\s+of|nowhere|a\s+far\s+cry|light\s+years|worlds?\s+away"
    r"|(?:naive|paranoid|petty|dishonest|absurd|ridiculous|odd|strange|generous|disingenuous|silly|foolish"
    r"|premature|reckless"
    r"|irresponsible|(?:hard|difficult|impossible)(?=\s+to\s+(?:see|call|read|regard|consider|argue|maintain|claim|justify|defend"
    r"|view|label|classify|find|justify))"
    r"|unreasonable|excessive|nonsense|hasty|unwise|careless|cynical|perverse|harsh)\s+to"
    r"|exclud(?:e|es|ed|ing)|stop(?:s|ped)?\s+being|ceas(?:e|es|ed)\s+to\s+be|refus(?:e|es|ed|ing)|avoid(?:s|ed|ing)?|steers?\s+clear|refrain(?:s|ed"
    r"|ing)?"
    r"|too\s+\w+\s+(?:\w+\s+){0,2}to\s+(?:be|count|qualify|amount|constitute|deserve)|below|isnt"
    r"|doesnt|(?:do|does|is|did)not)\b|n['\u2019]t\b"
)
# Of a text, and no verb of what it does to people ("denies them a right").
PLAIN_NEGATION = re.compile(
    r"\b(?:not|never|no|none|nothing|nobody|neither|nor|cannot|without|hardly|lack(?:s|ed"
    r"|ing)?|absence|devoid|free\s+(?:of|from))\b|n['\u2019]t\b"
)
ASKED = re.compile(
    r"\b(?:asked|told|instructed|requested|tasked|prompts?|task|question)\b[^,;]{0,40}\bwhy\b"
    r"|\bwhether\b|\b(?:know|see|say|tell|determine|decide|ask|judge|asked|unclear|check|wonder"
    r"|sure)\s+if\b|\b(?:hateful|safe|toxic|offensive|normal)?\s*or\s+not\s*$"
)
# "Asking whether a people deserves to exist is hateful": what is judged is the question.
ASKING = re.compile(
    r"\W*(?:merely\s+|just\s+)?(?:asking|wondering|questioning|debating)\s+(?:whether|if)\b.{1,200}"
    r"\b(?:is|isn['\u2019]t|constitutes|qualifies)\s"
)
HEDGE = re.compile(
    r"\b(?:may|might|could(?!\s*n['\u2019]t|\s+not)"
    r"|(?<!n't )(?<!n\u2019t )(?<!cannot )(?<!not )possibly|perhaps|potentially|maybe|unclear"
    r"|unsure|uncertain|ambiguous"
    r"|not\s+(?:entirely\s+|quite\s+|completely\s+|fully\s+)?(?:sure|certain|confident|clear|obvious"
    r"|necessarily(?!\s+(?:amount|meet|constitute|qualify|rise|cross|fall|count)\b))|undecided"
    r"|hard\s+to\s+(?:say|tell|decide)|difficult\s+to\s+(?:say|tell|decide|determine)"
    r"|impossible\s+to(?!\s+(?:see|call|read|regard|consider|view|label|classify|find|justify)\b)"
    r"|(?:not|cannot|n['\u2019]t)\s+(?:be\s+)?ruled?\s+(?:it\s+)?out|tempted\s+to|temptation\s+to|borders?\s+on|bordering\s+on|verg(?:es?|ing)\s+on|borderline"
    r"|close\s+to|on\s+the\s+(?:edge|verge|brink)"
    r"|(?:readings|interpretations)\s+(?:are\s+(?:\w+\s+)?(?:possible|plausible)|exist)|almost|nearly|approach(?:es|ing)|debatable|open\s+to|up\s+for\s+debate|in\s+some\s+(?:eyes"
    r"|readings?)"
    r"|(?:cannot|can['\u2019]t|can\s+not|unable\s+to)\s+(?:say|tell|decide|determine|know"
    r"|judge)(?!\s+that)"
    r"|to\s+(?:determine|decide)|risks?|chance|possibility|likelihood|suspicion|in\s+danger\s+of"
    r"|some\s+(?:\w+\s+)?(?:would|will|may|might|could))\b"
)
FIRST_SIGHT = re.compile(
    r"\b(?:taken|read)\s+(?:literally|out\s+of\s+context)\b|\bout\s+of\s+context\b"
    r"|\bat\s+first\b|\bat\s+(?:a\s+)?(?:quick\s+|first\s+)?glance\b|\bon\s+the\s+(?:surface"
    r"|face)\b|\binitially\b"
    r"|\b(?:i|we)\s+(?:was|were)\s+(?:ready|about|going|tempted|inclined|prepared)\s+to\b"
    rf"|\bin\s+(?:the\s+)?1\d\d\ds?\b|\bback\s+then\b|\bin\s+those\s+days\b|\boriginally\b|\b(?:once|formerly)\s+(?:{JUDGE})\b|\b(?:my|i)\s+(?:first|initial)(?:ly)?\b|\bat\s+the\s+beginning\b"
    r"|\bprima\s+facie\b|\bused\s+to\b|\bearlier,?\s+(?:i|we)\b|\bpreviously\b"
)
# "I cannot agree with those who find this hateful": "I cannot find".
SHARED_VIEW = re.compile(
    r"\b(?:agree|(?P<dis>disagree)|side|go\s+along)\s+with\s+(?:those|people|anyone|everyone"
    r"|the\s+\w+)\s+(?:who|that)\s+"
    r"(?:find|finds|found|call|calls|consider|considers|think|thinks|say|says|believe|believes"
    r"|see|sees)\b"
)
BY_A_MODEL = re.compile(
    r"\b(?:model|classifier|system|detector|filter|algorithm|tool|annotators?|raters?|reviewers?"
    r"|moderators?)(?:['\u2019]s)?\b"
)
# ", which is hate": of a standard that is named before it.
NO_TEXT_BEFORE = re.compile(
    r"\b(?:standards?|criteri(?:a|on)|questions?|rules?|definitions?|categor(?:y|ies)|words?"
    r"|terms?|polic(?:y|ies)|tests?|thresholds?|class|group)\s*,?\s*$"
)
# "A previous moderator removed it as hateful": not yet the explanation's own verdict.
EARLIER_JUDGE = re.compile(
    r"\b(?:previous|earlier|original|initial|first|another|other|automatic|automated)\s+(?:\w+\s+)?"
    r"(?:moderator|annotator|reviewer|rater|decision|label|verdict|classification|assessment|rating"
    r"|annotation|review|judge?ment|filter|tool|flag)s?\b"
)
DEPENDS = re.compile(r"\bdepend(?:s|ing|ent)\b|\bif\s+(?:and\s+)?only\s+if\b")
# Behind a verdict: somebody else has yet to give it, or gives another one.
STILL_OPEN = re.compile(
    r"\b(?:has|have)\s+(?:yet|still)\s+to\s+(?:decide|rule|review|confirm|judge|look|say)\b"
    r"|\b(?:decision|verdict|ruling|review|outcome)\s+(?:is|are|was|remains?)\s+(?:still\s+)?"
    r"(?:pending|open|outstanding|due)\b|\bunder\s+review\b"
    r"|\b(?:awaits?|awaiting|pending)\s+(?:\w+\s+){0,2}(?:review|decision|confirmation)\b"
    r"|\bothers?\s+(?:did|do|does|disagreed?s?)(?:\s*n['\u2019]t|\s+not)?\W*$"
    r"|\b(?:i|we)(?:\s+am|\s+are|['\u2019]m|['\u2019]re)\s+not\s+(?:\w+ly\s+)?(?:sure|certain)\W*$"
)
DIVIDED = re.compile(
    r"\b(?:moderators|reviewers|raters|annotators|opinions|views|we)\s+(?:are|were)\s+"
    r"(?:divided|split)\b"
)
IF = re.compile(
    r"(?<!even )(?<!as )\bif\b(?!\s+(?:only\s+(?:just|barely|narrowly|mildly|by)|anything|any"
    r"|at\s+all|not(?!\s*,)|you\s+(?:ask|will|read|look|consider)|one\s+reads"
    r"|(?:i|we)\s+(?:had|have)\s+to|we\s+(?:look|read|take)|\w+\s*(?:$|[.;!])))|\bunless\b"
    r"|\b(?:provided\s+that|assuming|supposing|suppose|imagine)\b|^\W*(?:had|were|should"
    r"|replace|swap|insert)\s+(?!(?:not|never|be|have|therefore|thus|also|still)\b)\S"
    r"|\b(?:only|had)\s+(?:it|the\s+\w+|this|they|he|she)\s+been\b|\bin\s+place\s+of\b|\ba\s+version\b"
    r"|^\W*(?:without|but\s+for|absent)\s+(?!(?:an?\s+|any\s+)?(?:doubt|question|hesitation))[^,;:]{1,60}?"
    r"\s(?:it|this|the\s+\w+)\s+(?:would|could|might)\b(?!\s+(?:still|also))"
)
WOULD = re.compile(
    r"\bwould\b(?!\s*$|\s*(?:not\s+)?be\s+(?:wrong|incorrect|a\s+mistake|an\s+error|fair"
    r"|unfair|right|inaccurate|accurate|mistaken|misleading|a\s+stretch|an\s+exaggeration"
    r"|(?:\w+ly\s+|an?\s+)?\w+\s+(?:not\s+)?to\b))"
    r"|['\u2019]d\b(?!\s+be\s+(?:(?:\w+ly\s+|an?\s+)?\w+\s+(?:not\s+)?to\b|wrong\b|fair\b|right\b))"
)
WOULD_JUDGE = re.compile(
    rf"\b(?:(?:i|we|one|few|nobody|no\s+one|everyone|most(?:\s+\w+)?|moderators?|annotators?"
    rf"|reviewers?)(?:\s+would(?:n['\u2019]t)?|['\u2019]d)|would\s+(?:i|we|one))\s+(?:\w+\s+){{0,3}}?(?:{JUDGE}|say|answer|argue|conclude|agree|disagree|deny|dispute"
    rf"|go\s+(?:with|for|so\s+far\s+as\s+to|as\s+far\s+as\s+to)|choose|pick|select|settle\s+(?:on|for)|opt\s+for|come\s+down|land|err|lean|tend|incline|side|bet)\b"
    rf"|\b(?:readers?|persons?|observers?|members?|audience)\b[^,;:]{{0,60}}?\bwould\s+"
    rf"(?:\w+ly\s+)?(?:{JUDGE})\b"
)
WOULD_OF_TEXT = re.compile(
    rf"(?:^\s*|[^\w\s]\s*|\b(?:definitions?|standards?|polic(?:y|ies)|guidelines|rules|criteria)\s+)(?:(?:so|thus|therefore|hence|and|overall)\W+)?(?:(?:i|we)\s+(?:(?:do|did)(?:\s+not|n['\u2019]t)\s+)?(?:\w+ly\s+)?(?:believe|think|feel|find|say|argue|conclude|agree)\s+(?:that\s+)?)?(?:this|that|it|which"
    rf"|these|(?:this|the|that)\s+(?:[\w'\u2019-]+\s+){{0,3}}(?:{TEXT_NOUN}))\s+would\s+(?:\w+ly\s+"
    r"|also\s+|therefore\s+|thus\s+|not\s+)*(?!(?:have|take|need|require|depend)\b)\w+"
)
BECAUSE = re.compile(
    r"\W*(?:yes|no|indeed|even\s+(?:if|though)|regardless|no\s+matter|whatever|with\s+or\s+without|given"
    r"|because|since|as|based|considering|due|owing|thus|therefore|overall|hence|so"
    r"|in\s+(?:conclusion"
    r"|short|summary|sum|view|light|all)|taken|under\s+(?:the|this|our|these)|all|on\s+balance"
    r"|for|by\s+(?:this|that|these))\b"
)
GENERAL = re.compile(
    rf"\b(?:make|makes|render|renders)\s+(?:an?|any|every|some)\s+(?:{TEXT_NOUN}|thing|remark)\s+"
    r"(?:\w+ly\s+)?$|\b(?:is|are|was|be)\s+defined\s+as\b|\b(?:(?<!no\s)means|refers\s+to|denotes"
    r"|is\s+speech\s+that|by\s+definition)\b"
    r"|\bwhat\s+(?:constitutes|counts\s+as|qualifies\s+as|amounts\s+to|is"
    r"|makes(?!\s+(?:it|this|that)\b))\s+(?:an?\s+)?(?:\w+\s+)?$"
    r"|\bthere\s+are\s+(?:\w+\s+)?(?:posts|comments|texts|people|jokes|messages|words)\s+(?:that|who"
    r"|which)\b|\bnot\s+(?:every|all|always|everything)\b|\b(?:insults|posts|comments|words"
    r"|things)\s+like\s+(?:this|these|that)\b"
    r"|\b(?:often|usually|typically|generally|sometimes|in\s+general|as\s+a\s+rule)\b"
)
APPEAL = re.compile(
    r"\b(?:never|not)\s+(?:\w+ly\s+)?(?:ok(?:ay)?|acceptable|right|fine|alright|cool|justified"
    r"|justifiable|appropriate|funny)\s+(?:to|for)\b|\bno\s+(?:excuse|room|justification"
    r"|tolerance)\s+for\b|\b(?:important|essential|crucial|vital|necessary|imperative|critical"
    r"|paramount)\s+(?:that|we)\b"
    r"|\b(?:everyone|everybody|all\s+people|nobody|no\s+one|people)\s+deserves?\b|"
    r"^\W*(?:please\s+)?report\b|\btolerat\w+|\bstand(?:s|ing)?\s+up\b|\bspeak(?:s"
    r"|ing)?\s+(?:out|up)\b|\blet\s+(?:us|'s)\b|\blet['\u2019]s\b"
    r"|\bzero[\s-]tolerance\b|\bno\s+place\s+(?:in|on|for)\b|\bremember\b|\bplease\b"
    r"|\bnever\s+acceptable\b"
    r"|\b(?:committed|strive|striving|dedicated)\s+to\b|\b(?:important|essential|crucial|vital"
    r"|critical|necessary|imperative|paramount|better|best|right|wise)\s+(?:for\s+\w+\s+)?to\b"
    r"|\bmake\s+sure\b|\bensur(?:e|es|ing)\b|\bfoster\w*|\bkeep(?:ing)?\b[^,;]{0,40}\b(?:free|clear"
    r"|safe)\b|\bwork(?:ing)?\s+(?:together|towards?)\b|\bcombat(?:s|ing)?\b|\bfight(?:s|ing)?\b"
    r"|\bavoid\s+using\b"
    r"|\b(?:we|you|one|everyone|everybody|people|platforms?|communit(?:y|ies)|society|users|all"
    r"|each\s+of\s+us|nobody|no\s+one|anyone|sites?|companies|moderators)"
    r"\s+(?:\w+\s+){0,2}?(?:must|should|ought|need|needs|have\s+to|has\s+to|can\s+all"
    r"|cannot\s+accept|will\s+not|do(?:es)?\s+not\s+(?:allow|accept|permit|want|condone))\b"
)
APPEAL_ASKS = re.compile(
    r"\b(?:ask|urge|encourage|remind|invite|expect|call\s+on|request|want)\s+(?:everyone"
    r"|everybody|users|people|all|members|you|readers|each|authors)\b"
)
# "No one should have to read hateful messages": whatever the verb is.
APPEAL_ALWAYS = re.compile(
    r"\b(?:no\s+one|nobody|every(?:one|body)|people|children|users)\s+(?:should|must|ought)\s+"
    r"(?:\w+\s+)?(?:(?:to\s+)?have\s+to|be\s+(?:able|forced|allowed|free|safe|exposed|subjected)"
    r"|ever|feel|suffer|face|endure)\b"
)
APPEAL_EXCEPT = re.compile(
    rf"\b(?:must|should|ought\s+to|need\s+to|have\s+to|has\s+to|important\s+to"
    rf"|(?:right|wrong|correct|fair|reasonable|better|best|wise|necessary|justified)\s+to"
    rf"|remember)\s+(?:\w+\s+){{0,2}}?(?:be\s+)?(?:{JUDGE}|conclude|say|note|admit|acknowledge"
    rf"|stress|emphasi[sz]e|that\s+(?:it|this|the|these))\b"
)
PARTIAL = re.compile(
    r"(?<!no )(?<!any )\bparts?\s+of\b|\b(?:first|second|last|latter|former|other|opening|closing"
    r"|final|third)\s+(?:half|part|word|line|sentence|clause|paragraph|section|phrase)\b"
    r"|\b(?:by|in)\s+(?:itself|themselves|isolation)\b|\bon\s+its\s+own\b|\btaken\s+alone\b"
    r"|\b(?:word|title|phrase|hashtag|emoji|ending|opening)s?\s+alone\b"
    r"|\bin\s+(?:other|another|different|some|certain)\s+(?:\w+\s+)?(?:settings?|contexts?|cases?"
    r"|places|circumstances)\b|\belsewhere\b"
    r"|\b(?:beginning|opening|ending|end|start)\s+of\s+(?:the|this)\b(?!\s+(?:\w+\s+)?(?:scale|spectrum|range)\b)|\bat\s+times\b"
    r"|\bin\s+(?:one|the\s+(?:first|second|other))(?:\s+of\s+(?:them|these|those)|\s+reading|\s+case"
    r"|\s+sense)?\s+(?:it|this|the)\b|\bin\s+places\b|\bpartly\b|\bin\s+part\b"
    r"|\b(?:repl(?:y|ies)|comments?|posts?|thread|message|responses?)\s+(?:below|underneath|beneath"
    r"|it\s+answers|above\s+it)\b"
    r"|\b(?:another|other|(?<!about )the\s+original|the\s+previous|the\s+earlier|a\s+different"
    r"|a\s+second|(?:previous|earlier|older|former|past)(?=\s+\w+s\b))\s+(?:post|comment|tweet"
    r"|text|message|reply|article|user|caption|version)s?\b"
)
FINAL = re.compile(
    r"^\W*(?:(?:step\s+|point\s+)?\d{1,3}\W+)?(?:(?:so|and|but|well)\b\W*)?(?:in\s+(?:conclusion"
    r"|summary|short|sum|brief|the\s+end)"
    r"|overall|therefore|thus|hence|consequently|accordingly|conclusion|verdict|final(?:ly)?"
    r"|(?:decision|answer|classification|label|prediction|judge?ment)(?=\s*[:=])|all\s+in\s+all"
    r"|to\s+(?:sum\s+up|conclude|summari[sz]e)|on\s+balance|ultimately|taken\s+together|altogether"
    r"|all\s+told"
    r"|on\s+(?:closer|second)\s+(?:reading|inspection|look|thought)|all\s+things\s+considered"
    r"|for\s+(?:these|this|that)\s+reasons?)\b"
    r"|\b(?:correct|right|final|proper|appropriate|overall|true|best)\s+(?:label|verdict|answer"
    r"|classification|category|decision|rating|conclusion|judge?ment|assessment|class)\b"
    r"|\bmy\s+(?:verdict|conclusion|decision|judge?ment|answer|assessment)\b|\bwe\s+conclude\b"
    r"|\bi\s+conclude\b"
    rf"|\b(?:should|must|has\s+to|have\s+to|needs\s+to"
    rf"|ought\s+to)\s+(?:\w+\s+)?(?:not\s+)?(?:therefore\s+)?be\s+(?:{JUDGE})\b"
)
REPORTS = re.compile(
    r"\b(?:say|claim|argu|suggest|impl|demand|insist|stat|call|tell|think|believ|wish|want)\w*\b"
)
AGENT = re.compile(
    r"(?:\b(?:comfortable|confident|happy|inclined|justified|safe|satisfied|ready|prepared)\s*$"
    r"|\b(?:i|we|me|us|nobody|nothing|could|may|might|neither|model|system|classifier|detector"
    r"|filter|moderators?|annotators?|reviewers?|raters?|judges"
    r"|observations?|findings?|points?|facts?|features?|considerations?|arguments?|signs?"
    r"|wording|tone|all"
    r"|team|analysis|assessment|explanation|evaluation|one|algorithm|tool|ai|assistant|engine"
    r"|software|policy"
    r"|guidelines?|it|this|that|which|evidence|reason|context|(?<!\w)to|must|should|can|cannot"
    r"|would|will|not|n['\u2019]t|never"
    r"|is|are|was|were|be|been|being|has|have|had|gets?|got|it's|'d|\u2019d|given|\w+['\u2019]s"
    r"|(?:an?|the|any|each|every|these|some|such|its|their|his|her|every|bold|false|certain|final"
    r"|correct|right|overall|no|this|first|second)"
    r"|and|or|hence|therefore|thus|so|for|by|of|on|without|in)\b|^|[,;:]|[\"])"
    r"(?:\s*\b(?:therefore|thus|now|also|clearly|further|rightly|correctly|still|then|hereby|best"
    r"|better|most|\w+ly|not"
    r"|do|does|did|have|has|would|should|must|can|cannot|will|am|'ve|be|been|both|all)\b){0,4}\s*$"
)
OTHERS = re.compile(
    r"\b(?:author|writer|user|speaker|poster|he|she|they|people|some|many|critics|others|somebody"
    r"|someone|reader"
    r"|readers|whoever|colleagues?|peers?|flaggers?|complainants?|neighbou?rs?|court|judge"
    r"|lawyers?|friends?|reply|sign|article|users|commenters?"
    r"|opponents|everyone|everybody|else|post|text|comment|news|report|story|paper|government"
    r"|police|minister|teacher|law)\s+(?:\w+\s+){0,3}$"
)
VERBS = re.compile(
    rf"\b(?P<say>{SAY})\b(?!\s+(?:nothing|something|anything|things|no|is|are|was|were|here"
    rf"|does|remains|should|shouldn|must|cannot|would|contains|violates|isn|wasn|doesn)\b)|\b(?P<judge>{JUDGE})\b"
)

INDEFINITE = re.compile(
    r"^(?:an?|any|every|each|some|many|most|not\s+every|not\s+all|all(?!\s+(?:signs?|three|two|four|of\s+(?:it|this|that|them|these)|evidence)\b)|few|certain|one(?=\s+must|\s+(?:reading|interpretation|view|version|annotator|reviewer)\b"
    r"|\s+should)|several|people|everyone|anyone)\b"
)
GERUND = re.compile(r"^(?:not\s+)?(?!being|nothing|anything|everything|according)\w{2,}ing\b|^to\s")
SAYING = re.compile(
    r"^(?:to\s+(?:say|claim|suggest|imply|call|wish|compare|liken|equate|tell|portray|depict"
    r"|reduce|describe)"
    r"|(?:say|claim|suggest|imply|call|wish|compar|liken|equat|tell|portray|depict|reduc|describ"
    r"|brand|singl|accus|paint)ing)\b"
)
ONE_IN_GENERAL = re.compile(
    r"^(?:being|to\s+be|what\s+(?:counts?|qualifies|constitutes|is|was|makes))(?:\s+\w+){0,3}\s*$"
)
OF_A_PERSON = re.compile(r"who(?:se)?\b")  # ", who has been called hateful before, ..."
OTHER_THING = re.compile(
    r"\b(?:people|persons?|those|anyone|everyone|someone|users|men|women|others|speakers"
    r"|authors)\s+(?:who|that|whose)\b[^,;]*$"
    r"|\b(?:that|which|who)\s+(?:(?:is|are|was|were|may|can|could|might|will|does|do|not"
    r"|be)\s+)+(?:\w+\s+){0,2}$"
)
# "By no means is this …": the negation stands first, and turns subject and verb round.
DENIED_FIRST = re.compile(
    rf"^\W*(?:by\s+no\s+means|in\s+no\s+(?:way|sense)|at\s+no\s+point|under\s+no\s+circumstances"
    rf"|nowhere)\s+(?P<verb>is|was|does|can|could|would)\s+"
    rf"(?P<subject>it|this|(?:the|this)\s+(?:{TEXT_NOUN}))\b"
)
ANY_READER = re.compile(
    rf"\b(?:all|both|most)\s+of\s+us\s+(?:said|voted(?:\s+for)?|chose|answered|agreed\s+on|put)\b"
    rf"|\b(?:anyone|anybody|everyone|everybody|whoever|those)\s+(?:who\s+)?"
    rf"(?:reads?|sees?|looks?\s+at|hears?|knows?)\s+(?:it|this"
    rf"|the\s+\w+)\s+(?:\w+ly\s+)?(?:will|would|must|should|can)\s+"
    rf"(?:(?!perhaps|maybe|possibly)\w+\s+)?(?:{JUDGE}|notice|agree|admit|realise|realize"
    rf"|come\s+across|discover)\b"
)
CONSEQUENCE = re.compile(r"\b(?:so|therefore|thus|hence|which\s+is\s+why|consequently)[\s,]*$")
FOLLOWS = re.compile(r"\W*(?:so|therefore|thus|hence|consequently)\b")
NEGATIVE_QUESTION = re.compile(
    r"\W*(?:(?:so|but|and|now|well)\W+)?(?:is|are|was|does|do|did|would|should|could"
    r"|can)n['\u2019]t\b"
)
OR_NOT = re.compile(r"\s*or\s+not\b")
THAN = re.compile(r"\s+than\b")
SOME_PEOPLE = re.compile(
    r"\W*(?:(?:although|though|while|but|yet|and)\s+)?(?:some|many|others|several|most"
    r"|people)(?:\s+people|\s+readers|\s+users)?\s*"
)
WAS = re.compile(r"\b(?:is|was|were|been|being)(?:\s+\w+ly)?\s*$")
WHAT = re.compile(r"\bwhat\b")
# "The user is right when she says her post isn't hateful": a report that is judged.
RIGHT_IN_SAYING = re.compile(
    r"\b(?:the|this|that)\s+(?:[\w'\u2019-]+\s+){1,2}?(?:(?:is|are|was|were)\s+(?:\w+ly\s+)?(?:(?P<wrong>"
    r"wrong|mistaken|incorrect)|right|correct|justified)|(?:has|have|had)\s+a\s+point)\s+"
    r"(?:when\s+(?:it|he|she|they)\s+(?:says?|claims?|argues?|insists?|writes?|said|claimed|argued"
    r"|insisted|wrote|states?|stated)|(?:in|to)\s+(?:say|claim|argu|insist|writ|stat)(?:e|es|ing)?)"
    r"\s+(?:that\s+)?(?=(?:it|this|that|the|her|his|their)\b)"
)
# "It isn't the swear word that makes this hateful": what is denied is the cause alone.
CLEFT = re.compile(
    r"\b(?:it|this|that)(?:\s+(?:is|was)(?:\s+not|n['\u2019]t)|['\u2019]s\s+not)\s+(?:(?:just|only|merely)\s+)?"
    r"(?:[\w'\u2019\"-]+\s+){1,8}?(?:that|which)\s+(?=makes?\s+(?:it|this|that|the\s+\w+|this\s+\w+)\s)"
)
# "I'd be lying if I said this wasn't hateful."
LYING = re.compile(
    r"\b(?:i|we|one)(?:['\u2019]d|\s+would)\s+be\s+(?:lying|dishonest|kidding\s+\w+|fooling\s+\w+)\s+"
    r"(?:if\s+(?:i|we|one)\s+(?:said|claimed|pretended|wrote|argued)|to\s+(?:say|claim|pretend|argue))"
    r"(?:\s+that)?\b"
)
# "Under no reasonable interpretation is this hateful."
UNDER_NO = re.compile(
    r"(?P<head>^|[,;:.]|\b(?:though|but|yet|and|while)\b)\W*(?:under|by|in|on)\s+(?:(?P<no>no)|any|every|all|each)\s+(?:[\w-]+\s+){1,6}?"
    r"(?:is|was|does|would|could|can|should)\s+(?:this|it|(?:the|this)\s+\w+)\s+(?!not\b)"
)
IN_ERROR = re.compile(
    r"^\s*(?:by\s+(?:mistake|accident)|in\s+error)\b|"
    r"^[^.;!?]{0,40}?(?:\b(?:but|yet|though|albeit)|,)\s+(?:(?:quite|clearly"
    r"|i\s+think)\s+)?(?:(?:wrong|mistaken|incorrect"
    r"|false|erroneous|unfair|unjust)ly|in\s+error|by\s+mistake|without\s+(?:cause|reason"
    r"|grounds))\b"
)
IF_NOT_THIS = re.compile(
    r"\W*if\s+(?:this|that|it|(?:this|the)\s+\w+)\s+(?:is|was|does)(?:n['\u2019]t"
    r"|\s+not)\s+(?:\w+\s+)?"
)
NOTHING_IS = re.compile(
    r"[^,.;]{0,20},\s*(?:then\s+)?(?:nothing|(?:i|we)\s+(?:do\s+not"
    r"|don['\u2019]t)\s+know\s+what|what)\s+(?:is|would|does|can|could|ever)\b"
)
