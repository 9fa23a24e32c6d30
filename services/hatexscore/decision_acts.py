"""What was done with a text, as the verdict of an explanation that has no other: English.

"Content removed under section 3 (hateful conduct)" says that it is hateful, "Report dismissed" and
"Outcome: no violation" that it is not. An act against a text speaks only where hate is its ground,
or an attack on a group, for posts are removed for many reasons; one in its favour speaks unless
another ground is named, since what breaks no rule breaks none on hate. Source: our own. Read where
no sentence classifies the text, never in a doubt, a wish, a rule or a general statement, and not
where two acts contradict one another, or one is undone. Every pattern meets at most `MOST`
characters of one sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.hatexscore.cues_en import TEXT_NOUN
from services.hatexscore.moods_en import UNDONE
from services.hatexscore.report import Label

Span = tuple[int, int]  # half-open character offsets
MOST = 300  # characters of a sentence that are looked at
MOST_SENTENCES = 40  # from the end

# Who or what is acted upon.
_TEXT = (
    rf"(?:{TEXT_NOUN}|it|this(?:\s+one)?|upload|item|listing|account|users?|author|poster|profile"
    r"|channel)"
)
_THIS = r"(?:it|this(?:\s+one)?|that(?:\s+one)?|(?:the|your|this|that)\s+\w+)"
_SANCTION = (
    r"(?:(?:hate(?:\s+speech|ful\s+conduct)?|policy|conduct)\s+)?(?:strikes?|removals?|takedowns?|suspension|ban|mute|warning|penalty|sanction|restriction"
    r"|enforcement|(?:original\s+|initial\s+|our\s+)?(?:decision|action|ruling)|measure|block)"
)
_REPORT = r"(?:reports?|complaints?|flags?|notices?|notifications?|referrals?|alerts?)"
_APPEAL = (
    r"(?:appeals?|objections?|counter-?notice|(?:reinstatement|restoration|review)\s+requests?|request\s+for\s+(?:review|reinstatement))"
    r"(?:\s+(?:result|outcome|decision))?"
)
# What is done: to the text, to a sanction of it, to a report or an appeal.
_AGAINST_TEXT = (
    rf"(?:(?:took|taking|take|pulled|pulling)\s+{_THIS}\s+(?:down|off)"
    r"|(?:permanently\s+|temporarily\s+)?(?:removed?|removal|deleted?|deletion|taken\s+down"
    r"|took\s+down|take\s+down|takedown|hidden|hide|hid|blocked|banned|suspended|muted|restricted"
    r"|rejected?|actioned|sanctioned|penali[sz]ed|struck|warned|disabled|pulled|geo-?blocked"
    r"|down\s+it\s+(?:goes|comes|stays)|off\s+it\s+goes|quarantined|withheld|demoted|gone|kicked|purged|locked|suspension|ban))"
)
_FOR_TEXT = (
    rf"(?:(?:fine|ok(?:ay)?|happy)\s+(?:with\s+)?(?:hosting|keeping|leaving|publishing)\s+{_THIS}|(?:left|leave|leaving|keeping|keep|kept|let|letting|put|putting)\s+{_THIS}\s+"
    r"(?:up|alone|online|in\s+place|as\s+(?:it\s+)?is|stand|pass|through|go|be|back)"
    r"|approved?|kept(?:\s+up)?|keep(?:\s+up)?(?!\s+\w{2,20}ing\b)"
    r"|left\s+(?:up|alone|online|in\s+place|as\s+is)|(?:back\s+)?up\s+it\s+(?:stays|goes)"
    r"|leave\s+(?:up|alone)|(?:stays?|remains?)\s+(?:up|online|visible|live)|restored?|reinstated?|unbanned|unblocked"
    r"|cleared|allowed?|published|let\s+(?:through|stand)|put\s+back|ignored?|no\s+removal)"
)
_KEPT = (
    r"(?:upheld|confirmed|maintained|affirmed|sustained|stands?|issued|applied|imposed|given|added"
    r"|justified|correct|remains?(?:\s+in\s+(?:place|force))?|stays?(?:\s+in\s+(?:place|force))?)"
)
_UNDONE = (
    r"(?:withdrawn|lifted|reversed|overturned|removed|revoked|rescinded|cancell?ed|expunged|undone"
    r"|dropped|wrong|incorrect|unjustified|retracted|voided|not\s+(?:upheld|justified|confirmed))"
)
_GRANTED = (
    r"(?:upheld|accepted|confirmed|granted|approved|substantiated|actioned|valid(?:ated)?"
    r"|correct|right|accurate|justified|founded|successful|allowed|sustained|well[\s-]founded)"
)
_REFUSED = (
    r"(?:mistaken|wrong|incorrect|in\s+error|unjustified|dismissed|rejected|declined|denied|refused|closed\s+(?:without|with\s+no)\s+action"
    r"|unfounded|unsubstantiated|invalid|binned|tossed|thrown\s+out|unsuccessful|baseless|discarded|turned\s+down"
    r"|not\s+(?:upheld|accepted|confirmed|substantiated|granted|justified))"
)
_IS = (
    r"(?:\s*(?:[:=|\u2192\u2013\u2014-]|->)\s*|\s+)(?:(?:is|are|was|were|has\s+been|have\s+been"
    r"|had\s+been|will\s+be|gets?|got|being)\s+)?(?:(?:now|hereby|therefore|thus|also|duly|fully"
    r"|manually|promptly|correctly|rightly)\s+)?"
)
# Whether it may stay: "OK to stay up", "can't be left up", "we can't let this stand".
_STAYS = (
    r"(?:(?:stay|remain|be|stand|go)\s+(?:up|online|live|visible|public|through|published)"
    rf"|(?:be\s+)?(?:left|kept|allowed|let|leave|keep|let|allow)\s+(?:{_THIS}\s+)?(?:to\s+)?"
    r"(?:up|online|live|stand|stay|remain|pass|through)(?:\s+up)?|stay|stand|remain"
    rf"|(?:host|carry|keep|publish|have|accept|allow|run)\s+{_THIS})"
)
_MAY = (
    r"(?:(?:is|was|are)\s+)?(?:(?:ok(?:ay)?|fine|free|good|clear(?:ed)?|allowed|permitted|welcome"
    r"|safe)\s+(?:to|with)|can|may|gets?\s+to|will|is\s+to)"
)
_MAY_NOT = (
    r"(?:ca(?:n\s*not|n['\u2019]t)|may\s+not|must\s+not|mustn['\u2019]t|will\s+not"
    r"|won['\u2019]t|could\s+not|couldn['\u2019]t|(?:is|was)(?:\s+not|n['\u2019]t)\s+"
    r"(?:ok(?:ay)?|fine|allowed|permitted|going)\s+to|not\s+(?:ok(?:ay)?|fine|allowed)\s+to)"
)
_WHO = (
    r"(?:(?:i|we|mods?|moderators?|(?:the|our)\s+(?:moderation\s+)?(?:team|moderators?|reviewers?))"
    r"(?:['\u2019](?:ve|re|m))?\s+(?:(?:have|has|had|then|also|therefore|decided\s+to|chose\s+to|agreed\s+to"
    r"|now|had\s+to|have\s+to|needed\s+to)\s+){0,3})"
)
_OPENS = (
    r"(?:^|\b(?=and\s+(?:is|it|the|your|this|we|so)\b)|[.;:,|=({\[\u2013\u2014\u2192\u2022*>/-])\s*(?:\d\d?:\d\d\s+)?[\"']?"
    r"(?=\w)(?:(?:so|and|but|then|now|later|thus|therefore|subsequently|sadly|unfortunately"
    r"|regrettably),?\s+){0,2}"
    r"(?:(?:the|this|your|their|that|user|reported|flagged|offending|first|second)\s+){0,3}"
)
_BEEN = r"(?:been\s+|be\s+)?"
_NOT = rf"(?P<not>(?:not|never|(?:was|is|were|are)n['\u2019]t|hasn['\u2019]t\s+been)\s+{_BEEN})?"
_LASTS = (
    r"(?:(?:an?\s+)?(?:\d{1,3}|one|two|three|seven|thirty)?[\s-]?(?:day|hour|week|month|year"
    r"|permanent|temporary|indefinite)[\s-]+)?"
)
_THAT_IS = (
    r"(?:(?:it|this|that|which)(?:\s+(?:is|was)|['\u2019]s)\s+(?:\w{1,20}ly\s+)?"
    r"(?:just\s+)?an?\s+)?"
)
_SO = r"(?:\w{1,20}ly\s+|therefore\s+|thus\s+|hence\s+)?"
_OF_RULES = r"(?:rules|polic(?:y|ies)|guidelines|standards|terms)"
# "This fails our rules", "comes nowhere near the policy": a rule that is kept or broken.
_A_RULE = (
    r"\s+(?:(?:the|our|these|all|any|every|this|its|a|of)\s+){0,3}"
    r"(?:(?!(?:no|not|few|hardly|only|none)\b)[\w'\u2019-]+\s+){0,4}?"
    rf"(?:{_OF_RULES}|(?:checks?|screening)(?!\s+for\b)|rule|standard|section|clause|provision|article|code\s+of\s+conduct)"
    r"(?!\s+(?:of\s+(?:grammar|spelling|logic|thumb|the\s+game)|except|but|save|apart)\b)"
)
_FAILS = (
    r"(?:fail(?:s|ed)?|flunk(?:s|ed)?|broke|breaks?|violates?|breach(?:es)?|infringes?|contravenes?|(?:falls?|runs?|ran|fell)\s+(?:a)?foul\s+of|goes\s+against|crosses"
    r"|(?:(?:is|was)\s+)?(?:squarely\s+|clearly\s+)?(?:against|outside|contrary\s+to|at\s+odds\s+with)"
    r"|conflicts?\s+with|offends\s+against)"
)
_PASSES = (
    r"(?:pass(?:es|ed)?|respects?|follows?|compl(?:y|ies)\s+with|keeps?\s+to|abides?\s+by"
    r"|conforms?\s+to|(?:(?:is|was|sits?|stays?|falls?|remains?)\s+)?(?:well\s+)?(?:within|inside"
    r"|in\s+line\s+with|compatible\s+with|consistent\s+with|ok(?:ay)?\s+under|fine\s+under))"
)
_NEAR = (
    r"(?:fail|cross|reach|touch|trigger|engage|(?:fall|come)\s+(?:anywhere\s+)?(?:under|within"
    r"|near|close\s+to)|rise\s+to|run\s+(?:a)?foul\s+of|go\s+against|conflict\s+with)"
)
_DOES_NOT = r"(?:(?:does|did|do)(?:\s+not|n['\u2019]t)|never|fails\s+to|is\s+nowhere\s+to)"
_ITS = r"\s+(?:(?:the|this|that|our|their|his|her|your|its|a)\s+){1,2}(?:\w+\s+)?"
# "Nothing wrong with it", "the post is fine": of the whole, and of no other quality of it.
_ENDS = r"(?=\s*(?:$|[.,;!)\u2014]|(?:because|since|as|so|and|it|to\s+me|by\s+(?:me|us)|here)\b))"
_NOTHING_WRONG = (
    r"(?:(?:there\s+(?:is|was)|there['\u2019]s|i\s+(?:see|find|found)|we\s+(?:see|find|found))\s+)?"
    r"nothing\s+(?:is\s+|at\s+all\s+)?(?:wrong|objectionable|bad|problematic|offensive)"
    rf"(?:\s+(?:here|there|at\s+all)|\s+(?:with|about|in)"
    rf"\s+(?:(?:the|this|that|your)\s+)?{_TEXT}){{0,2}}{_ENDS}"
)
_IS_FINE = (
    rf"(?:{_TEXT})(?:\s+(?:is|looks|seems)|['\u2019]s)\s+(?:\w+ly\s+|quite\s+|all\s+|just\s+)?"
    rf"(?:fine|ok(?:ay)?|alright|all\s+right|unobjectionable|unproblematic){_ENDS}"
)
# "Textbook xenophobia": the name of hate is the verdict.
_TEXTBOOK = (
    r"(?:an?\s+)?(?:\w+ly\s+)?(?:textbook|classic|clear(?:-cut)?|plain|pure|outright|blatant|obvious|sheer|open"
    r"|unmistakable|undisguised)\s+(?:(?:case|example|instance|piece|display|form)\s+of\s+)?"
    r"(?:hat(?:e|red)|xenophobia|racism|islamophobia|antisemitism|homophobia|transphobia|misogyny|ableism|bigotry)"
    r"(?:\s+(?:against|towards?|of|aimed\s+at|directed\s+at)\s+"
    r"(?:(?!(?:is|are|was|has|does)\b)[\w'\u2019-]+[ ]?){1,5})?"
    r"(?=\s*(?:$|[.,;!:(\u2014]))"
)
# "I would remove this", "we'd leave it up": what its judge would do with this text is the verdict.
_ONE_TEXT = rf"(?:it|this(?:\s+one)?|that(?:\s+one)?|(?:the|your|this|that)\s+(?:{TEXT_NOUN}))"
_WOULD_DO = (
    r"(?:i|we)(?:['\u2019](?:d|ll)|\s+(?:would|should|will|shall|must)(?P<w_nt>n['\u2019]t)?|\s+(?P<w_wont>won['\u2019]t))\s+"
    r"(?:(?P<w_not>not|never)\s+)?(?:(?:\w{1,20}ly|therefore|thus|hence|also|just|recommend\s+to|vote\s+to)\s+){0,2}"
    rf"(?:(?P<w_against>(?:remove|delete|hide|block|ban|reject|pull|purge|flag|report|sanction|take\s+down)\s+{_ONE_TEXT}"
    rf"|take\s+{_ONE_TEXT}\s+(?:down|off))|(?P<w_favour>(?:keep|approve|allow|restore|reinstate|publish)\s+{_ONE_TEXT}"
    rf"|(?:leave|let|put|keep)\s+{_ONE_TEXT}\s+(?:up|alone|online|in\s+place|as\s+(?:it\s+)?is|stand|pass|through|go|be|back|stay)))"
    r"(?=\s*(?:$|[.,;:!)\u2014]|\b(?:as|because|since|for|on|under|due|so|and|from|up|here|now|too|myself|ourselves)\b))"
)
_ALTERNATIVES = (
    _WOULD_DO,
    # "Kept the strike", "we lifted the ban", "dismissed this report", "denied the appeal"
    rf"(?<!user ){_WHO}?(?:(?:(?P<v_kept>kept|keep(?:ing)?"
    r"|uph(?:e|o)ld(?:ing)?|confirm(?:ed|ing)?|maintain(?:ed|ing)?"
    r"|sustain(?:ed|ing)?|affirm(?:ed|ing)?|st(?:an|oo)d(?:ing)?\s+by|issued|imposed|applied)"
    r"|(?P<v_undone>lift(?:ed|ing)|revers(?:ed|ing)|overturn(?:ed|ing)|withdr[ae]w(?:n|ing)?|revok(?:ed|ing)"
    r"|rescind(?:ed|ing)|cancel(?:l?ed|l?ing)|remov(?:ed|ing)|dropp(?:ed|ing)|undid|void(?:ed|ing)|expunged"
    rf")){_ITS}{_SANCTION}|(?:(?P<v_accepted>accept(?:ed|ing)|uph(?:e|o)ld(?:ing)?|confirm(?:ed|ing)"
    r"|act(?:ed|ing)\s+on)|(?P<v_dismissed>dismiss(?:ed|ing)|reject(?:ed|ing)|declin(?:ed|ing)|den(?:ied|ying)"
    rf"|clos(?:ed|ing)|turn(?:ed|ing)\s+down)){_ITS}{_REPORT}"
    r"|(?:(?P<v_granted>accept(?:ed|ing)|grant(?:ed|ing)|uph(?:e|o)ld(?:ing)?|allow(?:ed|ing))"
    rf"|(?P<v_refused>dismiss(?:ed|ing)|reject(?:ed|ing)|declin(?:ed|ing)|den(?:ied|ying)|turn(?:ed|ing)\s+down)){_ITS}{_APPEAL})",
    rf"{_SANCTION}{_IS}(?:(?P<s_not>not\s+)?(?P<s_kept>{_KEPT})|(?P<s_undone>{_UNDONE}))",
    rf"{_REPORT}{_IS}(?:(?P<r_granted>{_GRANTED})|(?P<r_refused>{_REFUSED}))",
    rf"{_APPEAL}{_IS}(?:(?P<a_granted>{_GRANTED})|(?P<a_refused>{_REFUSED}))",
    # the post is not in breach; violates_policy is false
    rf"(?:{_TEXT}|which|and)\s+(?:and\s+)?(?:(?:is|was|are)\s+)?{_SO}(?P<in_no>not\s+)?in\s+"
    r"(?:clear\s+|direct\s+)?(?P<in>breach|violation)",
    rf"(?:{_TEXT}|which|and)\s+{_SO}(?P<does>violates|breaches|infringes|contravenes|breaks)",
    rf"(?:{_TEXT}\s+)?(?:does|did)\s*(?:not|n['\u2019]t)\s+{_SO}(?P<does_not>violate|breach|break"
    r"|infringe|contravene)",
    r"(?:violat\w{1,9}|breach\w{0,3})(?:[\s_]\w{1,20}){0,3}[\"']?\s*[:=]\s*"
    r"(?:(?P<is_yes>true|yes)|(?P<is_no>false|no|none))",
    r"(?:enforcement|action|sanction|measure|penalty)s?(?:\s+taken)?\s*[:=]\s*"
    r"(?P<no_action>none|no\b|nothing|n/a)",
    rf"(?:{_TEXT}\s+(?:clearly\s+|simply\s+|just\s+)?|{_WHO})?"
    rf"(?:(?P<may_not>{_MAY_NOT})|(?P<may>{_MAY}))\s+(?:\w+ly\s+)?{_STAYS}",
    rf"(?:(?:{_TEXT}|which|and)\s+)?{_SO}(?:(?P<no_near>{_DOES_NOT}\s+{_NEAR})"
    rf"|(?P<no_pass>{_DOES_NOT}\s+(?:pass|respect|follow|comply\s+with|keep\s+to|conform\s+to))"
    rf"|(?P<fails>{_FAILS})|(?P<passes>{_PASSES})){_A_RULE}",
    # well clear of the line
    rf"(?:{_TEXT}\s+)?(?:(?:is|stays?|falls?|sits?|lies)\s+)?(?:(?:well|far|quite|clearly)\s+)?"
    r"(?P<short>(?:clear|short|this\s+side|on\s+the\s+right\s+side)\s+of|below|inside)\s+(?:the|our|any)\s+"
    r"(?:\w+\s+)?(?:line|bar|threshold|limit)",
    rf"(?:{_TEXT}{_IS}|{_WHO})?{_NOT}{_LASTS}(?:(?P<against>{_AGAINST_TEXT})"
    rf"|(?P<favour>{_FOR_TEXT}))",
    r"(?P<none>no\s+(?:\w+\s+){0,2}?(?:violations?|breach(?:es)?|infringements?|action|enforcement|(?:further\s+)?(?:steps|measures)"
    rf"|sanctions?|strikes?|penalt(?:y|ies))|nothing\s+(?:(?:here|in\s+it)\s+)?(?:for\s+(?:us|me)\s+)?(?:to\s+(?:act\s+on|action|enforce|remove|sanction)|actionable|against\s+(?:our|the)\s+{_OF_RULES})"
    rf"|(?:case\s+)?clos(?:ed|ing|e)\s+(?:{_THIS}\s+)?(?:w/o|without|with\s+no)\s+(?:\w+\s+)?action|nfa"
    rf"|{_THAT_IS}false\s+(?:positive|alarm)"
    r"|within\s+(?:our\s+|the\s+)?(?:\w+\s+)?{_OF_RULES})",
    rf"(?P<plain>{_NOTHING_WRONG}|{_IS_FINE})",
    rf"(?P<named>{_TEXTBOOK})",
    rf"(?P<missed>{_THAT_IS}false\s+negative)",
    r"(?P<some>(?:\w+\s+)?(?:violation|breach)\s+(?:was\s+|is\s+)?(?:found|confirmed|established"
    r"|upheld))",
)
_ACT = re.compile(rf"{_OPENS}(?:{'|'.join(_ALTERNATIVES)})\b")
_AGAINST = (
    *("s_kept", "r_granted", "a_refused", "against", "some", "in", "does", "is_yes", "missed"),
    *("may_not", "fails", "no_pass", "v_kept", "v_accepted", "v_refused", "named"),
    "w_against",
)
_DENIED = ("not", "s_not", "in_no", "w_nt", "w_wont", "w_not")
_CORRECTS = re.compile(r"\bfalse\s+(?:positive|alarm|negative)|\b(?:restor|reinstat)e?d?\b")
# Of what is only wished, doubted, asked, supposed or ruled in general, nothing is done.
_NOT_DONE = re.compile(
    r"\b(?:would|if|might|may|could|should|must|unless|whether|until|pending|asks?|asked|asking"
    r"|wants?|wanted|demand\w*|request(?:ed|s|ing)\s+(?:that|to)|please|can\s+be"
    r"|in\s+(?:other|such|some|many)\s+cases?|usually|often|typically|generally|always|any|every"
    r"|some|previous(?:ly)?|earlier|last\s+(?:week|month|year)|another|other\s+posts?"
    r"|by\s+(?:the\s+)?(?:author|user|poster)|himself|herself|themsel(?:f|ves)|rather\s+than"
    r"|instead\s+of|too\s+\w+|unjustified|unwarranted|disproportionate|mistak\w+|errors?"
    r"|wrongly|wrongful|overreaction)\b|[?\uff1f]"
)
# "Posts removed for hate speech cannot be restored": of posts in general.
_GENERAL = re.compile(
    r"\W*(?:all\s+)?(?:posts|comments|messages|tweets|videos|accounts|users|people|content|material"
    r"|reports|appeals|strikes)\s+(?:(?:that|which|who)\s+)?[\w\s,'\u2019-]{2,120}?"
    r"\b(?:can|cannot|may|must|should|will|are|is|do|does|stay|remain)\b"
    r"|\W*(?:posts|comments|messages|accounts|users|people)\s+(?:get|are)\s"
)
# Hate, or what it does to a group.
_GROUND = (
    r"(?:hat(?:e|red|eful\w*)|anti-?hate|protected\s+(?:group|class|characteristic|trait|attribute)s?"
    r"|slurs?|dehumani[sz]\w*|stereotyp\w*|bigot\w*|(?:rac|sex|able)is[mt]s?|xenophob\w*"
    r"|(?:homo|trans|islamo)phob\w*|antisemit\w*|misogyn\w*|discriminat\w*|degrad\w*|defam\w*"
    r"|demean\w*|denigrat\w*|vilif\w*|exclu(?:de[sd]?|ding|sion\w*)|segregat\w*|inferior\w*"
    r"|(?<!personal )attack\w*|target\w*|expel\w*|expuls\w+|deport\w*|hostil\w*|contempt\w*"
    r"|nationalit\w+|ethnic\w*|faiths?|religio\w+|minorit\w+|generali[sz]\w+)"
)
_HATE = re.compile(rf"\b{_GROUND}\b|hate_")
_NO_HATE = re.compile(
    r"\b(?:no|not|without|(?:is|was)n['\u2019]t|never|nor|non|none)[\s-]+(?:[\w-]+\s+){0,3}?"
    rf"{_GROUND}"
)
_NAMED_RULE = re.compile(r"(?<=\d)\s*[(:\u2013-]\s*no\s+hat(?:e|red)\b")  # "rule 2 (no hate)"
_OTHER_GROUND = re.compile(
    r"\b(?:spam\w*|scam\w*|fraud\w*|nud(?:e|ity)|sexual\w*|porn\w*|copyright\w*|trade\s?marks?"
    r"|privacy|private|dox+\w*|self-harm|suicid\w*|drugs?|tobacco|alcohol|weapons?|firearms?"
    r"|gambling|misinformation|disinformation|impersonat\w*|advert\w*|commercial|promotion\w*"
    r"|minors?|violen\w*|terroris\w*|off-?topic|duplicates?|low[\s-]quality|age|spoilers?"
    r"|profan\w*|format\w*|expired|technical\w*|accident\w*)\b"
)


# Chinese and Korean, without whatever is only supposed, asked or demanded.
_TEXT_ZH = r"(?:(?:该|此|这条|这个|了)?(?:评论|帖子|内容|留言|文章|视频|显示))"
_TEXT_KO = r"(?:댓글|게시물|게시글|글|콘텐츠|영상)(?:을|를|은|는)?\s*"
_ACT_CJK = re.compile(
    r"(?P<favour>举报(?:被?驳回|不成立|不属实|不实|无效)|驳回(?:该|此)?举报|(?:申诉|复议)(?:成立|通过)"
    rf"|(?:撤销|取消)(?:删除|处罚|下架|封禁|屏蔽)|(?:保留|恢复){_TEXT_ZH}|(?:予以|可以|可)保留"
    r"|不予?(?:删除|处理|下架)|无需(?:处理|删除)|(?:未|不|没有|并未)违[规反]"
    rf"|신고\s*(?:기각|반려|거절)|(?:이의|항소)\s*(?:신청|제기)?\s*(?:인용|수용|승인)|{_TEXT_KO}(?:유지|복구|복원|보존)"
    r"|삭제(?:를)?\s*(?:취소|철회)|문제\s*없음|위반\s*(?:아님|없음))"
    r"|(?P<against>举报(?:成立|属实|有效)|(?:申诉|复议)(?:被?驳回|不成立|不予支持|未通过)|驳回(?:其|该)?申诉"
    r"|维持(?:原判|原决定|删除|处罚|下架|封禁|屏蔽)"
    rf"|(?<![不未无消销])(?:删除|下架|屏蔽|移除|封禁|隐藏){_TEXT_ZH}|(?:已|予以|应予)(?:删除|下架|屏蔽|移除|封禁|隐藏)"
    r"|不(?:能|可|予)保留|不能留"
    rf"|신고\s*(?:인정|수용|승인|타당)|(?:이의|항소)\s*(?:신청|제기)?\s*(?:기각|거절|반려)|{_TEXT_KO}(?:삭제|숨김|차단|제거)"
    r"|삭제(?:를|\s*조치를)?\s*(?:유지|확정)|삭제(?:했|됨|함|한다|처리)|남겨\s*둘\s*수\s*없)"
)
_NOT_DONE_CJK = re.compile(
    r"如果|假如|是否|吗|应该|建议|请求|要求|可能|之前|曾|为何|为什么|만약|여부|까[?？]|요청|해야|이전|했다면"
)
_UNDONE_CJK = re.compile(
    r"错误|有误|误判|不当|撤销|恢复|但|잘못|오류|오판|부당|취소|철회|번복|복구|복원|지만|그러나|않|아니"
)
_GROUND_CJK = re.compile(
    r"(?<![不无非未]含)(?<![无非])仇恨|歧视|贬低|侮辱|排斥|污名|(?<!비)혐오|증오|차별|비하|배제|폄하|모욕"
)


@dataclass(frozen=True, slots=True)
class DecisionAct:
    """span: of its sentence; words: of the act; label: what it says of the text.

    corrects: it says that the verdict before it is wrong ("a false positive").
    """

    span: Span
    words: Span
    label: Label
    corrects: bool = False


# Every act holds one of these: most sentences hold none, and the grammar is not tried.
_STEM = re.compile(
    r"stay|stand|remain|\b(?:down|off) it\b"
    r"|host|carry|publish|gone|request|\bline\b|threshold|\bbar\b|step|measures|fail|pass|cross|against|foul|near|\bnfa\b|respect|follow|compl|remov|delet|t[ao]ke?n?\b|took|taking|pull|takedown|hid|block|ban|suspen|mute|restrict"
    r"|reject|action|sanction|penal|struck|warn|disabl|quarantin|withheld|demot|kick|purg|lock|left|leav|keep"
    r"|kept|let|put|approv|stays?|restor|reinstat|clear|allow|publish|ignor|strike|decision|ruling"
    r"|measure|enforce|report|complain|flag|notic|notif|referral|alert|appeal|objection|review"
    r"|breach|violat|infring|contraven|break|false|within|nothing|\bfine\b|\bok|al\w* ?right"
    r"|problematic|objectionable|phobia|racism|hat(?:e|red)"
    r"|semitism|misogyn|ableism|bigotry"
)


def names_act(sentence: str) -> bool:
    """Does a lower-case sentence tell of something that was done with a text, or may it?"""
    told = sentence[:MOST]
    if _STEM.search(told) is None or _GENERAL.match(told):
        return False
    return _ACT.search(told) is not None


def read_act(plain: str, spans: Sequence[Span]) -> DecisionAct | None:
    """The last act, where none before it says the opposite. plain: in lower case without mark-up
    and quotations; spans: its sentences."""
    found = list(_acts(plain, spans[-MOST_SENTENCES:]))
    if len({one.label for one in found}) != 1:
        return None
    behind = plain[found[0].words[1] : found[0].words[1] + MOST]
    undone = UNDONE.search(behind) or _UNDONE_CJK.search(behind)
    return None if found[0].label == "hateful" and undone else found[-1]


def _acts(plain: str, spans: Sequence[Span]) -> Iterator[DecisionAct]:
    told = [plain[start : min(end, start + MOST)] for start, end in spans]
    grounded = any(map(_is_of_hate, told))
    other = any(map(_OTHER_GROUND.search, told))
    for span, sentence in zip(spans, told, strict=True):
        yield from _acts_cjk(span, sentence, told)
        none = _STEM.search(sentence) is None
        if none or _GENERAL.match(sentence):
            continue
        undone = [one.span() for one in _NOT_DONE.finditer(sentence)]
        elsewhere = _OTHER_GROUND.search(sentence) is not None
        speaks = {"hateful": grounded and not elsewhere, "non-hateful": grounded or not other}
        for act in _ACT.finditer(sentence):
            label = _label(act)
            if any(not (act.start() <= start and end <= act.end()) for start, end in undone):
                continue
            if speaks[label] or act["missed"] or act["named"]:
                words = (span[0] + act.start(), span[0] + act.end())
                corrects = _CORRECTS.search(act.group()) or act["s_undone"] or act["v_undone"]
                yield DecisionAct(span, words, label, corrects is not None)


def _acts_cjk(span: Span, sentence: str, told: Sequence[str]) -> Iterator[DecisionAct]:
    """Of one sentence. told: all of them, which may name the ground."""
    if _NOT_DONE_CJK.search(sentence):
        return
    for act in _ACT_CJK.finditer(sentence):
        if act["favour"] or any(map(_GROUND_CJK.search, told)):
            words = (span[0] + act.start(), span[0] + act.end())
            yield DecisionAct(span, words, "non-hateful" if act["favour"] else "hateful")


def _is_of_hate(sentence: str) -> bool:
    told = _NO_HATE.sub(" ", _NAMED_RULE.sub(" hate ", sentence))
    return _HATE.search(told) is not None


def _label(act: re.Match[str]) -> Label:
    found = act.groupdict()
    against, denied = (any(found[name] for name in names) for names in (_AGAINST, _DENIED))
    return "hateful" if against != denied else "non-hateful"
