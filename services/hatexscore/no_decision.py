"""Whether an explanation of which no conclusion was read has none, or states one all the same.

A missing or an ambiguous judgement is 0 by Eq. 2 (Hu & Lee, arXiv:2601.13547); a verdict in a
wording that no rule reads is unknown. It is known to be none where every word of a verdict stands

- in a question, a doubt, an appeal, an instruction or a definition that nothing answers later;
- in a statement on the category, on posts in general or on a policy, beside which nothing is said
  of this text ("Insults are hateful", but not "The post is an insult. Insults are hateful");
- as the topic of the text ("It discusses hate speech in schools");
- in what would be so were the text another one, in what somebody else says, or in the verdict on a
  part, at the explanation's end, so that nothing turns it into a verdict on this text.

Source: our own. Patterns are given at most `REST` characters of one sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from services.hatexscore.cues_en import DEFERS, TEXT_NOUN
from services.hatexscore.decision_acts import names_act
from services.hatexscore.vocabulary import Reading, Vocabulary, WordInText, built_in

Span = tuple[int, int]  # half-open character offsets
REST = 600  # characters of a sentence of which no conclusion is read, from its end
SETTLED = ("asked", "instruction", "hedged", "appeal")  # moods of which no verdict is made

# Words of a verdict beside those of the vocabulary: of rules and of what moderators do.
_CUE = re.compile(
    r"\b(?:violat\w+|breach\w*|infring\w+|contraven\w+|guidelines?"
    r"|(?:community|platform|house|content|our|the|this|any|no|of|hate|speech|conduct|safety)\s+"
    r"(?:rules?|standards?|polic(?:y|ies))|rule\s+\d+|br(?:eak\w*|oken?)\s+(?:\w+\s+){0,3}rules?"
    r"|flagged|flag|classif(?:y|ied|ies)|categori[sz]ed|labell?ed|verdict|removal|removed"
    r"|take(?:n|s)?\s+(?:it\s+)?down|reinstated?|restored|approved|false\s+(?:positive|alarm)"
    rf"|(?:remov(?:e|es|ed|ing)|delet(?:e|es|ed|ing)|hid(?:e|es|ing)?|block(?:s|ed|ing)?)\s+(?:your|this|that|the)\s+(?:{TEXT_NOUN})"
    r"|le(?:ave|ft)\s+(?:(?:it|this|the\s+\w+)\s+)?up|action\s+taken"
    r"|hateful\w*|hate\s+speech|anti-?hate|line\s+(?:is|was)\s+crossed"
    r"|meets?\s+(?:the|that|this|our|a)\s+(?:\w+\s+)?(?:bar|threshold|definition|criteria|standard|test))\b"
    r"|违反|违规|违背|触犯|准则|规定|规范|(?:社区|平台|内容|我们的?)政策|标记|举报|下架|删除|误判|判定"
    r"|归类|定性|仇恨"
    r"|위반|(?:운영|커뮤니티|콘텐츠|우리|혐오|플랫폼)\s*정책|규정|지침|가이드라인|신고|삭제|분류|판정"
    r"|혐오|증오"
)
# Values that may stand for a verdict: "All good", "This one is fine", "The post is racist".
_VALUED = re.compile(
    r"\b(?:upheld|dismissed|(?:in)?actionable|no\s+(?:issues?|problems?|concerns?|objections?))\b"
    r"|^\W*(?:all\s+good|looks\s+good|fine|ok(?:ay)?|nope|yep|good\s+to\s+go)\W*$"
    rf"|\b(?:it|this(?:\s+(?:one|{TEXT_NOUN}))?|the\s+(?:{TEXT_NOUN}))\s*(?:['\u2019]s|is|was|looks|seems)"
    r"\s+(?:\w+ly\s+|very\s+|quite\s+|all\s+|not\s+)?(?:fine|ok(?:ay)?|good|alright|right|wrong"
    r"|racist|sexist|bigoted|antisemitic|islamophobic|homophobic|transphobic|xenophobic"
    r"|misogynist(?:ic)?|prejudiced|problematic|unacceptable|inappropriate)\b"
    r"|:\s*(?:ok(?:ay)?|fine|pass(?:ed)?|fail(?:ed)?|good|bad)\W*$"
    # a value that nothing explains: "Final answer: 1"
    r"|\b(?:answer|label|verdict|decision|class(?:ification)?|prediction|output|result|conclusion|code"
    r"|judge?ment)\s*(?:[:=]|is|was)[\s\"'(]*(?:(?:\d{1,3}(?!\s*[\d/%.]|\s+out)|[a-e])\b\W*$|(?:yes|no)\W)"
    r"|(?:标签|结论|答案|判断|라벨|결론|판단|답)\s*[:：=]\s*(?:\d{1,3}|[a-e]|[是否有无]|yes|no|네|예|아니[요오])\W*$"
)
_QUESTION = re.compile("[?？][\\s\"”'’)]*$|吗[。\\s]*$")
# What hate speech is, what a policy bans, what is to be answered: no verdict on this text.
_DEFINES = re.compile(
    r"\b(?:is|are|was|were|be)\s+(?:\w+ly\s+)?defined\s+as\b|\brefers\s+to\b|\bdenotes\b"
    r"|\bis\s+(?:speech|language|communication|any\s+\w+)\s+that\b|\bto\s+recall\s+what\b"
    r"|\b(?:text|post|comment|message|reply|remark|content)\s+is\s+(?:one|any)\s+that\b"
    r"|\bguidelines\s*:\s|\blabel\s+definitions?\b|\boptions?\s*:|\b(?:hateful|hate\s+speech|toxic|safe)\s+means\b"
    r"|\b(?:possible\s+labels?|label\s+options?)\b"
    r"|\b(?:polic(?:y|ies)|rules?|guidelines?|terms|laws?|standards?)\s+(?:prohibits?|bans?|forbids?"
    r"|define[sd]?|(?:do|does)\s+not\s+(?:allow|permit))\b"
    r"|是指|指的是|定义为|的定义是|标签说明|标签定义"
    r"|(?:政策|规定|准则|规则|法律)(?:禁止|不允许)"
    r"|라벨\s*(?:설명|정의)|(?:이란|란)\s|(?:정책|규정|지침|규칙|법)(?:은|이|에서)\s.{0,20}금지"
    r"|가운데\s*하나로\s*답|(?:말한다|뜻한다|의미한다|뜻합니다|말합니다|의미합니다)[.]?\s*$"
)
# "How could this not be hateful?": a question, a doubt or a condition that states something.
_RHETORICAL = re.compile(
    r"\bhow\s+(?:could|can|is|would)\b[^?]{0,60}\bnot\b|\bwhat\s+else\b|\bsurpris\w+\s+if\b"
    r"|\bwho\s+(?:would|could|can)\s+(?:deny|doubt|disagree|believe|call)\b|\bif\b[^.]{1,120}\bstill\b"
    r"|\bonly\s+(?:someone|somebody|those|people|an?\s+\w+)\b[^.]{0,80}\b(?:could|would|can)\b"
    r"|谁(?:会)?(?:信|同意|相信)|(?:什么|怎样|怎么)才|没有人?会|无人会|누가\s.{0,20}(?:믿|동의)"
)
_APPEALS = re.compile(
    r"\bno\s+place\s+(?:in|on|for)\b|\blet['\u2019]s\s+(?:all\s+)?(?:keep|stop|fight|end|stand)\b"
    r"|^\W*we\s+(?:all\s+)?(?:condemn|oppose|reject\s+\w+\s+\w+\s+in|have\s+a\s+duty|ask\s+every)\b"
    r"|\bwe\s+(?:must|should|need\s+to|have\s+to)\s+(?:all\s+)?(?:(?:work|act|come|stand)\s+(?:together|up)\s+)?"
    r"(?:(?:to|and|against)\s+)?(?:end|stop|fight|counter|combat|oppose|hate|racis\w+)\b"
    r"|\b(?:never|always)\s+(?:right|wrong|acceptable|ok(?:ay)?)\b"
    r"|\b(?:communit(?:y|ies)|platforms?|forums?|sites?|we)\s+(?:(?:do(?:es)?|must|can)\s*not|never"
    r"|do(?:es)?n['\u2019]t)\s+(?:tolerate|accept|welcome)\b"
    r"|容忍|让我们|法外之地|零容忍|공동체를\s*함께|용납|맞서|만듭시다|서로\s*존중|조심해야|抵制|사라져야"
)
# "Some call it hateful, some don't", "it is if it is meant so; if not, it isn't": both are said.
_LEFT_OPEN = re.compile(
    r"\b(?:both|each)\s(?:of\sthem\s)?ha(?:ve|s)\sa\spoint\b|;\sif\snot\s?,"
    r"|\bnot\srule\sout\b[^.]{1,80}\bnor\b|\bsome\sdo(?:\snot|n['\u2019]t)\b"
    r"|\breadings\sare\s(?:equally\s)?possible\b|\bwithout\s(?:additional|more|further)\s(?:context|information)\b"
    r"|\bnot\sclear\sfrom\sthe\s(?:text|context|wording)\b"
)
_UNDECIDED = re.compile(
    rf"{DEFERS}|"
    r"\b(?:cannot|can\s*not|can['\u2019]t|could\s+not|couldn['\u2019]t|unable\s+to|not\s+able\s+to"
    r"|impossible\s+to|hard\s+to|difficult\s+to)\s+(?:say|tell|decide|determine|know|judge|assess"
    r"|choose|analy[sz]e|help|assist|be\s+(?:sure|certain|decided|determined))\b(?!\s+that\b)"
    r"|\bno\s+(?:decision|judge?ment|verdict|classification)\s+(?:is|was|can|could)\b"
    r"|\bnot\s+(?:entirely\s+|quite\s+)?(?:sure|certain|clear)\s+(?:if|whether|that)\b"
    r"|\b(?:i|we)(?:\s+am|\s+are|['\u2019]m|['\u2019]re)\s+not\s+(?:\w+ly\s+|quite\s+)?"
    r"(?:sure|certain|confident)\b(?!\s+that\b)|\bno\s+(?:decision|verdict|judge?ment)\s+(?:yet|so\s+far|for\s+now)\b"
    r"|\bun(?:clear|sure|decided)\s+(?:if|whether)\b|\btakes?\s+no\s+(?:position|side)\b"
    r"|\bbe\s+persuaded\s+either\s+way\b|\bopinions\s+differ\b|\b(?:arguments?|reasons?)\s+for\s+both\b"
    r"|\bthat\s+is\s+the\s+question\b"
    r"|\bboth\s+(?:readings|labels|views)\b|\bi\s+(?:would|['\u2019]d)\s+need\b"
    r"|\b(?:need(?:ed)?|want|require\w*)\s+(?:\w+\s+){0,3}(?:context|to\s+know)\b"
    r"|^\W*(?:possibly|potentially|perhaps|maybe)\s|\barguably\s+(?:close|flirts|on)\b"
    r"|\b(?:context\s+is\s+(?:missing|lacking)|lack(?:s|ed)?\s+(?:the\s+|any\s+)?context)\b"
    r"|\b(?:not|never)\s+(?:been\s+)?(?:given|shown|provided)\b|\b(?:either|which)\s+way\b"
    r"|\bun(?:able|sure)\s+(?:to\s+classify|if)\b|\bcan(?:not|\s*n['\u2019]t)\s+make\s+th"
    r"|\bnot\s+agreed\b|\bn['\u2019]t\s+agreed\b|\btell\s+which\b|\bambiguous\b"
    r"|\b(?:question|matter|up)\s+(?:for|to)\s+(?:them|others|the\s+reader|you)\b"
    r"|(?:无法|难以|不能|很难)(?:判断|确定|断定|判定|分析|决定|下结论)|说不准"
    r"|판단(?:하기\s*(?:어렵|힘들)|할\s*수\s*없)|분석할\s*수\s*없|단정(?:하기|할\s*수)"
    r"|(?:문맥|맥락|정보)이?가?\s*부족|어느\s*쪽인지|주어지지\s*않|没有给出|缺(?:少|乏)(?:上下文|语境)"
    r"|일\s*수도\s*있고\s*아닐\s*수도"
)
# What the explanation was asked for.
_TASK = re.compile(
    r"\b(?:task|asked|instructed|told|required|prompt(?:ed)?)\b.{0,40}\b(?:explain|say|state|classify"
    r"|decide|determine|answer|respond|why)\b|任务|과제"
    r"|^\W*(?:please\s+)?(?:respond|answer|write|classify|decide|state|explain)\s+(?!by\b)"
)
# What may settle a doubt, or go back on it, without a word of the vocabulary.
_ANSWERS = re.compile(
    r"\b(?:but|yet|however|though|still|nonetheless|nevertheless|actually|in\s+fact|i|we|my|our"
    r"|no|not|none|nothing|yes|it\s+(?:is|does)|this\s+(?:is|does|one)|so|answer|exactly|neither"
    r"|right|wrong|correct|mistak\w+|error)\b|n['\u2019]t\b"
    r"|但|然而|不过|其实|实际上|我|不|没|是的|对|错|误|所以|因此|正是"
    r"|그러나|하지만|지만|실제로|사실|나는|저는|아니|않|없|그렇|맞|틀|잘못"
)
# "Clean water", "a normal life", "safe to say": said of something else than a text.
_OF_A_THING = re.compile(
    rf"\s+(?:to\s+(?:say|be|feel|shout|think|want)\b|(?!(?:{TEXT_NOUN}|banter|teasing|fun|humou?r|satire|opinion|label|rating|class\w*"
    r"|category|verdict|side|territory|to|in"
    r"|as|by|for|and|or|but|with|under|here|than|if|because|since|rather|enough|overall|it|this|the"
    r"|is|was|not|no|from|at|on|of|that|which)\b)[a-z]{3,})"
)
# "It may look hateful, but …": of the same sentence.
_BUT = re.compile(
    r"\b(?:but|yet|however|though|although)\b|(?<![不非])但|然而|不过|其实|却|可(?=原文|他|它|实)"
    r"|지만|그러나|(?:는|은|인)데[\s,]"
)

# This text, its author, and who explains.
_THIS_EN = re.compile(
    rf"\b(?:this|these|here|above|(?:the|that)\s+(?:[\w'\u2019-]+\s+){{0,2}}(?:{TEXT_NOUN}|author"
    r"|writer|user|speaker|poster|commenter|account|label|verdict|decision|classification)"
    r"|(?:it|that|s?he)['\u2019]s|such\s+an?|s?he|his|her|i|we|my|our|its?|they|them)\b"
)
_THIS_CJK = re.compile(
    r"[该这此]|本[文条帖]|文本|原文|文中|作者|用户|楼主|帖|句话|[他她]|它|其(?!他)|上述|我(?!们)|留言"
    r"|(?<![가-힣])(?:이|그|해당|위)\s|(?<![가-힣])(?:이는|이것|그것|이런|이러한|저는|나는|글|글쓴이|작성자|댓글|게시물|문장|본문|내용|여기)"
)
_VERB = (
    r"(?:is|are|was|were|does|do|can|may|must|should|will|has|have|tends?|var(?:y|ies)|hides?"
    r"|attacks?|involves?|contains?|includes?|requires?|costs?|drives?|disagree|differs?|uses?"
    r"|(?:is|are|do|does|can|was|were)n['\u2019]t|remains?|takes?|hurts?|harms?|causes?|makes?|needs?|confuse|spreads?|affects?|leads?"
    r"|distinguish(?:es)?|often|usually|typically|commonly|sometimes)"
)
# Of posts, rules or speech in general, by how the sentence opens.
_GENERIC = re.compile(
    rf"\W*(?:(?:an?|any|every|each|only|many|some|most|all|few|certain|not\s+(?:every|all)\w*)\s+[\w-]+"
    rf"(?:\s+[\w'\u2019-]+){{0,12}}?\s+{_VERB}\b"
    r"|(?:what\s+(?:counts|constitutes|qualifies|makes)|there\s+is\s+a\s+debate|if\s+an?|by\s+definition"
    r"|according\s+to\s+the\s+un|to\s+(?:be|count\s+as|qualify\s+as)\s+[\w\s-]{3,20},\s+an?)\b"
    rf"|(?!(?:the|this|that|it|s?he|i|we|my|our|its|his|her|their|there|here|what|so|thus|therefore"
    r"|hence|overall|because|removed|kept|flagged|yes|no|not|nothing|none|nobody|to|in|on|at|under"
    rf"|given|clearly|textbook|and|as|these|those|if|had)\b)[\w'\u2019-]+(?:\s+[\w'\u2019-]+){{0,8}}?"
    rf"\s+(?:{_VERB}|(?:who|that|which)\s+(?:insult|target|name|violat|break)\w*)\b"
    r"|(?:our|the|these|most|all)\s+(?:[\w-]+\s+){0,3}(?:polic(?:y|ies)|guidelines?|rules|standards"
    r"|definition|labels)\s+(?:(?:on|of|about|for|that)\s+[\w\s]{1,40}?)?(?:covers?|prohibits?|bans?"
    r"|(?:was|were)\s+(?:updated|changed|revised|published|given)|differs?|var(?:y|ies)|requires?"
    r"|can\s+be\s+found|(?:is|are)\s+(?:reviewed|published|available)|ha(?:s|ve)\s+\w+\s+sections"
    r"|allows?|list|exist|usually)\b)"
)
# "Hate speech is on full display": of this text after all, if it says not what the category is.
_IN_EVIDENCE = re.compile(
    r"\W{0,3}(?:speech|content|language)?\s*(?:is|are|was|were|remains?|can\s+be|has\s+been)\s+"
    r"(?!(?:not\s+)?(?:an?|any|speech|language|communication|defined|never|often|usually|typically"
    r"|commonly|sometimes|always|wrong|bad|illegal|punish\w*|bann\w*|prohibit\w*|forbidden|welcome"
    r"|tolerated|free|allowed|protected|harmful|difficult|hard|complex|mentioned\s+in|updated"
    r"|changed|revised|published)\b)"
)
_DENIED = re.compile(r"(?:\b(?:not|never)|n['\u2019]t)\s+(?:\w{1,20}ly\s+|an?\s+)?$|[不非没]$")
# "The post discusses hate speech in schools": its topic.
_TOPIC_EN = re.compile(
    rf"\W*(?:(?:the|this|that|an?|in)\s+)?(?:(?!(?:says?|said|thinks?|claims?|found|finds)\b)[\w'\u2019-]+\s+)"
    rf"{{0,2}}?(?:{TEXT_NOUN}|it|s?he|author"
    r"|user|writer|speaker|poster|report|topic|news|poem|book|assistant|model)\s+(?:\w+ly\s+|also\s+"
    r"|just\s+|merely\s+)?(?:(?:is|was)\s+(?:all\s+)?(?:about|on)|(?:talk|ask|complain|inform|report)"
    r"(?:s|ed)?\s+(?:about|on|how|of|for|when)|discuss(?:es|ed)?|mention(?:s|ed)?|describ(?:es|ed)"
    r"|explain(?:s|ed)?|(?:links|invites)\b|shares?\s+an?\s+(?:article|link|report|study)|critici[sz](?:es|ed)|condemn(?:s|ed)?|covers?|debates?|stud(?:y|ies)"
    r"|address(?:es)?|argues?\s+that|says?\s+that|mocks?\s+people\s+who"
    r"|(?:is|was|[\w'\u2019]+s)\s+tired\s+of|says?\s+s?he['\u2019]s\s+tired\s+of|topic\s+is|is)\b"
    r"(?!\s+(?:not|an?\s|so|clearly|very|no|pure|plain))[^,;:\u2014]{0,80}$"
)
# "The author thanks those who fight hate": its last word before the category says what of it.
_SPOKEN_OF = re.compile(
    rf"\W*(?:the|this|that|an?)\s+(?:[\w-]+\s+)?(?:{TEXT_NOUN}|author|user|writer|speaker|poster)\s"
    r"(?!(?:is|was|does|did|has|can|will|would|should|must|goes|crosses|violates|breaks?)\b)[^,;:\u2014]{1,120}?"
    r"\b(?:about|against|with|at|among|condemn\w*|criti\w*|discuss\w*|counter\w*|anti|regarding|concerning|on"
    r"|oppos\w+|mention\w*|victims?\s+of|targets?\s+of|targeted\s+by|denounc\w*|fight\w*|combat\w*|tackl\w*"
    r"|prevent\w*|stud(?:y|ies)|awareness\s+of|how|why|what|when|who|report|flag|stop|end|remov\w+"
    r"|challenge|recogni[sz]e|ban\s+on|example\s+of|patterns\s+of|definition\s+of|called|accused\s+of)"
    r"\s+(?:(?:the|a|an|all|any|such|online|of|this|that|counts|makes|slurs|as|to)\s+){0,3}$"
)
_DENIES = re.compile(r"\b(?:not|no|never|none|nothing|without|nor)\b|n['\u2019]t\b")
_TOPIC_IS = re.compile(r"\b(?:topic|subject|theme|title)(?:\s+of\s+\w+)?\s+is\s*$")
_TOPIC_AFTER = re.compile(
    r"\s*(?:$|[.!]|(?:(?:speech|content|language|remarks?|comments?|posts?|words?)\s*[.!])|(?:waste|fumes|masculinity|relationships?|chemicals?|is|laws?|polic\w+|victims?|crimes?|detection|research|debates?|comments?|posts?)\b"
    r"|online\b|(?:on|in|among)\s+[\w\s]{1,30}[.!]?\s*$)"
)
_RULES = re.compile(r"\b(?:our|the)\s+(?:rules|polic(?:y|ies)|guidelines|standards|terms)\b")
# Were this another text: "had it named a faith, …", "with X in place of Y, …".
_IRREAL = re.compile(
    r"(?:\bwould\b|['\u2019]d\s+have\b)(?=.{0,120}(?:\b(?:if|had|were|unless|until)\b))"
    r"|\b(?:had|if|were|should|unless|with|replac\w+|directed|aimed|only\s+if|version|another|instead"
    r"|other)\b.{0,200}(?:\bwould\b|['\u2019]d\s+have\b)|\bmight\s+have\s+been\b"
    r"|\bunless\s+(?:it|they|the\s+\w+)\s+(?:refers?|targets?|names?|means?|is\s+(?:meant|aimed))\b"
    r"|\bif\b.{3,120};.{0,10}\bif\b|\b(?:some|many|others|critics|few|two)\b.{0,30}\bwould\b"
)
_NOT_IRREAL = re.compile(
    r"\b(?:only\s+(?:if\s+)?(?:one|someone|somebody|an?\s+\w+\s+reader)|if\s+(?:that|this)\s+is"
    r"|under\s+(?:these|the|this|our)|otherwise|were\s+it\s+not|takes?|need(?:s|ed)?\s+(?:at\s+least\s+)?an?)\b"
)
# Of what stands before the label.
_IF_CJK = re.compile(
    "(?:如果|假如|假使|倘若|要是|若是|换成).{1,60}[就便则会才将那]|다면|라면|만약|만일"
)
_JUDGED_KO = re.compile("지나|오독|해석|무리|잘못|곤란")
_SAYS = re.compile(
    r"\b(?:says?|said|pretend(?:s|ed)|claim(?:s|ed)?|call(?:s|ed)?|complain(?:s|ed)|argu(?:es|ed)|insist(?:s|ed)"
    r"|answer(?:s|ed)|repli(?:es|ed)|writes?|wrote|tells?|told|accus(?:es|ed)|finds?|found"
    r"|consider(?:s|ed)?|lean(?:s|ed)?|den(?:ies|ied)|according\s+to|labell?ed|thinks?|thought)\b"
    r"|[说称指认觉判抱]|주장|불평|말|판단|느끼|보"
)
# Behind another's verdict, or what would be one, stands nothing more.
_NO_MORE = re.compile(
    r"[\s\"\u201d]*(?:(?:by|in|at|of|to|when|if|had|were|unless|until|only|and\s+two|others)\b"
    r"[^:\u2014]{1,120})?[.!\s\"\u201d]*$"
)
# "Our policy forbids attacks on people. This caption is such an attack."
_OF_THE_KIND = re.compile(
    r"\b(?:this|it|the\s+\w+)\s+(?:\w+\s+)?(?:is|does|makes|contains|says)\s+(?:no\s+|not\s+)?"
    r"(?:such\b|exactly|precisely|just\s+(?:that|this|so)|one\b|nothing\s+of\s+the|(?:that|so)\b)"
    r"|\b(?:such\s+an?|no\s+such)\b"
)
# Beside a rule: "…, which our policy forbids" may be said of this text.
_OF_THIS_TEXT = re.compile(
    rf"\b(?:the|this|that|his|her|their)\s+(?:\w+\s+)?(?:{TEXT_NOUN}|author|user|poster|account)\b"
)
_CJK = re.compile("[\u3040-\ud7a3]")
_NO_MORE_CJK = re.compile("[^，,;；]{0,30}$")
# Of the category: its definition, how it spreads, what it does.
_CATEGORY_CJK = re.compile(
    r"^\W*(?:网络上的|社会上的|每个人|所有人|人人|平台|网络)?[^，。]{0,8}仇恨(?:言论|内容)?(?:的(?:定义|标准|界定|危害|范围)"
    r"|问题|现象|会|往往|通常|常常|越来越|在|不应|应|必须|危害|伤害|破坏|并不)"
    r"|^\W*(?:对[^，。]{1,12}的)?(?:批评|玩笑|讽刺|骂人|讨论|粗话)[^，。]{0,8}(?:不|并非|未必)"
    r"|远离仇恨"
    r"|^\W*(?:인터넷에\s*|온라인\s*)?(?:혐오|증오)\s*(?:표현|발언)?(?:은|는|이|가|의|에)\s"
    r"|^\W*[가-힣]+(?:에\s*대한|을|를)?\s*[가-힣]*\s*(?:자체)?(?:은|는)\s.{0,8}(?:혐오|증오)\s*(?:표현|발언)?(?:이|은|는)?\s*아[니닙]"
    r"|^\W*모든\s"
)
_TOPIC_CJK = re.compile(
    r"(?:讨论|介绍|报道|讲述|谈论|分析|关于|研究)[^，。不]{0,12}(?:仇恨|有毒|安全)"
    r"|(?:혐오|증오)\s*(?:표현|발언)?(?:의|에\s*대한|에\s*관한|에\s*대해)?\s*[^.]{0,16}"
    r"(?:다룬다|다룹니다|설명한다|설명합니다|소개한다|소개합니다|공유한다|공유합니다|논의|토론이\s*있었|언급한다|보도한다)"
)


@dataclass(frozen=True, slots=True)
class Undecided:
    """A sentence that may state a verdict, and its last word of the vocabulary, if it has one."""

    span: Span
    word: WordInText | None
    denials: int


@dataclass(frozen=True, slots=True)
class _Sentence:
    """start, end: in the explanation. text: its last characters, which `offset` are before.

    loose: label words of which nothing is predicated.
    """

    start: int
    end: int
    text: str
    offset: int
    readings: tuple[Reading, ...]
    loose: tuple[WordInText, ...]

    @property
    def is_settled(self) -> bool:
        """Is every word of a verdict in it one of which no verdict is made, whatever follows?"""
        moods = self.moods
        if _RHETORICAL.search(self.text):
            return False
        if _LEFT_OPEN.search(self.text):
            return True
        if _DEFINES.search(self.text) or _APPEALS.search(self.text):
            told = names_act(self.text) or any(
                one.search(self.text) for one in (_OF_THIS_TEXT, _OF_THE_KIND)
            )
            return not told and moods <= {*SETTLED, "general"}
        known = self.readings or any(
            pattern.search(self.text) for pattern in (_QUESTION, _UNDECIDED, _TASK)
        )
        return (bool(known) and moods <= {*SETTLED}) or (moods <= {"reported"} and self.is_topic)

    @property
    def moods(self) -> set[str]:
        """Of its readings; a word that is mute where it is denied says as little as a doubt."""
        return {
            "hedged" if one.label is None and self._is_denied(one) else one.clause.mood
            for one in self.readings
        }

    def _is_denied(self, reading: Reading) -> bool:
        """ "Not offensive" of three classes."""
        before = self.text[: max(0, reading.word.start - self.offset)]
        return reading.clause.mood == "asserted" and _DENIED.search(before) is not None

    @property
    def is_topic(self) -> bool:
        """Is the category what the text is about?"""
        if _BUT.search(self.text):
            return False
        if _TOPIC_CJK.search(self.text):
            return True
        words = [(one.start, one.end) for one in self.loose]
        words += [
            (one.word.start - self.offset, one.word.end - self.offset)
            for one in self.readings
            if one.word.start >= self.offset
        ]
        return bool(words) and all(
            _is_topic_behind(self.text[:start]) and _TOPIC_AFTER.match(self.text, end)
            for start, end in words
        )

    @property
    def is_general(self) -> bool:
        """Does it speak of the category, of a policy or of posts in general?"""
        if not self.moods <= {*SETTLED, "general", "hypothetical", "partial"}:
            return False
        if _IN_EVIDENCE.match(self.text, self.last) or names_act(self.text):
            return False
        if _CATEGORY_CJK.search(self.text):
            return not (_THIS_CJK.search(self.text) or _JUDGED_KO.search(self.text, self.last))
        generic = _GENERIC.match(self.text)
        if generic is None:
            return False
        said = _RULES.sub(" ", self.text[generic.end() :])
        return not any(
            one.group() not in ("it", "its", "it's", "they", "them")
            for one in _THIS_EN.finditer(said)
        )

    def is_elsewhere(self, plain: str) -> bool:
        """Is it said of another text, by another or of a part, and is nothing more said of it?"""
        moods = self.moods - {*SETTLED}
        if _RHETORICAL.search(self.text):
            return False
        told = moods or (self.loose and "hypothetical")
        if not told or any(map(str.isalnum, plain[self.end :][:REST])):
            return False
        before, more = self.text[: self.last], _NO_MORE_CJK if _CJK.search(self.text) else _NO_MORE
        if _BUT.search(self.text) or more.match(self.text, self.last) is None:
            return False
        if not moods or moods <= {"hypothetical", "general"}:
            irreal = _IRREAL.search(self.text) and not _NOT_IRREAL.search(self.text)
            supposed = _IF_CJK.search(before) and not _JUDGED_KO.search(self.text, self.last)
            return bool(irreal or supposed)
        if moods == {"partial"}:
            return not any(one.clause.denials for one in self.readings)
        return moods == {"reported"} and _SAYS.search(self.text) is not None

    @property
    def undecided(self) -> Undecided:
        stated = [(one.word, one.clause.denials) for one in self.readings]
        word, denials = [(None, 0), *((one, 0) for one in self.loose), *stated][-1]
        return Undecided((self.start, self.end), word, denials)

    @property
    def last(self) -> int:
        """The end of its last word of a verdict."""
        words = [one.end for one in self.loose]
        return max([0, *words, *(one.word.end - self.offset for one in self.readings)])


def _is_topic_behind(before: str) -> bool:
    if _TOPIC_EN.match(before) or _TOPIC_IS.search(before):
        return True
    return _SPOKEN_OF.match(before) is not None and _DENIES.search(before) is None


def undecided(
    plain: str, spans: Sequence[Span], vocabulary: Vocabulary, readings: Sequence[Reading]
) -> list[Undecided]:
    """The sentences by which an explanation without a conclusion may state one all the same.

    None where it has no word of a verdict, nor where each is known to state none.
    plain: in lower case without mark-up and quotations. spans: its sentences, in order.
    """
    met = _sentences(plain, spans, vocabulary, readings)
    ends = ((span, plain[max(span[0], span[1] - REST) : span[1]]) for span in spans)
    about = [span for span, end in ends if _THIS_EN.search(end) or _THIS_CJK.search(end)]
    return [one.undecided for one in met if _may_decide(plain, one, about)]


def _may_decide(plain: str, sentence: _Sentence, about: Sequence[Span]) -> bool:
    """about: the sentences that speak of this text."""
    if sentence.is_settled:
        return _goes_on(plain, sentence)
    if sentence.is_general:
        return any(span != (sentence.start, sentence.end) for span in about)
    return not sentence.is_elsewhere(plain)


def _sentences(
    plain: str, spans: Sequence[Span], vocabulary: Vocabulary, readings: Sequence[Reading]
) -> list[_Sentence]:
    """Those with a word of a verdict."""
    held: dict[Span, list[Reading]] = {}
    for one in readings:
        held.setdefault((one.start, one.end), []).append(one)
    met, others = [], built_in("default") if vocabulary.of_decision else None
    for span in spans:
        text = plain[max(span[0], span[1] - REST) : span[1]]
        words = _labels(text, vocabulary)
        cued = bool(_CUE.search(text) or _VALUED.search(text) or names_act(text))
        cued = cued or (others is not None and bool(_labels(text, others)))
        if span in held or words or cued:
            own, offset = tuple(held.get(span, ())), span[1] - len(text)
            read = {one.word.start - offset for one in own}
            loose = tuple(one for one in words if one.start not in read)
            met.append(_Sentence(*span, text, offset, own, loose))
    return met


def _labels(text: str, vocabulary: Vocabulary) -> list[WordInText]:
    return [
        found
        for found in vocabulary.find(text, text)
        if found.word.side == "hateful" or found.denied or not _OF_A_THING.match(text, found.end)
    ]


def _goes_on(plain: str, sentence: _Sentence) -> bool:
    """Does anything follow a question, or words that may settle it a doubt, or a rule what is said
    to be of its kind?"""
    after = plain[sentence.end : sentence.end + REST]
    if _DEFINES.search(sentence.text) and _OF_THE_KIND.search(after):
        return True
    if _UNDECIDED.search(after) and not _BUT.search(after):
        return False
    if _TASK.search(sentence.text) and not _UNDECIDED.search(sentence.text):
        return any(map(str.isalnum, after))
    if _QUESTION.search(sentence.text) and not _UNDECIDED.search(after):
        return any(map(str.isalnum, after))
    doubts = [one for one in sentence.readings if one.clause.mood in ("asked", "hedged", "appeal")]
    turned = any(
        (but := _BUT.search(plain, one.word.end, sentence.end))
        and not _UNDECIDED.search(plain[but.end() : sentence.end][:REST])
        for one in doubts
    )
    return turned or (bool(doubts) and _ANSWERS.search(after) is not None)
