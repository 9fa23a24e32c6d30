"""The messages of the API, as docs/openapi.json describes them."""
from __future__ import annotations

# Made by sdk/generate.py from docs/openapi.json; do not edit.

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field
from touchstone_client._base import Answered, JobMessage, Message, Report, Result, Shown
from typing_extensions import TypeAliasType


class Against(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    batch: Annotated[str | None, Field(description="a batch's id")] = None
    jobs: Annotated[
        list[str] | None, Field(description='ids of jobs of this metric')
    ] = None
    of_model: Annotated[
        str | None,
        Field(
            description="only the results of this model: the first that answered or, where none had to be asked, the one that the request names, or the metric's default"
        ),
    ] = None
    of_metadata: Annotated[
        dict[str, str] | None,
        Field(
            description='only the results of lines whose metadata has all of these values, as where one file holds the explanations of several systems'
        ),
    ] = None
    wilcoxon: Annotated[
        bool,
        Field(
            description="whether to add Wilcoxon's signed-rank test, over the texts' mean differences"
        ),
    ] = False


class AttributionMethod(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    name: Literal['attention', 'gradient', 'integrated_gradients', 'lime']
    attention: Annotated[
        Literal['mean', 'last', 'rollout'],
        Field(description='over layers; heads are averaged'),
    ] = 'mean'
    gradient: Literal['l2', 'input_x_gradient'] = 'l2'
    steps: Annotated[int, Field(description='of integrated gradients')] = 32
    samples: Annotated[int, Field(description='perturbations of LIME')] = 500
    seed: Annotated[int, Field(description="of LIME's perturbations")] = 0
    calibrated: Annotated[
        bool,
        Field(
            description="whether LIME explains the probability at the model's own temperature, or at 1"
        ),
    ] = True


class Attributions(Message):
    values: Annotated[list[float], Field(description='(T,), one a token')]
    convergence_gap: Annotated[
        float | None,
        Field(
            description='integrated gradients: sum of values minus the difference of logits'
        ),
    ] = None


class BatchEvent(Message):
    id: Annotated[
        str | None,
        Field(description='send the last one as `Last-Event-ID` to go on from there'),
    ] = None
    retry: Annotated[
        int | None, Field(description='milliseconds until coming back')
    ] = None
    event: Literal['end', 'batch.validating', 'batch.failed', 'batch.in_progress', 'batch.finalizing', 'batch.completed', 'batch.expired', 'batch.cancelling', 'batch.cancelled']
    data: str


class BatchFault(Message):
    code: str
    message: str
    param: Annotated[str | None, Field(description='JSON pointer into the line')]
    line: Annotated[int | None, Field(description='of the input file, from 1')]


class BatchFaults(Message):
    object: Literal['list'] = 'list'
    data: list[BatchFault]


class Calibration(Message):
    basis: Literal['other posts'] = 'other posts'
    posts: Annotated[
        int,
        Field(
            description="passages of other posts, single words if the explanation's are"
        ),
    ]
    least_placements: Annotated[
        int, Field(description='the fewest other placements that they have')
    ]
    most_placements: Annotated[int, Field(description='the most')]
    standing: Annotated[
        float,
        Field(
            description="(fall of the log odds - mean) / (standard deviation + 0.1), over the explanation's words and all other placements: how far its words stand out"
        ),
    ]
    p_anti: Annotated[
        float, Field(description='the other side: how often one stands out as little')
    ]


class Check(Message):
    name: Annotated[str, Field(description='such as `quotes-in-post`')]
    outcome: Annotated[
        Literal['passed', 'failed', 'inconclusive', 'not_tested', 'not_applicable'],
        Field(
            description='`inconclusive`: tested, and the result is not clear; `not_tested`: it could not be tested; `not_applicable`: the question does not arise'
        ),
    ]
    reason: Annotated[
        str | None,
        Field(
            description='code of the problem, or of why there is no answer; else null'
        ),
    ] = None
    sentence: Annotated[
        str, Field(description="in plain English, without anybody's text")
    ]


class ConfusionCell(Message):
    gold: str
    decided: Annotated[str | None, Field(description='null: no decision could be read')]
    results: int


class ConsistencyComponents(Message):
    simulatability: Annotated[
        float | None,
        Field(
            description="how often the model's answer to an edited text is the one predicted from the explanation; by default the mean over edits predicted to change it and edits predicted not to"
        ),
    ]
    attribution_agreement: Annotated[
        float | None, Field(description='(1 + `cosine`) / 2')
    ]
    cosine: Annotated[
        float | None,
        Field(
            description="CC-SHAP: cosine of the words' contributions to the answer and to the explanation"
        ),
    ]
    precision_changes: Annotated[
        float | None,
        Field(description='share of the edits predicted to change the answer that do'),
    ]
    precision_stays: Annotated[
        float | None,
        Field(description='share of the edits predicted to keep the answer that do'),
    ]
    edits: Annotated[int, Field(description='edited texts that the model answered')]
    simulatable: Annotated[
        int, Field(description='edited texts whose answer the explanation predicts')
    ]
    cited_words: Annotated[
        int, Field(description='words of the text that the explanation cites')
    ]
    words: Annotated[int, Field(description='words of the text, without punctuation')]


class ConsistencyEdit(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    text: str
    expected: Annotated[
        Literal['changes', 'stays'] | None,
        Field(
            description='the answer that a reader of the explanation expects; absent: decided by `reader`, where the rules check which cited words are missing'
        ),
    ] = None


class ConsistencyEditRow(Message):
    of: Literal['cited', 'random', 'sent']
    operator: Annotated[
        Literal['delete', 'mask'] | None,
        Field(description='null for edits of the request'),
    ]
    edits: int
    changed: Annotated[
        int, Field(description="edits on which the model's answer changes")
    ]
    predicted: Annotated[
        int, Field(description='edits whose answer the explanation predicts')
    ]
    agreeing: Annotated[
        int, Field(description='edits on which the model answers as predicted')
    ]


class ConsistencyEvidence(Message):
    kind: Literal['cited', 'quote_not_found']
    start: Annotated[
        int | None, Field(description='character offset into the text as sent')
    ]
    end: Annotated[int | None, Field(description='character offset, exclusive')]
    text: str
    value: float | None = None


class ConsistencySpan(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    start: int
    end: Annotated[int, Field(description='exclusive')]


class ConsistencyTurn(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    role: Literal['system', 'user', 'assistant']
    content: Annotated[
        str,
        Field(
            description='`{text}` and `{label}` are replaced; write a literal brace as `{{`'
        ),
    ]


class ConsistencyWordValue(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    start: int
    end: Annotated[int, Field(description='exclusive')]
    answer: Annotated[
        float,
        Field(description='contribution to the probability of the explained answer'),
    ]
    explanation: Annotated[
        float, Field(description="contribution to the explanation's log-probability")
    ]


class ConsistencyWordValueAnswer(Message):
    start: int
    end: Annotated[int, Field(description='exclusive')]
    answer: Annotated[
        float,
        Field(description='contribution to the probability of the explained answer'),
    ]
    explanation: Annotated[
        float, Field(description="contribution to the explanation's log-probability")
    ]


class Context(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    puid: str | None = None
    decision_ground: str | None = None
    automated_detection: str | None = None
    automated_decision: str | None = None
    content_language: str | None = None


class ContextAnswer(Message):
    puid: str | None = None
    decision_ground: str | None = None
    automated_detection: str | None = None
    automated_decision: str | None = None
    content_language: str | None = None


class Cot2elComponents(Message):
    faithfulness: Annotated[
        float | None, Field(description='explanations kept / explanations parsed')
    ]
    mean_similarity: Annotated[
        float | None, Field(description='mean similarity to the nearest unit')
    ]
    parsed: Annotated[
        int, Field(description='explanations of the parse, without repetitions')
    ]
    kept: Annotated[
        int, Field(description='explanations aligned above `min_similarity`')
    ]
    contradicted: Annotated[
        int,
        Field(
            description='aligned above `min_similarity`, but the unit says the opposite'
        ),
    ] = 0
    distinct: Annotated[
        int, Field(description='different units, per label and stance, of these')
    ]
    labels_with_support: Annotated[
        int, Field(description='options with a supporting explanation')
    ]
    units: Annotated[int, Field(description='discourse units of the reasoning')]


class Cot2elDropped(Message):
    explanation: str
    label: str
    stance: Literal['support', 'oppose']
    similarity: Annotated[
        float | None,
        Field(description='similarity to the nearest unit; null: there is no unit'),
    ]
    contradiction: Annotated[
        float | None, Field(description='P that its unit contradicts it; null: unread')
    ] = None
    polarity: Annotated[
        Literal['kept', 'contradicted', 'unread'] | None,
        Field(
            description='`contradicted`: a similar unit says the opposite; null: no similar unit'
        ),
    ] = None


class Cot2elExplanationCounts(Message):
    kept: Annotated[int, Field(description='aligned with a unit of the reasoning')]
    contradicted: Annotated[
        int, Field(description='dropped: a unit resembles it and says the opposite')
    ]
    unlike: Annotated[int, Field(description='dropped: no unit resembles it')]


class Cot2elListedPair(Message):
    explanation: str
    label: str
    stance: Literal['support', 'oppose']


class Cot2elOptionCounts(Message):
    supported: Annotated[
        int, Field(description='options with a supporting explanation')
    ]
    opposed: Annotated[
        int, Field(description='options with opposing explanations only')
    ]
    unexplained: Annotated[int, Field(description='options without explanations')]
    unknown: Annotated[
        int, Field(description='results whose options are not kept; not in the counts')
    ]


class Cot2elOtherItems(Message):
    draws: int
    faithfulness: float
    mean_similarity: float


class Cot2elRefinedPair(Message):
    kind: Literal['explanation'] = 'explanation'
    start: Annotated[
        int | None, Field(description='character offset into the text as sent')
    ]
    end: Annotated[int | None, Field(description='character offset, exclusive')]
    text: str
    value: Annotated[
        float, Field(description="similarity to the parse's wording, [0, 1]")
    ]
    offsets_into: Literal['reasoning'] = 'reasoning'
    label: str
    stance: Literal['support', 'oppose']
    original: Annotated[str, Field(description="the parse's wording")]
    unit_sources: Annotated[
        list[Literal['sentence', 'clause', 'connective', 'given']],
        Field(description='rules that found this unit'),
    ]
    contradiction: Annotated[
        float | None,
        Field(
            description="P that the unit contradicts the parse's wording; null: unread"
        ),
    ] = None
    polarity: Annotated[
        Literal['kept', 'contradicted', 'unread'] | None,
        Field(
            description='`kept`: the unit does not say the opposite; `unread`: not decidable; null: similarity alone decided'
        ),
    ] = None


class Cot2elSets(Message):
    el: Annotated[list[Cot2elListedPair], Field(description='EL: as parsed')]
    el_sup: Annotated[
        list[Cot2elListedPair], Field(description='EL-sup: the supporting pairs of EL')
    ]
    el_opp: Annotated[
        list[Cot2elListedPair], Field(description='EL-opp: the opposing pairs of EL')
    ]
    filtered: Annotated[
        list[Cot2elListedPair],
        Field(description='EL filtered: aligned to the reasoning'),
    ]
    filtered_sup: list[Cot2elListedPair]
    filtered_opp: list[Cot2elListedPair]


class Cot2elShuffledWords(Message):
    draws: int
    faithfulness: float
    mean_similarity: float
    other_items: Annotated[
        Cot2elOtherItems | None,
        Field(description='the same for explanations of other items'),
    ] = None


class Cot2elSimilarities(Message):
    lexical_1: float | None
    lexical_2: float | None
    lexical_3: float | None
    syntactic_1: float | None = None
    syntactic_2: float | None = None
    syntactic_3: float | None = None
    semantic_cosine: float | None = None
    semantic_euclidean: float | None = None
    levenshtein: float | None


class Cot2elUnitSpan(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    start: Annotated[int, Field(description='character offset into `reasoning`')]
    end: Annotated[int, Field(description='exclusive')]


class Cot2elUnplaced(Message):
    key: str
    statements: int


class Cot2elWriting(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    temperature: Annotated[
        float, Field(description='temperature of reasoning and parse')
    ] = 0.6
    top_p: float = 0.95
    max_tokens: Annotated[int, Field(description='maximum tokens of each answer')] = (
        4096
    )
    source: Annotated[
        Literal['reasoning', 'answer_text'],
        Field(
            description='`reasoning`: only the text between <think> and </think>; `answer_text`: the whole answer, for a model that was not trained to reason first'
        ),
    ] = 'reasoning'
    structuring_model: Annotated[
        str | None,
        Field(description='model that turns the parse into JSON; absent: `model`'),
    ] = None


class DeletedFile(Message):
    id: str
    object: Literal['file'] = 'file'
    deleted: Literal[True] = True


class DeletedJob(JobMessage):
    id: str
    object: Literal['job'] = 'job'
    deleted: Literal[True] = True


class DeletedJobs(Message):
    object: Literal['job_deletion'] = 'job_deletion'
    jobs: Annotated[int, Field(description='jobs that were deleted')]
    lines: Annotated[
        int,
        Field(description='lines of batches that were deleted, with or without a job'),
    ]
    open: Annotated[
        int,
        Field(
            description='matching jobs that were not deleted: they or their batch have not ended'
        ),
    ]


class Delivery(Message):
    id: Annotated[str, Field(description='the `webhook-id` of every attempt')]
    object: Literal['webhook_delivery'] = 'webhook_delivery'
    endpoint_id: str
    event: Literal['job.succeeded', 'job.failed', 'job.cancelled', 'batch.completed', 'batch.failed', 'batch.expired', 'batch.cancelled', 'judgement.created']
    status: Literal['pending', 'succeeded', 'failed']
    attempts: int
    last_status: Annotated[
        int | None, Field(description='the HTTP status of the last answer')
    ]
    last_error: Annotated[str | None, Field(description='why the last attempt failed')]
    created_at: Annotated[int, Field(description='unix seconds')]
    next_attempt_at: Annotated[
        int | None, Field(description='unix seconds; null once it has ended')
    ]
    ended_at: Annotated[int | None, Field(description='unix seconds')]


class DensityCell(Message):
    first: Annotated[int, Field(description='column, from the least score')]
    second: Annotated[int, Field(description='row, from the least score')]
    pairs: int


class Describe(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    operation: Literal['describe'] = 'describe'


class DifferenceBounds(Message):
    low: float
    high: float
    pairs: Annotated[
        int, Field(description='all, those with an undefined score among them')
    ]


class DifferenceHistogram(Message):
    low: float
    high: float
    counts: list[int]


class DisputedResult(Message):
    job_id: str
    custom_id: str | None
    agree: int
    disagree: int
    unsure: int


class EndpointChange(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    url: str | None = None
    events: list[Literal['job.succeeded', 'job.failed', 'job.cancelled', 'batch.completed', 'batch.failed', 'batch.expired', 'batch.cancelled', 'judgement.created']] | None = (
        None
    )
    description: str | None = None
    enabled: Annotated[
        bool | None, Field(description='false: its pending deliveries fail')
    ] = None
    authorization: Annotated[str | None, Field(description='empty: remove it')] = None
    sample: float | None = None
    metrics: list[str] | None = None
    parts: bool | None = None


class EndpointNotice(Message):
    id: str
    object: Literal['webhook_endpoint'] = 'webhook_endpoint'


class EndpointRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    url: Annotated[
        str,
        Field(description='https, a public host, port 443 or 8443 unless configured'),
    ]
    events: Annotated[
        list[Literal['job.succeeded', 'job.failed', 'job.cancelled', 'batch.completed', 'batch.failed', 'batch.expired', 'batch.cancelled', 'judgement.created']],
        Field(description='the events to send; none: all'),
    ] = []
    description: str = ''
    format: Annotated[
        Literal['standard-webhooks', 'otlp-logs', 'langfuse-scores', 'phoenix-annotations'],
        Field(
            description="events in the format of Standard Webhooks, or each score of a job and of a batch's line, without texts, for an OpenTelemetry collector, Langfuse or Phoenix"
        ),
    ] = 'standard-webhooks'
    authorization: Annotated[
        str | None,
        Field(
            description='the Authorization header of every request, as in `Bearer KEY`; never shown'
        ),
    ] = None
    sample: Annotated[
        float, Field(description='share of the jobs whose scores are pushed')
    ] = 1.0
    metrics: Annotated[
        list[str], Field(description='whose scores are pushed; none: of every metric')
    ] = []
    parts: Annotated[
        bool, Field(description='whether each part of a score is pushed as well')
    ] = False


class Endpoint(Message):
    id: str
    object: Literal['webhook_endpoint'] = 'webhook_endpoint'
    url: str
    description: str
    events: Annotated[
        list[Literal['job.succeeded', 'job.failed', 'job.cancelled', 'batch.completed', 'batch.failed', 'batch.expired', 'batch.cancelled', 'judgement.created']],
        Field(description='empty: every event'),
    ]
    enabled: bool
    disabled_reason: str | None
    created_at: Annotated[int, Field(description='unix seconds')]
    last_success_at: Annotated[int | None, Field(description='unix seconds')]
    rotating_until: Annotated[
        int | None, Field(description='two signatures until then; unix seconds')
    ]
    format: Literal['standard-webhooks', 'otlp-logs', 'langfuse-scores', 'phoenix-annotations']
    has_authorization: Annotated[
        bool, Field(description='whether an Authorization header is sent')
    ]
    sample: Annotated[
        float, Field(description='share of the jobs whose scores are pushed, (0, 1]')
    ]
    metrics: Annotated[
        list[str], Field(description='whose scores are pushed; empty: of every metric')
    ]
    parts: Annotated[
        bool, Field(description='whether each part of a score is pushed as well')
    ]
    untraced: Annotated[
        int,
        Field(
            description='jobs that were not pushed: their requests name no `trace` that the format needs'
        ),
    ]


class EndpointTestWebhook(Message):
    type: Literal['endpoint.test'] = 'endpoint.test'
    timestamp: str
    data: EndpointNotice


class EndpointWithSecret(Message):
    id: str
    object: Literal['webhook_endpoint'] = 'webhook_endpoint'
    url: str
    description: str
    events: Annotated[
        list[Literal['job.succeeded', 'job.failed', 'job.cancelled', 'batch.completed', 'batch.failed', 'batch.expired', 'batch.cancelled', 'judgement.created']],
        Field(description='empty: every event'),
    ]
    enabled: bool
    disabled_reason: str | None
    created_at: Annotated[int, Field(description='unix seconds')]
    last_success_at: Annotated[int | None, Field(description='unix seconds')]
    rotating_until: Annotated[
        int | None, Field(description='two signatures until then; unix seconds')
    ]
    format: Literal['standard-webhooks', 'otlp-logs', 'langfuse-scores', 'phoenix-annotations']
    has_authorization: Annotated[
        bool, Field(description='whether an Authorization header is sent')
    ]
    sample: Annotated[
        float, Field(description='share of the jobs whose scores are pushed, (0, 1]')
    ]
    metrics: Annotated[
        list[str], Field(description='whose scores are pushed; empty: of every metric')
    ]
    parts: Annotated[
        bool, Field(description='whether each part of a score is pushed as well')
    ]
    untraced: Annotated[
        int,
        Field(
            description='jobs that were not pushed: their requests name no `trace` that the format needs'
        ),
    ]
    secret: Annotated[
        str,
        Field(
            description='`whsec_` and base64, as Standard Webhooks libraries take it'
        ),
    ]


class Evidence(Message):
    kind: str
    start: Annotated[
        int | None, Field(description='character offset into the text as sent')
    ]
    end: Annotated[int | None, Field(description='character offset, exclusive')]
    text: str
    value: float | None = None


class Explanation(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    explanation: str
    label: Annotated[
        str, Field(description='the key of the option that it speaks about')
    ]
    stance: Literal['support', 'oppose'] = 'support'


class ExplanationFields(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    decision: Annotated[
        str | None,
        Field(
            description='The decision: one of the labels to choose from, and nothing else.'
        ),
    ] = None
    quotes: Annotated[
        list[str] | None,
        Field(
            description='The words of the post that the decision rests on. Each one is copied from the post exactly as it stands there. Empty if the decision rests on no words.'
        ),
    ] = None
    target_groups: Annotated[
        list[str] | None,
        Field(
            description='The groups of people that the post attacks, one name each. Empty if it attacks no group.'
        ),
    ] = None
    reasons: Annotated[
        list[str] | None,
        Field(
            description='The reasons for the decision, one sentence each. No reason repeats another.'
        ),
    ] = None
    text: Annotated[
        str | None,
        Field(
            description='The explanation in a few sentences, as a person would read it.'
        ),
    ] = None


class ExplanationsGeneration(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    temperature: Annotated[float, Field(description='0: greedy')] = 0.0
    top_p: float = 1.0
    max_tokens: Annotated[
        int | None,
        Field(
            description="of the answer, reasoning included; absent: the prompt's own"
        ),
    ] = None


class ExplanationsObstacle(Message):
    component: Literal['decision', 'p', 'stated_p', 'tokens']
    code: Literal['no-judge', 'not-asked', 'refused', 'explanation-unfit', 'no-rules', 'conclusion-unread', 'no-words', 'language-undecided', 'untrained-language', 'probability-missing', 'label-unknown', 'model-disagrees', 'judge-has-no-such-label', 'quote-not-found', 'quote-unread', 'answer-unread', 'label-not-listed', 'answer-cut-by-reasoning', 'no-logprobs', 'text-too-long', 'votes-too-coarse']
    detail: str


class ExplanationsOwnPolicy(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    text: Annotated[str, Field(description='as the model reads it')]


class ExplanationsOwnPrompt(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    system: str | None = None
    user: Annotated[
        str,
        Field(
            description='with `{text}`, or `{premise}` and `{hypothesis}`, or `{scenario}`, `{question}`; `{label}` is `target_label`, `{policy}`, `{labels}` and `{language}` are known, too; a brace is written `{{`'
        ),
    ]
    reader: Annotated[
        Literal['hatexscore', 'haf', 'labels', 'none'],
        Field(
            description='what reads the decision: a metric, as it reads explanations (`hatexscore`: hateful or not, in eight languages; `haf`: toxic or not, in en); `labels`: a line that is one of `labels`, alone or behind a word such as `Label:`; `none`: `target_label` is explained'
        ),
    ] = 'hatexscore'
    labels: Annotated[
        list[str], Field(description='what can be decided, for the reader `labels`')
    ] = []
    policy: Annotated[
        str | None,
        Field(description='what `{policy}` says where the request names no policy'),
    ] = None
    explanation_after: Annotated[
        str | None,
        Field(
            description='words behind which the explanation stands, `Explanation:` for instance; absent: it is the whole answer'
        ),
    ] = None


class ExplanationsPromptUse(Message):
    name: Annotated[str, Field(description='`own`: it came with the request')]
    version: str | None
    sha256: Annotated[
        str,
        Field(description="of the prompt's file; of an own one, of its fields as JSON"),
    ]
    shots: Annotated[int, Field(description='demonstrations before the question')]
    source: str
    deviations: Annotated[list[str], Field(description='from that source')]


class ExplanationsSpan(Message):
    start: Annotated[
        int, Field(description='character offset into `answer` (Unicode code points)')
    ]
    end: Annotated[int, Field(description='character offset, exclusive')]
    by: Annotated[
        Literal['rules', 'reader'],
        Field(
            description='what read it; `rules`: a field; `reader`: the trained reader'
        ),
    ] = 'rules'


class ExplanationsUnscored(Message):
    metric: str
    code: Annotated[
        Literal['refused', 'unparsable', 'unfit'],
        Field(description='`unfit`: the metric cannot take such an answer'),
    ]
    detail: str


class FieldError(Message):
    detail: str
    pointer: Annotated[
        str,
        Field(description='JSON pointer (RFC 6901) into the body, as a URI fragment'),
    ]


class FtcBaselineScores(Message):
    name: Literal['always_entailment', 'majority', 'uniform', 'unedited', 'blank_premise']
    delta: float
    k: float
    w: float
    w_normalized: float


class FtcComponents(Message):
    delta: Annotated[
        float | None, Field(description='share whose likeliest label is the target')
    ]
    k: Annotated[
        float | None, Field(description='1 - KL(target || answer), natural logarithm')
    ]
    w: Annotated[
        float | None, Field(description='1 - Wasserstein-1 distance, as printed')
    ]
    w_normalized: Annotated[
        float | None,
        Field(description='the same over the largest distance that the target allows'),
    ]
    geometric_mean_p: Annotated[float | None, Field(description='exp(k - 1)')]
    gain: Annotated[
        float | None,
        Field(
            description="w_normalized less the mean of its random phrases, over the counterfactuals that have some: what the explanation's words earn beyond being there; chance is 0"
        ),
    ] = None


class FtcDistribution(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    entailment: float
    neutral: float
    contradiction: float


class FtcDistributionAnswer(Message):
    entailment: float
    neutral: float
    contradiction: float


class FtcExtraction(Message):
    extractor: Literal['rules', 'llm', 'supplied']
    rule: Annotated[
        str | None, Field(description='the pattern that fired; null unless by rules')
    ]
    transformation: Annotated[
        str | None, Field(description='how the hypothesis was changed')
    ]
    completions: Annotated[
        list[str],
        Field(description='what the language model wrote, in the order of the steps'),
    ] = []


class FtcPerturbation(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    variance: Annotated[float, Field(description='of the zero-mean Gaussian noise')]
    label: Annotated[
        Literal['entailment', 'neutral', 'contradiction'],
        Field(description="the model's label under noise"),
    ]
    simulated: Annotated[
        Literal['entailment', 'neutral', 'contradiction'] | None,
        Field(
            description="the simulator's label from the noisy input and the explanation that was generated from it; the stability form of LRA needs it"
        ),
    ] = None


class FtcSatisfaction(Message):
    delta: Annotated[float, Field(description="1: the answer's label is the target")]
    k: Annotated[
        float, Field(description='1 - KL(target || answer), natural logarithm')
    ]
    w: Annotated[float, Field(description='1 - Wasserstein-1 distance, as printed')]
    w_normalized: Annotated[
        float,
        Field(description='the same over the largest distance that the target allows'),
    ]
    geometric_mean_p: Annotated[
        float,
        Field(
            description="exp(k - 1): for a hard target the answer's probability of it; of several, their geometric mean"
        ),
    ]


class FtcSimulatability(Message):
    case: Literal['contradiction', 'entailment', 'neutral', 'neutral a', 'neutral b']
    statistic: Literal['delta', 'k', 'w', 'w_normalized']
    rho: Annotated[
        float | None,
        Field(
            description='P(score where they agree > where not) + half the ties = U/(n m)'
        ),
    ]
    p_value: Annotated[float | None, Field(description='Wilcoxon rank-sum, two-sided')]
    p_adjusted: Annotated[
        float | None,
        Field(description='Holm over all cases and statistics of the report'),
    ] = None
    agreeing: int
    disagreeing: int
    dropped: Annotated[int, Field(description='counterfactuals whose votes tie')]


class FtcSimulation(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    from_input: Annotated[
        Literal['entailment', 'neutral', 'contradiction'],
        Field(description='shown premise and hypothesis'),
    ]
    from_input_and_explanation: Annotated[
        Literal['entailment', 'neutral', 'contradiction'],
        Field(description='shown the explanation too'),
    ]
    from_explanation: Annotated[
        Literal['entailment', 'neutral', 'contradiction'] | None,
        Field(description='shown the explanation alone; LAS needs it'),
    ] = None


class FtcSpanEvidence(Message):
    kind: Annotated[
        Literal['a', 'b', 'replaced'],
        Field(
            description='`a`, `b`: the two sides of the relation; `replaced`: what gave way to one'
        ),
    ]
    start: Annotated[
        int | None, Field(description='character offset into the text as sent')
    ]
    end: Annotated[int | None, Field(description='character offset, exclusive')]
    text: str
    value: float | None = None
    offsets_into: Literal['explanation', 'hypothesis']
    phrase: Annotated[
        Literal['noun', 'verb', 'preposition', 'adjective', 'clause'] | None,
        Field(description='null where the type is not known'),
    ]


class FtcStudy(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    simulation: FtcSimulation | None = None
    perturbations: Annotated[list[FtcPerturbation], Field(validate_default=True)] = []
    human_labels: Annotated[
        dict[str, list[Literal['entailment', 'neutral', 'contradiction']]] | None,
        Field(description="people's labels of (premise, counterfactual)"),
    ] = None
    inputs: Annotated[
        Literal['all', 'hypothesis', 'premise', 'label', 'another_item'] | None,
        Field(
            description='what the explanation was generated from; `another_item`: it belongs to another pair of sentences'
        ),
    ] = None


class FtcSupplied(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    kind: Annotated[
        Literal['substituted', 'a', 'b'],
        Field(
            description='`substituted` where the label is entailment or contradiction; else `a`, `b`'
        ),
    ]
    text: str


class GoldColumns(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    label: Annotated[str, Field(description='the gold label of the text')] = 'gold'
    rationale: Annotated[
        str,
        Field(
            description='passages of the text that people marked: JSON, `[[start, end], …]` or `[{start, end}, …]`, character offsets, `end` exclusive; `[]`: they marked nothing'
        ),
    ] = 'gold_rationale'
    rating: Annotated[
        str,
        Field(
            description='ratings of the explanation: one number, a list of one a person (`4; 5`, or JSON), or one key a person that begins with this and `_`, as in `rating_anna`; yes and no are 1 and 0'
        ),
    ] = 'rating'
    accepted_from: Annotated[
        float | None,
        Field(
            description='ratings of at least this accept the explanation; absent: the higher one, where there are two values'
        ),
    ] = None


class HafAnswerWeights(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    upheld: Annotated[
        float, Field(description='sufficiency: sufficient; necessity: not')
    ] = 1.0
    doubtful: Annotated[float, Field(description='it may or may not suffice')] = 0.5
    denied: Annotated[float, Field(description='the contrary of `upheld`')] = 0.1
    unanswered: Annotated[float, Field(description='irrelevant or unclear')] = 0.1


class HafChange(Message):
    original: float | None
    values: Annotated[list[float | None], Field(description='one an order')]
    mean_change: Annotated[
        float | None, Field(description='mean of value minus original')
    ]
    largest_change: Annotated[
        float | None, Field(description='largest absolute change')
    ]


class HafChatToken(Message):
    token: str
    logprob: Annotated[float, Field(description='natural logarithm')]
    bytes: Annotated[
        list[int] | None,
        Field(description='UTF-8, for tokens that are no whole characters'),
    ] = None


class HafCompletionLogprobs(Message):
    tokens: list[str]
    token_logprobs: list[float]


class HafComponents(Message):
    sos: Annotated[
        float | None, Field(description='Strength of Support (Eq. 5); higher is better')
    ]
    dis: Annotated[
        float | None,
        Field(description='Diversity in Support (Eq. 6); higher is better'),
    ]
    uii: Annotated[
        float | None,
        Field(description='Unused Internal Information (Eq. 7); LOWER is better'),
    ]
    uei: Annotated[
        float | None, Field(description='Unused External Information; LOWER is better')
    ]
    rs: Annotated[
        float | None,
        Field(
            description='Reason Sufficiency (Eq. 9), mean over reasons; for toxic and maybe stances'
        ),
    ]
    rn: Annotated[
        float | None,
        Field(
            description='Reason Necessity (Eq. 11), mean over reasons; for non-toxic stances'
        ),
    ]


class HafControls(Message):
    uniform_relevance: Annotated[
        HafComponents, Field(description='every token of a reason counts the same')
    ]
    unweighted: Annotated[
        HafComponents, Field(description='every confidence is 1: similarity alone')
    ]


class HafCounts(Message):
    responses: int
    reasons: Annotated[int, Field(description='of the JUSTIFY stage')]
    refusals: int
    irrelevant: Annotated[
        int, Field(description='decisions that do not answer their question')
    ]
    tokens: Annotated[int, Field(description='of all responses')]
    pairs: Annotated[
        int, Field(description='distinct pairs whose similarity was computed')
    ]


class HafExtras(Message):
    dis_dpp: Annotated[
        float | None,
        Field(description='det(g_ij C_j) of the reasons; higher: more diverse'),
    ]
    internal_del_pe: Annotated[
        float | None,
        Field(
            description="mean uncertainty of the internal stage's reasons minus the initial ones', nats"
        ),
    ]
    external_del_pe: Annotated[
        float | None, Field(description='the same of the external stage')
    ]


class HafGeneration(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    temperature: float = 0.6
    top_p: float = 0.8
    max_tokens: Annotated[int, Field(description='of each response')] = 256


class HafPermutation(Message):
    orders: Annotated[
        list[list[int]], Field(description='of the JUSTIFY reasons, 0-based')
    ]
    dis: Annotated[
        HafChange,
        Field(description='the JUSTIFY response rewritten in each order and scored'),
    ]
    uii: Annotated[
        HafChange,
        Field(description='the internal stage prompted again with each order'),
    ]


class HafReasonEvidence(Message):
    kind: Literal['reason'] = 'reason'
    start: Annotated[
        int | None, Field(description='character offset into the JUSTIFY response')
    ]
    end: Annotated[int | None, Field(description='character offset, exclusive')]
    text: str
    value: Annotated[
        float | None, Field(description='confidence C (Eq. 4), (0, 1]')
    ] = None
    offsets_into: Literal['justify'] = 'justify'


class HafSpread(Message):
    mean: float | None
    sd: Annotated[
        float | None, Field(description='n - 1; null for fewer than two values')
    ]
    low: Annotated[float | None, Field(description='the smallest')]
    high: float | None
    of: Annotated[int, Field(description='generations in which it is defined')]


class HafStageCounts(Message):
    reached: Annotated[int, Field(description='results with a response in it')]
    refused: Annotated[
        int, Field(description='of these, results whose responses all refuse the task')
    ]
    scored: Annotated[
        int,
        Field(description='of these, results with the part that the stage leads to'),
    ]


class HafTokenValue(Message):
    start: Annotated[
        int, Field(description="character offset into the stage's response")
    ]
    end: Annotated[int, Field(description="character offset into the stage's response")]
    tokens: Annotated[
        int, Field(description='more than 1 where they share a character')
    ]
    logprob: Annotated[float, Field(description='log p, nats; summed over `tokens`')]
    relevance: Annotated[
        float,
        Field(
            description="Eq. 3: 1 - g(statement, statement without it); of a decision see `decision_target`. Not normalised: Eq. 2 divides by the statement's sum"
        ),
    ]


class HafWeights(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    sos_confidence: Annotated[
        float, Field(description='w_c of Eq. 5; w_g is the rest')
    ] = 0.8
    uii_confidence: Annotated[float, Field(description='w_c of Eq. 7')] = 0.5
    uei_confidence: Annotated[float, Field(description='w_c of Eq. 7 for UEI')] = 0.5
    sufficiency_confidence: Annotated[
        float, Field(description='of confidence in Eq. 10')
    ] = 0.5
    answers: HafAnswerWeights | None = None
    necessity_without_reasons: Annotated[
        float | None,
        Field(
            description="I_N where no reason is given, which Eq. 12 leaves undefined; absent: the variant's own (`robust` 0, `reference` 0.01, `paper` undefined)"
        ),
    ] = None


class HatexscoreCategoryEvidence(Message):
    kind: Literal['category'] = 'category'
    start: Annotated[None, Field(None)] = None
    end: Annotated[None, Field(None)] = None
    text: Annotated[str, Field(description="in words, as the model's entry has it")]
    value: float | None = None
    category: Annotated[str, Field(description='as the model writes it')]
    model: str


class HatexscoreComponents(Message):
    htc: Annotated[
        float | None,
        Field(
            description='1: the explanation states a conclusion; `robust`: and not the opposite of the decision that was sent'
        ),
    ]
    qf: Annotated[
        float | None,
        Field(
            description='max(0, dp) of masking the quotes if hateful, else 1 - max(0, dp); `paper` and `reference`: |dp|; 0: no quote'
        ),
    ]
    tgi: Annotated[
        float | None,
        Field(
            description='1: it names a protected group as the target; of a non-hateful decision, one that the text names, and null where the text names none: `not_applicable`'
        ),
    ]
    cc: Annotated[float | None, Field(description='1: decision, QF and TGI cohere')]


class HatexscoreConclusion(Message):
    start: Annotated[int, Field(description='character offset (Unicode code points)')]
    end: Annotated[int, Field(description='character offset (Unicode code points)')]
    text: str
    by: Annotated[
        Literal['rules', 'reader', 'llm'],
        Field(description='what read it; `rules`: a field'),
    ] = 'rules'
    label: Annotated[
        str | None,
        Field(
            description='the side that it states; null in results before version 2.0'
        ),
    ] = None
    probability: Annotated[
        float | None,
        Field(
            description='of the label, to two places, as the trained reader gives it; null where the conclusion stands in a field or a language model read it'
        ),
    ] = None


class HatexscoreGroupEvidence(Message):
    kind: Literal['group'] = 'group'
    start: Annotated[
        int | None,
        Field(
            description='character offset into the explanation as sent, or into its fields as they are written out'
        ),
    ]
    end: Annotated[int | None, Field(description='character offset, exclusive')]
    text: str
    value: float | None = None
    offsets_into: Literal['explanation'] = 'explanation'
    group: Annotated[str, Field(description="the list's name of the group")]
    category: Annotated[str, Field(description="the list's category")]
    found_as: Annotated[str, Field(description='how the mention matches the list')]
    by: Annotated[
        Literal['rules', 'reader', 'llm'],
        Field(description='what read the mention; `rules`: a field, or the list alone'),
    ] = 'rules'
    counts: Annotated[
        bool, Field(description='whether it counts as identification of the target')
    ]
    reason: Annotated[str, Field(description='why it counts, or why it does not')]
    attacked: Annotated[
        bool,
        Field(description='whether the explanation says that the group is attacked'),
    ] = False
    in_text: Annotated[
        bool | None,
        Field(
            description='whether the text names the same group; null where it names none, or is in another language than the explanation'
        ),
    ] = None


class HatexscoreHallucinatedQuote(Message):
    start: Annotated[int, Field(description='character offset (Unicode code points)')]
    end: Annotated[int, Field(description='character offset (Unicode code points)')]
    text: str
    misquotes: Annotated[
        str | None,
        Field(
            description='the passage of the text that the quotation changes, so that it says something else: a negation, a number, a group, another word, an ellipsis; null where there is none'
        ),
    ] = None


class HatexscoreLabelConflicts(Message):
    compared: Annotated[
        int, Field(description='results with both a sent and a stated label')
    ]
    conflicting: Annotated[
        int, Field(description='of these, results in which they differ')
    ]
    no_conclusion: Annotated[
        int, Field(description='results whose explanation states no decision')
    ]
    conflicts: Annotated[
        list[str], Field(description='the first of them, by custom_id, else by job')
    ]


class HatexscoreOtherQuotation(Message):
    start: Annotated[int, Field(description='character offset (Unicode code points)')]
    end: Annotated[int, Field(description='character offset (Unicode code points)')]
    text: str
    reason: Annotated[
        Literal['label', 'other_source', 'echo', 'translation', 'unattributed'],
        Field(
            description='label: the name of a label; other_source: words of somebody else, a paraphrase, or words that the text might have had; echo: the whole text, beside quotations of parts; translation: not in the text, and in letters or a language that it does not have; unattributed: not in the text, and not said to be'
        ),
    ]


class HatexscorePostWords(Message):
    words: Annotated[
        int,
        Field(description='different content words of the post that it uses or quotes'),
    ]
    weight: Annotated[
        float, Field(description='of these words; a frequent one counts half')
    ]
    needed: Annotated[
        float, Field(description='weight from which it is about this post')
    ]
    similarity: Annotated[
        float | None,
        Field(
            description='of the post and the explanation without these words, by the model `embedded-similarity`: from 0.3 it is about this post. Asked in English, where the words do not suffice; else null'
        ),
    ] = None


class HatexscoreProbabilities(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    original: Annotated[
        float | None, Field(description='P(hateful) of the text, [0, 1]')
    ]
    masked: Annotated[
        float | None,
        Field(
            description='P(hateful) of the text with the quoted spans masked, [0, 1]'
        ),
    ]


class HatexscoreProbabilityReading(Message):
    reading: Annotated[
        Literal['head', 'verbalizers', 'scored', 'label-endpoint', 'top-logprobs', 'votes'] | None,
        Field(description="the first of the two's"),
    ]
    mass: Annotated[
        float | None,
        Field(description='what all labels had together, the smaller; null: unknown'),
    ]
    uncertainty: Annotated[
        float, Field(description='of P because of the reading, the larger')
    ]


class HatexscoreQuoteCounts(Message):
    exact: Annotated[int, Field(description='quotations found word for word')]
    inflected: Annotated[
        int, Field(description='found, but for the ending of one word')
    ]
    fuzzy: Annotated[
        int, Field(description='found with at most 15 % of the characters edited')
    ]
    missing: Annotated[int, Field(description='not in the text: `hallucinated_quotes`')]
    unsearched: Annotated[
        int, Field(description='not found word for word; near passages not looked for')
    ]
    results_exact: Annotated[
        int, Field(description='results whose quotations are all found exactly')
    ]
    results_rough: Annotated[
        int,
        Field(
            description='results with a quotation found roughly, `inflected` or `fuzzy`, or `unsearched`, and none missing'
        ),
    ]
    results_missing: Annotated[
        int, Field(description='results with a quotation that the text has not')
    ]
    results_without: Annotated[
        int, Field(description='results that quote nothing of their text')
    ]


class HatexscoreQuoteEvidence(Message):
    kind: Literal['quote'] = 'quote'
    start: Annotated[
        int | None, Field(description='character offset into the text as sent')
    ]
    end: Annotated[int | None, Field(description='character offset, exclusive')]
    text: str
    value: Annotated[
        float | None, Field(description='similarity: 1 - edit distance / longer length')
    ] = None
    offsets_into: Literal['text'] = 'text'
    match: Annotated[
        Literal['exact', 'inflected', 'fuzzy'],
        Field(
            description='exact: equal after normalisation; inflected: one word, which differs from that of the text by its ending; fuzzy: at most 15 % of the characters edited'
        ),
    ]
    quoted_as: Annotated[str, Field(description='how the explanation writes it')]


class HatexscoreReaderUse(Message):
    by: Annotated[
        Literal['rules', 'reader', 'llm'],
        Field(
            description='`reader`: fields, and the trained reader for prose; `llm`: a language model; `rules`: the fields of a structured explanation; or the patterns of `paper` and `reference`, and of results before version 2.1'
        ),
    ]
    model: Annotated[str | None, Field(description='of `reader` and `llm`')] = None
    prompt: Annotated[
        str | None, Field(description='its name and version, of `llm`')
    ] = None
    prompt_sha256: Annotated[str | None, Field(description='of its file')] = None


class HatexscoreReason(Message):
    component: Literal['htc', 'qf', 'tgi', 'cc', 'score']
    code: Literal['refused', 'explanation-unfit', 'no-rules', 'conclusion-unread', 'no-words', 'language-undecided', 'untrained-language', 'probability-missing', 'label-unknown', 'model-disagrees', 'judge-has-no-such-label', 'quote-not-found', 'quote-unread', 'answer-unread', 'label-not-listed', 'answer-cut-by-reasoning', 'no-logprobs', 'text-too-long', 'votes-too-coarse']
    detail: str


Evidence1 = TypeAliasType(
    "Evidence1",
    Annotated[
        HatexscoreQuoteEvidence | HatexscoreGroupEvidence | HatexscoreCategoryEvidence,
        Field(discriminator='kind'),
    ],
)


class HatexscoreTestedTogether(Message):
    results: Annotated[int, Field(description='with a control')]
    texts: Annotated[
        int, Field(description='clusters: results of one text count as one')
    ]
    z: Annotated[
        float,
        Field(
            description='sum of (share_beaten - 1/2) over its standard deviation if all quotes were random spans; > 0: the quotes do more'
        ),
    ]
    p_value: Annotated[
        float, Field(description='two-sided, that all quotes are random spans')
    ]
    rate: Annotated[
        float,
        Field(description='expected share of random spans among `found`, at most'),
    ]
    found: Annotated[
        int,
        Field(
            description='results whose quotes do more than random spans, by local false discovery rates'
        ),
    ]
    named: Annotated[
        list[str], Field(description='the first of `found`, by custom_id, else by job')
    ]


class HatexscoreWeights(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    htc: Annotated[float, Field(description='of the Hate-Type Check')] = 1.0
    qf: Annotated[float, Field(description='of Quotation Faithfulness')] = 1.0
    tgi: Annotated[float, Field(description='of Target-Group Identification')] = 1.0
    cc: Annotated[float, Field(description='of the Consistency Check')] = 1.0


class Health(Message):
    status: Literal['ok'] = 'ok'


class Histogram(Message):
    low: Annotated[
        float, Field(description='the least value: where the first bin begins')
    ]
    high: Annotated[
        float,
        Field(description='the greatest value: where the last bin ends, inclusive'),
    ]
    counts: Annotated[
        list[int],
        Field(
            description='values in each bin, lowest first; one bin where all values are the same'
        ),
    ]


class HlvAnswers(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    rankings: Annotated[
        list[dict[str, float]],
        Field(description='positions, 1 = best; missing options tie for last'),
    ] = []
    distributions: Annotated[
        list[dict[str, float]],
        Field(description='probabilities, or weights of any sum > 0'),
    ] = []
    logits: Annotated[
        list[dict[str, float]],
        Field(description="logits of the options' letters, every option"),
    ] = []
    scores: Annotated[
        list[dict[str, float]],
        Field(description='ratings on `human.scale`, every option'),
    ] = []


class HlvCeilingOf(Message):
    high: Annotated[
        float,
        Field(
            description='mean for a judge that is the distribution which the annotators were drawn from'
        ),
    ]
    low: Annotated[
        float | None,
        Field(
            description='mean for one half of the annotators against the other; correlations are stepped up to all (Spearman-Brown). Null where no source has two votes'
        ),
    ]
    chance: Annotated[
        float, Field(description='value of the uniform judge; 0 for correlations')
    ]
    least_room: Annotated[
        float,
        Field(
            description='smallest distance of `high` from chance at which values are normalised'
        ),
    ]
    higher_is_better: bool


class HlvDivergences(Message):
    kl_model_gold: Annotated[float | None, Field(description='D(model ‖ gold), nats')]
    kl_gold_model: Annotated[float | None, Field(description='D(gold ‖ model), nats')]
    jsd: Annotated[
        float,
        Field(description='Jensen-Shannon distance, at most 0.8326 (base e) or 1'),
    ]
    tvd: Annotated[float, Field(description='total variation distance')]


class HlvErrors(Message):
    rmse: float
    mae: float
    r2: Annotated[
        float | None,
        Field(description="over this item's options; null: gold is constant"),
    ]


class HlvGain(Message):
    tau_b: float | None = None
    tau_a: float | None = None
    spearman: float | None = None
    kl_model_gold: float | None = None
    kl_gold_model: float | None = None
    jsd: float | None = None
    tvd: float | None = None
    rmse: float | None = None
    mae: float | None = None


class HlvGold(Message):
    kind: Literal['distribution', 'scores', 'ranking']
    values: Annotated[
        dict[str, float] | None, Field(description='probabilities or mean ratings')
    ]
    ranks: Annotated[
        dict[str, float],
        Field(description='1 = best; ties share the mean of their positions'),
    ]
    sources: int


class HlvJudge(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    methods: Annotated[
        list[Literal['rank', 'logits', 'score']],
        Field(
            description="`rank`: the judge lists the options from best to worst. `logits`: the probability of each option's letter as the first token. `score`: the judge rates each option from 1 to 5. The first method is the headline"
        ),
    ] = ['rank', 'logits', 'score']
    runs: Annotated[
        int, Field(description='answers to `rank` and `score` that are averaged')
    ] = 3
    order: Annotated[
        Literal['fixed', 'rotated'],
        Field(
            description='`rotated`: run r shows the options rotated by r positions under the same letters, and `logits` is averaged over all rotations'
        ),
    ] = 'fixed'
    temperature: Annotated[
        float, Field(description='sampling temperature; 0: greedy, with one run')
    ] = 0.7
    top_p: float = 1.0
    max_tokens: Annotated[int, Field(description='maximum tokens of an answer')] = 64
    chat: Annotated[
        bool,
        Field(description='false: send raw text, for a model without a chat template'),
    ] = True


class HlvMeasured(Message):
    ranks: Annotated[
        dict[str, float], Field(description='mean over runs, ranked again')
    ]
    values: Annotated[
        dict[str, float] | None, Field(description='mean distribution, or mean scores')
    ]
    tau_b: Annotated[float | None, Field(description='Kendall, corrected for ties')]
    tau_a: Annotated[
        float | None, Field(description='Kendall as printed (Eq. 13): ties count 0')
    ]
    spearman: Annotated[
        float | None, Field(description="Pearson's correlation of fractional ranks")
    ]
    spearman_without_ties: Annotated[
        float | None, Field(description='as printed (Eq. 14)')
    ]
    distribution: HlvDivergences | None
    scalar: HlvErrors | None
    runs: Annotated[int, Field(description='number of answers averaged')]
    invalid_runs: Annotated[int, Field(description='number of unreadable answers')] = 0
    label_mass: Annotated[
        float | None, Field(description='probability of all letters as the first token')
    ] = None
    normalised: Annotated[
        dict[str, float | None] | None,
        Field(
            description='metric → (value - chance) / (ceiling - chance): 0 = the uniform judge, 1 = the agreement of people with themselves. Null where that is hardly better than chance; empty without a ceiling'
        ),
    ] = None


class HlvMethodResult(Message):
    method: Literal['rank', 'logits', 'score']
    explained: Annotated[
        HlvMeasured | None,
        Field(description='with explanations; null where none were given'),
    ]
    baseline: Annotated[
        HlvMeasured | None, Field(description='the same judge without explanations')
    ]
    gain: Annotated[
        HlvGain | None, Field(description='null where one of the two is missing')
    ]


class HlvPredictions(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    explained: Annotated[
        HlvAnswers | None, Field(description='answers with the explanations')
    ] = None
    baseline: Annotated[
        HlvAnswers | None, Field(description='answers without them')
    ] = None


class HlvScale(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    low: Annotated[float, Field(description='rating of an impossible option')] = 1
    high: Annotated[float, Field(description='rating of a very likely option')] = 5


class IceArea(Message):
    explanation: str
    operator: Literal['delete', 'mask', 'mask_unk', 'mask_pad', 'infill', 'mean']
    k_from: float
    k_to: float
    win_rate: Annotated[
        float | None, Field(description='of sufficiency; 0.5 is chance')
    ]
    nsr: Annotated[float | None, Field(description='null where one of the values is')]


class IceAttributedSpan(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    start: Annotated[int, Field(description='character offset (Unicode code points)')]
    end: Annotated[int, Field(description='character offset, exclusive')]
    of: Annotated[
        Literal['text', 'text_pair'], Field(description='what the offsets point into')
    ] = 'text'
    value: Annotated[float, Field(description='importance, in units of your own')]


class IceCausalReading(Message):
    explanation: str
    k: float | None
    operator: Literal['delete', 'mask', 'mask_unk', 'mask_pad', 'infill']
    interaction: Annotated[
        float | None,
        Field(
            description='g(x) - g(r) - g(x without r) + g(empty), g = log odds of s: above 0 the rationale and the rest need each other, below 0 they replace each other; null without s(empty)'
        ),
    ]
    p_interaction: Annotated[
        float | None,
        Field(description='two-sided, among the interactions of random rationales'),
    ]
    reading: Annotated[
        Literal['cause', 'redundant', 'sufficient', 'partner', 'needed', 'no evidence', 'against', 'undecidable', 'undefined'],
        Field(
            description='`cause`: enough alone and needed; `redundant`: enough, and the rest is enough too; `partner`: needed, but only together with the rest; `sufficient`, `needed`: one of them, and the interaction does not say how; `against`: the prediction does better without it; `undecidable`: too few random rationales; `undefined`: there is none'
        ),
    ]


class IceChance(Message):
    win_rate: Annotated[
        float,
        Field(description='mean of the mid-rank win rate under the null, by symmetry'),
    ]
    sd: Annotated[
        float | None,
        Field(
            description='standard deviation of the score: over random rationales, of the mean over operators of their mid-ranks; of one operator without ties √((M+2)/(12M)). Variants paper and reference: that'
        ),
    ]
    draws: Annotated[int, Field(description='M')]


class IceComparison(Message):
    first: str
    second: str
    k: float
    operator: Literal['delete', 'mask', 'mask_unk', 'mask_pad', 'infill', 'mean']
    score_difference: Annotated[
        float, Field(description='s(first) - s(second), probability; no sampling')
    ]
    win_rate_difference: Annotated[
        float | None,
        Field(description='first - second, over the random rationales of `draws`'),
    ]
    low: Annotated[
        float | None,
        Field(description='95 % Wilson interval over the draws; exact: the value'),
    ]
    high: float | None
    draws: Annotated[
        int, Field(description='random rationales that both were compared with')
    ]


class IceConfiguration(Message):
    model: str
    variant: Literal['robust', 'paper', 'reference']
    explanation: str
    k: Annotated[
        float | None, Field(description='null for rationales that were sent as spans')
    ]
    operator: Literal['delete', 'mask', 'mask_unk', 'mask_pad', 'infill', 'mean']
    rows: Annotated[
        Literal['tokens', 'words'], Field(description='what rationales are made of')
    ] = 'tokens'
    aspect: Literal['sufficiency', 'necessity'] = 'sufficiency'


class IceDistance(Message):
    rows: Annotated[
        int, Field(description='perturbed texts that the model was asked about')
    ]
    kept: Annotated[
        float | None, Field(description='mean share of the tokens that they keep')
    ]
    entropy_gain: Annotated[
        float | None,
        Field(
            description="mean entropy of the model's answers to them less that of the text, nats; null of rows of words, where the target's probability alone is read"
        ),
    ]
    flip_share: Annotated[
        float | None,
        Field(
            description="share of random rationales' rows whose likeliest label is not the text's; null likewise"
        ),
    ]
    length_share: Annotated[
        float | None,
        Field(
            description="share of rows shorter or longer than 98 % of the texts that the model was trained on; null where the model's card does not say, and of rows of words"
        ),
    ] = None
    ece_perturbed: Annotated[
        float | None,
        Field(
            description="the largest excess of calibration error on such inputs, by the model's card (nearest operator and share that stays); null where it does not say"
        ),
    ] = None
    perplexity_ratio: Annotated[
        float | None,
        Field(
            description='perplexity, under `fluency_model`, of what 50 random rationales leave of the text, over that of the text: first explanation, budget and operator; null where no model was named, or it cannot read them'
        ),
    ] = None
    rationale_perplexity_ratio: Annotated[
        float | None,
        Field(description="the same of what the explanation's own rationale leaves"),
    ] = None


class IceNull(Message):
    kind: Annotated[
        Literal['tokens', 'words', 'spans', 'spans_gaps'],
        Field(
            description='as many tokens, as many whole words with as many tokens, passages of the same lengths, or those with the same gaps; in rows of words `words` are as many words'
        ),
    ] = 'tokens'
    placements: Annotated[
        int | None,
        Field(
            description='that exist besides the explanation; null above 1e15 and where not counted'
        ),
    ] = None
    draws: Annotated[int, Field(description='random ones compared with')]
    win_rate_draws: Annotated[
        int | None,
        Field(
            description='of these, the first ones, which the win rate rests on: how many follow was decided by what they showed; null in results of before: all'
        ),
    ] = None
    exact: Annotated[bool, Field(description='whether they are all that exist')] = False
    overlap: Annotated[
        float | None,
        Field(
            description="mean intersection over union of the explanation's units with a random one's: near 1 the null is the explanation itself, and the win rate tends to 1/2; null where it is no set of units"
        ),
    ] = None
    p_value: Annotated[
        float | None,
        Field(
            description='one-sided, (1 + draws that score as high) / (1 + draws), of the first draws where these settle it'
        ),
    ] = None
    p_anti: Annotated[float | None, Field(description='the other side: as low')] = None
    p_two_sided: Annotated[
        float | None, Field(description='twice the smaller of both, at most 1')
    ] = None
    attainable_p: Annotated[
        float | None,
        Field(
            description='the least p that could have come, one-sided where `alternative` is `greater`: of as many draws as the request allows, or of all placements'
        ),
    ] = None
    ties: Annotated[
        float | None, Field(description='share of the draws that score the same')
    ] = None
    mean: Annotated[float | None, Field(description="of the draws' scores")] = None
    sd: Annotated[
        float | None,
        Field(description='n - 1 (variants paper and reference: n); null if undefined'),
    ] = None
    deciles: Annotated[
        list[float],
        Field(
            description="the 10 % to 90 % quantiles of the draws' scores; empty without draws"
        ),
    ] = []
    histogram: Annotated[
        Histogram | None,
        Field(description="of the draws' scores, in 20 equal bins; null without draws"),
    ] = None
    p_calibrated: Annotated[
        float | None,
        Field(
            description='where 4 to 18 other placements exist, too few for a `p_value` of 0.05: how often a random passage of another post stands out as far among its placements. Valid on average over posts (`calibration`), for posts that the judge calls hateful, for judges and languages that were measured'
        ),
    ] = None
    calibration: Annotated[
        Calibration | None,
        Field(description='what `p_calibrated` rests on; null without it'),
    ] = None
    strata: Annotated[
        Literal['frequency', 'pos'] | None,
        Field(description='what else they have in common, token by token'),
    ] = None
    match_tokens: Annotated[
        bool,
        Field(description='whether they have about as many tokens as the rationale'),
    ] = False


class IceOverExamples(Message):
    alpha: float
    rejected: Annotated[int, Field(description='examples whose one-sided p survives')]
    least_p: Annotated[
        float | None,
        Field(description='the smallest p that the draws allow, 1 / (M + 1)'),
    ]
    needed: Annotated[
        int | None,
        Field(
            description='examples that would have to reach it before any is rejected'
        ),
    ]
    raw: Annotated[int, Field(description='examples with p <= alpha, uncorrected')]


class IcePValueHistogram(Message):
    counts: Annotated[
        list[int],
        Field(
            description='p-values in each bin, the lowest first; as many bins, up to 20, as the p-values that the draws allow are spread evenly over'
        ),
    ]
    expected: Annotated[
        float,
        Field(description='in each bin if all explanations were random: tests / bins'),
    ]


class IcePlausibility(Message):
    explanation: str
    k: float | None
    human_tokens: int
    iou: Annotated[float, Field(description='intersection over union of tokens')]
    precision: float
    recall: float
    f1: float
    auprc: Annotated[
        float | None,
        Field(
            description='average precision of the ranking, any budget; null for spans without values'
        ),
    ]
    prevalence: Annotated[
        float, Field(description='share of marked tokens: what AUPRC is by chance')
    ]


class IceRationaleEvidence(Message):
    kind: Literal['rationale'] = 'rationale'
    start: Annotated[
        int | None, Field(description='character offset into the text as sent')
    ]
    end: Annotated[int | None, Field(description='character offset, exclusive')]
    text: str
    value: Annotated[
        float | None, Field(description='mean value of its tokens, as given')
    ] = None
    offsets_into: Literal['text', 'text_pair'] = 'text'
    explanation: str


class IceReadingCounts(Message):
    model: str
    explanation: str
    k: float | None
    operator: Literal['delete', 'mask', 'mask_unk', 'mask_pad', 'infill']
    examples: int
    readings: dict[str, int]


class IceScores(Message):
    full: Annotated[float, Field(description='s(x): the whole text')]
    rationale: Annotated[float, Field(description='s(r): only the rationale stays')]
    empty: Annotated[
        float | None, Field(description='s(empty): nothing of the text stays')
    ]
    without: Annotated[
        float | None,
        Field(
            description='s(x without r): everything but the rationale stays; null where it was not asked for, and where nothing would be left that the model can read'
        ),
    ] = None


class IceSpan(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    start: Annotated[int, Field(description='character offset (Unicode code points)')]
    end: Annotated[int, Field(description='character offset, exclusive')]
    of: Annotated[
        Literal['text', 'text_pair'], Field(description='what the offsets point into')
    ] = 'text'


class IceTest(Message):
    explanation: str
    aspect: Annotated[
        Literal['sufficiency', 'necessity'],
        Field(
            description='what is compared with that of random rationales: what the rationale alone keeps, s(r), or what its removal costs, s(x) - s(x without r)'
        ),
    ] = 'sufficiency'
    k: Annotated[
        float | None, Field(description='null for a rationale that was sent as spans')
    ]
    tokens: Annotated[int, Field(description='size of the rationale')]
    operator: Annotated[
        Literal['delete', 'mask', 'mask_unk', 'mask_pad', 'infill', 'mean'],
        Field(
            description='`mean`: NSR averaged over the operators (variants paper and reference)'
        ),
    ]
    win_rate: Annotated[
        float | None,
        Field(
            description='share of random rationales that score lower, ties half; 0.5 is chance'
        ),
    ]
    strict_win_rate: Annotated[float | None, Field(description='ties count as losses')]
    tie_rate: float | None
    effect: Annotated[
        float | None,
        Field(description='(observed - null mean) / null sd; null if sd is 0'),
    ]
    p_value: Annotated[
        float | None,
        Field(description='one-sided: P(a random rationale scores as high)'),
    ]
    p_anti: Annotated[float | None, Field(description='the other side: as low')]
    p_two_sided: Annotated[
        float | None, Field(description='twice the smaller, at most 1')
    ]
    p_adjusted: Annotated[
        float | None,
        Field(
            description="corrected for all tests of the request: max-T over an explanation's own, Holm over explanations; null in variants paper and reference"
        ),
    ] = None
    verdict: Annotated[
        Literal['faithful', 'inconclusive', 'anti-faithful', 'undecidable'] | None,
        Field(
            description='at level alpha, by `p_adjusted` (variants paper and reference: `p_two_sided`); `undecidable`: `null.attainable_p` is above alpha, so that no other could have come. Of necessity, with few placements, by `null.p_calibrated`'
        ),
    ]
    drop: Annotated[
        float | None,
        Field(
            description='probability of the target label that is lost: s(x) - s(r); of a necessity test s(x) - s(x without r)'
        ),
    ] = None
    nsr: Annotated[
        float | None, Field(description='Eq. 1; null where |s(x) - s(empty)| < epsilon')
    ]
    scores: Annotated[IceScores | None, Field(description='null for operator `mean`')]
    null: IceNull


class IceToken(Message):
    start: Annotated[
        int | None, Field(description='character offset; null outside text and pair')
    ]
    end: Annotated[
        int | None, Field(description='character offset, exclusive; null likewise')
    ]
    of: Annotated[
        Literal['text', 'text_pair', 'template', 'special'],
        Field(description='what the offsets point into, or what else it belongs to'),
    ]
    eligible: Annotated[bool, Field(description='whether a rationale may hold it')]


class IceTokenValues(Message):
    explanation: str
    values: Annotated[
        list[float | None],
        Field(
            description='one a token; null for tokens that are not eligible, and for spans without values'
        ),
    ]
    rationale: Annotated[
        list[int], Field(description='its tokens at the first budget, ascending')
    ]


class Import(Message):
    object: Literal['judgement_import'] = 'judgement_import'
    imported: int
    unchanged: Annotated[int, Field(description='that were there already')]


class Interval(Message):
    value: Annotated[float | None, Field(description='null where nothing was observed')]
    low: Annotated[
        float | None,
        Field(description='null for fewer than two clusters, or where undefined'),
    ]
    high: float | None
    of: Annotated[int, Field(description='observations')]
    method: Annotated[
        Literal['wilson', 'studentised', 'bca', 'order', 't', 'exact'] | None,
        Field(description='how the ends were found'),
    ] = None
    clusters: Annotated[
        int | None,
        Field(description='texts that the observations belong to; null: not known'),
    ] = None
    effective: Annotated[
        float | None, Field(description='independent observations that these are worth')
    ] = None
    se: Annotated[
        float | None, Field(description='standard error, in units of the value')
    ] = None
    detectable: Annotated[
        float | None,
        Field(
            description="smallest true distance that so many texts find with power 0.8, same units; null where the quantity's range is not as wide, and where all values are equal, which does not tell how far further ones spread"
        ),
    ] = None


class JobBrief(Message):
    id: str
    object: Literal['job'] = 'job'
    metric: str
    status: Literal['queued', 'running', 'succeeded', 'failed', 'cancelled']


class JobEvent(Message):
    id: Annotated[
        str | None,
        Field(description='send the last one as `Last-Event-ID` to go on from there'),
    ] = None
    retry: Annotated[
        int | None, Field(description='milliseconds until coming back')
    ] = None
    event: Literal['end', 'job.queued', 'job.running', 'job.succeeded', 'job.failed', 'job.cancelled']
    data: str


class JobNotice(Message):
    id: str
    object: Literal['job'] = 'job'
    metric: str
    status: Literal['queued', 'running', 'succeeded', 'failed', 'cancelled']
    batch_id: str | None
    score: Annotated[
        float | None,
        Field(description='null where it is undefined, and where there is none'),
    ]
    error_type: Annotated[
        str | None, Field(description='the `type` of the problem of a failed job')
    ]


class JobProgress(Message):
    id: str
    object: Literal['job'] = 'job'
    status: Literal['queued', 'running', 'succeeded', 'failed', 'cancelled']
    attempts: int
    at: Annotated[
        int | None, Field(description='unix seconds; null where it was not kept')
    ]


class JobSucceededWebhook(Message):
    type: Literal['job.succeeded'] = 'job.succeeded'
    timestamp: str
    data: JobNotice


class JobSummary(Message):
    id: str
    object: Literal['job'] = 'job'
    metric: str
    status: Literal['queued', 'running', 'succeeded', 'failed', 'cancelled']
    verdict: Annotated[
        Literal['holds_up', 'problem_found', 'not_tested'] | None,
        Field(description="of a metric's result"),
    ]
    score: Annotated[
        float | None, Field(description="of a metric's result; null where undefined")
    ]
    decision: Annotated[
        str | None,
        Field(description='that is explained, as sent or as the text states it'),
    ]
    batch_id: str | None
    metadata: dict[str, str]
    created_at: Annotated[int, Field(description='unix seconds')]
    started_at: Annotated[int | None, Field(description='unix seconds')]
    finished_at: Annotated[int | None, Field(description='unix seconds')]


class JobTiming(Message):
    queued_seconds: Annotated[
        float | None,
        Field(
            description='from its acceptance to its first start, or to its end where it never started; null while queued'
        ),
    ]
    run_seconds: Annotated[
        float | None,
        Field(
            description='from its first start to its end, further attempts among them; null until then'
        ),
    ]


JsonValue = TypeAliasType("JsonValue", Any)


JsonValueAnswer = TypeAliasType("JsonValueAnswer", Any)


class Judged(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    queue: Annotated[
        str | None, Field(description='those of this review queue alone')
    ] = None
    random: Annotated[
        bool,
        Field(
            description='whether the results are a random sample of what they stand for'
        ),
    ] = False


class JudgementNotice(Message):
    id: str
    object: Literal['judgement'] = 'judgement'
    job_id: str
    metric: str
    verdict: Literal['agree', 'disagree', 'unsure']
    about: Annotated[str, Field(description='`score`, or the name of a part')]
    reviewer: str
    verified: bool


class LabelAccuracy(Message):
    label: str
    gold: Annotated[int, Field(description='results with this gold label')]
    decided: Annotated[int, Field(description='results that decided so')]
    precision: Annotated[
        float | None, Field(description='null where nothing decided so')
    ]
    recall: Annotated[float | None, Field(description='null without this gold label')]
    f1: Interval


class LanguageFound(Message):
    code: Annotated[
        str,
        Field(
            description='BCP 47, varieties folded into their macrolanguage; `und`: undecided'
        ),
    ]
    confidence: Annotated[
        float,
        Field(
            description='share of the script, or probability of the model; 1: as sent'
        ),
    ]
    by: Annotated[
        Literal['request', 'script', 'model', 'assumed', 'undecided'],
        Field(
            description='`assumed`: not recognised, and taken to be the language of the other text, or the only one that the model learned; a warning says so'
        ),
    ]
    likely: Annotated[
        list[str],
        Field(
            description='the likeliest languages of a text whose language is not recognised'
        ),
    ] = []


class LanguageScores(Message):
    results: int
    undefined: Annotated[int, Field(description='of these, results without a score')]
    score: Annotated[
        Interval, Field(description='mean score, with its interval over texts')
    ]


class Languages(Message):
    text: LanguageFound
    explanation: Annotated[
        LanguageFound | None, Field(description='null where it has no words of its own')
    ] = None


class LeaseRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    reviewer: Annotated[str | None, Field(description='who judges, if not the key')] = (
        None
    )
    skip: Annotated[
        int | None, Field(description='position of a line not to be given again')
    ] = None


class MarkedSpan(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    of: Annotated[
        str, Field(description='the field of the request that holds them')
    ] = 'text'
    start: Annotated[int, Field(description='character offset into the text as sent')]
    end: Annotated[int, Field(description='character offset, exclusive')]


class MarkedSpanAnswer(Message):
    of: Annotated[
        str, Field(description='the field of the request that holds them')
    ] = 'text'
    start: Annotated[int, Field(description='character offset into the text as sent')]
    end: Annotated[int, Field(description='character offset, exclusive')]


class NliQuestion(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    premise: str
    hypothesis: str


class NullReason(Message):
    component: Annotated[str, Field(description='the component, or `score`')]
    code: Literal['refused', 'explanation-unfit', 'no-rules', 'conclusion-unread', 'no-words', 'language-undecided', 'untrained-language', 'probability-missing', 'label-unknown', 'model-disagrees', 'judge-has-no-such-label', 'quote-not-found', 'quote-unread', 'answer-unread', 'label-not-listed', 'answer-cut-by-reasoning', 'no-logprobs', 'text-too-long', 'votes-too-coarse']
    detail: str


class Option(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    key: Annotated[str, Field(description='the letter that is put before it')]
    text: str


class OutputExpiry(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    anchor: Literal['created_at'] = 'created_at'
    seconds: int


class Pair(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    a: str
    b: str


class PartAgreement(Message):
    part: Annotated[str, Field(description="`score`, or the part's name")]
    auc: Annotated[
        Interval,
        Field(
            description='how often what people agree with has the higher value; chance is 0.5'
        ),
    ]
    human_score: Annotated[
        Interval,
        Field(
            description='rank correlation with the score that people would give, [-1, 1]'
        ),
    ]


class PartExcess(Message):
    operator: Annotated[
        Literal['delete', 'mask'], Field(description='what was done to the other words')
    ]
    kept: Annotated[float, Field(description='share of the words that stayed')]
    excess: Annotated[
        float, Field(description='expected calibration error less its floor by chance')
    ]


class PartSummary(Message):
    mean: Annotated[Interval, Field(description='over the results that have it')]
    undefined: Annotated[
        int, Field(description='results where it is asked for, and cannot be told')
    ]
    not_applicable: Annotated[
        int, Field(description='results of which there is nothing to ask')
    ]


class Plausibility(Message):
    results: Annotated[
        int, Field(description='with marked passages, or with passages of their own')
    ]
    without_spans: Annotated[
        int, Field(description='of these, explanations that rest on no passage')
    ]
    character_f1: Annotated[
        Interval, Field(description='F1 of the overlap, mean over results, [0, 1]')
    ]
    span_f1: Annotated[
        Interval,
        Field(
            description='F1 of passages, one found where intersection over union is at least 0.5'
        ),
    ]
    chance: Annotated[
        Interval,
        Field(
            description='`character_f1` of the same passages at a random place of the text'
        ),
    ]
    above_chance: Annotated[
        Interval, Field(description='mean of `character_f1` - chance, [-1, 1]')
    ]


class Plot(Message):
    name: str
    title: str
    svg: str
    png_base64: str


class Probabilities(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    operation: Literal['probabilities'] = 'probabilities'
    texts: list[str]


class ProblemChange(Message):
    problem: Annotated[str, Field(description='its code, as in `problems` of a result')]
    only_first: Annotated[
        int, Field(description="pairs where only the report's own result has it")
    ]
    only_second: Annotated[
        int, Field(description='pairs where only the result of `against` has it')
    ]
    p_value: Annotated[
        float | None,
        Field(description='that both systems have it equally often, two-sided'),
    ]
    p_adjusted: Annotated[
        float | None, Field(description='`p_value` after Holm over all problems')
    ]


class PromptKeys(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    style: Annotated[
        Literal['chat', 'raw'] | None,
        Field(description='`chat` if there is a chat template; `raw`: `user` is all'),
    ] = None
    system: str | None = None
    policy: Annotated[str | None, Field(description='what `{policy}` stands for')] = (
        None
    )
    user: Annotated[str | None, Field(description="else the task's own question")] = (
        None
    )
    after: Annotated[
        str | None,
        Field(
            description="a further turn of the user, after the text's (Granite Guardian)"
        ),
    ] = None
    answer_prefix: Annotated[
        str, Field(description='what the model writes before its label')
    ] = ''
    verbalizers: Annotated[
        dict[str, list[str]] | None,
        Field(description='label → strings that stand for it'),
    ] = None
    template_kwargs: Annotated[
        dict[str, Any] | None, Field(description='handed to the chat template')
    ] = None
    add_generation_prompt: bool = True
    thinking: Annotated[
        Literal['off', 'before'],
        Field(description='`before`: reasoning is written first'),
    ] = 'off'
    reasoning_tokens: int = 512
    draws: Annotated[int, Field(description='of the reasoning; P is their mean')] = 1


class QueueProgress(Message):
    done: int
    skipped: int
    left: int
    seconds: Annotated[
        float | None, Field(description='median that a judgement of it took')
    ]


class Readiness(Message):
    status: Literal['ok'] = 'ok'
    ledger: Literal['ok'] = 'ok'
    broker: Literal['ok'] = 'ok'
    files: Annotated[
        str,
        Field(
            description='`ready`, or why the file store is away: batches wait, uploads are refused'
        ),
    ]
    workers: Annotated[
        dict[str, str],
        Field(
            description='service → `ready`, or why its jobs wait: their worker starts, or there is none'
        ),
    ]


class ReplayRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    delivery: Annotated[
        str | None, Field(description='an ended delivery; null: every failed one')
    ] = None


class Replayed(Message):
    object: Literal['webhook_replay'] = 'webhook_replay'
    replayed: int


class RequestCounts(Message):
    total: int
    completed: int
    failed: int


class ReviewItem(Message):
    position: int
    line: Annotated[int, Field(description='of the batch')]
    job_id: str
    leased_until: Annotated[int, Field(description='unix seconds')]


class ReviewQueueRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    batch: str
    name: str
    query: Annotated[
        str, Field(description="filters, as the address of the batch's table has them")
    ] = ''
    order: Annotated[
        Literal['random', 'surprising', 'uncertain'],
        Field(
            description='only figures of `random` queues hold for the batch; `uncertain`: closest to the border of the verdict first'
        ),
    ] = 'random'
    lines: Annotated[int, Field(description='at most')] = 60
    per_line: Annotated[int, Field(description='people who judge each line')] = 1
    blind: Annotated[
        bool, Field(description='score and verdict come after the answer')
    ] = True
    seed: Annotated[int, Field(description='of the random order')] = 0
    rubric: Annotated[
        list[Literal['agree', 'score', 'label', 'spans', 'note']],
        Field(description='what is asked'),
    ] = ['agree']


class ReviewQueue(Message):
    id: str
    object: Literal['review_queue'] = 'review_queue'
    name: str
    metric: str
    batch_id: str
    query: Annotated[
        list[list[str]], Field(description='the filters in force when it was made')
    ]
    order: Literal['random', 'surprising', 'uncertain']
    lines: int
    per_line: int
    blind: bool
    seed: int
    rubric: list[Literal['agree', 'score', 'label', 'spans', 'note']]
    state: Literal['open', 'closed']
    created_at: Annotated[int, Field(description='unix seconds')]
    progress: QueueProgress


class ReviewerJudgement(Message):
    id: str
    object: Literal['judgement'] = 'judgement'
    job_id: str
    reviewer: str
    verified: Annotated[
        bool, Field(description='whether the key says who it is, not the caller')
    ]
    verdict: Literal['agree', 'disagree', 'unsure', 'withdrawn']
    about: Annotated[str, Field(description='`score`, or the name of a part')]
    human_score: Annotated[float | None, Field(description='[0, 1]')]
    human_label: str | None
    spans: Annotated[
        list[MarkedSpanAnswer],
        Field(description='words that decide, as they were marked'),
    ]
    note: str | None
    blind: Annotated[bool, Field(description='whether the score was hidden')]
    queue_id: str | None
    seconds: Annotated[float | None, Field(description='that it took')]
    supersedes: str | None
    current: Annotated[bool, Field(description='whether no other supersedes it')]
    source: Annotated[str | None, Field(description='where it was made, if elsewhere')]
    created_at: Annotated[int, Field(description='unix seconds')]
    key_id: Annotated[
        str | None, Field(description='that sent it; for keys of scope `admin`')
    ]
    address_family: Annotated[
        str | None, Field(description='IPv4 or IPv6; for keys of scope `admin`')
    ]
    request_id: Annotated[
        str | None, Field(description='that sent it; for keys of scope `admin`')
    ]


class ReviewerPair(Message):
    first: str
    second: str
    texts: int
    agreed: Annotated[
        Interval, Field(description='share of texts where both say the same')
    ]
    kappa: Annotated[
        float | None,
        Field(
            description="Cohen's, [-1, 1]; null where both said one thing of all texts"
        ),
    ]


class RotationRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    overlap_seconds: Annotated[
        int, Field(description='how long the previous secret signs as well')
    ] = 86400


class Row(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    kept: Annotated[
        list[int] | None,
        Field(description='positions that stay, ascending; absent: all'),
    ] = None
    replaced: Annotated[
        list[list[int]], Field(description='(position, token id) pairs')
    ] = []


class Sampling(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    temperature: Annotated[float, Field(description='0: greedy')] = 0.6
    top_p: float = 0.8
    max_tokens: int = 256
    stop: list[str] = []
    seed: int = 0
    answer_schema: Annotated[
        str | None,
        Field(
            description="JSON Schema that a chat's answer must fit, where its server constrains it"
        ),
    ] = None


class Scenario(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    scenario: str
    question: str


class ScoreChange(Message):
    first_job: str
    second_job: str
    custom_id: str | None
    first: float
    second: float
    difference: Annotated[float, Field(description='first - second')]


class ScoreDecile(Message):
    low: float
    high: float
    agreed: Annotated[Interval, Field(description='share that agrees with the metric')]


class SdkError(Message):
    message: Annotated[
        str, Field(description='title, detail and place in one sentence')
    ]
    type: Annotated[
        str, Field(description='as in `invalid_request_error`; follows from the status')
    ]
    code: Annotated[str, Field(description="the last part of the problem's `type`")]
    param: Annotated[
        str | None,
        Field(description='the first place that is wrong, as in `requests.17.text`'),
    ]


class SequenceInterval(Message):
    low: float
    high: float
    of: Annotated[
        int, Field(description='texts so far; several results of one are averaged')
    ]


class ServerAbilities(Message):
    name: str
    source: Annotated[str, Field(description='the scheme; addresses are not repeated')]
    served: str
    owner: Annotated[str | None, Field(description='owner by the server')] = None
    milliseconds: Annotated[
        float | None, Field(description='time of one short answer')
    ] = None
    error: Annotated[str | None, Field(description='why it cannot be used')] = None
    is_away: Annotated[bool, Field(description='true if the error is temporary')] = (
        False
    )
    lists_models: bool | None = None
    completions: bool | None = None
    chat: bool | None = None
    given_text: Annotated[
        str | None, Field(description='method for scoring given text')
    ] = None
    tells_tokens: bool | None = None
    top_logprobs: Annotated[int | None, Field(description='tokens listed; 0: none')] = (
        None
    )
    asked_logprobs: int | None = None
    label_endpoint: str | None = None
    prefill_continues: bool | None = None
    reasoning_field: str | None = None
    limit_field: str | None = None
    left_out: Annotated[list[str], Field(description='fields that it rejects')] = []
    seed_repeats: Annotated[int | None, Field(description='equal draws of 3')] = None
    length: Annotated[
        int | None, Field(description='context length in tokens by the server')
    ] = None
    protocol: Annotated[
        str | None, Field(description='protocol of a classification server')
    ] = None
    activation: str | None = None
    outputs: list[str] | None = None
    labels: list[str] | None = None
    reading: Literal['head', 'verbalizers', 'scored', 'label-endpoint', 'top-logprobs', 'votes'] | None = (
        None
    )
    mass: float | None = None
    unread: Annotated[
        str | None, Field(description='why P could not be read on the probe')
    ] = None
    metrics: dict[str, str] | None = None


class SimilarityRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    model: Annotated[
        str | None,
        Field(description="a configured model's name; the service's default if absent"),
    ] = None
    metadata: Annotated[
        dict[str, str] | None,
        Field(description='at most 16 pairs, returned with the job'),
    ] = None
    context: Annotated[
        Context | None, Field(description='audit fields, returned with the job')
    ] = None
    webhook: Annotated[
        str | None,
        Field(
            description="the webhook endpoint that is notified of this job's end, and no other; if absent, every endpoint of yours that listens to the event"
        ),
    ] = None
    do_not_store_text: Annotated[
        bool,
        Field(
            description='keep no text once the job has ended: what is left of the request is `model`, `variant`, `seed`, `metadata`, `context` and `trace`, and of the result the numbers and names'
        ),
    ] = False
    pairs: Annotated[
        list[Pair],
        Field(
            description='a cross-encoder reads `a` before `b`; a bi-encoder ignores the order'
        ),
    ]


class SorComponents(Message):
    completeness: Annotated[
        float | None,
        Field(
            description='mean of the items without `facts`; items that the form lacks do not count'
        ),
    ]
    specificity: Annotated[
        float | None,
        Field(
            description='does it name the facts of this post? 1 with a quotation, up to 0.95 for its words, less the words that other posts would have'
        ),
    ]
    measure: Annotated[
        float | None,
        Field(description='Article 17(3)(a): restriction, where, how long'),
    ]
    automated_means: Annotated[
        float | None, Field(description='Article 17(3)(c): detection, decision')
    ]
    grounds: Annotated[
        float | None,
        Field(
            description='Article 17(3)(d) or (e): the provision or clause, and why it applies'
        ),
    ]
    redress: Annotated[
        float | None,
        Field(
            description="Article 17(3)(f): share of complaint, out-of-court settlement and court; null for the database's fields, which lack it"
        ),
    ]
    quotes: Annotated[int, Field(description='quotations of the post')]
    quotes_not_found: Annotated[
        int, Field(description='quotations of neither the post nor a rule')
    ]
    post_words: Annotated[
        int, Field(description='different content words of the post in the statement')
    ]
    faithfulness: Annotated[
        float | None,
        Field(
            description='with a `model`: share of other words of the post that carry its decision less than the words that the statement names; chance is 0.5; not part of the score'
        ),
    ] = None


class SorEvidence(Message):
    kind: Literal['restriction', 'territorial_scope', 'duration', 'quote', 'word', 'quote_not_found', 'automated_detection', 'automated_decision', 'ground', 'explanation', 'redress']
    start: Annotated[
        int | None, Field(description='character offset into the text as sent')
    ]
    end: Annotated[int | None, Field(description='character offset, exclusive')]
    text: str
    value: float | None = None
    field: Annotated[
        str,
        Field(
            description='the text of `start` and `end`: `statement`, or one of its fields'
        ),
    ]
    route: Annotated[
        Literal['internal_complaint', 'out_of_court_settlement', 'court'] | None,
        Field(description='the route of `redress`'),
    ] = None
    post_start: Annotated[int | None, Field(description='offset into `text`')] = None
    post_end: Annotated[
        int | None, Field(description='offset into `text`, exclusive')
    ] = None


class SorFields(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    decision_visibility: list[str] | str | None = None
    decision_visibility_other: str | None = None
    decision_monetary: str | None = None
    decision_monetary_other: str | None = None
    decision_provision: str | None = None
    decision_account: str | None = None
    account_type: str | None = None
    decision_ground: str | None = None
    decision_ground_reference_url: str | None = None
    illegal_content_legal_ground: str | None = None
    illegal_content_explanation: str | None = None
    incompatible_content_ground: str | None = None
    incompatible_content_explanation: str | None = None
    incompatible_content_illegal: str | None = None
    content_type: list[str] | None = None
    content_type_other: str | None = None
    content_language: str | None = None
    content_date: str | None = None
    content_id_ean: str | None = None
    category: str | None = None
    category_addition: list[str] | None = None
    category_specification: list[str] | None = None
    category_specification_other: str | None = None
    territorial_scope: list[str] | None = None
    application_date: str | None = None
    end_date_visibility_restriction: str | None = None
    end_date_monetary_restriction: str | None = None
    end_date_service_restriction: str | None = None
    end_date_account_restriction: str | None = None
    decision_facts: str | None = None
    source_type: str | None = None
    source_identity: str | None = None
    automated_detection: str | None = None
    automated_decision: str | None = None
    puid: str | None = None


class SorItem(Message):
    name: Literal['restriction', 'territorial_scope', 'duration', 'facts', 'automated_detection', 'automated_decision', 'ground', 'explanation', 'redress']
    value: Annotated[
        float | None,
        Field(
            description='0: missing or too vague; `facts` is `specificity`; `redress`: share of its three ways; null: the form lacks it'
        ),
    ]


class SorLikeness(Message):
    job: str
    nearest: str
    similarity: Annotated[
        float,
        Field(
            description='Jaccard similarity of runs of three words, without quotations and words of their posts'
        ),
    ]


class SorMaskNull(Message):
    kind: Literal['other words'] = 'other words'
    placements: Annotated[
        int | None,
        Field(
            description='that exist besides the explanation; null above 1e15 and where not counted'
        ),
    ] = None
    draws: Annotated[int, Field(description='random ones compared with')]
    win_rate_draws: Annotated[
        int | None,
        Field(
            description='of these, the first ones, which the win rate rests on: how many follow was decided by what they showed; null in results of before: all'
        ),
    ] = None
    exact: Annotated[bool, Field(description='whether they are all that exist')] = False
    overlap: Annotated[
        float | None,
        Field(
            description="mean intersection over union of the explanation's units with a random one's: near 1 the null is the explanation itself, and the win rate tends to 1/2; null where it is no set of units"
        ),
    ] = None
    p_value: Annotated[
        float | None,
        Field(
            description='one-sided, (1 + draws that score as high) / (1 + draws), of the first draws where these settle it'
        ),
    ] = None
    p_anti: Annotated[float | None, Field(description='the other side: as low')] = None
    p_two_sided: Annotated[
        float | None, Field(description='twice the smaller of both, at most 1')
    ] = None
    attainable_p: Annotated[
        float | None,
        Field(
            description='the least p that could have come: of as many draws as the request allows, or of all placements'
        ),
    ] = None
    ties: Annotated[
        float | None, Field(description='share of the draws that score the same')
    ] = None
    mean: Annotated[float | None, Field(description="of the draws' scores")] = None
    sd: Annotated[
        float | None,
        Field(description="of the draws' scores, over n - 1; null for a single one"),
    ] = None
    deciles: Annotated[
        list[float],
        Field(
            description="the 10 % to 90 % quantiles of the draws' scores; empty without draws"
        ),
    ] = []
    histogram: Annotated[
        Histogram | None,
        Field(description="of the draws' scores, in 20 equal bins; null without draws"),
    ] = None
    win_rate: Annotated[
        float | None,
        Field(
            description='share of the other words that move the model less; ties count half'
        ),
    ] = None


class SorNull(Message):
    kind: Literal['other posts'] = 'other posts'
    placements: Annotated[
        int | None,
        Field(
            description='that exist besides the explanation; null above 1e15 and where not counted'
        ),
    ] = None
    draws: Annotated[int, Field(description='random ones compared with')]
    win_rate_draws: Annotated[
        int | None,
        Field(
            description='of these, the first ones, which the win rate rests on: how many follow was decided by what they showed; null in results of before: all'
        ),
    ] = None
    exact: Annotated[bool, Field(description='whether they are all that exist')] = False
    overlap: Annotated[
        float | None,
        Field(
            description="mean intersection over union of the explanation's units with a random one's: near 1 the null is the explanation itself, and the win rate tends to 1/2; null where it is no set of units"
        ),
    ] = None
    p_value: Annotated[
        float | None,
        Field(
            description='one-sided, (1 + draws that score as high) / (1 + draws), of the first draws where these settle it'
        ),
    ] = None
    p_anti: Annotated[float | None, Field(description='the other side: as low')] = None
    p_two_sided: Annotated[
        float | None, Field(description='twice the smaller of both, at most 1')
    ] = None
    attainable_p: Annotated[
        float | None,
        Field(
            description='the least p that could have come: of as many draws as the request allows, or of all placements'
        ),
    ] = None
    ties: Annotated[
        float | None, Field(description='share of the draws that score the same')
    ] = None
    mean: Annotated[float | None, Field(description="of the draws' scores")] = None
    sd: Annotated[
        float | None,
        Field(description="of the draws' scores, over n - 1; null for a single one"),
    ] = None
    deciles: Annotated[
        list[float],
        Field(
            description="the 10 % to 90 % quantiles of the draws' scores; empty without draws"
        ),
    ] = []
    histogram: Annotated[
        Histogram | None,
        Field(description="of the draws' scores, in 20 equal bins; null without draws"),
    ] = None
    win_rate: Annotated[
        float | None,
        Field(
            description='share of other posts whose facts the statement names less; ties count half'
        ),
    ] = None
    pool: Annotated[Literal['request', 'own'], Field(description='source of the posts')]


class SorReaderUse(Message):
    model: str
    prompt: Annotated[str, Field(description='name and version')]
    prompt_sha256: str


class SplitPair(Message):
    first: str
    second: str
    difference: Annotated[
        float, Field(description='mean of second - mean of first, units of the score')
    ]
    p_value: Annotated[
        float | None,
        Field(
            description='that the two means are equal; null where nothing can be permuted'
        ),
    ]
    p_adjusted: Annotated[
        float | None, Field(description='`p_value` after Holm over all pairs')
    ]


class SplitValue(Message):
    value: str
    results: int
    undefined: Annotated[int, Field(description='of these, results without a score')]
    score: Annotated[
        Interval, Field(description='mean score, with its interval over texts')
    ]


class StoredFile(Message):
    id: str
    object: Literal['file'] = 'file'
    bytes: int
    created_at: Annotated[int, Field(description='unix seconds')]
    expires_at: Annotated[int | None, Field(description='unix seconds')]
    filename: str
    purpose: Literal['batch', 'batch_output']
    status: Literal['processed'] = 'processed'


class Template(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    prefix: str = ''
    suffix: str = ''
    verbalizers: Annotated[
        dict[str, str],
        Field(description='label → the string that the model would write for it'),
    ]


class Tokens(Message):
    ids: list[int]
    parts: Annotated[
        list[Literal['text', 'text_pair', 'template', 'special']],
        Field(description='what each token belongs to'),
    ]
    starts: Annotated[
        list[int | None],
        Field(
            description='character offset into `text` (or `text_pair`); null for other parts'
        ),
    ]
    ends: Annotated[
        list[int | None],
        Field(description='character offset, exclusive; null likewise'),
    ]
    truncated: Annotated[
        bool, Field(description='whether the model reads only the beginning')
    ]
    mask_id: Annotated[
        int | None, Field(description='the text of a masked token, if there is one')
    ]
    unk_id: int | None
    pad_id: int | None
    mask_text: Annotated[
        str | None,
        Field(
            description='what stands for a masked token in a text: the token mask, else unk, pad, eos'
        ),
    ] = None


class Trace(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    trace_id: Annotated[
        str | None, Field(description='of W3C Trace Context, 32 hex digits')
    ] = None
    span_id: Annotated[str | None, Field(description='of the span, 16 hex digits')] = (
        None
    )
    response_id: Annotated[
        str | None, Field(description="that the model's server gave to its answer")
    ] = None
    session_id: Annotated[
        str | None, Field(description='of the conversation that it belongs to')
    ] = None


class TraceAnswer(Message):
    trace_id: Annotated[
        str | None, Field(description='of W3C Trace Context, 32 hex digits')
    ] = None
    span_id: Annotated[str | None, Field(description='of the span, 16 hex digits')] = (
        None
    )
    response_id: Annotated[
        str | None, Field(description="that the model's server gave to its answer")
    ] = None
    session_id: Annotated[
        str | None, Field(description='of the conversation that it belongs to')
    ] = None


class Truncated(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    operation: Literal['truncated'] = 'truncated'
    texts: list[str]


class Turn(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    role: Literal['system', 'user', 'assistant']
    content: str


class Unread(Message):
    code: Literal['answer-unread', 'label-not-listed', 'answer-cut-by-reasoning', 'no-logprobs', 'text-too-long', 'votes-too-coarse']
    detail: str


class Untested(Message):
    reason: str
    action: str


class ValueHistogram(Message):
    low: Annotated[float, Field(description='where the first bin begins')]
    high: Annotated[float, Field(description='where the last bin ends')]
    counts: Annotated[
        list[int],
        Field(
            description='values in each bin, the lowest first: [a, b), the last one [a, b]; together all that are defined'
        ),
    ]


class VerdictChange(Message):
    first: Literal['holds_up', 'problem_found', 'not_tested']
    second: Literal['holds_up', 'problem_found', 'not_tested']
    pairs: int


class WaitingFor(Message):
    model: str
    state: Annotated[
        Literal['absent', 'downloading', 'waiting', 'loading', 'ready', 'failed', 'away'] | None,
        Field(description='how it was when it was last tried'),
    ] = None
    detail: Annotated[str, Field(description='why it is not ready')]


class WantedEffect(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    effect: Annotated[
        float | None,
        Field(
            description='the smallest difference worth finding, in units of the score: of its mean from a value named beforehand, and of the means of two systems on the same texts'
        ),
    ] = None
    beat_rate: Annotated[
        float | None,
        Field(
            description='of an explanation that a test should find: the share of random ones that it beats'
        ),
    ] = None
    power: Annotated[float, Field(description='how often it is to be found')] = 0.8
    alpha: Annotated[float, Field(description='level of the tests')] = 0.05


class WantedEffectAnswer(Message):
    effect: Annotated[
        float | None,
        Field(
            description='the smallest difference worth finding, in units of the score: of its mean from a value named beforehand, and of the means of two systems on the same texts'
        ),
    ] = None
    beat_rate: Annotated[
        float | None,
        Field(
            description='of an explanation that a test should find: the share of random ones that it beats'
        ),
    ] = None
    power: Annotated[float, Field(description='how often it is to be found')] = 0.8
    alpha: Annotated[float, Field(description='level of the tests')] = 0.05


class WebhookTest(Message):
    id: Annotated[str, Field(description='the `webhook-id` that it was sent under')]
    object: Literal['webhook_test'] = 'webhook_test'
    delivered: Annotated[bool, Field(description='whether the answer was 2xx')]
    status: Annotated[int | None, Field(description='the HTTP status of the answer')]
    milliseconds: Annotated[
        int, Field(description="from the name's resolution to the answer")
    ]
    error: Annotated[str | None, Field(description='why it was not delivered')]
    untraced: Annotated[
        int,
        Field(
            description='jobs that were not pushed: their requests name no `trace` that the format needs'
        ),
    ]
    note: Annotated[
        str | None, Field(description='what to know of jobs that were not pushed')
    ]


class WordJudgements(Message):
    probabilities: Annotated[
        list[list[float] | None],
        Field(description='(R, L), rows of sum 1; null: it could not be read'),
    ]
    unread: Annotated[
        Unread | None, Field(description='why the first that is null is')
    ] = None
    uncertainty: Annotated[float, Field(description='the largest of a row')] = 0


class WordRow(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    kept: Annotated[
        list[int] | None, Field(description='words that stay, ascending; absent: all')
    ] = None
    masked: Annotated[
        list[int], Field(description="words that become the model's `mask_text`")
    ] = []
    replaced: Annotated[
        list[list[int | str]],
        Field(description='(word, what stands in its place) pairs'),
    ] = []


class WordSpan(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    start: Annotated[int, Field(description='character offset (Unicode code points)')]
    end: Annotated[int, Field(description='character offset, exclusive')]
    of: Literal['text', 'text_pair'] = 'text'


class WrittenToken(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    id: Annotated[int | None, Field(description='null where the server does not say')]
    start: Annotated[
        int, Field(description="character offset into the completion's text")
    ]
    end: Annotated[int, Field(description='character offset, exclusive')]
    logprob: Annotated[
        float, Field(description='natural logarithm, under the unscaled distribution')
    ]


class WrittenTokenAnswer(Message):
    id: Annotated[int | None, Field(description='null where the server does not say')]
    start: Annotated[
        int, Field(description="character offset into the completion's text")
    ]
    end: Annotated[int, Field(description='character offset, exclusive')]
    logprob: Annotated[
        float, Field(description='natural logarithm, under the unscaled distribution')
    ]


class BatchNotice(Message):
    id: str
    object: Literal['batch'] = 'batch'
    status: Literal['validating', 'failed', 'in_progress', 'finalizing', 'completed', 'expired', 'cancelling', 'cancelled']
    request_counts: RequestCounts


class BatchReportRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    model: Annotated[
        str | None,
        Field(description="a configured model's name; the service's default if absent"),
    ] = None
    metadata: Annotated[
        dict[str, str] | None,
        Field(description='at most 16 pairs, returned with the job'),
    ] = None
    context: Annotated[
        Context | None, Field(description='audit fields, returned with the job')
    ] = None
    webhook: Annotated[
        str | None,
        Field(
            description="the webhook endpoint that is notified of this job's end, and no other; if absent, every endpoint of yours that listens to the event"
        ),
    ] = None
    do_not_store_text: Annotated[
        bool,
        Field(
            description='keep no text once the job has ended: what is left of the request is `model`, `variant`, `seed`, `metadata`, `context` and `trace`, and of the result the numbers and names'
        ),
    ] = False
    batch: Annotated[str | None, Field(description="a batch's id")] = None
    jobs: Annotated[
        list[str] | None, Field(description='ids of jobs of this metric')
    ] = None
    of_model: Annotated[
        str | None,
        Field(
            description="only the results of this model: the first that answered or, where none had to be asked, the one that the request names, or the metric's default"
        ),
    ] = None
    of_metadata: Annotated[
        dict[str, str] | None,
        Field(
            description='only the results of lines whose metadata has all of these values, as where one file holds the explanations of several systems'
        ),
    ] = None
    seed: Annotated[int, Field(description='of the bootstrap')] = 0
    resamples: Annotated[int, Field(description='of the bootstrap')] = 2000
    confidence: Annotated[float, Field(description='level of every interval')] = 0.95
    cluster_key: Annotated[
        str | None,
        Field(
            description='metadata key whose value says which results belong together; absent, or a result without it: those of one text do'
        ),
    ] = None
    sequence: Annotated[
        bool,
        Field(
            description='whether to add an interval of the mean score that holds however often a growing batch is looked at'
        ),
    ] = False
    against: Annotated[
        Against | None,
        Field(
            description="another system's results on the same texts, which are taken off the report's own: see `comparison`"
        ),
    ] = None
    further: Annotated[
        list[Against],
        Field(
            description='further systems that are compared with `against`, too: see `further`',
            validate_default=True,
        ),
    ] = []
    judged: Annotated[
        Judged | None,
        Field(description="people's judgements of these results: see `agreement`"),
    ] = None
    plan: Annotated[
        WantedEffect | None,
        Field(
            description='how many texts and draws would find this effect: see `plan`'
        ),
    ] = None
    by: Annotated[
        list[str],
        Field(
            description='what the scores are split by, see `splits`: `metadata.<key>`, `model`, `variant`, `language`, `verdict`, `label_sent`, `label_stated`'
        ),
    ] = []
    gold: Annotated[
        GoldColumns | None,
        Field(
            description="where the lines' metadata has gold labels, marked passages and ratings: see the report's `gold`"
        ),
    ] = None
    pairwise: Annotated[
        bool,
        Field(description='whether to compare the values of each split two by two'),
    ] = False
    mixed: Annotated[
        bool,
        Field(
            description='whether results of several versions of the metric may be summed up together, with a warning; else they are refused, since their numbers mean different things'
        ),
    ] = False
    metric: Literal['consistency', 'cot2el', 'hatexscore', 'hlv', 'sor']


class BatchRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    input_file_id: Annotated[
        str, Field(description='a file of purpose `batch`, one request a line')
    ]
    endpoint: Annotated[
        Literal['/v1/explanations', '/v1/inference', '/v1/scores/consistency', '/v1/scores/cot2el', '/v1/scores/ftc', '/v1/scores/haf', '/v1/scores/hatexscore', '/v1/scores/hlv', '/v1/scores/ice', '/v1/scores/sor', '/v1/similarity'],
        Field(description='the `url` of every line, as in /v1/scores/hatexscore'),
    ]
    completion_window: Literal['24h'] = '24h'
    metadata: dict[str, str] | None = None
    language: Annotated[
        str,
        Field(
            description='BCP 47, of every line that states none; to score a file again in one language, make another batch of it; `auto` identifies the language of each text'
        ),
    ] = 'auto'
    output_expires_after: OutputExpiry | None = None


class Batch(Message):
    id: str
    object: Literal['batch'] = 'batch'
    endpoint: str
    metric: str
    errors: BatchFaults | None
    input_file_id: str
    completion_window: Literal['24h'] = '24h'
    status: Literal['validating', 'failed', 'in_progress', 'finalizing', 'completed', 'expired', 'cancelling', 'cancelled']
    output_file_id: str | None
    error_file_id: str | None
    created_at: int
    in_progress_at: int | None
    expires_at: int
    finalizing_at: int | None
    completed_at: int | None
    failed_at: int | None
    expired_at: int | None
    cancelling_at: int | None
    cancelled_at: int | None
    request_counts: RequestCounts
    erased: Annotated[
        int,
        Field(
            description='lines that were deleted at request; the counts include them'
        ),
    ]
    metadata: dict[str, str]


class CalibratedThreshold(Message):
    results: Annotated[
        int, Field(description='whose ratings say yes or no by majority')
    ]
    ties: Annotated[int, Field(description='results left out: as many yes as no')]
    value: Annotated[
        float | None,
        Field(
            description='of the score: what is at least as good is accepted; null: `reason` says why'
        ),
    ]
    low: Annotated[
        float | None,
        Field(description='of its interval, percentile bootstrap over texts'),
    ]
    high: float | None
    agreed: Annotated[
        Interval,
        Field(
            description='share where score and majority agree, each text decided by a threshold that was chosen without it, [0, 1]'
        ),
    ]
    chance: Annotated[
        float | None,
        Field(description='share that always saying what most people say would have'),
    ]
    kappa: Annotated[
        Interval, Field(description="Cohen's, of the same decisions, [-1, 1]")
    ]
    alpha_people: Annotated[
        Interval,
        Field(
            description="Krippendorff's, nominal, of the people's yes and no among each other, over all texts that several rated, those on which they are divided as well"
        ),
    ]
    alpha_with_score: Annotated[
        Interval,
        Field(
            description="the same with the score's decisions as one person more; not far below `alpha_people`: it decides as one of them would"
        ),
    ]
    reason: Annotated[str | None, Field(description='why it is null')] = None


class ComparisonSlice(Message):
    by: str
    value: str
    pairs: Annotated[int, Field(description='pairs where both have a score')]
    difference: Annotated[
        Interval,
        Field(description='mean of first - second, with its interval over texts'),
    ]


class Completion(Message):
    text: str
    tokens: list[WrittenTokenAnswer]
    finish: Annotated[
        Literal['stop', 'length', 'given'],
        Field(description='`given`: the text was not generated but scored'),
    ]
    reasoning: Annotated[
        str | None,
        Field(
            description="what a chat server's model reasoned before; kept where the model's entry says `keep_reasoning`, and never scored"
        ),
    ] = None


class ComponentDifference(Message):
    component: Annotated[str, Field(description="`score`, or the component's name")]
    pairs: Annotated[int, Field(description='pairs where both systems have it')]
    difference: Annotated[
        Interval,
        Field(
            description="mean of first - second, in units of the component, with its interval over texts; above 0, the report's own results have more of it"
        ),
    ]
    first: Annotated[
        float | None, Field(description='mean of the first on these pairs')
    ] = None
    second: Annotated[
        float | None, Field(description='mean of the second on these pairs')
    ] = None
    p_value: Annotated[
        float | None,
        Field(
            description='that the mean difference is 0, two-sided: the larger of the next two; null without pairs, 1 for a single text'
        ),
    ]
    p_t: Annotated[float | None, Field(description='of t over texts')]
    p_randomization: Annotated[
        float | None,
        Field(
            description="of sign flips of whole texts; of 0/1 parts on single texts McNemar's exact p"
        ),
    ]
    p_adjusted: Annotated[
        float | None,
        Field(description='`p_value` after Holm over all components of the comparison'),
    ] = None
    p_systems: Annotated[
        float | None,
        Field(
            description='of the score: `p_value` after Holm over `further` systems, too'
        ),
    ] = None
    p_wilcoxon: Annotated[
        float | None,
        Field(
            description='of the signed-rank test, where requested; null: no text differs'
        ),
    ] = None
    effect: Annotated[
        float | None,
        Field(
            description='mean of first - second in its standard deviations over pairs; null where that is 0'
        ),
    ]
    better: Annotated[int, Field(description='pairs whose first has the larger value')]
    equal: int
    worse: Annotated[int, Field(description='pairs whose second has the larger value')]


class ConsistencyAttributionNull(Message):
    kind: Literal['permuted words'] = 'permuted words'
    placements: Annotated[
        int | None,
        Field(
            description='that exist besides the explanation; null above 1e15 and where not counted'
        ),
    ] = None
    draws: Annotated[int, Field(description='random ones compared with')]
    win_rate_draws: Annotated[
        int | None,
        Field(
            description='of these, the first ones, which the win rate rests on: how many follow was decided by what they showed; null in results of before: all'
        ),
    ] = None
    exact: Annotated[bool, Field(description='whether they are all that exist')] = False
    overlap: Annotated[
        float | None,
        Field(
            description="mean intersection over union of the explanation's units with a random one's: near 1 the null is the explanation itself, and the win rate tends to 1/2; null where it is no set of units"
        ),
    ] = None
    p_value: Annotated[
        float | None,
        Field(
            description='one-sided, (1 + draws that score as high) / (1 + draws), of the first draws where these settle it'
        ),
    ] = None
    p_anti: Annotated[float | None, Field(description='the other side: as low')] = None
    p_two_sided: Annotated[
        float | None, Field(description='twice the smaller of both, at most 1')
    ] = None
    attainable_p: Annotated[
        float | None,
        Field(
            description='the least p that could have come: of as many draws as the request allows, or of all placements'
        ),
    ] = None
    ties: Annotated[
        float | None, Field(description='share of the draws that score the same')
    ] = None
    mean: Annotated[float | None, Field(description="of the draws' scores")] = None
    sd: Annotated[
        float | None,
        Field(description="of the draws' scores, over n - 1; null for a single one"),
    ] = None
    deciles: Annotated[
        list[float],
        Field(
            description="the 10 % to 90 % quantiles of the draws' scores; empty without draws"
        ),
    ] = []
    histogram: Annotated[
        Histogram | None,
        Field(description="of the draws' scores, in 20 equal bins; null without draws"),
    ] = None
    win_rate: Annotated[
        float | None,
        Field(description='share of the draws that score less; ties count half'),
    ] = None


class ConsistencyPredictions(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    answer: Annotated[str, Field(description="the model's answer to `text`")]
    edits: Annotated[
        list[str], Field(description="the model's answers to `edits`, one each")
    ] = []
    words: Annotated[
        list[ConsistencyWordValue],
        Field(
            description='contributions of the words of `text`', validate_default=True
        ),
    ] = []


class ConsistencyPrompt(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    turns: list[ConsistencyTurn]
    style: Annotated[
        Literal['chat', 'raw'],
        Field(
            description="`chat`: the model's own template; `raw`: the turns as one text, for a model without a template"
        ),
    ] = 'chat'


class ConsistencySimulatabilityNull(Message):
    kind: Literal['spans', 'predictions']
    placements: Annotated[
        int | None,
        Field(
            description='that exist besides the explanation; null above 1e15 and where not counted'
        ),
    ] = None
    draws: Annotated[int, Field(description='random ones compared with')]
    win_rate_draws: Annotated[
        int | None,
        Field(
            description='of these, the first ones, which the win rate rests on: how many follow was decided by what they showed; null in results of before: all'
        ),
    ] = None
    exact: Annotated[bool, Field(description='whether they are all that exist')] = False
    overlap: Annotated[
        float | None,
        Field(
            description="mean intersection over union of the explanation's units with a random one's: near 1 the null is the explanation itself, and the win rate tends to 1/2; null where it is no set of units"
        ),
    ] = None
    p_value: Annotated[
        float | None,
        Field(
            description='one-sided, (1 + draws that score as high) / (1 + draws), of the first draws where these settle it'
        ),
    ] = None
    p_anti: Annotated[float | None, Field(description='the other side: as low')] = None
    p_two_sided: Annotated[
        float | None, Field(description='twice the smaller of both, at most 1')
    ] = None
    attainable_p: Annotated[
        float | None,
        Field(
            description='the least p that could have come: of as many draws as the request allows, or of all placements'
        ),
    ] = None
    ties: Annotated[
        float | None, Field(description='share of the draws that score the same')
    ] = None
    mean: Annotated[float | None, Field(description="of the draws' scores")] = None
    sd: Annotated[
        float | None,
        Field(description="of the draws' scores, over n - 1; null for a single one"),
    ] = None
    deciles: Annotated[
        list[float],
        Field(
            description="the 10 % to 90 % quantiles of the draws' scores; empty without draws"
        ),
    ] = []
    histogram: Annotated[
        Histogram | None,
        Field(description="of the draws' scores, in 20 equal bins; null without draws"),
    ] = None
    win_rate: Annotated[
        float | None,
        Field(description='share of the draws that score less; ties count half'),
    ] = None


class Cot2elAgreement(Message):
    precision: Annotated[
        float,
        Field(
            description="Eqs. 9-12 as printed: the parse's explanations among the human ones"
        ),
    ]
    recall: Annotated[
        float, Field(description="the human explanations among the parse's")
    ]
    f1: Annotated[float, Field(description='harmonic mean')]
    support_precision: Annotated[float, Field(description='over supporting sets only')]
    support_recall: float
    support_f1: float
    columns: Annotated[
        Cot2elSimilarities, Field(description='Table 8, of the best matches')
    ]


class Cot2elRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    model: Annotated[
        str | None,
        Field(description="a configured model's name; the service's default if absent"),
    ] = None
    metadata: Annotated[
        dict[str, str] | None,
        Field(description='at most 16 pairs, returned with the job'),
    ] = None
    context: Annotated[
        Context | None, Field(description='audit fields, returned with the job')
    ] = None
    webhook: Annotated[
        str | None,
        Field(
            description="the webhook endpoint that is notified of this job's end, and no other; if absent, every endpoint of yours that listens to the event"
        ),
    ] = None
    do_not_store_text: Annotated[
        bool,
        Field(
            description='keep no text once the job has ended: what is left of the request is `model`, `variant`, `seed`, `metadata`, `context` and `trace`, and of the result the numbers and names'
        ),
    ] = False
    variant: Annotated[
        Literal['robust', 'paper', 'reference'],
        Field(
            description='`robust`: what the paper means, defects mended; `paper`: the equations as printed; `reference`: what the released code does'
        ),
    ] = 'robust'
    seed: Annotated[int, Field(description='of every random draw')] = 0
    trace: Annotated[
        Trace | None,
        Field(
            description='what was evaluated; returned with the job, and what pushes of scores attach the score to'
        ),
    ] = None
    language: Annotated[
        str,
        Field(
            description='BCP 47 language of question and reasoning; `auto` detects it for each. The prompts are English. The rules of segmentation read en, zh, ko and ja; your own `units` need neither'
        ),
    ] = 'auto'
    accept_untrained_languages: Annotated[
        bool,
        Field(
            description='ask a model about a text in a language that it did not learn, with a warning; else the score of such a text is null'
        ),
    ] = False
    question: Annotated[
        NliQuestion | Scenario | str,
        Field(
            description='a string; or `premise` and `hypothesis`; or `scenario` and `question`'
        ),
    ]
    options: Annotated[
        list[Option], Field(description='in the order in which they are shown')
    ]
    reasoning: Annotated[
        str | None, Field(description='the chain of thought; absent: `model` writes it')
    ] = None
    answer: Annotated[
        str | None,
        Field(
            description='the answer after the reasoning; shown to the parser if present'
        ),
    ] = None
    pairs: Annotated[
        list[Explanation] | None,
        Field(
            description='your own parse, which is aligned and checked; no model is called'
        ),
    ] = None
    units: Annotated[
        list[Cot2elUnitSpan] | None,
        Field(description='your own discourse units; absent: found by rules'),
    ] = None
    granularity: Annotated[
        Literal['edu', 'sentence', 'both'] | None,
        Field(
            description='units to align to: `edu` clauses and connective units, `sentence` sentences, `both` all. Absent: `both`, or `edu` for variants `paper` and `reference`'
        ),
    ] = None
    min_similarity: Annotated[
        float | None,
        Field(
            description='an explanation is dropped unless a unit is more similar than this; 0: none is dropped. Absent: 0.6, or 0 for variant `paper`'
        ),
    ] = None
    polarity: Annotated[
        Literal['nli', 'cues', 'none'] | None,
        Field(
            description='how to find that the unit says the opposite of the explanation, which is then dropped. `nli`: an inference model with P(contradiction) >= 0.5, or the same words with an odd number of negations. `cues`: an even and an odd number of negations. `none`: not checked. Absent: `nli`, or `none` for variants `paper` and `reference`. `nli` falls back to `cues` if the model does not know the language or is not configured'
        ),
    ] = None
    nli_model: Annotated[
        str | None,
        Field(
            description='model with the labels entailment, neutral and contradiction; absent: embedded-nli'
        ),
    ] = None
    human_pairs: Annotated[
        list[Explanation] | None,
        Field(description='pairs that an annotator marked, to compare the result with'),
    ] = None
    similarity: Annotated[
        str | None,
        Field(
            description='similarity model for `human_pairs`; absent: no semantic similarity'
        ),
    ] = None
    writing: Annotated[
        Cot2elWriting | None, Field(description='how `model` is prompted')
    ] = None
    control_draws: Annotated[
        int,
        Field(
            description="draws of shuffled words and of other items' explanations, to measure chance"
        ),
    ] = 3
    control_pool: Annotated[
        list[str],
        Field(
            description='explanations of other items to draw from; absent: 200 that are built in'
        ),
    ] = []


class Cot2elValidated(Message):
    items: Annotated[int, Field(description='items with human pairs and a parse')]
    precision: Interval
    recall: Interval
    f1: Interval
    columns: Annotated[
        dict[str, Interval],
        Field(description='Table 8, over items where it is measured'),
    ]


class Cot2elValidation(Message):
    metrics_used: list[Literal['lexical', 'syntactic', 'semantic', 'levenshtein']]
    group_mean: Annotated[
        Cot2elAgreement,
        Field(
            description='best matches by the mean of the groups of similarities (`weight-avg`)'
        ),
    ]
    column_mean: Annotated[
        Cot2elAgreement,
        Field(
            description='best matches by the mean of all columns (`equal-avg`, which Table 3 prints)'
        ),
    ]
    parsed: Annotated[
        Cot2elAgreement,
        Field(description='EL before the alignment, by the mean of the groups'),
    ]


class DeliveryList(Message):
    object: Literal['list'] = 'list'
    data: list[Delivery]
    first_id: str | None
    last_id: Annotated[
        str | None, Field(description='pass it as `after` to get the next page')
    ]
    has_more: bool


class EndpointList(Message):
    object: Literal['list'] = 'list'
    data: list[Endpoint]
    first_id: str | None
    last_id: Annotated[
        str | None, Field(description='pass it as `after` to get the next page')
    ]
    has_more: bool


class Example(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    text: str
    text_pair: str | None = None
    template: Annotated[
        Template | None, Field(description='for causal models, and only those')
    ] = None
    prompt: Annotated[
        PromptKeys | None,
        Field(
            description="in the place of a causal model's own, key by key, where its entry allows it"
        ),
    ] = None
    language: Annotated[
        str | None,
        Field(
            description='BCP 47, for the `{language}` of a prompt; absent: identified from the text'
        ),
    ] = None
    categories: Annotated[
        bool,
        Field(
            description='whether a guard is asked, too, what it names beside its label (`judgements`)'
        ),
    ] = False


class ExampleRows(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    example: Example
    rows: list[Row]
    calibrated: Annotated[
        bool,
        Field(
            description="whether a classifier's logits are divided by its temperature"
        ),
    ] = True


class Explain(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    model: Annotated[
        str | None,
        Field(
            description="the causal model that decides and explains; absent: the request's `model`"
        ),
    ] = None
    prompt: Annotated[
        str | ExplanationsOwnPrompt | None,
        Field(description="a prompt's name, or your own; absent: the metric's own"),
    ] = None
    shots: Annotated[
        Literal[0, 2], Field(description='demonstrations, of a prompt that has them')
    ] = 0
    style: Annotated[
        Literal['chat', 'raw'],
        Field(description='`raw`: for a model without a chat template'),
    ] = 'chat'
    policy: Annotated[
        Literal['un', 'meta', 'twitter', 'youtube'] | ExplanationsOwnPolicy | None,
        Field(
            description='that the model decides by; absent: the `policy` of the request, where it has one that can be read and the prompt has a place for it'
        ),
    ] = None
    target_label: Annotated[
        str | None,
        Field(
            description='the label that is explained, of a prompt that does not let the model decide'
        ),
    ] = None
    generation: ExplanationsGeneration | None = None


class ExplanationsAnswer(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    text: Annotated[
        str,
        Field(
            description='the answer; reasoning between <think> and </think> before it is removed'
        ),
    ]
    tokens: Annotated[
        list[WrittenToken],
        Field(
            description='offsets into `text`, as `POST /v1/inference` returns them',
            validate_default=True,
        ),
    ] = []
    reasoning: Annotated[
        str | None,
        Field(description='the reasoning, if the server sends it as a separate field'),
    ] = None
    finish: Literal['stop', 'length', 'given'] = 'given'


class ExplanationsBatchReportRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    model: Annotated[
        str | None,
        Field(description="a configured model's name; the service's default if absent"),
    ] = None
    metadata: Annotated[
        dict[str, str] | None,
        Field(description='at most 16 pairs, returned with the job'),
    ] = None
    context: Annotated[
        Context | None, Field(description='audit fields, returned with the job')
    ] = None
    webhook: Annotated[
        str | None,
        Field(
            description="the webhook endpoint that is notified of this job's end, and no other; if absent, every endpoint of yours that listens to the event"
        ),
    ] = None
    do_not_store_text: Annotated[
        bool,
        Field(
            description='keep no text once the job has ended: what is left of the request is `model`, `variant`, `seed`, `metadata`, `context` and `trace`, and of the result the numbers and names'
        ),
    ] = False
    batch: Annotated[str | None, Field(description="a batch's id")] = None
    jobs: Annotated[
        list[str] | None, Field(description='ids of jobs of this metric')
    ] = None
    of_model: Annotated[
        str | None,
        Field(
            description="only the results of this model: the first that answered or, where none had to be asked, the one that the request names, or the metric's default"
        ),
    ] = None
    of_metadata: Annotated[
        dict[str, str] | None,
        Field(
            description='only the results of lines whose metadata has all of these values, as where one file holds the explanations of several systems'
        ),
    ] = None
    seed: Annotated[int, Field(description='of the bootstrap')] = 0
    resamples: Annotated[int, Field(description='of the bootstrap')] = 2000
    confidence: Annotated[float, Field(description='level of every interval')] = 0.95
    cluster_key: Annotated[
        str | None,
        Field(
            description='metadata key whose value says which results belong together; absent, or a result without it: those of one text do'
        ),
    ] = None
    sequence: Annotated[
        bool,
        Field(
            description='whether to add an interval of the mean score that holds however often a growing batch is looked at'
        ),
    ] = False
    against: Annotated[
        Against | None,
        Field(
            description="another system's results on the same texts, which are taken off the report's own: see `comparison`"
        ),
    ] = None
    further: Annotated[
        list[Against],
        Field(
            description='further systems that are compared with `against`, too: see `further`',
            validate_default=True,
        ),
    ] = []
    judged: Annotated[
        Judged | None,
        Field(description="people's judgements of these results: see `agreement`"),
    ] = None
    plan: Annotated[
        WantedEffect | None,
        Field(
            description='how many texts and draws would find this effect: see `plan`'
        ),
    ] = None
    by: Annotated[
        list[str],
        Field(
            description='what the scores are split by, see `splits`: `metadata.<key>`, `model`, `variant`, `language`, `verdict`, `label_sent`, `label_stated`'
        ),
    ] = []
    gold: Annotated[
        GoldColumns | None,
        Field(
            description="where the lines' metadata has gold labels, marked passages and ratings: see the report's `gold`"
        ),
    ] = None
    pairwise: Annotated[
        bool,
        Field(description='whether to compare the values of each split two by two'),
    ] = False
    mixed: Annotated[
        bool,
        Field(
            description='whether results of several versions of the metric may be summed up together, with a warning; else they are refused, since their numbers mean different things'
        ),
    ] = False
    metric: Literal['explanations'] = 'explanations'


class ExplanationsElicitation(Message):
    outcome: Annotated[
        Literal['answered', 'refused', 'unparsable'],
        Field(
            description='`refused`: the model would not; `unparsable`: no decision can be read; neither is ever scored'
        ),
    ]
    decision: Annotated[
        str | None,
        Field(
            description="as the answer states it, in the prompt's labels; where the prompt has the model explain a `target_label`, that one; null unless `answered`"
        ),
    ]
    decided_by: Literal['model', 'request']
    conclusion: Annotated[
        ExplanationsSpan | None,
        Field(description='the sentence that states the decision'),
    ]
    p: Annotated[
        dict[str, float] | None,
        Field(
            description='label → its probability, as the same model judges the same text when it is asked by its own prompt for labels, without an explanation; null: `obstacles` says why'
        ),
    ]
    probability: Annotated[float | None, Field(description='of the decision, in `p`')]
    reading: Annotated[
        Literal['head', 'verbalizers', 'scored', 'label-endpoint', 'top-logprobs', 'votes'] | None,
        Field(description='how `p` was read'),
    ]
    mass: Annotated[
        float | None, Field(description='what the model gave to all labels together')
    ]
    stated_p: Annotated[
        float | None,
        Field(
            description='product of the probabilities of the tokens that state the decision, each after all that was written before it: near 1 behind an explanation that leads there'
        ),
    ]
    answer: Annotated[
        str,
        Field(description='all that the model answered, without reasoning before it'),
    ]
    explanation: Annotated[
        str, Field(description='the part of the answer that explains')
    ]
    tokens: Annotated[
        list[WrittenTokenAnswer],
        Field(description='of `answer`; empty where nobody tells'),
    ]
    reasoning: Annotated[
        str | None,
        Field(
            description="the chain of thought before the answer; never scored as an explanation; null where there was none, or a server's is not kept (`keep_reasoning` of the model's entry)"
        ),
    ]
    reasoning_tokens: Annotated[int | None, Field(description='null: not known')]
    finish: Literal['stop', 'length', 'given']
    language: Annotated[str, Field(description='of the text, BCP 47; `und`: undecided')]
    obstacles: list[ExplanationsObstacle]


class ExplanationsItem(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    text: Annotated[str | None, Field(description='the text that is judged')] = None
    premise: str | None = None
    hypothesis: str | None = None
    scenario: str | None = None
    question: str | None = None
    target_label: Annotated[
        str | None, Field(description='the label to be explained')
    ] = None
    answer: Annotated[
        ExplanationsAnswer | None,
        Field(description='your own answer, instead of `model`'),
    ] = None
    gold: Annotated[str | None, Field(description='the gold label')] = None
    metadata: Annotated[
        dict[str, str] | None, Field(description="added to the request's metadata")
    ] = None


class ExplanationsOutcomeShare(Message):
    results: int
    share: Interval


class ExplanationsRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    model: Annotated[
        str | None,
        Field(description="a configured model's name; the service's default if absent"),
    ] = None
    metadata: Annotated[
        dict[str, str] | None,
        Field(description='at most 16 pairs, returned with the job'),
    ] = None
    context: Annotated[
        Context | None, Field(description='audit fields, returned with the job')
    ] = None
    webhook: Annotated[
        str | None,
        Field(
            description="the webhook endpoint that is notified of this job's end, and no other; if absent, every endpoint of yours that listens to the event"
        ),
    ] = None
    do_not_store_text: Annotated[
        bool,
        Field(
            description='keep no text once the job has ended: what is left of the request is `model`, `variant`, `seed`, `metadata`, `context` and `trace`, and of the result the numbers and names'
        ),
    ] = False
    text: Annotated[str | None, Field(description='the text that is judged')] = None
    premise: Annotated[
        str | None, Field(description='a statement taken to be true')
    ] = None
    hypothesis: Annotated[
        str | None, Field(description='does it follow from `premise`?')
    ] = None
    scenario: Annotated[
        str | None, Field(description='the situation of `question`')
    ] = None
    question: str | None = None
    target_label: Annotated[
        str | None,
        Field(
            description='the label to explain, for a prompt that does not let the model decide (GenEX)'
        ),
    ] = None
    prompt: Annotated[
        str | ExplanationsOwnPrompt,
        Field(
            description="a prompt's name, `NAME@VERSION` for an older version, or your own; `explanation-fields` (asks for JSON of the schema of `GET /v1/schemas/explanation`), `hatexscore-table8`, `haf-justify`, `ftc-label`, `genex-nli`, `genex-siqa`, `genex-cqa`",
            validate_default=True,
        ),
    ] = 'explanation-fields'
    shots: Annotated[
        Literal[0, 2],
        Field(description='number of demonstrations, if the prompt has them'),
    ] = 0
    style: Annotated[
        Literal['chat', 'raw'],
        Field(
            description="`chat`: a conversation in the model's own template; `raw`: one text, for a model without a template"
        ),
    ] = 'chat'
    policy: Annotated[
        Literal['un', 'meta', 'twitter', 'youtube'] | ExplanationsOwnPolicy | None,
        Field(
            description="a named policy, or your own text; metrics that know a named policy use it too; absent: the prompt's policy"
        ),
    ] = None
    language: Annotated[
        str, Field(description='BCP 47 language of all texts; `auto` detects it')
    ] = 'auto'
    generation: ExplanationsGeneration | None = None
    seed: Annotated[int, Field(description='seed of generation and of the metrics')] = 0
    answer: Annotated[
        ExplanationsAnswer | None,
        Field(description='your own answer, instead of `model`; nothing is generated'),
    ] = None
    score: Annotated[
        list[str] | dict[str, dict[str, JsonValue]] | None,
        Field(
            description="metrics that score the explanation in the same job: names, or name → the metric's parameters. `hatexscore`, `haf`, `ftc`, `cot2el` (of the reasoning), `sor`, `consistency`"
        ),
    ] = None
    gold: Annotated[
        str | None,
        Field(
            description='the gold label of the text, which batch reports compare with the decision; stored as `gold` in `metadata`'
        ),
    ] = None
    items: Annotated[
        list[ExplanationsItem] | None,
        Field(
            description='several items instead of one text, each a job that counts in quotas; returns the list of jobs, item by item; not in lines of a batch'
        ),
    ] = None
    draws: Annotated[
        int,
        Field(
            description='answers per item, each a job that counts in quotas, with the next `seed`; more than one needs a `temperature` above 0; not in lines of a batch'
        ),
    ] = 1


class ExplanationsScoreMean(Message):
    metric: str
    results: Annotated[int, Field(description='number of scored answers')]
    undefined: Annotated[int, Field(description='scored answers whose score is null')]
    unscored: Annotated[
        int, Field(description='answers that the metric could not take')
    ]
    score: Annotated[
        Interval, Field(description='mean score, with its interval over texts')
    ]


class FileList(Message):
    object: Literal['list'] = 'list'
    data: list[StoredFile]
    first_id: str | None
    last_id: Annotated[
        str | None, Field(description='pass it as `after` to get the next page')
    ]
    has_more: bool


class FtcBaselines(Message):
    always_entailment: Annotated[
        FtcSatisfaction, Field(description='a model that always says entailment')
    ]
    uniform: Annotated[
        FtcSatisfaction, Field(description='a model that says one third each')
    ]
    unedited: Annotated[
        FtcSatisfaction | None,
        Field(
            description="the model's answer to the hypothesis as sent; null where no model was called"
        ),
    ]
    blank_premise: Annotated[
        FtcSatisfaction | None,
        Field(
            description="the model's answer to the counterfactuals without the premise"
        ),
    ]
    null_win_rate: Annotated[
        float | None,
        Field(
            description='mean over the counterfactuals that have a null; chance is 0.5'
        ),
    ]
    null_p_value: Annotated[
        float | None,
        Field(description='of the mean over the counterfactuals, draw by draw'),
    ]
    null_attainable_p: Annotated[
        float | None,
        Field(
            description='the least that null_p_value could have been: above 0.05 chance cannot be ruled out, whatever the explanation'
        ),
    ] = None


class FtcBatchReportRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    model: Annotated[
        str | None,
        Field(description="a configured model's name; the service's default if absent"),
    ] = None
    metadata: Annotated[
        dict[str, str] | None,
        Field(description='at most 16 pairs, returned with the job'),
    ] = None
    context: Annotated[
        Context | None, Field(description='audit fields, returned with the job')
    ] = None
    webhook: Annotated[
        str | None,
        Field(
            description="the webhook endpoint that is notified of this job's end, and no other; if absent, every endpoint of yours that listens to the event"
        ),
    ] = None
    do_not_store_text: Annotated[
        bool,
        Field(
            description='keep no text once the job has ended: what is left of the request is `model`, `variant`, `seed`, `metadata`, `context` and `trace`, and of the result the numbers and names'
        ),
    ] = False
    batch: Annotated[str | None, Field(description="a batch's id")] = None
    jobs: Annotated[
        list[str] | None, Field(description='ids of jobs of this metric')
    ] = None
    of_model: Annotated[
        str | None,
        Field(
            description="only the results of this model: the first that answered or, where none had to be asked, the one that the request names, or the metric's default"
        ),
    ] = None
    of_metadata: Annotated[
        dict[str, str] | None,
        Field(
            description='only the results of lines whose metadata has all of these values, as where one file holds the explanations of several systems'
        ),
    ] = None
    seed: Annotated[int, Field(description='of the bootstrap')] = 0
    resamples: Annotated[int, Field(description='of the bootstrap')] = 2000
    confidence: Annotated[float, Field(description='level of every interval')] = 0.95
    cluster_key: Annotated[
        str | None,
        Field(
            description='metadata key whose value says which results belong together; absent, or a result without it: those of one text do'
        ),
    ] = None
    sequence: Annotated[
        bool,
        Field(
            description='whether to add an interval of the mean score that holds however often a growing batch is looked at'
        ),
    ] = False
    against: Annotated[
        Against | None,
        Field(
            description="another system's results on the same texts, which are taken off the report's own: see `comparison`"
        ),
    ] = None
    further: Annotated[
        list[Against],
        Field(
            description='further systems that are compared with `against`, too: see `further`',
            validate_default=True,
        ),
    ] = []
    judged: Annotated[
        Judged | None,
        Field(description="people's judgements of these results: see `agreement`"),
    ] = None
    plan: Annotated[
        WantedEffect | None,
        Field(
            description='how many texts and draws would find this effect: see `plan`'
        ),
    ] = None
    by: Annotated[
        list[str],
        Field(
            description='what the scores are split by, see `splits`: `metadata.<key>`, `model`, `variant`, `language`, `verdict`, `label_sent`, `label_stated`'
        ),
    ] = []
    gold: Annotated[
        GoldColumns | None,
        Field(
            description="where the lines' metadata has gold labels, marked passages and ratings: see the report's `gold`"
        ),
    ] = None
    pairwise: Annotated[
        bool,
        Field(description='whether to compare the values of each split two by two'),
    ] = False
    mixed: Annotated[
        bool,
        Field(
            description='whether results of several versions of the metric may be summed up together, with a warning; else they are refused, since their numbers mean different things'
        ),
    ] = False
    metric: Literal['ftc'] = 'ftc'


class FtcLas(Message):
    las: Annotated[Interval, Field(description='mean of the two groups, [-1, 1]')]
    leaking: Annotated[
        float | None,
        Field(description='where the explanation alone gives the label away'),
    ]
    not_leaking: float | None
    of_leaking: int
    of_not_leaking: int


class FtcLra(Message):
    variance: float
    literal: Annotated[
        Interval, Field(description="as printed: stable label = simulator's gain")
    ]
    stability: Annotated[
        Interval, Field(description='both stable or both not; null without `simulated`')
    ]


class FtcNull(Message):
    kind: Annotated[
        Literal['phrases', 'any'],
        Field(
            description='`phrases`: of the same type, and the premise holds as much of them; `any`: of the same type, which also stand in where fewer than 19 of the others exist'
        ),
    ] = 'any'
    placements: Annotated[
        int | None,
        Field(
            description='that exist besides the explanation; null above 1e15 and where not counted'
        ),
    ] = None
    draws: Annotated[int, Field(description='random substitutions, M; distinct')]
    win_rate_draws: Annotated[
        int | None,
        Field(
            description='of these, the first ones, which the win rate rests on: how many follow was decided by what they showed; null in results of before: all'
        ),
    ] = None
    exact: Annotated[bool, Field(description='whether they are all that exist')] = False
    overlap: Annotated[
        float | None,
        Field(
            description="mean intersection over union of the explanation's units with a random one's: near 1 the null is the explanation itself, and the win rate tends to 1/2; null where it is no set of units"
        ),
    ] = None
    p_value: Annotated[
        float,
        Field(
            description='one-sided: a draw scores as high; where draws go on look by look, p of stage-wise order'
        ),
    ]
    p_anti: Annotated[float | None, Field(description='the other side: as low')] = None
    p_two_sided: Annotated[
        float | None, Field(description='twice the smaller of both, at most 1')
    ] = None
    attainable_p: Annotated[
        float | None,
        Field(
            description='the least p that could have come: of as many draws as the request allows, or of all placements'
        ),
    ] = None
    ties: Annotated[
        float | None, Field(description='share of the draws that score the same')
    ] = None
    mean: Annotated[float, Field(description='over the draws')]
    sd: Annotated[
        float | None,
        Field(description="of the draws' scores, over n - 1; null for a single one"),
    ] = None
    deciles: Annotated[
        list[float],
        Field(
            description="the 10 % to 90 % quantiles of the draws' scores; empty without draws"
        ),
    ] = []
    histogram: Annotated[
        Histogram | None,
        Field(description="of the draws' scores, in 20 equal bins; null without draws"),
    ] = None
    premise_overlap: Annotated[
        float | None,
        Field(
            description="share of the content words of the explanation's phrase that the premise holds; of `phrases` all random ones are of its class: none, at most half, more, all"
        ),
    ] = None
    statistic: Literal['w_normalized'] = 'w_normalized'
    observed: Annotated[float, Field(description='of the counterfactual')]
    win_rate: Annotated[
        float, Field(description='draws that score lower, ties half; chance is 0.5')
    ]
    satisfaction: Annotated[
        FtcSatisfaction | None,
        Field(description='mean over the draws; null in results of earlier versions'),
    ] = None


class FtcRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    model: Annotated[
        str | None,
        Field(description="a configured model's name; the service's default if absent"),
    ] = None
    metadata: Annotated[
        dict[str, str] | None,
        Field(description='at most 16 pairs, returned with the job'),
    ] = None
    context: Annotated[
        Context | None, Field(description='audit fields, returned with the job')
    ] = None
    webhook: Annotated[
        str | None,
        Field(
            description="the webhook endpoint that is notified of this job's end, and no other; if absent, every endpoint of yours that listens to the event"
        ),
    ] = None
    do_not_store_text: Annotated[
        bool,
        Field(
            description='keep no text once the job has ended: what is left of the request is `model`, `variant`, `seed`, `metadata`, `context` and `trace`, and of the result the numbers and names'
        ),
    ] = False
    variant: Annotated[
        Literal['robust', 'paper', 'reference'],
        Field(
            description='`robust`: what the paper means, defects mended; `paper`: the equations as printed; `reference`: what the released code does'
        ),
    ] = 'robust'
    seed: Annotated[int, Field(description='of every random draw')] = 0
    trace: Annotated[
        Trace | None,
        Field(
            description='what was evaluated; returned with the job, and what pushes of scores attach the score to'
        ),
    ] = None
    language: Annotated[
        str,
        Field(
            description='BCP 47, of all texts, believed as it is; `auto` identifies it'
        ),
    ] = 'auto'
    accept_untrained_languages: Annotated[
        bool,
        Field(
            description='ask a model about a text in a language that it did not learn, with a warning; else the score of such a text is null'
        ),
    ] = False
    explain: Annotated[
        Literal[True] | Explain | None,
        Field(
            description="instead of an explanation: a model is asked to decide and to explain, and its explanation is scored in the same job; `true`: the request's `model`, by the metric's own prompt. What it answered is the `elicitation` of the result"
        ),
    ] = None
    premise: Annotated[str, Field(description='what is taken to be true')]
    hypothesis: Annotated[
        str, Field(description='what follows from it, contradicts it, or neither')
    ]
    explanation: Annotated[
        str | ExplanationFields,
        Field(
            description='of the label, as a text or as fields, of which `text` and `reasons` are read and `decision` is the label if none is sent; a text that is a JSON object of the fields is taken as these (`robust`); from an empty one nothing is extracted; needed unless `explain`',
            validate_default=True,
        ),
    ] = ''
    label: Annotated[
        Literal['entailment', 'neutral', 'contradiction'] | None,
        Field(
            description="the explained label; if absent, the model's own (faithfulness)"
        ),
    ] = None
    prompt: Annotated[
        PromptKeys | None,
        Field(
            description="how a causal model or a chat server is asked for the three labels, in the place of its entry's `prompt`, key by key, where that allows it (`allow_request_prompt`)"
        ),
    ] = None
    extractor: Annotated[
        Literal['rules', 'llm'],
        Field(description='what makes the counterfactuals; not used if they are sent'),
    ] = 'rules'
    writer: Annotated[
        str | None,
        Field(description='the configured language model of the extractor `llm`'),
    ] = None
    counterfactuals: Annotated[
        list[FtcSupplied] | None, Field(description='bring your own')
    ] = None
    targets: Annotated[
        dict[str, FtcDistribution] | None,
        Field(
            description="label distributions, human votes for instance, in place of the logic's own target of a counterfactual"
        ),
    ] = None
    alpha: Annotated[
        float,
        Field(
            description='distance of neutral from the other two labels, which are 1 apart; under 1/2 it is no metric'
        ),
    ] = 0.7
    epsilon: Annotated[
        float, Field(description='smallest probability that k distinguishes')
    ] = 1e-06
    null: Annotated[
        Literal['phrases', 'any'] | None,
        Field(
            description="what random phrases share with the explanation's: `phrases`, their type and how much of them the premise holds, if 19 such phrases exist; `any`, their type; absent: the variant's own, `phrases`, and `any` for `paper` and `reference`"
        ),
    ] = None
    draws: Annotated[
        int | None,
        Field(
            description="random substitutions, M, at most; 0: none; absent: the variant's own, 199, and 50 for `paper` and `reference`. `robust` looks at the first 19, 39, 79 and 139 of them, and stops as soon as it can"
        ),
    ] = None
    substitutes: Annotated[
        list[str],
        Field(
            description="phrases of other examples to draw from; absent: the service's own list"
        ),
    ] = []
    study: Annotated[
        FtcStudy | None, Field(description='for the batch report; never scored')
    ] = None


class FtcScores(Message):
    delta: Interval
    k: Interval
    w: Interval
    w_normalized: Interval
    geometric_mean_p: Annotated[float | None, Field(description='exp(mean k - 1)')]


class FtcSkill(Message):
    label: Literal['macro', 'entailment', 'neutral', 'contradiction']
    skill: Annotated[
        float | None,
        Field(
            description='(score - baseline_score) / (1 - baseline_score): 1 perfect, 0 no better, negative worse; null where less than 0.05 is left above the baseline, see `reason`'
        ),
    ]
    score: Annotated[
        float, Field(description='mean w_normalized of the covered results')
    ]
    baseline: Annotated[
        Literal['always_entailment', 'always_neutral', 'always_contradiction', 'uniform', 'unedited', 'blank_premise'],
        Field(description='the best answer without the explanation'),
    ]
    baseline_score: Annotated[float, Field(description='its mean on the same targets')]
    difference: Annotated[
        Interval,
        Field(
            description='score - baseline_score, paired, with its interval over texts, [-1, 1]'
        ),
    ]
    p_value: Annotated[
        float | None,
        Field(
            description='that the mean difference is 0, two-sided, by sign flips of whole texts'
        ),
    ]
    reason: Annotated[str | None, Field(description='why skill is null')]


class GoldLabels(Message):
    results: Annotated[int, Field(description='with a gold label')]
    unread: Annotated[
        int, Field(description='of these, results whose decision could not be read')
    ]
    refused: Annotated[int, Field(description='of these, results whose model refused')]
    accuracy: Annotated[
        Interval, Field(description='share of what was decided that is right, [0, 1]')
    ]
    accuracy_of_all: Annotated[
        Interval,
        Field(description='the same of all: what was not decided is not right'),
    ]
    chance: Annotated[
        float | None,
        Field(
            description='accuracy that always deciding for the most frequent gold label would have on what was decided; null where nothing was'
        ),
    ]
    chance_of_all: Annotated[
        float | None, Field(description='the same of all results with a gold label')
    ] = None
    macro_f1: Annotated[
        Interval,
        Field(description="mean of the labels' F1, of what was decided, [0, 1]"),
    ]
    kappa: Annotated[
        Interval, Field(description="Cohen's, of decisions and gold labels, [-1, 1]")
    ]
    labels: list[LabelAccuracy]
    confusion: Annotated[
        list[ConfusionCell], Field(description='cells that are not empty')
    ]


class HafBatchReportRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    model: Annotated[
        str | None,
        Field(description="a configured model's name; the service's default if absent"),
    ] = None
    metadata: Annotated[
        dict[str, str] | None,
        Field(description='at most 16 pairs, returned with the job'),
    ] = None
    context: Annotated[
        Context | None, Field(description='audit fields, returned with the job')
    ] = None
    webhook: Annotated[
        str | None,
        Field(
            description="the webhook endpoint that is notified of this job's end, and no other; if absent, every endpoint of yours that listens to the event"
        ),
    ] = None
    do_not_store_text: Annotated[
        bool,
        Field(
            description='keep no text once the job has ended: what is left of the request is `model`, `variant`, `seed`, `metadata`, `context` and `trace`, and of the result the numbers and names'
        ),
    ] = False
    batch: Annotated[str | None, Field(description="a batch's id")] = None
    jobs: Annotated[
        list[str] | None, Field(description='ids of jobs of this metric')
    ] = None
    of_model: Annotated[
        str | None,
        Field(
            description="only the results of this model: the first that answered or, where none had to be asked, the one that the request names, or the metric's default"
        ),
    ] = None
    of_metadata: Annotated[
        dict[str, str] | None,
        Field(
            description='only the results of lines whose metadata has all of these values, as where one file holds the explanations of several systems'
        ),
    ] = None
    seed: Annotated[int, Field(description='of the bootstrap')] = 0
    resamples: Annotated[int, Field(description='of the bootstrap')] = 2000
    confidence: Annotated[float, Field(description='level of every interval')] = 0.95
    cluster_key: Annotated[
        str | None,
        Field(
            description='metadata key whose value says which results belong together; absent, or a result without it: those of one text do'
        ),
    ] = None
    sequence: Annotated[
        bool,
        Field(
            description='whether to add an interval of the mean score that holds however often a growing batch is looked at'
        ),
    ] = False
    against: Annotated[
        Against | None,
        Field(
            description="another system's results on the same texts, which are taken off the report's own: see `comparison`"
        ),
    ] = None
    further: Annotated[
        list[Against],
        Field(
            description='further systems that are compared with `against`, too: see `further`',
            validate_default=True,
        ),
    ] = []
    judged: Annotated[
        Judged | None,
        Field(description="people's judgements of these results: see `agreement`"),
    ] = None
    plan: Annotated[
        WantedEffect | None,
        Field(
            description='how many texts and draws would find this effect: see `plan`'
        ),
    ] = None
    by: Annotated[
        list[str],
        Field(
            description='what the scores are split by, see `splits`: `metadata.<key>`, `model`, `variant`, `language`, `verdict`, `label_sent`, `label_stated`'
        ),
    ] = []
    gold: Annotated[
        GoldColumns | None,
        Field(
            description="where the lines' metadata has gold labels, marked passages and ratings: see the report's `gold`"
        ),
    ] = None
    pairwise: Annotated[
        bool,
        Field(description='whether to compare the values of each split two by two'),
    ] = False
    mixed: Annotated[
        bool,
        Field(
            description='whether results of several versions of the metric may be summed up together, with a warning; else they are refused, since their numbers mean different things'
        ),
    ] = False
    model_key: Annotated[
        str, Field(description='metadata that names the model of sent responses')
    ] = 'model'
    dataset_key: Annotated[
        str, Field(description='metadata that names the data set')
    ] = 'dataset'
    metric: Literal['haf'] = 'haf'


class HafChatLogprobs(Message):
    content: list[HafChatToken]


class HafDecisionPart(Message):
    text: str
    start: int | None
    end: int | None
    tokens: int
    confidence: Annotated[float | None, Field(description='C(Y) (Eq. 4), (0, 1]')]
    confidence_uniform: float | None
    answer: Annotated[
        Literal['sufficient', 'insufficient', 'doubtful', 'irrelevant', 'unclear'] | None,
        Field(description='of later stages: what it says about the reasons'),
    ]
    judge: Annotated[
        Literal['reader', 'similarity', 'rules', 'nli'] | None,
        Field(description='what read the answer off the sentence'),
    ]
    certainty: Annotated[
        float | None,
        Field(
            description="reader: the probability of the answer; similarity: the winning side's share of both"
        ),
    ]
    token_values: Annotated[
        list[HafTokenValue],
        Field(
            description="absent unless the request's `token_values` asks for it",
            validate_default=True,
        ),
    ] = []


class HafIndividual(Message):
    rs_decision: Annotated[Interval, Field(description='w_S C(Y)')]
    rs_informativeness: Annotated[Interval, Field(description='I_S (Eq. 10)')]
    rn_decision: Annotated[Interval, Field(description='w_N C(Y)')]
    rn_informativeness: Annotated[Interval, Field(description='I_N (Eq. 12)')]


class HafMeans(Message):
    sos: Interval
    dis: Interval
    uii: Interval
    uei: Interval
    rs: Interval
    rn: Interval


class HafReasonPart(Message):
    text: str
    start: Annotated[
        int | None, Field(description='null where it does not occur there as such')
    ]
    end: int | None
    tokens: Annotated[int, Field(description='that count for its confidence')]
    confidence: Annotated[float | None, Field(description='C (Eq. 4), (0, 1]')]
    confidence_uniform: Annotated[
        float | None, Field(description='control: every token counts the same')
    ]
    similarity: Annotated[
        float | None,
        Field(
            description='g: JUSTIFY, to the text; necessity, to the left-out reason; else null'
        ),
    ]
    diversity: Annotated[
        float | None,
        Field(
            description='div (Eq. 8) from the JUSTIFY reasons (sufficiency: from the other ones)'
        ),
    ]
    value: Annotated[
        float | None,
        Field(description='its term in SoS, UII, UEI or the informativeness'),
    ]
    token_values: Annotated[
        list[HafTokenValue],
        Field(
            description="absent unless the request's `token_values` asks for it",
            validate_default=True,
        ),
    ] = []


class HafRepetition(Message):
    samples: int
    sos: HafSpread
    dis: HafSpread
    uii: HafSpread
    uei: HafSpread
    rs: HafSpread
    rn: HafSpread
    stances: Annotated[
        dict[str, int], Field(description='how often each stance was taken')
    ]


class HafResponse(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    text: str
    logprobs: Annotated[
        HafChatLogprobs | HafCompletionLogprobs | None,
        Field(
            description='`choices[].logprobs` of a chat completion or of a completion. Without any, score and parts are undefined, and `control.unweighted` has what the texts alone say'
        ),
    ] = None
    tokens: Annotated[
        list[WrittenToken] | None,
        Field(
            description='instead: offsets into `text`, as `POST /v1/inference` returns them'
        ),
    ] = None


class HafResponses(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    justify: Annotated[
        HafResponse, Field(description='to: is the text toxic, and why?')
    ]
    internal: Annotated[
        HafResponse | None,
        Field(description='UPHOLD-REASON: is a reason based on the text missing?'),
    ] = None
    external: Annotated[
        HafResponse | None,
        Field(description='UPHOLD-REASON: is a reason beyond the text missing?'),
    ] = None
    individual: Annotated[
        list[HafResponse | None] | None,
        Field(
            description='UPHOLD-STANCE, one for each JUSTIFY reason in their order: asked with that reason alone (toxic, maybe) or with all others (non-toxic); null where there is none'
        ),
    ] = None


class HafShares(Message):
    internal: Interval
    external: Interval
    sufficiency: Interval
    necessity: Interval


class HafStagePart(Message):
    stage: Literal['justify', 'internal', 'external', 'sufficiency', 'necessity']
    reason: Annotated[
        int | None,
        Field(description='the JUSTIFY reason that it is about, 0-based; else null'),
    ]
    response: str
    refusal: bool
    irrelevant: Annotated[
        bool,
        Field(description='a decision that does not answer the question (Table 5)'),
    ]
    decision: HafDecisionPart | None
    reasons: list[HafReasonPart]
    weight: Annotated[float | None, Field(description='w_S or w_N of the answer')] = (
        None
    )
    informativeness: Annotated[
        float | None, Field(description='I_S (Eq. 10), I_N (Eq. 12)')
    ] = None
    value: Annotated[float | None, Field(description='RS or RN of this reason')] = None


class HafStanceScores(Message):
    stance: Literal['toxic', 'maybe', 'non-toxic', 'unclear']
    results: int
    score: Interval
    means: HafMeans


class HatexscoreDecisionMeans(Message):
    results: int
    score: Interval
    components: Annotated[
        dict[str, Interval],
        Field(description='mean of htc, qf, tgi and cc, each [0, 1]'),
    ]
    share_beaten: Annotated[Interval, Field(description='as in the report')]
    qf_excess: Annotated[
        Interval | None,
        Field(description='QF above that of random quotes, mean; 0 is chance'),
    ] = None
    together: Annotated[
        HatexscoreTestedTogether | None,
        Field(
            description='null without a control, and of other decisions than hateful'
        ),
    ] = None


class HatexscoreModelAgreement(Message):
    agreement: Annotated[
        Interval, Field(description='share of results where the model decides so')
    ]
    by_decision: Annotated[
        dict[str, Interval], Field(description='the same of each decision')
    ]


class HatexscoreRandomSpans(Message):
    kind: Annotated[
        Literal['spans'], Field(description='passages of as many words as the quotes')
    ] = 'spans'
    placements: Annotated[
        int | None,
        Field(
            description='that exist besides the explanation; null above 1e15 and where not counted'
        ),
    ] = None
    draws: Annotated[
        int, Field(description='different random placements, the quoted one excluded')
    ]
    win_rate_draws: Annotated[
        int | None,
        Field(
            description='of these, the first ones, which the win rate rests on: how many follow was decided by what they showed; null in results of before: all'
        ),
    ] = None
    exact: Annotated[bool, Field(description='whether they are all that exist')] = False
    overlap: Annotated[
        float | None,
        Field(
            description="mean intersection over union of the explanation's units with a random one's: near 1 the null is the explanation itself, and the win rate tends to 1/2; null where it is no set of units"
        ),
    ] = None
    p_value: Annotated[
        float | None,
        Field(
            description='one-sided: how often random spans do as well; lower is stronger. (1 + draws that reach the quotes) / (1 + draws); where draws go on look by look, p of stage-wise order. `robust`, hateful: of the signed drop; else of |dp|, which for a non-hateful decision is shown without judgement'
        ),
    ] = None
    p_anti: Annotated[float | None, Field(description='the other side: as low')] = None
    p_two_sided: Annotated[
        float | None, Field(description='twice the smaller of both, at most 1')
    ] = None
    attainable_p: Annotated[
        float | None,
        Field(
            description='the least p that could have come: of as many draws as the request allows, or of all placements'
        ),
    ] = None
    ties: Annotated[
        float | None, Field(description='share of the draws that score the same')
    ] = None
    mean: Annotated[float | None, Field(description="of the draws' scores")] = None
    sd: Annotated[
        float | None,
        Field(description="of the draws' scores, over n - 1; null for a single one"),
    ] = None
    deciles: Annotated[
        list[float],
        Field(
            description="the 10 % to 90 % quantiles of the draws' scores; empty without draws"
        ),
    ] = []
    histogram: Annotated[
        Histogram | None,
        Field(description="of the draws' scores, in 20 equal bins; null without draws"),
    ] = None
    p_calibrated: Annotated[
        float | None,
        Field(
            description='where 4 to 18 other placements exist, too few for a `p_value` of 0.05: how often a random passage of another post stands out as far among its placements. Valid on average over posts (`calibration`), for posts that the judge calls hateful, for judges and languages that were measured'
        ),
    ] = None
    calibration: Annotated[
        Calibration | None,
        Field(description='what `p_calibrated` rests on; null without it'),
    ] = None
    rank: Annotated[
        int | None,
        Field(
            description='of the quotes among themselves and the draws; 1 is the best, ties count against them; null in earlier results'
        ),
    ] = None
    quoted_drop: Annotated[
        float, Field(description='|dp| of masking the quotes, probability')
    ]
    mean_drop: Annotated[
        float, Field(description='mean |dp| over the draws, probability')
    ]
    sd_drop: Annotated[
        float | None,
        Field(description='standard deviation of |dp| (n - 1); null for a single draw'),
    ]
    share_beaten: Annotated[
        float,
        Field(
            description='draws that the quotes beat, in what `p_value` is of, ties half; 0.5 is chance'
        ),
    ]
    drops: Annotated[
        list[float],
        Field(description='|dp| of each draw, probability, in the order of drawing'),
    ] = []
    signed_drops: Annotated[
        list[float], Field(description='dp of each draw, as `signed_drop`')
    ] = []
    qf_mean: Annotated[
        float | None, Field(description='QF that the draws would have, on average')
    ] = None
    qf_excess: Annotated[
        float | None,
        Field(description='QF less `qf_mean`; 0 is chance, higher is better'),
    ] = None


class HatexscoreRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    model: Annotated[
        str | None,
        Field(description="a configured model's name; the service's default if absent"),
    ] = None
    metadata: Annotated[
        dict[str, str] | None,
        Field(description='at most 16 pairs, returned with the job'),
    ] = None
    context: Annotated[
        Context | None, Field(description='audit fields, returned with the job')
    ] = None
    webhook: Annotated[
        str | None,
        Field(
            description="the webhook endpoint that is notified of this job's end, and no other; if absent, every endpoint of yours that listens to the event"
        ),
    ] = None
    do_not_store_text: Annotated[
        bool,
        Field(
            description='keep no text once the job has ended: what is left of the request is `model`, `variant`, `seed`, `metadata`, `context` and `trace`, and of the result the numbers and names'
        ),
    ] = False
    variant: Annotated[
        Literal['robust', 'paper', 'reference'],
        Field(
            description='`robust`: what the paper means, defects mended; `paper`: the equations as printed; `reference`: what the released code does'
        ),
    ] = 'robust'
    seed: Annotated[int, Field(description='of every random draw')] = 0
    trace: Annotated[
        Trace | None,
        Field(
            description='what was evaluated; returned with the job, and what pushes of scores attach the score to'
        ),
    ] = None
    language: Annotated[
        str,
        Field(
            description='language of the text (BCP 47); `auto` identifies it. An explanation that is clearly in another language is read in that one. Explanations are read in en, de, fr, es, it, pt, zh and ko'
        ),
    ] = 'auto'
    accept_untrained_languages: Annotated[
        bool,
        Field(
            description='ask the model about a text in a language that it did not learn, with a warning; else QF, CC and the score of such a text are null'
        ),
    ] = False
    explain: Annotated[
        Literal[True] | Explain | None,
        Field(
            description="instead of an explanation: a model is asked to decide and to explain, and its explanation is scored in the same job; `true`: the request's `model`, by the metric's own prompt. What it answered is the `elicitation` of the result"
        ),
    ] = None
    text: Annotated[str, Field(description='the moderated text')]
    explanation: Annotated[
        str | ExplanationFields,
        Field(
            description='of the decision, as a text or as fields that need no reading; a text that is a JSON object of the fields is taken as these (`robust`); an empty text earns nothing; needed unless `explain`',
            validate_default=True,
        ),
    ] = ''
    labels: Annotated[
        Literal['default', 'hate', 'toxicity', 'safety', 'policy', 'three-way', 'sentiment-free'] | dict[str, list[str]] | None,
        Field(
            description='words for the classes of the decision, in which the explanation is read: a built-in vocabulary, or your own, which replaces it (capitals match capitals only; digits and single characters in a label line only): `hateful`, `non-hateful` and, if you have them, further classes, as in `three-way`; absent: as `predicted_label` tells, else `default`'
        ),
    ] = None
    prompt: Annotated[
        PromptKeys | None,
        Field(
            description="how a causal model or a chat server is asked for P(hateful), in the place of its entry's `prompt`, key by key, where that allows it (`allow_request_prompt`)"
        ),
    ] = None
    predicted_label: Annotated[
        str | None,
        Field(
            description='the explained decision, `hateful`, `non-hateful`, or a class or word of `labels`; if absent, the one that the explanation states'
        ),
    ] = None
    reader: Annotated[
        Literal['rules', 'llm', 'auto'],
        Field(
            description="what reads the explanation's conclusion and groups (HTC, TGI): `rules`: its fields, and the trained reader; `llm`: `reader_model`; `auto`: as `rules`, and `reader_model`, where one is named, for another language or a verdict that is not sure"
        ),
    ] = 'auto'
    reader_model: Annotated[
        str | None,
        Field(
            description='the configured language model that reads; absent: the one that the entry of the judge names'
        ),
    ] = None
    policy: Annotated[
        Literal['un', 'meta', 'twitter', 'youtube'] | dict[str, list[str]],
        Field(
            description='protected groups: a named list, or your own `{"category": ["term", ...]}`'
        ),
    ] = 'un'
    tau: Annotated[
        float, Field(description='threshold of the Consistency Check, probability')
    ] = 0.3
    consistency_rule: Annotated[
        Literal['causal', 'eq5', 'reference'] | None,
        Field(
            description="what coherence requires of the QF of a non-hateful decision: `causal` 1 - QF < tau, `eq5` QF < tau, `reference` QF >= tau; absent: the variant's own"
        ),
    ] = None
    weights: HatexscoreWeights | None = None
    short_text_max_words: Annotated[
        int, Field(description='a text of at most so many words may be quoted whole')
    ] = 5
    probabilities: Annotated[
        HatexscoreProbabilities | None,
        Field(
            description='bring your own: no model is called, and there is no control'
        ),
    ] = None
    control_draws: Annotated[
        int | None,
        Field(
            description='random spans masked to measure chance, at most. `robust` masks 19 first. If the decision is hateful it goes on to 39, 79, 139 and all, until the test can stop. Absent: 199 in `robust`, or as many as 2,000,000 characters of masked text hold, that is fewer above 10,050 characters of `text`; else 20'
        ),
    ] = None


class HlvBaselines(Message):
    uniform: Annotated[
        HlvMeasured,
        Field(
            description='equal probability for every option; its rank correlation is undefined'
        ),
    ]
    majority: Annotated[
        HlvMeasured,
        Field(description="an oracle that knows the humans' first choice only"),
    ]


class HlvCeiling(Message):
    annotators: Annotated[
        int, Field(description='number of votes, ratings or rankings')
    ]
    resamples: Annotated[int, Field(description='draws behind each number')]
    metrics: dict[str, HlvCeilingOf]


class HlvCeilings(Message):
    high: Annotated[
        Interval,
        Field(description='a judge that is the distribution people were drawn from'),
    ]
    low: Annotated[
        Interval, Field(description='one half of the people against the other')
    ]
    chance: Annotated[Interval, Field(description='the uniform judge')]


class HlvComponents(Message):
    kendall: Annotated[
        float | None, Field(description='tau-b; tau-a for variant `paper`')
    ]
    spearman: float | None
    kendall_baseline: Annotated[
        float | None, Field(description='Kendall of the judge without explanations')
    ]
    spearman_baseline: float | None
    kendall_gain: float | None
    spearman_gain: float | None
    kendall_normalised: Annotated[
        float | None,
        Field(
            description="Kendall of the first method between chance, 0, and the people's agreement, 1; null without a ceiling"
        ),
    ] = None
    methods: list[HlvMethodResult]


class HlvEstimate(Message):
    mean: Annotated[
        Interval,
        Field(
            description='over the items where it is defined; pooled metrics over all pairs'
        ),
    ]
    undefined: Annotated[
        int, Field(description='number of items where it is undefined')
    ]
    undefined_as_zero: Annotated[
        float | None,
        Field(description='mean with undefined items as 0; correlations only'),
    ] = None


class HlvHuman(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    votes: Annotated[
        list[dict[str, float]] | dict[str, float] | None,
        Field(
            description='option → count; a missing option counts 0. Each source is normalised before the mean is taken'
        ),
    ] = None
    ratings: Annotated[
        list[dict[str, float]] | dict[str, float] | None,
        Field(
            description='option → plausibility on `scale`, for every option; sources are averaged'
        ),
    ] = None
    ranking: Annotated[
        list[dict[str, float]] | dict[str, float] | None,
        Field(
            description='option → position, 1 = best; equal positions tie, and missing options tie for last. The fractional ranks of the sources are averaged and ranked again'
        ),
    ] = None
    scale: Annotated[HlvScale | None, Field(description='scale of `ratings`')] = None


class HlvPaired(Message):
    method: Literal['rank', 'logits', 'score']
    items: Annotated[
        int,
        Field(description='number of items; those with an undefined side are left out'),
    ]
    explained: Annotated[
        Interval, Field(description="Kendall's tau in the variant's own form, [-1, 1]")
    ]
    baseline: Annotated[
        Interval, Field(description='the same for the judge without explanations')
    ]
    gain: Annotated[
        Interval, Field(description='explained - baseline, item by item, [-2, 2]')
    ]
    closer: Annotated[
        int,
        Field(description='items where explanations bring the judge closer to people'),
    ]
    equal: Annotated[int, Field(description='items where they change nothing')]
    farther: int
    gains: Annotated[
        ValueHistogram,
        Field(description='21 bins; no change falls into the middle bin'),
    ]


class HlvRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    model: Annotated[
        str | None,
        Field(description="a configured model's name; the service's default if absent"),
    ] = None
    metadata: Annotated[
        dict[str, str] | None,
        Field(description='at most 16 pairs, returned with the job'),
    ] = None
    context: Annotated[
        Context | None, Field(description='audit fields, returned with the job')
    ] = None
    webhook: Annotated[
        str | None,
        Field(
            description="the webhook endpoint that is notified of this job's end, and no other; if absent, every endpoint of yours that listens to the event"
        ),
    ] = None
    do_not_store_text: Annotated[
        bool,
        Field(
            description='keep no text once the job has ended: what is left of the request is `model`, `variant`, `seed`, `metadata`, `context` and `trace`, and of the result the numbers and names'
        ),
    ] = False
    variant: Annotated[
        Literal['robust', 'paper', 'reference'],
        Field(
            description='`robust`: what the paper means, defects mended; `paper`: the equations as printed; `reference`: what the released code does'
        ),
    ] = 'robust'
    seed: Annotated[int, Field(description='of every random draw')] = 0
    trace: Annotated[
        Trace | None,
        Field(
            description='what was evaluated; returned with the job, and what pushes of scores attach the score to'
        ),
    ] = None
    language: Annotated[
        str,
        Field(
            description='BCP 47, of all texts, believed as it is; `auto` identifies it'
        ),
    ] = 'auto'
    accept_untrained_languages: Annotated[
        bool,
        Field(
            description='ask a model about a text in a language that it did not learn, with a warning; else the score of such a text is null'
        ),
    ] = False
    question: Annotated[
        NliQuestion | Scenario | str,
        Field(
            description='a string; or `premise` and `hypothesis`; or `scenario` and `question`'
        ),
    ]
    options: Annotated[
        list[Option], Field(description='in the order in which they are shown')
    ]
    explanations: Annotated[
        list[Explanation],
        Field(
            description='shown to the judge; the baseline never sees them',
            validate_default=True,
        ),
    ] = []
    rationale: Annotated[
        str | None,
        Field(description='an explanation as one text, such as a chain of thought'),
    ] = None
    human: HlvHuman
    judge: Annotated[
        HlvJudge | None,
        Field(description='how `model` is prompted; absent: the defaults'),
    ] = None
    prompt: Annotated[
        PromptKeys | None,
        Field(
            description="replaces keys of the model entry's `prompt`, if the entry has `allow_request_prompt`. For causal models and chat servers, with `logits` only. `{text}`, the default of `user`, is the prompt of Table 6 with question, options and explanations; `{premise}` and `{hypothesis}` come from the question. Labels of `verbalizers` are the keys or texts of the options; absent: the keys"
        ),
    ] = None
    predictions: Annotated[
        HlvPredictions | None,
        Field(description='answers of your own judge; no model is called'),
    ] = None
    normalisation: Annotated[
        Literal['softmax', 'abs_sum_reference'] | None,
        Field(
            description='how logits become a distribution; absent: as the variant says (`abs_sum_reference` for `reference`, which needs `predictions` with `logits`)'
        ),
    ] = None
    epsilon: Annotated[
        float | None,
        Field(
            description='both distributions of KL are clipped to it; 0: not clipped, as printed; absent: 1e-10, or 0 for variant `paper`'
        ),
    ] = None
    log_base: Annotated[
        Literal['e', '2'],
        Field(description='base of the logarithm in the Jensen-Shannon distance'),
    ] = 'e'


class HlvTable(Message):
    method: Annotated[
        Literal['rank', 'logits', 'score'] | None,
        Field(description='null for judges that read nothing'),
    ]
    judged: Literal['explained', 'baseline', 'gain', 'uniform', 'majority']
    items: int
    invalid_runs: Annotated[
        int, Field(description='answers that could not be read')
    ] = 0
    metrics: dict[str, HlvEstimate]
    tied: Annotated[
        Interval | None,
        Field(
            description='share of pairs of options with equal ranks, mean over items; null for gains and in earlier reports'
        ),
    ] = None
    normalised: Annotated[
        dict[str, Interval] | None,
        Field(
            description='metric → sum of (value - chance) / sum of (ceiling - chance) over all items: 0 = the uniform judge, 1 = the agreement of people with themselves. Null where that is hardly better than chance'
        ),
    ] = None


class HumanAgreement(Message):
    judgements: int
    texts: Annotated[int, Field(description='results that somebody judged')]
    reviewers: int
    random: Annotated[
        bool, Field(description='whether the figures hold for more than these lines')
    ]
    agreed: Annotated[
        Interval,
        Field(description='share of pairs of people on one text who say the same'),
    ]
    kappa: Annotated[
        Interval, Field(description="Cohen's, of exactly two people; null for others")
    ]
    alpha: Annotated[
        Interval, Field(description="Krippendorff's, nominal, gaps allowed")
    ]
    pairs: Annotated[list[ReviewerPair], Field(validate_default=True)] = []
    disputed: Annotated[list[DisputedResult], Field(validate_default=True)] = []
    with_metric: Annotated[
        Interval,
        Field(
            description='share that agrees with the metric: of those who judged blind, who calls the explanation good where the verdict is `holds_up`, and not where it is `problem_found`'
        ),
    ]
    above: Annotated[
        Interval,
        Field(description='the same, of scores in the upper 3 tenths of the range'),
    ]
    below: Annotated[
        Interval,
        Field(description='the same, of scores in the lower 3 tenths of the range'),
    ]
    deciles: Annotated[list[ScoreDecile], Field(validate_default=True)] = []
    parts: Annotated[list[PartAgreement], Field(validate_default=True)] = []
    by_verdict: dict[str, Interval] | None = None
    by_language: dict[str, Interval] | None = None
    warnings: list[str] = []


class HumanRatings(Message):
    results: Annotated[int, Field(description='with a score and a rating')]
    people: int
    spearman: Annotated[
        Interval, Field(description='rank correlation with the mean rating, [-1, 1]')
    ]
    kendall: Annotated[
        Interval, Field(description='tau-b with the mean rating, [-1, 1]')
    ]
    alpha: Annotated[
        Interval,
        Field(
            description="Krippendorff's, interval, of the ratings of several people, at most 1"
        ),
    ]
    threshold: CalibratedThreshold


class IceAgreement(Message):
    first: IceConfiguration
    second: IceConfiguration
    examples: int
    spearman: Annotated[
        float | None, Field(description='of the win rates; null where one is constant')
    ]
    p_value: Annotated[
        float | None,
        Field(description="of Spearman's rho over the means of each text, two-sided"),
    ] = None
    q_value: Annotated[
        float | None, Field(description='Benjamini-Hochberg over this table')
    ] = None
    same_side: Annotated[
        float | None, Field(description='share on one side of 0.5 under both')
    ]
    same_verdict: float | None


class IceAntiFaithful(Message):
    configurations: list[IceConfiguration]
    examples: Annotated[
        list[str],
        Field(
            description='jobs (custom id, else id) whose first test is anti-faithful; at most 1,000'
        ),
    ]
    examples_in_all: int


class IceBatchReportRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    model: Annotated[
        str | None,
        Field(description="a configured model's name; the service's default if absent"),
    ] = None
    metadata: Annotated[
        dict[str, str] | None,
        Field(description='at most 16 pairs, returned with the job'),
    ] = None
    context: Annotated[
        Context | None, Field(description='audit fields, returned with the job')
    ] = None
    webhook: Annotated[
        str | None,
        Field(
            description="the webhook endpoint that is notified of this job's end, and no other; if absent, every endpoint of yours that listens to the event"
        ),
    ] = None
    do_not_store_text: Annotated[
        bool,
        Field(
            description='keep no text once the job has ended: what is left of the request is `model`, `variant`, `seed`, `metadata`, `context` and `trace`, and of the result the numbers and names'
        ),
    ] = False
    batch: Annotated[str | None, Field(description="a batch's id")] = None
    jobs: Annotated[
        list[str] | None, Field(description='ids of jobs of this metric')
    ] = None
    of_model: Annotated[
        str | None,
        Field(
            description="only the results of this model: the first that answered or, where none had to be asked, the one that the request names, or the metric's default"
        ),
    ] = None
    of_metadata: Annotated[
        dict[str, str] | None,
        Field(
            description='only the results of lines whose metadata has all of these values, as where one file holds the explanations of several systems'
        ),
    ] = None
    seed: Annotated[int, Field(description='of the bootstrap')] = 0
    resamples: Annotated[int, Field(description='of the bootstrap')] = 2000
    confidence: Annotated[float, Field(description='level of every interval')] = 0.95
    cluster_key: Annotated[
        str | None,
        Field(
            description='metadata key whose value says which results belong together; absent, or a result without it: those of one text do'
        ),
    ] = None
    sequence: Annotated[
        bool,
        Field(
            description='whether to add an interval of the mean score that holds however often a growing batch is looked at'
        ),
    ] = False
    against: Annotated[
        Against | None,
        Field(
            description="another system's results on the same texts, which are taken off the report's own: see `comparison`"
        ),
    ] = None
    further: Annotated[
        list[Against],
        Field(
            description='further systems that are compared with `against`, too: see `further`',
            validate_default=True,
        ),
    ] = []
    judged: Annotated[
        Judged | None,
        Field(description="people's judgements of these results: see `agreement`"),
    ] = None
    plan: Annotated[
        WantedEffect | None,
        Field(
            description='how many texts and draws would find this effect: see `plan`'
        ),
    ] = None
    by: Annotated[
        list[str],
        Field(
            description='what the scores are split by, see `splits`: `metadata.<key>`, `model`, `variant`, `language`, `verdict`, `label_sent`, `label_stated`'
        ),
    ] = []
    gold: Annotated[
        GoldColumns | None,
        Field(
            description="where the lines' metadata has gold labels, marked passages and ratings: see the report's `gold`"
        ),
    ] = None
    pairwise: Annotated[
        bool,
        Field(description='whether to compare the values of each split two by two'),
    ] = False
    mixed: Annotated[
        bool,
        Field(
            description='whether results of several versions of the metric may be summed up together, with a warning; else they are refused, since their numbers mean different things'
        ),
    ] = False
    alpha: Annotated[
        float, Field(description='false discovery rate over configurations')
    ] = 0.05
    example_alpha: Annotated[
        float, Field(description="false discovery rate over examples (the paper's)")
    ] = 0.1
    error: Annotated[
        Literal['discovery', 'family'],
        Field(
            description='what `alpha` bounds over configurations: the share of false verdicts (Benjamini-Hochberg), or the chance of any (Holm)'
        ),
    ] = 'discovery'
    metric: Literal['ice'] = 'ice'


class IceComponents(Message):
    tests: list[IceTest]
    areas: Annotated[
        list[IceArea], Field(description='where there are several budgets')
    ]
    comparisons: Annotated[
        list[IceComparison], Field(description='where there are several explanations')
    ]
    plausibility: Annotated[
        list[IcePlausibility], Field(description='where `human` was sent')
    ]
    readings: Annotated[
        list[IceCausalReading],
        Field(description='where both sides were tested', validate_default=True),
    ] = []


class IceConfigurationResult(Message):
    configuration: IceConfiguration
    undefined: Annotated[
        int, Field(description='examples whose win rate is null; left out')
    ]
    win_rate: Annotated[Interval, Field(description='mean mid-rank win rate')]
    strict_win_rate: Annotated[
        float | None, Field(description='mean; ties count as losses')
    ]
    tie_rate: Annotated[float | None, Field(description='mean')]
    z: Annotated[
        float | None,
        Field(description='of reports before metric version 2.0; now `omnibus_z`'),
    ] = None
    t: Annotated[
        float | None,
        Field(
            description='(mean - 1/2) / its standard error over texts; null without spread'
        ),
    ] = None
    p_t: Annotated[float | None, Field(description='of t, two-sided')] = None
    p_randomization: Annotated[
        float | None, Field(description='of sign flips of whole texts, two-sided')
    ] = None
    p_value: Annotated[
        float | None, Field(description='that the mean is 1/2: the larger of both')
    ]
    q_value: Annotated[
        float | None, Field(description='corrected over configurations, see `error`')
    ]
    verdict: Annotated[
        Literal['faithful', 'inconclusive', 'anti-faithful', 'undecidable'] | None,
        Field(
            description='of the configuration, by q and the side of 1/2; `undecidable`: so few texts could not have reached alpha'
        ),
    ]
    omnibus_z: Annotated[
        float | None,
        Field(
            description='is any explanation better or worse than random? (mean - 1/2) / its exact sd if all were random; null where draws could repeat'
        ),
    ] = None
    omnibus_p: Annotated[float | None, Field(description='of omnibus_z, two-sided')] = (
        None
    )
    effect: Annotated[
        Interval,
        Field(
            description='median effect, distribution-free interval by order statistics'
        ),
    ]
    exact: Annotated[int, Field(description='examples whose test was exact')]
    verdicts: Annotated[dict[str, int], Field(description='of the examples')]
    win_rates: Annotated[
        ValueHistogram | None,
        Field(description='of the examples; null in reports of earlier versions'),
    ] = None
    p_values: Annotated[
        IcePValueHistogram | None,
        Field(description='of the examples; null likewise, and where none has one'),
    ] = None
    over_examples: IceOverExamples
    leads: Annotated[
        bool,
        Field(
            description='whether it is the first test of every result: what tables of results show'
        ),
    ] = False


class IceMeanDifference(Message):
    first: IceConfiguration
    second: IceConfiguration
    difference: Annotated[Interval, Field(description='mean win rate, first - second')]
    first_better: Annotated[
        int, Field(description='examples where first has the higher win rate')
    ]
    second_better: int
    equal: Annotated[int, Field(description='examples where neither has')] = 0
    p_value: Annotated[
        float | None,
        Field(description='that the mean difference is 0: the larger of the next two'),
    ] = None
    p_t: Annotated[float | None, Field(description='of t over texts, two-sided')] = None
    p_randomization: Annotated[
        float | None, Field(description='of sign flips of whole texts, two-sided')
    ] = None
    p_adjusted: Annotated[
        float | None, Field(description='Holm over all pairs of the report')
    ] = None
    effect: Annotated[
        float | None,
        Field(
            description='mean difference in its sds over examples; null where that is 0'
        ),
    ] = None


class IceNamedExplanation(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    name: Annotated[
        str,
        Field(
            description='what to call it in the report; it stays where no text is kept'
        ),
    ]
    attributions: list[IceAttributedSpan] | None = None
    rationale: list[IceSpan | str] | str | None = None


class IceOrthogonality(Message):
    configuration: IceConfiguration
    measure: Annotated[str, Field(description='iou, f1 or auprc')]
    mean: Annotated[Interval, Field(description='of the measure')]
    pearson: Annotated[Interval, Field(description='with the win rate')]
    spearman: float | None
    p_value: Annotated[
        float | None,
        Field(description="of Pearson's r over the means of each text, two-sided"),
    ]
    q_value: Annotated[
        float | None, Field(description='Benjamini-Hochberg over this table')
    ] = None


class IceRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    model: Annotated[
        str | None,
        Field(description="a configured model's name; the service's default if absent"),
    ] = None
    metadata: Annotated[
        dict[str, str] | None,
        Field(description='at most 16 pairs, returned with the job'),
    ] = None
    context: Annotated[
        Context | None, Field(description='audit fields, returned with the job')
    ] = None
    webhook: Annotated[
        str | None,
        Field(
            description="the webhook endpoint that is notified of this job's end, and no other; if absent, every endpoint of yours that listens to the event"
        ),
    ] = None
    do_not_store_text: Annotated[
        bool,
        Field(
            description='keep no text once the job has ended: what is left of the request is `model`, `variant`, `seed`, `metadata`, `context` and `trace`, and of the result the numbers and names'
        ),
    ] = False
    variant: Annotated[
        Literal['robust', 'paper', 'reference'],
        Field(
            description='`robust`: what the paper means, defects mended; `paper`: the equations as printed; `reference`: what the released code does'
        ),
    ] = 'robust'
    seed: Annotated[int, Field(description='of every random draw')] = 0
    trace: Annotated[
        Trace | None,
        Field(
            description='what was evaluated; returned with the job, and what pushes of scores attach the score to'
        ),
    ] = None
    language: Annotated[
        str,
        Field(
            description='BCP 47, of all texts, believed as it is; `auto` identifies it'
        ),
    ] = 'auto'
    accept_untrained_languages: Annotated[
        bool,
        Field(
            description='ask a model about a text in a language that it did not learn, with a warning; else the score of such a text is null'
        ),
    ] = False
    text: Annotated[str, Field(description='what the model judged')]
    text_pair: Annotated[str | None, Field(description='second text, for encoders')] = (
        None
    )
    target: Annotated[
        str,
        Field(
            description="the label whose probability is the score; `predicted`: the model's own"
        ),
    ] = 'predicted'
    template: Annotated[
        Template | None, Field(description='for causal models, and only those')
    ] = None
    prompt: Annotated[
        PromptKeys | None,
        Field(
            description="how a causal model or a chat server is asked for its labels, in the place of its entry's `prompt`, key by key, where that allows it (`allow_request_prompt`); not beside `template`"
        ),
    ] = None
    attribution: Annotated[
        Literal['attention', 'gradient', 'integrated_gradients', 'lime'] | AttributionMethod | list[Literal['attention', 'gradient', 'integrated_gradients', 'lime'] | AttributionMethod] | None,
        Field(description='explanations that the service computes: one, or a list'),
    ] = None
    attributions: Annotated[
        list[IceAttributedSpan] | None,
        Field(description='values that you computed; a token without one has 0'),
    ] = None
    rationale: Annotated[
        list[IceSpan | str] | str | None,
        Field(
            description='spans without values (quoted, highlighted), or quotations of the text as strings; their size is fixed. A passage can be tested exactly in a text of about 20 words or more, 40 where `alternative` is `two-sided`'
        ),
    ] = None
    explanations: Annotated[
        list[IceNamedExplanation],
        Field(
            description='more explanations of your own, by name', validate_default=True
        ),
    ] = []
    human: Annotated[
        list[IceSpan | str] | str | None,
        Field(
            description='spans that people marked, or quotations: for plausibility, in addition to faithfulness'
        ),
    ] = None
    rank_by: Annotated[
        Literal['value', 'magnitude'],
        Field(description='whether a strongly negative value ranks low or high'),
    ] = 'value'
    k: Annotated[
        float | list[float],
        Field(description='share of the eligible tokens that a rationale has'),
    ] = 0.2
    rows: Annotated[
        Literal['tokens', 'words'] | None,
        Field(
            description="what a rationale is made of and operators work on: the model's tokens, or words of the text, which any judge reads. absent: tokens where the model shows them, else words"
        ),
    ] = None
    operators: Annotated[
        list[Literal['delete', 'mask', 'mask_unk', 'mask_pad', 'infill']],
        Field(
            description='what is done to other tokens or words; `mask_unk` and `mask_pad`: to tokens only'
        ),
    ] = ['delete']
    null: Annotated[
        Literal['tokens', 'words', 'spans', 'spans_gaps'] | None,
        Field(
            description='what random rationales keep of one of spans; absent: `words` for single scattered words, else `spans`. Explanations with values are compared with tokens'
        ),
    ] = None
    strata: Annotated[
        Literal['frequency', 'pos'] | None,
        Field(
            description="random tokens as rare as the explanation's (quintiles of the text, by a list of English words), or of the same part of speech (English); for nulls `tokens` and `words`"
        ),
    ] = None
    match_tokens: Annotated[
        bool,
        Field(
            description='random spans of about as many tokens (within a factor of 1.25), not only of as many words; dropped with a warning where fewer than 19 exist. In rows of tokens only'
        ),
    ] = False
    aspects: Annotated[
        list[Literal['sufficiency', 'necessity']],
        Field(
            description='what is tested: whether the rationale alone keeps the decision, whether its removal loses it, or both, from which a causal reading follows; absent: both, in variants paper and reference `sufficiency` alone. The score is of `sufficiency`'
        ),
    ] = ['sufficiency', 'necessity']
    draws: Annotated[
        int | None,
        Field(
            description='random rationales, or all other placements if fewer exist; absent: 199, in variants paper and reference 50'
        ),
    ] = None
    alternative: Annotated[
        Literal['two-sided', 'greater'],
        Field(
            description='`greater`: only whether the explanation is better than random ones; `two-sided`: whether it is worse, too, for which a passage needs about 40 words of text instead of about 20. absent: `greater`, in variants paper and reference `two-sided`'
        ),
    ] = 'greater'
    infills: Annotated[int, Field(description='fills a mask, averaged')] = 4
    infill_pool: Annotated[
        list[str], Field(description='texts whose tokens fill; your own is left out')
    ] = []
    infill_excluded: Annotated[
        list[str], Field(description='words never filled in, besides the label words')
    ] = []
    eligible: Annotated[
        Literal['text', 'all'] | None,
        Field(
            description="which tokens a rationale may hold: the text's, or the template's too; absent: `text`, in variant reference `all`"
        ),
    ] = None
    alpha: Annotated[float, Field(description='level of the verdicts')] = 0.05
    nsr_epsilon: Annotated[
        float, Field(description='NSR is null where |s(x) - s(empty)| is below')
    ] = 0.05
    fluency_model: Annotated[
        str | None,
        Field(
            description='a language model that tells how much less fluent than the text the inputs are that the explained model is asked about (`distance.perplexity_ratio`); it reads about 50 texts more. absent: not told'
        ),
    ] = None
    token_values: Annotated[
        bool,
        Field(
            description='whether the report lists each token and its value by every explanation, as a heat map needs it'
        ),
    ] = False


class JobCancelledWebhook(Message):
    type: Literal['job.cancelled'] = 'job.cancelled'
    timestamp: str
    data: JobNotice


class JobFailedWebhook(Message):
    type: Literal['job.failed'] = 'job.failed'
    timestamp: str
    data: JobNotice


class JudgeExamples(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    operation: Literal['judge'] = 'judge'
    examples: list[Example]


class JudgeRows(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    operation: Literal['judge_rows'] = 'judge_rows'
    asked: list[ExampleRows]


class Judgement(Message):
    labels: list[str]
    probabilities: Annotated[
        list[float] | None,
        Field(
            description='(L,) in the order of `labels`, of sum 1 unless the model has outputs that stand for no label; null: `unread` says why'
        ),
    ]
    mass: Annotated[
        float | None,
        Field(
            description='what the model gave to all labels together, before normalising; null: unknown'
        ),
    ] = None
    reading: Annotated[
        Literal['head', 'verbalizers', 'scored', 'label-endpoint', 'top-logprobs', 'votes'] | None,
        Field(description='null where no way to read P was found'),
    ]
    uncertainty: Annotated[
        float,
        Field(
            description="how far a probability may be from the model's own because of the reading: the share of labels that a server did not list, half the 95 % Wilson interval of votes"
        ),
    ] = 0
    votes: Annotated[
        int | None, Field(description='answers that were drawn, where P is their share')
    ] = None
    prompt_sha256: Annotated[
        str | None,
        Field(
            description='of the prompt around an empty text, where the example brought its own'
        ),
    ] = None
    read_share: Annotated[
        float, Field(description='of the text; below 1: it was cut')
    ] = 1.0
    unread: Unread | None = None
    categories: Annotated[
        dict[str, str] | None,
        Field(
            description='what a guard named beside its label → in words, where the example asked for it; no part of P'
        ),
    ] = None


class JudgementCreatedWebhook(Message):
    type: Literal['judgement.created'] = 'judgement.created'
    timestamp: str
    data: JudgementNotice


class JudgementList(Message):
    object: Literal['list'] = 'list'
    data: list[ReviewerJudgement]
    first_id: str | None
    last_id: Annotated[
        str | None, Field(description='pass it as `after` to get the next page')
    ]
    has_more: bool


class JudgementRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    verdict: Annotated[
        Literal['agree', 'disagree', 'unsure'], Field(description='with the metric')
    ]
    reviewer: Annotated[
        str | None,
        Field(
            description="the reviewer's name; a key with a reviewer may only judge under that name"
        ),
    ] = None
    about: Annotated[str, Field(description='`score`, or the name of a part')] = 'score'
    human_score: Annotated[float | None, Field(description='the correct score')] = None
    human_label: Annotated[
        str | None,
        Field(
            description='the correct label; for jobs whose texts are not stored only a canonical one, such as `hateful`'
        ),
    ] = None
    spans: Annotated[
        list[MarkedSpan],
        Field(
            description='words that decide; refused for jobs whose texts are not kept',
            validate_default=True,
        ),
    ] = []
    note: Annotated[
        str | None,
        Field(description='refused for jobs whose texts are not kept: notes quote'),
    ] = None
    blind: Annotated[bool, Field(description='whether the score was hidden')] = False
    queue: Annotated[
        str | None, Field(description='the review queue that gave the line')
    ] = None
    seconds: Annotated[float | None, Field(description='that it took')] = None
    job_id: str


class Model(Message):
    name: str
    created: Annotated[
        int, Field(description='when its entry or its files were changed; unix seconds')
    ]
    owned_by: str
    kind: Annotated[
        Literal['classifier', 'causal', 'similarity', 'cross-encoder'] | None,
        Field(description='null if its entry does not state it'),
    ]
    revision: str
    sha256: Annotated[
        str | None,
        Field(description='SHA-256 of the weights; null if they are not on this disk'),
    ]
    capabilities: list[str]
    labels: Annotated[
        list[str] | None, Field(description='canonical labels, as requests name them')
    ]
    languages: list[str] | None
    language_f1: Annotated[
        dict[str, float] | None,
        Field(description="language → F1 by the model's authors; null: not stated"),
    ]
    dtype: str
    device: str
    outputs: Annotated[
        list[str] | None,
        Field(
            description='outputs of its head, in order; null if its files are not on this disk'
        ),
    ]
    mapping: Annotated[
        dict[str, list[str]] | None,
        Field(
            description='canonical label → its outputs; empty: 1 minus the other label'
        ),
    ]
    ignored: Annotated[
        list[str], Field(description='outputs without a canonical label')
    ]
    activation: Literal['softmax', 'sigmoid', 'one-output'] | None
    warnings: Annotated[list[str], Field(description='warnings in all its reports')]
    preset: Annotated[str | None, Field(description='preset as name@version')]
    licence: str | None
    card: str | None
    id: Annotated[str, Field(description='its name, as requests name it')]
    object: Literal['model'] = 'model'
    state: Annotated[
        Literal['absent', 'downloading', 'waiting', 'loading', 'ready', 'failed', 'away'] | None,
        Field(
            description='of the best worker that holds it; null where no worker reports it. `waiting`: for memory; `away`: its server cannot be reached; `absent`: its files are not there; `failed`: they cannot be used'
        ),
    ]
    error: Annotated[str | None, Field(description='why it is not ready')]
    since: Annotated[int | None, Field(description='start of this state; unix seconds')]
    bytes: Annotated[
        int | None,
        Field(description='size of its files; null if no worker has loaded it'),
    ]
    memory: Annotated[
        int | None,
        Field(description='estimated need in bytes; null if no worker has loaded it'),
    ]
    server: Annotated[
        ServerAbilities | None,
        Field(
            description='abilities of a model behind a server, tested at `checked_at` by a worker: daily, and after an answer that contradicts them'
        ),
    ]
    checked_at: Annotated[
        int | None, Field(description='unix seconds; null if no server was tested')
    ]


class ModelUse(Message):
    name: str
    revision: str
    sha256: Annotated[
        str | None,
        Field(description='of its safetensors; null where a server has them'),
    ]
    device: str
    dtype: str
    numerics: Annotated[
        Literal['bytes', 'tolerance'],
        Field(
            description='`bytes`: on one kind of processor the same request has the same bytes, whatever is computed at the same time; `tolerance`: probabilities may move by 1e-5 in float32, by 0.02 in bfloat16, float16 and behind a server'
        ),
    ] = 'tolerance'
    prompt_sha256: Annotated[
        str | None,
        Field(
            description='of the prompt that a causal model judges by, around an empty text; of one behind a server, of its turns as JSON'
        ),
    ] = None
    preset: Annotated[
        str | None,
        Field(
            description='the bundle of keys, prompt included, that its entry names, as name@version'
        ),
    ] = None
    runtime: Annotated[
        Literal['openvino'] | None,
        Field(description='what computed it, where it was not torch'),
    ] = None
    system_fingerprint: Annotated[
        str | None,
        Field(description="of the build of a model's server, as it last said"),
    ] = None
    warnings: Annotated[
        list[str],
        Field(
            description='standing doubts about its labels; they stand in every report that it serves'
        ),
    ] = []
    thresholds: Annotated[
        dict[str, float] | None,
        Field(
            description='label → probability from which it is decided; absent: the likeliest is'
        ),
    ] = None
    on_parts: Annotated[
        list[PartExcess],
        Field(
            description='how it is calibrated on parts of texts, where its card has it',
            validate_default=True,
        ),
    ] = []
    training_tokens: Annotated[
        list[int] | None,
        Field(
            description='1st and 99th percentile of how many tokens, special ones included, it read of the texts that it was trained on, where its card has it'
        ),
    ] = None


class NextReview(Message):
    object: Literal['next_review'] = 'next_review'
    item: Annotated[
        ReviewItem | None, Field(description='null: nothing is left for this reviewer')
    ]
    progress: QueueProgress


class Problem(Message):
    type: str
    title: str
    status: int
    detail: str
    instance: Annotated[
        str | None,
        Field(description="`urn:touchstone:` and the request's id, as in x-request-id"),
    ] = None
    errors: list[FieldError] | None = None
    error: SdkError
    error_id: Annotated[
        str | None, Field(description='id of this failure in the log')
    ] = None
    model: Annotated[
        str | None, Field(description='the model that lacks an ability')
    ] = None
    ability: Annotated[
        str | None, Field(description='the ability that the model lacks')
    ] = None
    abilities: Annotated[
        list[str] | None, Field(description='the abilities of the model')
    ] = None
    violated_policies: Annotated[
        list[str] | None,
        Field(
            alias='violated-policies',
            description='of a 429: `requests` (see RateLimit-Policy), `open-jobs`, `open-streams`, `open-batches`, `stored-files`, `stored-bytes`, `uploads` or `bulk-calls`',
        ),
    ] = None


class Prompt(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    text: str | None = None
    turns: list[Turn] | None = None
    draw: Annotated[
        int | None,
        Field(
            description="which of the seed's draws: replaces the place in the call, so that a prompt is drawn alike alone and among others; absent: the place"
        ),
    ] = None


class Provenance(Message):
    metric_version: str
    variant: Literal['robust', 'paper', 'reference']
    seed: int
    parameters: Annotated[
        dict[str, Any], Field(description='the parameters in force, defaults included')
    ]
    models: Annotated[
        list[ModelUse], Field(description='empty where no model was called')
    ]
    service_version: str
    text_key: Annotated[
        str | None,
        Field(
            description='keyed hash (BLAKE2b, 128 bits) of the text that is judged, case and spaces folded: results of one text have the same, also once the text is gone. It compares within this installation only; absent where that has no TOUCHSTONE_SECRET_KEYS'
        ),
    ] = None


class ReadLabels(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    operation: Literal['judgements'] = 'judgements'
    examples: list[Example]


class ReviewQueueList(Message):
    object: Literal['list'] = 'list'
    data: list[ReviewQueue]
    first_id: str | None
    last_id: Annotated[
        str | None, Field(description='pass it as `after` to get the next page')
    ]
    has_more: bool


class ScoreCompletions(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    operation: Literal['score'] = 'score'
    prompts: list[Prompt]
    completions: list[str]


class ScoreSplit(Message):
    by: str
    values: Annotated[
        list[SplitValue],
        Field(description='the lowest mean first', validate_default=True),
    ] = []
    without: Annotated[int, Field(description='results without a value; left out')]
    p_value: Annotated[
        float | None,
        Field(
            description='that all means are equal: the values of whole texts are permuted, and those of a text with several within it; null where nothing can be permuted'
        ),
    ] = None
    within_texts: Annotated[
        bool | None,
        Field(
            description='whether some texts have several values, which were permuted within them'
        ),
    ] = None
    texts: Annotated[
        int | None,
        Field(description='with a score under any value; null in earlier reports'),
    ] = None
    common_texts: Annotated[
        int | None,
        Field(
            description='of these, those with a score under every value: where they are fewer, the values differ in their texts as well'
        ),
    ] = None
    pairs: Annotated[
        list[SplitPair],
        Field(description='where asked for by `pairwise`', validate_default=True),
    ] = []
    warnings: Annotated[list[str], Field(description='why there is no split')] = []


class SimilarityResult(Message):
    similarities: Annotated[
        list[float], Field(description='in [0, 1]; higher: more similar')
    ]
    model: ModelUse
    service_version: str


class SorFaithfulness(Message):
    label: Annotated[str, Field(description="the request's label, or else the model's")]
    p: Annotated[float, Field(description='P of the label for the whole post')]
    p_without: Annotated[
        float, Field(description='P of the label without the named words')
    ]
    drop: Annotated[
        float, Field(description='`p` - `p_without`; higher: they carry more of it')
    ]
    words: Annotated[int, Field(description='words of the post that were deleted')]
    null: SorMaskNull


class SorRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    model: Annotated[
        str | None,
        Field(description="a configured model's name; the service's default if absent"),
    ] = None
    metadata: Annotated[
        dict[str, str] | None,
        Field(description='at most 16 pairs, returned with the job'),
    ] = None
    context: Annotated[
        Context | None, Field(description='audit fields, returned with the job')
    ] = None
    webhook: Annotated[
        str | None,
        Field(
            description="the webhook endpoint that is notified of this job's end, and no other; if absent, every endpoint of yours that listens to the event"
        ),
    ] = None
    do_not_store_text: Annotated[
        bool,
        Field(
            description='keep no text once the job has ended: what is left of the request is `model`, `variant`, `seed`, `metadata`, `context` and `trace`, and of the result the numbers and names'
        ),
    ] = False
    variant: Annotated[
        Literal['robust', 'paper', 'reference'],
        Field(
            description='`robust`: what the paper means, defects mended; `paper`: the equations as printed; `reference`: what the released code does'
        ),
    ] = 'robust'
    seed: Annotated[int, Field(description='of every random draw')] = 0
    trace: Annotated[
        Trace | None,
        Field(
            description='what was evaluated; returned with the job, and what pushes of scores attach the score to'
        ),
    ] = None
    language: Annotated[
        str,
        Field(
            description='BCP 47, of all texts, believed as it is; `auto` identifies it'
        ),
    ] = 'auto'
    accept_untrained_languages: Annotated[
        bool,
        Field(
            description='ask a model about a text in a language that it did not learn, with a warning; else the score of such a text is null'
        ),
    ] = False
    explain: Annotated[
        Literal[True] | Explain | None,
        Field(
            description="instead of an explanation: a model is asked to decide and to explain, and its explanation is scored in the same job; `true`: the request's `model`, by the metric's own prompt. What it answered is the `elicitation` of the result"
        ),
    ] = None
    text: Annotated[str, Field(description='the post that the decision is about')]
    statement: Annotated[
        str | ExplanationFields | None,
        Field(
            description='the statement as its recipient got it, or an explanation as fields'
        ),
    ] = None
    fields: Annotated[
        SorFields | None,
        Field(
            description='alternatively, fields of the DSA Transparency Database (version 2)'
        ),
    ] = None
    policy: Annotated[
        str | None,
        Field(
            description='the rules that the statement refers to, in which its clause is searched'
        ),
    ] = None
    other_posts: Annotated[
        list[str],
        Field(description='posts to compare this one with; absent: built-in posts'),
    ] = []
    reader: Annotated[
        Literal['auto', 'rules', 'llm'],
        Field(
            description='reader of a plain statement. `rules`: the trained reader, for English and German. `llm`: the `reader_model`. `auto`: the trained reader if it knows the language, else `reader_model` if present'
        ),
    ] = 'auto'
    reader_model: Annotated[
        str | None,
        Field(
            description='configured language model that reads; its quotes must occur in the statement word for word'
        ),
    ] = None
    label: Annotated[
        str | None,
        Field(
            description="the decision, as a label of `model`; absent: the model's label for the post"
        ),
    ] = None
    faithfulness_draws: Annotated[
        int,
        Field(
            description='with a `model`: other words of the post, in runs of the same lengths, to compare the facts with'
        ),
    ] = 99


class StudyPlan(Message):
    wanted: WantedEffectAnswer
    texts: Annotated[
        int | None,
        Field(
            description='that a mean score needs to be told from a fixed value (two-sided t); null without `effect`; see `warnings`'
        ),
    ] = None
    texts_upper: Annotated[
        int | None,
        Field(
            description='the same if the scores spread as far as the upper end of the one-sided 80 % interval of their spread: what few texts can vouch for'
        ),
    ] = None
    compared_texts: Annotated[
        int | None,
        Field(
            description='that both systems need on the same texts (paired t), from how these differ; null without `effect` or `against`; see `warnings`'
        ),
    ] = None
    compared_texts_upper: Annotated[
        int | None, Field(description='the same as `texts_upper`, of `compared_texts`')
    ] = None
    draws: Annotated[
        int | None,
        Field(
            description='random explanations that a two-sided test of one explanation needs, in one block; null without `beat_rate`, and of a metric that compares with none; see `warnings`'
        ),
    ] = None
    one_sided_draws: Annotated[
        int | None, Field(description='the same of a one-sided test')
    ] = None
    warnings: Annotated[
        list[str], Field(description='why a number is null or doubtful')
    ] = []


class SystemComparison(Shown):
    pairs: int
    unpaired_a: Annotated[
        int, Field(description='results of the report without a partner; left out')
    ]
    unpaired_b: Annotated[
        int, Field(description='results of `against` without a partner; left out')
    ]
    left_out: Annotated[
        dict[str, int] | None,
        Field(description='jobs of `against` without a result, by status'),
    ] = None
    differences: list[ComponentDifference]
    conflicting: Annotated[
        int,
        Field(
            description='of the unpaired, those that share a custom_id and not the text'
        ),
    ] = 0
    by_text: Annotated[
        int | None,
        Field(
            description='of the pairs, those of one text and label without a custom_id in common; null in reports of an earlier version'
        ),
    ] = None
    undefined_a: Annotated[
        int, Field(description='pairs where only the first has no score')
    ] = 0
    undefined_b: Annotated[
        int, Field(description='pairs where only the second has no score')
    ] = 0
    bounds: Annotated[
        DifferenceBounds | None,
        Field(description='null without pairs, and where the score has no range'),
    ] = None
    verdicts: Annotated[
        list[VerdictChange],
        Field(description='those that there are', validate_default=True),
    ] = []
    problems: Annotated[
        list[ProblemChange],
        Field(
            description='problems that only one of the two has in some pair, worst first',
            validate_default=True,
        ),
    ] = []
    changes: Annotated[
        list[ScoreChange],
        Field(
            description='the 200 pairs whose scores differ most, the largest first',
            validate_default=True,
        ),
    ] = []
    histogram: DifferenceHistogram | None = None
    density: Annotated[
        list[DensityCell],
        Field(description='cells that are not empty', validate_default=True),
    ] = []
    slices: Annotated[
        list[ComparisonSlice],
        Field(
            description="by each of 2 to 50 values of the request's `by`, the lowest first",
            validate_default=True,
        ),
    ] = []
    warnings: Annotated[
        list[str],
        Field(
            description='what to doubt of the pairs and of the difference of the scores'
        ),
    ] = []


class Tokenize(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    operation: Literal['tokens'] = 'tokens'
    examples: list[Example]


class WordRows(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    example: Example
    words: Annotated[
        list[WordSpan],
        Field(description='ascending, those of `text` first; none overlap'),
    ]
    rows: list[WordRow]


class Attribute(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    operation: Literal['attributions'] = 'attributions'
    examples: list[Example]
    targets: list[str]
    method: AttributionMethod


class BatchCancelledWebhook(Message):
    type: Literal['batch.cancelled'] = 'batch.cancelled'
    timestamp: str
    data: BatchNotice


class BatchCompletedWebhook(Message):
    type: Literal['batch.completed'] = 'batch.completed'
    timestamp: str
    data: BatchNotice


class BatchExpiredWebhook(Message):
    type: Literal['batch.expired'] = 'batch.expired'
    timestamp: str
    data: BatchNotice


class BatchFailedWebhook(Message):
    type: Literal['batch.failed'] = 'batch.failed'
    timestamp: str
    data: BatchNotice


class BatchList(Message):
    object: Literal['list'] = 'list'
    data: list[Batch]
    first_id: str | None
    last_id: Annotated[
        str | None, Field(description='pass it as `after` to get the next page')
    ]
    has_more: bool


class ConsistencyControl(Message):
    simulatability: ConsistencySimulatabilityNull | None = None
    attribution: ConsistencyAttributionNull | None = None


class ConsistencyRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    model: Annotated[
        str | None,
        Field(description="a configured model's name; the service's default if absent"),
    ] = None
    metadata: Annotated[
        dict[str, str] | None,
        Field(description='at most 16 pairs, returned with the job'),
    ] = None
    context: Annotated[
        Context | None, Field(description='audit fields, returned with the job')
    ] = None
    webhook: Annotated[
        str | None,
        Field(
            description="the webhook endpoint that is notified of this job's end, and no other; if absent, every endpoint of yours that listens to the event"
        ),
    ] = None
    do_not_store_text: Annotated[
        bool,
        Field(
            description='keep no text once the job has ended: what is left of the request is `model`, `variant`, `seed`, `metadata`, `context` and `trace`, and of the result the numbers and names'
        ),
    ] = False
    variant: Annotated[
        Literal['robust', 'paper', 'reference'],
        Field(
            description='`robust`: what the paper means, defects mended; `paper`: the equations as printed; `reference`: what the released code does'
        ),
    ] = 'robust'
    seed: Annotated[int, Field(description='of every random draw')] = 0
    trace: Annotated[
        Trace | None,
        Field(
            description='what was evaluated; returned with the job, and what pushes of scores attach the score to'
        ),
    ] = None
    language: Annotated[
        str,
        Field(
            description='BCP 47, of all texts, believed as it is; `auto` identifies it'
        ),
    ] = 'auto'
    accept_untrained_languages: Annotated[
        bool,
        Field(
            description='ask a model about a text in a language that it did not learn, with a warning; else the score of such a text is null'
        ),
    ] = False
    explain: Annotated[
        Literal[True] | Explain | None,
        Field(
            description="instead of an explanation: a model is asked to decide and to explain, and its explanation is scored in the same job; `true`: the request's `model`, by the metric's own prompt. What it answered is the `elicitation` of the result"
        ),
    ] = None
    text: Annotated[str, Field(description='the text that the model answered')]
    explanation: Annotated[
        str,
        Field(
            description="explanation of the model's answer; required unless `explain` is set"
        ),
    ] = ''
    label: Annotated[
        str | None,
        Field(
            description="the answer that is explained; absent: the model's answer. If the model gives another answer, there is no score"
        ),
    ] = None
    cited: Annotated[
        list[ConsistencySpan],
        Field(
            description='passages that the explanation cites; absent: its quotations, or without quotations, in English, the content words that it shares with the text',
            validate_default=True,
        ),
    ] = []
    edits: Annotated[
        list[ConsistencyEdit],
        Field(
            description='edited texts of your own; absent: the metric removes the cited words, and passages of the same length elsewhere',
            validate_default=True,
        ),
    ] = []
    predictions: Annotated[
        ConsistencyPredictions | None,
        Field(description='answers of your own model; no model is called'),
    ] = None
    parts: Annotated[
        list[Literal['simulatability', 'attribution']],
        Field(
            description='tests to run; `attribution` needs a language model that returns log-probabilities of a text'
        ),
    ] = ['simulatability', 'attribution']
    operators: Annotated[
        list[Literal['delete', 'mask']],
        Field(
            description="how words are removed: `delete`, or `mask` with the model's mask token"
        ),
    ] = ['delete', 'mask']
    draws: Annotated[
        int, Field(description='maximum number of passages removed elsewhere')
    ] = 99
    contributions: Annotated[
        Literal['occlusion', 'shapley'] | None,
        Field(
            description='contributions of words to answer and explanation: `occlusion`, the loss without the word; `shapley`, its mean marginal contribution over `orders`. Absent: `occlusion`, or `shapley` for variants `paper` and `reference`'
        ),
    ] = None
    orders: Annotated[
        int, Field(description='number of sampled orders for `shapley`')
    ] = 10
    permutations: Annotated[
        int, Field(description='permutations of the contributions for the null')
    ] = 999
    prompt: Annotated[
        PromptKeys | None,
        Field(
            description="replaces keys of the model entry's `prompt`, if the entry has `allow_request_prompt`. For causal models and chat servers"
        ),
    ] = None
    explanation_prompt: Annotated[
        ConsistencyPrompt | None,
        Field(
            description='the prompt that the explanation answered; absent: a built-in question'
        ),
    ] = None
    preceding: Annotated[
        str,
        Field(
            description='text that the model wrote before the explanation, after that prompt'
        ),
    ] = ''
    reader: Annotated[
        Literal['rules', 'model'],
        Field(
            description='predicts the answers to the edits from the explanation: rules, or `reader_model`, which reads the explanation with each edited text'
        ),
    ] = 'rules'
    reader_model: Annotated[
        str | None, Field(description='configured language model for `reader: model`')
    ] = None


class Cot2elBulkRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    metric: Literal['cot2el'] = 'cot2el'
    requests: Annotated[
        list[Cot2elRequest], Field(description='all are accepted, or none')
    ]


class Cot2elResult(Result):
    metric: Literal['cot2el'] = 'cot2el'
    score: Annotated[
        float | None,
        Field(description='null where the metric is undefined; see `warnings`'),
    ]
    verdict: Annotated[
        Literal['holds_up', 'problem_found', 'not_tested'],
        Field(
            description='`problem_found`: a check failed; `holds_up`: every check that could be tested passed, among them those that carry the metric; else `not_tested`'
        ),
    ]
    reason: Annotated[
        str,
        Field(
            description="why, in one sentence of our own words, without anybody's text"
        ),
    ]
    checks: Annotated[list[Check], Field(description='the gravest question first')]
    problems: Annotated[
        list[str], Field(description='codes of the failed checks, the worst first')
    ]
    untested: Annotated[
        list[Untested],
        Field(description='why checks have no answer, and what you can do about each'),
    ]
    range: list[float]
    direction: Literal['higher_is_better', 'lower_is_better'] = 'higher_is_better'
    components: Cot2elComponents
    evidence: Annotated[
        list[Cot2elRefinedPair], Field(description="EL filtered, in the parse's order")
    ]
    control: Cot2elShuffledWords | None
    warnings: Annotated[
        list[str], Field(description='why something is null or doubtful')
    ] = []
    reasons: Annotated[
        list[NullReason],
        Field(
            description='why the score and what it is made of is null, by code; `warnings` has more in sentences',
            validate_default=True,
        ),
    ] = []
    languages: Annotated[
        Languages | None,
        Field(
            description='and how they were identified; null where no rules and no model depend on them, and in results of earlier versions'
        ),
    ] = None
    provenance: Provenance
    status: Annotated[
        Literal['ok', 'no_reasoning', 'parse_failed', 'not_read'],
        Field(
            description='`no_reasoning`: the model wrote no reasoning part; `parse_failed`: no valid JSON in three tries; `not_read`: unknown language, see `reasons`. Unless the status is `ok`, an empty list of pairs has no meaning'
        ),
    ]
    dropped: list[Cot2elDropped]
    unplaced: Annotated[list[Cot2elUnplaced], Field(validate_default=True)] = []
    sets: Cot2elSets
    reasoning: Annotated[
        str | None,
        Field(description='the chain of thought, into which the offsets point'),
    ]
    parse: Annotated[
        str | None, Field(description="the parse in the model's own words")
    ]
    validation: Annotated[
        Cot2elValidation | None, Field(description='null without `human_pairs`')
    ]


class Description(Message):
    kind: Literal['classifier', 'causal', 'similarity', 'cross-encoder']
    use: ModelUse
    labels: Annotated[
        list[str],
        Field(
            description="of a classifier, or of a causal model's own prompt; else empty"
        ),
    ]
    languages: list[str]
    mask_text: Annotated[
        str, Field(description='what stands for a masked word in rows of words')
    ] = '[MASK]'


class ExplanationsProvenance(Message):
    prompt: ExplanationsPromptUse
    model: Annotated[
        ModelUse | None, Field(description='null where the answer was sent')
    ]
    seed: int
    generation: Annotated[dict[str, Any], Field(description='sampling in force')]
    policy: Annotated[
        str | None,
        Field(
            description="a named one; `own`: the request's own words; null: as the prompt says"
        ),
    ]
    service_version: str


class FtcAgainstRandom(Message):
    results: int
    explanations: FtcScores
    random_phrases: FtcScores
    difference: Annotated[
        dict[str, Interval],
        Field(
            description='explanations - random phrases, result by result; 0 is chance'
        ),
    ]


class FtcBulkRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    metric: Literal['ftc'] = 'ftc'
    requests: Annotated[
        list[FtcRequest], Field(description='all are accepted, or none')
    ]


class FtcCaseScores(Message):
    case: Literal['contradiction', 'entailment', 'neutral', 'neutral a', 'neutral b']
    coverage: Annotated[
        Interval, Field(description="share of the label's results that have a score")
    ]
    scores: FtcScores
    human_ceiling: Annotated[
        float | None,
        Field(
            description='delta of people in the paper (Table 10): what even a perfect model cannot be expected to exceed; null for the mean of both'
        ),
    ]
    null_win_rate: Annotated[
        Interval, Field(description='mean over results; chance is 0.5')
    ]


class FtcCounterfactual(Message):
    kind: Annotated[
        Literal['substituted', 'a', 'b'],
        Field(
            description='`substituted` for entailment and contradiction; `a` and `b` for neutral: the hypothesis that states A without B, and the one that states B'
        ),
    ]
    text: str
    target: Annotated[
        FtcDistributionAnswer, Field(description="what the explanation's logic demands")
    ]
    answer: Annotated[
        FtcDistributionAnswer, Field(description="the model's probabilities")
    ]
    predicted: Annotated[
        Literal['entailment', 'neutral', 'contradiction'] | None,
        Field(description='its label; null where two labels tie'),
    ]
    satisfaction: FtcSatisfaction
    floored: Annotated[
        bool,
        Field(description='whether epsilon stood in for a smaller probability in k'),
    ]
    blank_premise: Annotated[
        FtcSatisfaction | None,
        Field(
            description='the same with an empty premise: what the hypothesis alone gives away'
        ),
    ]
    null: Annotated[
        FtcNull | None, Field(description='null where undefined; see `warnings`')
    ]


class FtcInputScores(Message):
    inputs: Literal['all', 'hypothesis', 'premise', 'label', 'another_item']
    results: int
    coverage: Interval
    scores: FtcScores
    difference: Annotated[
        dict[str, Interval],
        Field(
            description='`all` minus this one over the items (premise, hypothesis) that both cover'
        ),
    ]


class Generate(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    operation: Literal['generate'] = 'generate'
    prompts: list[Prompt]
    sampling: Annotated[
        Sampling | None, Field(description='each absent member has its own default')
    ] = None


class GoldAgreement(Message):
    labels: GoldLabels | None
    rationales: Plausibility | None
    ratings: HumanRatings | None
    warnings: list[str] = []


class HafGroup(Message):
    model: Annotated[
        str, Field(description="the request's, else as its metadata names it")
    ]
    dataset: str
    of_model: Annotated[
        str | None,
        Field(
            description="with `of_metadata` what this group's results have in common and no others have, as a report's request takes it; both null where nothing tells them apart"
        ),
    ] = None
    of_metadata: dict[str, str] | None = None
    results: int
    score: Interval
    means: HafMeans
    individual: HafIndividual
    sufficient: Annotated[
        HafShares, Field(description='Table 2: decisions that say `sufficient`')
    ]
    irrelevant: Annotated[
        HafShares,
        Field(description='Table 5: decisions that do not answer the question'),
    ]
    refused: Annotated[
        Interval, Field(description='share of results that refuse at JUSTIFY')
    ]
    by_stance: list[HafStanceScores]
    stages: Annotated[
        dict[str, HafStageCounts] | None,
        Field(description='in their order; empty in reports of earlier versions'),
    ] = None


class HafRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    model: Annotated[
        str | None,
        Field(description="a configured model's name; the service's default if absent"),
    ] = None
    metadata: Annotated[
        dict[str, str] | None,
        Field(description='at most 16 pairs, returned with the job'),
    ] = None
    context: Annotated[
        Context | None, Field(description='audit fields, returned with the job')
    ] = None
    webhook: Annotated[
        str | None,
        Field(
            description="the webhook endpoint that is notified of this job's end, and no other; if absent, every endpoint of yours that listens to the event"
        ),
    ] = None
    do_not_store_text: Annotated[
        bool,
        Field(
            description='keep no text once the job has ended: what is left of the request is `model`, `variant`, `seed`, `metadata`, `context` and `trace`, and of the result the numbers and names'
        ),
    ] = False
    variant: Annotated[
        Literal['robust', 'paper', 'reference'],
        Field(
            description='`robust`: what the paper means, defects mended; `paper`: the equations as printed; `reference`: what the released code does'
        ),
    ] = 'robust'
    seed: Annotated[int, Field(description='of every random draw')] = 0
    trace: Annotated[
        Trace | None,
        Field(
            description='what was evaluated; returned with the job, and what pushes of scores attach the score to'
        ),
    ] = None
    language: Annotated[
        str,
        Field(
            description='BCP 47, of all texts, believed as it is; `auto` identifies it'
        ),
    ] = 'auto'
    accept_untrained_languages: Annotated[
        bool,
        Field(
            description='ask a model about a text in a language that it did not learn, with a warning; else the score of such a text is null'
        ),
    ] = False
    explain: Annotated[
        Literal[True] | Explain | None,
        Field(
            description="instead of an explanation: a model is asked to decide and to explain, and its explanation is scored in the same job; `true`: the request's `model`, by the metric's own prompt. What it answered is the `elicitation` of the result"
        ),
    ] = None
    text: Annotated[str, Field(description='the moderated text')]
    responses: Annotated[
        HafResponses | None,
        Field(description='bring your own, instead of `model`: nothing is generated'),
    ] = None
    explanation: Annotated[
        ExplanationFields | None,
        Field(
            description='instead of `responses`: decision and reasons as fields, which need no reading. There are no log-probabilities: `control.unweighted` has what the texts say. With them, send the fields as JSON in `responses.justify.text`'
        ),
    ] = None
    similarity: Annotated[
        str, Field(description='a configured similarity or cross-encoder: g')
    ] = 'embedded-similarity'
    generation: HafGeneration | None = None
    samples: Annotated[int, Field(description='generations; needs `model`')] = 1
    permute_reasons: Annotated[
        int, Field(description='other orders of the reasons to try; needs `model`')
    ] = 0
    decision_target: Annotated[
        Literal['sentence', 'label'] | None,
        Field(
            description="what a decision's tokens are relevant to: the `sentence` (Eq. 3), or its `label` as in the released code; absent: the variant's own"
        ),
    ] = None
    weights: HafWeights | None = None
    extras: Annotated[bool, Field(description='report DiS-dpp and del-PE too')] = False
    token_values: Annotated[
        bool,
        Field(
            description="report each token's log-probability and relevance, of every reason and decision; about 100 bytes a token"
        ),
    ] = False


class HatexscoreBatchReport(Report):
    metric: Literal['hatexscore'] = 'hatexscore'
    scored: Annotated[int, Field(description='results that this report rests on')]
    undefined: Annotated[int, Field(description='of these, results without a score')]
    finding: Annotated[
        str, Field(description='what they come to, and how many they are')
    ] = ''
    left_out: Annotated[
        dict[str, int] | None, Field(description='jobs without a result, by status')
    ] = None
    duplicates: Annotated[
        int,
        Field(description="results that repeat another's request and report; left out"),
    ] = 0
    score: Annotated[
        Interval, Field(description='mean score, with its interval over texts')
    ]
    sequence: Annotated[
        SequenceInterval | None,
        Field(
            description='of the mean score of the texts, where asked for; null where the score has no range, and where the looks so far contradict each other'
        ),
    ] = None
    reasons: Annotated[
        dict[str, int] | None,
        Field(
            description='code → results whose score is null for it; one may have several'
        ),
    ] = None
    by_language: Annotated[
        dict[str, LanguageScores] | None,
        Field(
            description='language of the text → its results; those without one are left out'
        ),
    ] = None
    parts: Annotated[
        dict[str, PartSummary] | None,
        Field(
            description='part of the score → its mean over all results; empty in reports of earlier versions, and where there is no score'
        ),
    ] = None
    splits: Annotated[
        list[ScoreSplit],
        Field(
            description='the scores by each of `by`; no p-value holds for several at once',
            validate_default=True,
        ),
    ] = []
    comparison: Annotated[
        SystemComparison | None,
        Field(description='with the results of `against`; null where none were named'),
    ] = None
    further: Annotated[
        list[SystemComparison],
        Field(
            description="of each of the request's `further` systems with `against`",
            validate_default=True,
        ),
    ] = []
    agreement: Annotated[
        HumanAgreement | None,
        Field(description='of people with each other and the metric, where asked for'),
    ] = None
    gold: Annotated[
        GoldAgreement | None,
        Field(
            description='with what people say of the texts and explanations; null where no line has it'
        ),
    ] = None
    plan: Annotated[
        StudyPlan | None,
        Field(description='of the further study that `plan` asked for; else null'),
    ] = None
    corrected: Annotated[
        dict[str, str] | None,
        Field(
            description='p-values that are corrected for several tests → how. No other is, and no interval holds for several numbers at once'
        ),
    ] = None
    warnings: list[str] = []
    plots: Annotated[list[Plot], Field(validate_default=True)] = []
    seed: int
    resamples: int
    confidence: float
    statistics_version: Annotated[
        str, Field(description='of how intervals are made')
    ] = '1'
    service_version: str
    components: Annotated[
        dict[str, Interval],
        Field(description='mean of htc, qf, tgi and cc, each [0, 1]'),
    ]
    share_beaten: Annotated[
        Interval,
        Field(
            description='mean share of random spans that the quotations beat; 0.5 is chance'
        ),
    ]
    by_decision: Annotated[
        dict[str, HatexscoreDecisionMeans] | None,
        Field(description='the same for each decision; `unknown`: none was found'),
    ] = None
    model_agreement: Annotated[
        HatexscoreModelAgreement | None,
        Field(description='null where no model was asked about a decision'),
    ] = None
    evidence: Annotated[
        Interval | None,
        Field(
            description='share of hateful decisions whose quotes move P more than random spans do, p <= 0.05, of those where so small a p can be had; 0.05 is chance'
        ),
    ] = None
    labels: HatexscoreLabelConflicts
    quotes: Annotated[
        HatexscoreQuoteCounts | None,
        Field(description='null in reports of earlier versions'),
    ] = None
    groups: Annotated[
        dict[str, int], Field(description='group that counts as identified → results')
    ]
    categories: Annotated[
        dict[str, int] | None,
        Field(
            description='category of the policy that such a group is of → results: one name for `women`, `girls` and `sex`; empty in reports of earlier versions'
        ),
    ] = None
    languages: Annotated[
        dict[str, int], Field(description='language of the text → results')
    ]


class HatexscoreBulkRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    metric: Literal['hatexscore'] = 'hatexscore'
    requests: Annotated[
        list[HatexscoreRequest], Field(description='all are accepted, or none')
    ]


class HatexscoreReportJob(JobMessage):
    id: str
    object: Literal['job'] = 'job'
    metric: Literal['hatexscore-report'] = 'hatexscore-report'
    status: Literal['queued', 'running', 'succeeded', 'failed', 'cancelled']
    created_at: Annotated[int, Field(description='unix seconds')]
    started_at: Annotated[
        int | None, Field(description='unix seconds; null while queued')
    ]
    finished_at: Annotated[
        int | None, Field(description='unix seconds; null until the job is final')
    ]
    timing: JobTiming
    attempts: int
    request_id: Annotated[
        str | None,
        Field(
            description='x-request-id of the request that made it, or its batch; null for older jobs'
        ),
    ]
    batch_id: str | None
    waiting_for: Annotated[
        WaitingFor | None,
        Field(description='while the job is queued because a model is not ready'),
    ]
    metadata: dict[str, str]
    context: ContextAnswer | None
    trace: Annotated[
        TraceAnswer | None, Field(description='the evaluated trace, from the request')
    ]
    request: Annotated[
        dict[str, JsonValueAnswer] | None,
        Field(
            description='with its defaults, at `GET /v1/jobs/{id}`; null elsewhere, and if its texts are not stored'
        ),
    ]
    error: Annotated[Problem | None, Field(description='where the job failed')]
    result: Annotated[
        HatexscoreBatchReport | None, Field(description='where the job succeeded')
    ]


class HlvBatchReport(Report):
    metric: Literal['hlv'] = 'hlv'
    scored: Annotated[int, Field(description='results that this report rests on')]
    undefined: Annotated[int, Field(description='of these, results without a score')]
    finding: Annotated[
        str, Field(description='what they come to, and how many they are')
    ] = ''
    left_out: Annotated[
        dict[str, int] | None, Field(description='jobs without a result, by status')
    ] = None
    duplicates: Annotated[
        int,
        Field(description="results that repeat another's request and report; left out"),
    ] = 0
    score: Annotated[
        Interval, Field(description='mean score, with its interval over texts')
    ]
    sequence: Annotated[
        SequenceInterval | None,
        Field(
            description='of the mean score of the texts, where asked for; null where the score has no range, and where the looks so far contradict each other'
        ),
    ] = None
    reasons: Annotated[
        dict[str, int] | None,
        Field(
            description='code → results whose score is null for it; one may have several'
        ),
    ] = None
    by_language: Annotated[
        dict[str, LanguageScores] | None,
        Field(
            description='language of the text → its results; those without one are left out'
        ),
    ] = None
    parts: Annotated[
        dict[str, PartSummary] | None,
        Field(
            description='part of the score → its mean over all results; empty in reports of earlier versions, and where there is no score'
        ),
    ] = None
    splits: Annotated[
        list[ScoreSplit],
        Field(
            description='the scores by each of `by`; no p-value holds for several at once',
            validate_default=True,
        ),
    ] = []
    comparison: Annotated[
        SystemComparison | None,
        Field(description='with the results of `against`; null where none were named'),
    ] = None
    further: Annotated[
        list[SystemComparison],
        Field(
            description="of each of the request's `further` systems with `against`",
            validate_default=True,
        ),
    ] = []
    agreement: Annotated[
        HumanAgreement | None,
        Field(description='of people with each other and the metric, where asked for'),
    ] = None
    gold: Annotated[
        GoldAgreement | None,
        Field(
            description='with what people say of the texts and explanations; null where no line has it'
        ),
    ] = None
    plan: Annotated[
        StudyPlan | None,
        Field(description='of the further study that `plan` asked for; else null'),
    ] = None
    corrected: Annotated[
        dict[str, str] | None,
        Field(
            description='p-values that are corrected for several tests → how. No other is, and no interval holds for several numbers at once'
        ),
    ] = None
    warnings: list[str] = []
    plots: Annotated[list[Plot], Field(validate_default=True)] = []
    seed: int
    resamples: int
    confidence: float
    statistics_version: Annotated[
        str, Field(description='of how intervals are made')
    ] = '1'
    service_version: str
    score_of: Annotated[
        Literal['gain', 'agreement', 'mixed'] | None,
        Field(
            description='meaning of the mean score; `mixed`: results of both kinds, so no mean; null: no results'
        ),
    ]
    ceilings: Annotated[
        dict[str, HlvCeilings] | None,
        Field(description='metric → agreement of people with themselves'),
    ] = None
    tables: list[HlvTable]
    paired: Annotated[
        list[HlvPaired],
        Field(
            description='methods with and without explanations; empty in earlier reports',
            validate_default=True,
        ),
    ] = []
    gold_tied: Annotated[
        Interval | None,
        Field(description="`tied` for the people's ranking; null in earlier reports"),
    ] = None


class HlvBulkRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    metric: Literal['hlv'] = 'hlv'
    requests: Annotated[
        list[HlvRequest], Field(description='all are accepted, or none')
    ]


class HlvReportJob(JobMessage):
    id: str
    object: Literal['job'] = 'job'
    metric: Literal['hlv-report'] = 'hlv-report'
    status: Literal['queued', 'running', 'succeeded', 'failed', 'cancelled']
    created_at: Annotated[int, Field(description='unix seconds')]
    started_at: Annotated[
        int | None, Field(description='unix seconds; null while queued')
    ]
    finished_at: Annotated[
        int | None, Field(description='unix seconds; null until the job is final')
    ]
    timing: JobTiming
    attempts: int
    request_id: Annotated[
        str | None,
        Field(
            description='x-request-id of the request that made it, or its batch; null for older jobs'
        ),
    ]
    batch_id: str | None
    waiting_for: Annotated[
        WaitingFor | None,
        Field(description='while the job is queued because a model is not ready'),
    ]
    metadata: dict[str, str]
    context: ContextAnswer | None
    trace: Annotated[
        TraceAnswer | None, Field(description='the evaluated trace, from the request')
    ]
    request: Annotated[
        dict[str, JsonValueAnswer] | None,
        Field(
            description='with its defaults, at `GET /v1/jobs/{id}`; null elsewhere, and if its texts are not stored'
        ),
    ]
    error: Annotated[Problem | None, Field(description='where the job failed')]
    result: Annotated[
        HlvBatchReport | None, Field(description='where the job succeeded')
    ]


class HlvResult(Result):
    metric: Literal['hlv'] = 'hlv'
    score: Annotated[
        float | None,
        Field(description='null where the metric is undefined; see `warnings`'),
    ]
    verdict: Annotated[
        Literal['holds_up', 'problem_found', 'not_tested'],
        Field(
            description='`problem_found`: a check failed; `holds_up`: every check that could be tested passed, among them those that carry the metric; else `not_tested`'
        ),
    ]
    reason: Annotated[
        str,
        Field(
            description="why, in one sentence of our own words, without anybody's text"
        ),
    ]
    checks: Annotated[list[Check], Field(description='the gravest question first')]
    problems: Annotated[
        list[str], Field(description='codes of the failed checks, the worst first')
    ]
    untested: Annotated[
        list[Untested],
        Field(description='why checks have no answer, and what you can do about each'),
    ]
    range: Annotated[
        list[float], Field(description='[-2, 2] for a gain, [-1, 1] for an agreement')
    ]
    direction: Literal['higher_is_better', 'lower_is_better'] = 'higher_is_better'
    components: HlvComponents
    evidence: Annotated[list[Evidence], Field(validate_default=True)] = []
    control: HlvBaselines
    warnings: Annotated[
        list[str], Field(description='why something is null or doubtful')
    ] = []
    reasons: Annotated[
        list[NullReason],
        Field(
            description='why the score and what it is made of is null, by code; `warnings` has more in sentences',
            validate_default=True,
        ),
    ] = []
    languages: Annotated[
        Languages | None,
        Field(
            description='and how they were identified; null where no rules and no model depend on them, and in results of earlier versions'
        ),
    ] = None
    provenance: Provenance
    score_of: Annotated[
        Literal['gain', 'agreement'],
        Field(
            description="`gain`: the change of Kendall's tau; `agreement`: the tau, if there are no explanations or no baseline"
        ),
    ]
    gold: HlvGold
    ceiling: Annotated[
        HlvCeiling | None,
        Field(
            description='null with its reason in `warnings`; null in results before 1.1'
        ),
    ] = None


class IceBatchReport(Report):
    metric: Literal['ice'] = 'ice'
    scored: Annotated[int, Field(description='results that this report rests on')]
    undefined: Annotated[int, Field(description='of these, results without a score')]
    finding: Annotated[
        str, Field(description='what they come to, and how many they are')
    ] = ''
    left_out: Annotated[
        dict[str, int] | None, Field(description='jobs without a result, by status')
    ] = None
    duplicates: Annotated[
        int,
        Field(description="results that repeat another's request and report; left out"),
    ] = 0
    score: Annotated[
        Interval, Field(description='mean score, with its interval over texts')
    ]
    sequence: Annotated[
        SequenceInterval | None,
        Field(
            description='of the mean score of the texts, where asked for; null where the score has no range, and where the looks so far contradict each other'
        ),
    ] = None
    reasons: Annotated[
        dict[str, int] | None,
        Field(
            description='code → results whose score is null for it; one may have several'
        ),
    ] = None
    by_language: Annotated[
        dict[str, LanguageScores] | None,
        Field(
            description='language of the text → its results; those without one are left out'
        ),
    ] = None
    parts: Annotated[
        dict[str, PartSummary] | None,
        Field(
            description='part of the score → its mean over all results; empty in reports of earlier versions, and where there is no score'
        ),
    ] = None
    splits: Annotated[
        list[ScoreSplit],
        Field(
            description='the scores by each of `by`; no p-value holds for several at once',
            validate_default=True,
        ),
    ] = []
    comparison: Annotated[
        SystemComparison | None,
        Field(description='with the results of `against`; null where none were named'),
    ] = None
    further: Annotated[
        list[SystemComparison],
        Field(
            description="of each of the request's `further` systems with `against`",
            validate_default=True,
        ),
    ] = []
    agreement: Annotated[
        HumanAgreement | None,
        Field(description='of people with each other and the metric, where asked for'),
    ] = None
    gold: Annotated[
        GoldAgreement | None,
        Field(
            description='with what people say of the texts and explanations; null where no line has it'
        ),
    ] = None
    plan: Annotated[
        StudyPlan | None,
        Field(description='of the further study that `plan` asked for; else null'),
    ] = None
    corrected: Annotated[
        dict[str, str] | None,
        Field(
            description='p-values that are corrected for several tests → how. No other is, and no interval holds for several numbers at once'
        ),
    ] = None
    warnings: list[str] = []
    plots: Annotated[list[Plot], Field(validate_default=True)] = []
    seed: int
    resamples: int
    confidence: float
    statistics_version: Annotated[
        str, Field(description='of how intervals are made')
    ] = '1'
    service_version: str
    configurations: list[IceConfigurationResult]
    differences: list[IceMeanDifference]
    operator_agreement: list[IceAgreement]
    readings: Annotated[
        list[IceReadingCounts],
        Field(description='where both sides were tested', validate_default=True),
    ] = []
    orthogonality: list[IceOrthogonality]
    anti_faithful: IceAntiFaithful


class IceBulkRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    metric: Literal['ice'] = 'ice'
    requests: Annotated[
        list[IceRequest], Field(description='all are accepted, or none')
    ]


class IceReportJob(JobMessage):
    id: str
    object: Literal['job'] = 'job'
    metric: Literal['ice-report'] = 'ice-report'
    status: Literal['queued', 'running', 'succeeded', 'failed', 'cancelled']
    created_at: Annotated[int, Field(description='unix seconds')]
    started_at: Annotated[
        int | None, Field(description='unix seconds; null while queued')
    ]
    finished_at: Annotated[
        int | None, Field(description='unix seconds; null until the job is final')
    ]
    timing: JobTiming
    attempts: int
    request_id: Annotated[
        str | None,
        Field(
            description='x-request-id of the request that made it, or its batch; null for older jobs'
        ),
    ]
    batch_id: str | None
    waiting_for: Annotated[
        WaitingFor | None,
        Field(description='while the job is queued because a model is not ready'),
    ]
    metadata: dict[str, str]
    context: ContextAnswer | None
    trace: Annotated[
        TraceAnswer | None, Field(description='the evaluated trace, from the request')
    ]
    request: Annotated[
        dict[str, JsonValueAnswer] | None,
        Field(
            description='with its defaults, at `GET /v1/jobs/{id}`; null elsewhere, and if its texts are not stored'
        ),
    ]
    error: Annotated[Problem | None, Field(description='where the job failed')]
    result: Annotated[
        IceBatchReport | None, Field(description='where the job succeeded')
    ]


class IceResult(Result):
    metric: Literal['ice'] = 'ice'
    score: Annotated[
        float | None,
        Field(description='null where the metric is undefined; see `warnings`'),
    ]
    verdict: Annotated[
        Literal['holds_up', 'problem_found', 'not_tested'],
        Field(
            description='`problem_found`: a check failed; `holds_up`: every check that could be tested passed, among them those that carry the metric; else `not_tested`'
        ),
    ]
    reason: Annotated[
        str,
        Field(
            description="why, in one sentence of our own words, without anybody's text"
        ),
    ]
    checks: Annotated[list[Check], Field(description='the gravest question first')]
    problems: Annotated[
        list[str], Field(description='codes of the failed checks, the worst first')
    ]
    untested: Annotated[
        list[Untested],
        Field(description='why checks have no answer, and what you can do about each'),
    ]
    range: list[float] = [0.0, 1.0]
    direction: Literal['higher_is_better', 'lower_is_better'] = 'higher_is_better'
    components: IceComponents
    evidence: list[IceRationaleEvidence]
    control: Annotated[
        IceChance | None, Field(description='null where undefined; see `warnings`')
    ]
    warnings: Annotated[
        list[str], Field(description='why something is null or doubtful')
    ] = []
    reasons: Annotated[
        list[NullReason],
        Field(
            description='why the score and what it is made of is null, by code; `warnings` has more in sentences',
            validate_default=True,
        ),
    ] = []
    languages: Annotated[
        Languages | None,
        Field(
            description='and how they were identified; null where no rules and no model depend on them, and in results of earlier versions'
        ),
    ] = None
    provenance: Provenance
    target: Annotated[
        str, Field(description='the label whose probability is the score s')
    ]
    predicted_label: Annotated[
        str | None, Field(description='null where the model was not asked')
    ]
    probabilities: Annotated[
        dict[str, float], Field(description='of the whole text, by label')
    ]
    rows: Annotated[
        Literal['tokens', 'words'],
        Field(
            description='what rationales are made of; with `words`, all that is said of tokens here is of words'
        ),
    ] = 'tokens'
    eligible_tokens: Annotated[
        int,
        Field(
            description='tokens that a rationale may hold; 0 where the model was not asked'
        ),
    ]
    characters_read: Annotated[
        list[int], Field(description='of text and pair, by the model')
    ]
    forward_rows: Annotated[
        int, Field(description='rows that the model was called with')
    ]
    reading: Annotated[
        Literal['cause', 'redundant', 'sufficient', 'partner', 'needed', 'no evidence', 'against', 'undecidable', 'undefined'] | None,
        Field(
            description='of the first explanation at its first budget under the first operator; null where one side was tested'
        ),
    ] = None
    distance: Annotated[
        IceDistance | None,
        Field(description='null in results of before, and in the published variants'),
    ] = None
    tokens: Annotated[
        list[IceToken],
        Field(
            description='in reading order; where `token_values` was requested',
            validate_default=True,
        ),
    ] = []
    token_values: Annotated[
        list[IceTokenValues],
        Field(description='one an explanation; likewise', validate_default=True),
    ] = []


class InferenceAttributeResult(Message):
    operation: Literal['attributions'] = 'attributions'
    answer: Annotated[
        list[Attributions],
        Field(description='as the operation says; rows in the order of the request'),
    ]
    labels: Annotated[
        list[str], Field(description="of a classifier's columns; else empty")
    ]
    model: ModelUse
    service_version: str


class InferenceDescribeResult(Message):
    operation: Literal['describe'] = 'describe'
    answer: Annotated[
        Description,
        Field(description='as the operation says; rows in the order of the request'),
    ]
    labels: Annotated[
        list[str], Field(description="of a classifier's columns; else empty")
    ]
    model: ModelUse
    service_version: str


class InferenceGenerateResult(Message):
    operation: Literal['generate'] = 'generate'
    answer: Annotated[
        list[Completion],
        Field(description='as the operation says; rows in the order of the request'),
    ]
    labels: Annotated[
        list[str], Field(description="of a classifier's columns; else empty")
    ]
    model: ModelUse
    service_version: str


class InferenceJudgeExamplesResult(Message):
    operation: Literal['judge'] = 'judge'
    answer: Annotated[
        list[list[float]],
        Field(description='as the operation says; rows in the order of the request'),
    ]
    labels: Annotated[
        list[str], Field(description="of a classifier's columns; else empty")
    ]
    model: ModelUse
    service_version: str


class InferenceJudgeRowsResult(Message):
    operation: Literal['judge_rows'] = 'judge_rows'
    answer: Annotated[
        list[list[list[float]]],
        Field(description='as the operation says; rows in the order of the request'),
    ]
    labels: Annotated[
        list[str], Field(description="of a classifier's columns; else empty")
    ]
    model: ModelUse
    service_version: str


class InferenceJudgeWordsResult(Message):
    operation: Literal['judge_words'] = 'judge_words'
    answer: Annotated[
        list[WordJudgements],
        Field(description='as the operation says; rows in the order of the request'),
    ]
    labels: Annotated[
        list[str], Field(description="of a classifier's columns; else empty")
    ]
    model: ModelUse
    service_version: str


class InferenceProbabilitiesResult(Message):
    operation: Literal['probabilities'] = 'probabilities'
    answer: Annotated[
        list[list[float]],
        Field(description='as the operation says; rows in the order of the request'),
    ]
    labels: Annotated[
        list[str], Field(description="of a classifier's columns; else empty")
    ]
    model: ModelUse
    service_version: str


class InferenceReadLabelsResult(Message):
    operation: Literal['judgements'] = 'judgements'
    answer: Annotated[
        list[Judgement],
        Field(description='as the operation says; rows in the order of the request'),
    ]
    labels: Annotated[
        list[str], Field(description="of a classifier's columns; else empty")
    ]
    model: ModelUse
    service_version: str


class InferenceScoreCompletionsResult(Message):
    operation: Literal['score'] = 'score'
    answer: Annotated[
        list[Completion],
        Field(description='as the operation says; rows in the order of the request'),
    ]
    labels: Annotated[
        list[str], Field(description="of a classifier's columns; else empty")
    ]
    model: ModelUse
    service_version: str


class InferenceTokenizeResult(Message):
    operation: Literal['tokens'] = 'tokens'
    answer: Annotated[
        list[Tokens],
        Field(description='as the operation says; rows in the order of the request'),
    ]
    labels: Annotated[
        list[str], Field(description="of a classifier's columns; else empty")
    ]
    model: ModelUse
    service_version: str


class InferenceTruncatedResult(Message):
    operation: Literal['truncated'] = 'truncated'
    answer: Annotated[
        list[bool],
        Field(description='as the operation says; rows in the order of the request'),
    ]
    labels: Annotated[
        list[str], Field(description="of a classifier's columns; else empty")
    ]
    model: ModelUse
    service_version: str


class JudgeWords(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    operation: Literal['judge_words'] = 'judge_words'
    asked: list[WordRows]


class ModelList(Message):
    object: Literal['list'] = 'list'
    data: list[Model]


class SimilarityJob(JobMessage):
    id: str
    object: Literal['job'] = 'job'
    metric: Literal['similarity'] = 'similarity'
    status: Literal['queued', 'running', 'succeeded', 'failed', 'cancelled']
    created_at: Annotated[int, Field(description='unix seconds')]
    started_at: Annotated[
        int | None, Field(description='unix seconds; null while queued')
    ]
    finished_at: Annotated[
        int | None, Field(description='unix seconds; null until the job is final')
    ]
    timing: JobTiming
    attempts: int
    request_id: Annotated[
        str | None,
        Field(
            description='x-request-id of the request that made it, or its batch; null for older jobs'
        ),
    ]
    batch_id: str | None
    waiting_for: Annotated[
        WaitingFor | None,
        Field(description='while the job is queued because a model is not ready'),
    ]
    metadata: dict[str, str]
    context: ContextAnswer | None
    trace: Annotated[
        TraceAnswer | None, Field(description='the evaluated trace, from the request')
    ]
    request: Annotated[
        dict[str, JsonValueAnswer] | None,
        Field(
            description='with its defaults, at `GET /v1/jobs/{id}`; null elsewhere, and if its texts are not stored'
        ),
    ]
    error: Annotated[Problem | None, Field(description='where the job failed')]
    result: Annotated[
        SimilarityResult | None, Field(description='where the job succeeded')
    ]


class SorBatchReport(Report):
    metric: Literal['sor'] = 'sor'
    scored: Annotated[int, Field(description='results that this report rests on')]
    undefined: Annotated[int, Field(description='of these, results without a score')]
    finding: Annotated[
        str, Field(description='what they come to, and how many they are')
    ] = ''
    left_out: Annotated[
        dict[str, int] | None, Field(description='jobs without a result, by status')
    ] = None
    duplicates: Annotated[
        int,
        Field(description="results that repeat another's request and report; left out"),
    ] = 0
    score: Annotated[
        Interval, Field(description='mean score, with its interval over texts')
    ]
    sequence: Annotated[
        SequenceInterval | None,
        Field(
            description='of the mean score of the texts, where asked for; null where the score has no range, and where the looks so far contradict each other'
        ),
    ] = None
    reasons: Annotated[
        dict[str, int] | None,
        Field(
            description='code → results whose score is null for it; one may have several'
        ),
    ] = None
    by_language: Annotated[
        dict[str, LanguageScores] | None,
        Field(
            description='language of the text → its results; those without one are left out'
        ),
    ] = None
    parts: Annotated[
        dict[str, PartSummary] | None,
        Field(
            description='part of the score → its mean over all results; empty in reports of earlier versions, and where there is no score'
        ),
    ] = None
    splits: Annotated[
        list[ScoreSplit],
        Field(
            description='the scores by each of `by`; no p-value holds for several at once',
            validate_default=True,
        ),
    ] = []
    comparison: Annotated[
        SystemComparison | None,
        Field(description='with the results of `against`; null where none were named'),
    ] = None
    further: Annotated[
        list[SystemComparison],
        Field(
            description="of each of the request's `further` systems with `against`",
            validate_default=True,
        ),
    ] = []
    agreement: Annotated[
        HumanAgreement | None,
        Field(description='of people with each other and the metric, where asked for'),
    ] = None
    gold: Annotated[
        GoldAgreement | None,
        Field(
            description='with what people say of the texts and explanations; null where no line has it'
        ),
    ] = None
    plan: Annotated[
        StudyPlan | None,
        Field(description='of the further study that `plan` asked for; else null'),
    ] = None
    corrected: Annotated[
        dict[str, str] | None,
        Field(
            description='p-values that are corrected for several tests → how. No other is, and no interval holds for several numbers at once'
        ),
    ] = None
    warnings: list[str] = []
    plots: Annotated[list[Plot], Field(validate_default=True)] = []
    seed: int
    resamples: int
    confidence: float
    statistics_version: Annotated[
        str, Field(description='of how intervals are made')
    ] = '1'
    service_version: str
    completeness: Interval
    specificity: Interval
    missing: Annotated[
        dict[str, Interval],
        Field(description='share of the statements without this item'),
    ]
    beats_other_posts: Annotated[
        Interval,
        Field(
            description='mean share of other posts whose facts a statement names less; chance is 0.5'
        ),
    ]
    boilerplate: Annotated[
        Interval,
        Field(
            description="mean share of a statement's runs of three words that another statement of the batch has"
        ),
    ]
    nearest_similarity: Annotated[
        Interval, Field(description='mean similarity to the nearest other statement')
    ]
    faithfulness: Annotated[
        Interval,
        Field(
            description='with a `model`: mean share of other words that carry the decision less than the facts; chance is 0.5'
        ),
    ]
    copies: Annotated[
        Interval,
        Field(description='share of statements with another of similarity 0.8 or more'),
    ]
    most_alike: Annotated[
        list[SorLikeness],
        Field(description='the 50 most similar statements, most similar first'),
    ]


class SorBulkRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    metric: Literal['sor'] = 'sor'
    requests: Annotated[
        list[SorRequest], Field(description='all are accepted, or none')
    ]


class SorReportJob(JobMessage):
    id: str
    object: Literal['job'] = 'job'
    metric: Literal['sor-report'] = 'sor-report'
    status: Literal['queued', 'running', 'succeeded', 'failed', 'cancelled']
    created_at: Annotated[int, Field(description='unix seconds')]
    started_at: Annotated[
        int | None, Field(description='unix seconds; null while queued')
    ]
    finished_at: Annotated[
        int | None, Field(description='unix seconds; null until the job is final')
    ]
    timing: JobTiming
    attempts: int
    request_id: Annotated[
        str | None,
        Field(
            description='x-request-id of the request that made it, or its batch; null for older jobs'
        ),
    ]
    batch_id: str | None
    waiting_for: Annotated[
        WaitingFor | None,
        Field(description='while the job is queued because a model is not ready'),
    ]
    metadata: dict[str, str]
    context: ContextAnswer | None
    trace: Annotated[
        TraceAnswer | None, Field(description='the evaluated trace, from the request')
    ]
    request: Annotated[
        dict[str, JsonValueAnswer] | None,
        Field(
            description='with its defaults, at `GET /v1/jobs/{id}`; null elsewhere, and if its texts are not stored'
        ),
    ]
    error: Annotated[Problem | None, Field(description='where the job failed')]
    result: Annotated[
        SorBatchReport | None, Field(description='where the job succeeded')
    ]


class ConsistencyBatchReport(Report):
    metric: Literal['consistency'] = 'consistency'
    scored: Annotated[int, Field(description='results that this report rests on')]
    undefined: Annotated[int, Field(description='of these, results without a score')]
    finding: Annotated[
        str, Field(description='what they come to, and how many they are')
    ] = ''
    left_out: Annotated[
        dict[str, int] | None, Field(description='jobs without a result, by status')
    ] = None
    duplicates: Annotated[
        int,
        Field(description="results that repeat another's request and report; left out"),
    ] = 0
    score: Annotated[
        Interval, Field(description='mean score, with its interval over texts')
    ]
    sequence: Annotated[
        SequenceInterval | None,
        Field(
            description='of the mean score of the texts, where asked for; null where the score has no range, and where the looks so far contradict each other'
        ),
    ] = None
    reasons: Annotated[
        dict[str, int] | None,
        Field(
            description='code → results whose score is null for it; one may have several'
        ),
    ] = None
    by_language: Annotated[
        dict[str, LanguageScores] | None,
        Field(
            description='language of the text → its results; those without one are left out'
        ),
    ] = None
    parts: Annotated[
        dict[str, PartSummary] | None,
        Field(
            description='part of the score → its mean over all results; empty in reports of earlier versions, and where there is no score'
        ),
    ] = None
    splits: Annotated[
        list[ScoreSplit],
        Field(
            description='the scores by each of `by`; no p-value holds for several at once',
            validate_default=True,
        ),
    ] = []
    comparison: Annotated[
        SystemComparison | None,
        Field(description='with the results of `against`; null where none were named'),
    ] = None
    further: Annotated[
        list[SystemComparison],
        Field(
            description="of each of the request's `further` systems with `against`",
            validate_default=True,
        ),
    ] = []
    agreement: Annotated[
        HumanAgreement | None,
        Field(description='of people with each other and the metric, where asked for'),
    ] = None
    gold: Annotated[
        GoldAgreement | None,
        Field(
            description='with what people say of the texts and explanations; null where no line has it'
        ),
    ] = None
    plan: Annotated[
        StudyPlan | None,
        Field(description='of the further study that `plan` asked for; else null'),
    ] = None
    corrected: Annotated[
        dict[str, str] | None,
        Field(
            description='p-values that are corrected for several tests → how. No other is, and no interval holds for several numbers at once'
        ),
    ] = None
    warnings: list[str] = []
    plots: Annotated[list[Plot], Field(validate_default=True)] = []
    seed: int
    resamples: int
    confidence: float
    statistics_version: Annotated[
        str, Field(description='of how intervals are made')
    ] = '1'
    service_version: str
    simulatability: Interval
    attribution_agreement: Interval
    cosine: Interval
    precision_changes: Interval
    precision_stays: Interval
    beats_random_citations: Annotated[
        Interval,
        Field(
            description='mean share of random citations that predict less; chance is 0.5'
        ),
    ]
    beats_permuted_words: Annotated[
        Interval,
        Field(
            description='mean share of permuted contributions that agree less; chance is 0.5'
        ),
    ]
    simulatability_significant: Annotated[
        Interval,
        Field(
            description='share of the tests with p <= 0.05 among those that could reach it; chance is at most 0.05'
        ),
    ]
    attribution_significant: Annotated[
        Interval, Field(description='the same for the attribution test')
    ]
    cites_nothing: Annotated[
        Interval,
        Field(description='share of explanations that cite nothing in their text'),
    ]
    cited_by: Annotated[
        dict[str, int],
        Field(description='how the citations were found → number of results'),
    ]


class ConsistencyBulkRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    metric: Literal['consistency'] = 'consistency'
    requests: Annotated[
        list[ConsistencyRequest], Field(description='all are accepted, or none')
    ]


class ConsistencyReportJob(JobMessage):
    id: str
    object: Literal['job'] = 'job'
    metric: Literal['consistency-report'] = 'consistency-report'
    status: Literal['queued', 'running', 'succeeded', 'failed', 'cancelled']
    created_at: Annotated[int, Field(description='unix seconds')]
    started_at: Annotated[
        int | None, Field(description='unix seconds; null while queued')
    ]
    finished_at: Annotated[
        int | None, Field(description='unix seconds; null until the job is final')
    ]
    timing: JobTiming
    attempts: int
    request_id: Annotated[
        str | None,
        Field(
            description='x-request-id of the request that made it, or its batch; null for older jobs'
        ),
    ]
    batch_id: str | None
    waiting_for: Annotated[
        WaitingFor | None,
        Field(description='while the job is queued because a model is not ready'),
    ]
    metadata: dict[str, str]
    context: ContextAnswer | None
    trace: Annotated[
        TraceAnswer | None, Field(description='the evaluated trace, from the request')
    ]
    request: Annotated[
        dict[str, JsonValueAnswer] | None,
        Field(
            description='with its defaults, at `GET /v1/jobs/{id}`; null elsewhere, and if its texts are not stored'
        ),
    ]
    error: Annotated[Problem | None, Field(description='where the job failed')]
    result: Annotated[
        ConsistencyBatchReport | None, Field(description='where the job succeeded')
    ]


class Cot2elBatchReport(Report):
    metric: Literal['cot2el'] = 'cot2el'
    scored: Annotated[int, Field(description='results that this report rests on')]
    undefined: Annotated[int, Field(description='of these, results without a score')]
    finding: Annotated[
        str, Field(description='what they come to, and how many they are')
    ] = ''
    left_out: Annotated[
        dict[str, int] | None, Field(description='jobs without a result, by status')
    ] = None
    duplicates: Annotated[
        int,
        Field(description="results that repeat another's request and report; left out"),
    ] = 0
    score: Annotated[
        Interval, Field(description='mean score, with its interval over texts')
    ]
    sequence: Annotated[
        SequenceInterval | None,
        Field(
            description='of the mean score of the texts, where asked for; null where the score has no range, and where the looks so far contradict each other'
        ),
    ] = None
    reasons: Annotated[
        dict[str, int] | None,
        Field(
            description='code → results whose score is null for it; one may have several'
        ),
    ] = None
    by_language: Annotated[
        dict[str, LanguageScores] | None,
        Field(
            description='language of the text → its results; those without one are left out'
        ),
    ] = None
    parts: Annotated[
        dict[str, PartSummary] | None,
        Field(
            description='part of the score → its mean over all results; empty in reports of earlier versions, and where there is no score'
        ),
    ] = None
    splits: Annotated[
        list[ScoreSplit],
        Field(
            description='the scores by each of `by`; no p-value holds for several at once',
            validate_default=True,
        ),
    ] = []
    comparison: Annotated[
        SystemComparison | None,
        Field(description='with the results of `against`; null where none were named'),
    ] = None
    further: Annotated[
        list[SystemComparison],
        Field(
            description="of each of the request's `further` systems with `against`",
            validate_default=True,
        ),
    ] = []
    agreement: Annotated[
        HumanAgreement | None,
        Field(description='of people with each other and the metric, where asked for'),
    ] = None
    gold: Annotated[
        GoldAgreement | None,
        Field(
            description='with what people say of the texts and explanations; null where no line has it'
        ),
    ] = None
    plan: Annotated[
        StudyPlan | None,
        Field(description='of the further study that `plan` asked for; else null'),
    ] = None
    corrected: Annotated[
        dict[str, str] | None,
        Field(
            description='p-values that are corrected for several tests → how. No other is, and no interval holds for several numbers at once'
        ),
    ] = None
    warnings: list[str] = []
    plots: Annotated[list[Plot], Field(validate_default=True)] = []
    seed: int
    resamples: int
    confidence: float
    statistics_version: Annotated[
        str, Field(description='of how intervals are made')
    ] = '1'
    service_version: str
    statuses: Annotated[dict[str, int], Field(description='results by `status`')]
    explanations: Annotated[
        Cot2elExplanationCounts | None,
        Field(description='null in reports of earlier versions'),
    ] = None
    options: Annotated[
        Cot2elOptionCounts | None,
        Field(description='null in reports of earlier versions'),
    ] = None
    faithfulness: Annotated[
        Interval, Field(description='over items; `pooled` is over explanations')
    ]
    faithfulness_pooled: Interval
    faithfulness_by_chance: Annotated[
        Interval, Field(description='faithfulness of explanations with shuffled words')
    ]
    faithfulness_of_others: Annotated[
        Interval | None,
        Field(
            description="faithfulness of other items' explanations; null in earlier reports"
        ),
    ] = None
    contradicted: Annotated[
        Interval | None,
        Field(description='share of all explanations whose unit says the opposite'),
    ] = None
    mean_similarity: Interval
    kept_per_item: Annotated[
        Interval,
        Field(description='explanations per item after alignment and de-duplication'),
    ]
    filtered: Annotated[
        Cot2elValidated | None,
        Field(description='agreement of EL filtered with annotators'),
    ]
    parsed: Annotated[
        Cot2elValidated | None, Field(description='agreement of EL with annotators')
    ]
    refinement: Annotated[
        Interval | None,
        Field(description='F1 of EL filtered minus F1 of EL, item by item'),
    ]


class Cot2elJob(JobMessage):
    id: str
    object: Literal['job'] = 'job'
    metric: Literal['cot2el'] = 'cot2el'
    status: Literal['queued', 'running', 'succeeded', 'failed', 'cancelled']
    created_at: Annotated[int, Field(description='unix seconds')]
    started_at: Annotated[
        int | None, Field(description='unix seconds; null while queued')
    ]
    finished_at: Annotated[
        int | None, Field(description='unix seconds; null until the job is final')
    ]
    timing: JobTiming
    attempts: int
    request_id: Annotated[
        str | None,
        Field(
            description='x-request-id of the request that made it, or its batch; null for older jobs'
        ),
    ]
    batch_id: str | None
    waiting_for: Annotated[
        WaitingFor | None,
        Field(description='while the job is queued because a model is not ready'),
    ]
    metadata: dict[str, str]
    context: ContextAnswer | None
    trace: Annotated[
        TraceAnswer | None, Field(description='the evaluated trace, from the request')
    ]
    request: Annotated[
        dict[str, JsonValueAnswer] | None,
        Field(
            description='with its defaults, at `GET /v1/jobs/{id}`; null elsewhere, and if its texts are not stored'
        ),
    ]
    error: Annotated[Problem | None, Field(description='where the job failed')]
    result: Annotated[Cot2elResult | None, Field(description='where the job succeeded')]


class Cot2elReportJob(JobMessage):
    id: str
    object: Literal['job'] = 'job'
    metric: Literal['cot2el-report'] = 'cot2el-report'
    status: Literal['queued', 'running', 'succeeded', 'failed', 'cancelled']
    created_at: Annotated[int, Field(description='unix seconds')]
    started_at: Annotated[
        int | None, Field(description='unix seconds; null while queued')
    ]
    finished_at: Annotated[
        int | None, Field(description='unix seconds; null until the job is final')
    ]
    timing: JobTiming
    attempts: int
    request_id: Annotated[
        str | None,
        Field(
            description='x-request-id of the request that made it, or its batch; null for older jobs'
        ),
    ]
    batch_id: str | None
    waiting_for: Annotated[
        WaitingFor | None,
        Field(description='while the job is queued because a model is not ready'),
    ]
    metadata: dict[str, str]
    context: ContextAnswer | None
    trace: Annotated[
        TraceAnswer | None, Field(description='the evaluated trace, from the request')
    ]
    request: Annotated[
        dict[str, JsonValueAnswer] | None,
        Field(
            description='with its defaults, at `GET /v1/jobs/{id}`; null elsewhere, and if its texts are not stored'
        ),
    ]
    error: Annotated[Problem | None, Field(description='where the job failed')]
    result: Annotated[
        Cot2elBatchReport | None, Field(description='where the job succeeded')
    ]


class Elicitation(Message):
    outcome: Annotated[
        Literal['answered', 'refused', 'unparsable'],
        Field(
            description='`refused`: the model would not; `unparsable`: no decision can be read; neither is ever scored'
        ),
    ]
    decision: Annotated[
        str | None,
        Field(
            description="as the answer states it, in the prompt's labels; where the prompt has the model explain a `target_label`, that one; null unless `answered`"
        ),
    ]
    decided_by: Literal['model', 'request']
    conclusion: Annotated[
        ExplanationsSpan | None,
        Field(description='the sentence that states the decision'),
    ]
    p: Annotated[
        dict[str, float] | None,
        Field(
            description='label → its probability, as the same model judges the same text when it is asked by its own prompt for labels, without an explanation; null: `obstacles` says why'
        ),
    ]
    probability: Annotated[float | None, Field(description='of the decision, in `p`')]
    reading: Annotated[
        Literal['head', 'verbalizers', 'scored', 'label-endpoint', 'top-logprobs', 'votes'] | None,
        Field(description='how `p` was read'),
    ]
    mass: Annotated[
        float | None, Field(description='what the model gave to all labels together')
    ]
    stated_p: Annotated[
        float | None,
        Field(
            description='product of the probabilities of the tokens that state the decision, each after all that was written before it: near 1 behind an explanation that leads there'
        ),
    ]
    answer: Annotated[
        str,
        Field(description='all that the model answered, without reasoning before it'),
    ]
    explanation: Annotated[
        str, Field(description='the part of the answer that explains')
    ]
    tokens: Annotated[
        list[WrittenTokenAnswer],
        Field(description='of `answer`; empty where nobody tells'),
    ]
    reasoning: Annotated[
        str | None,
        Field(
            description="the chain of thought before the answer; never scored as an explanation; null where there was none, or a server's is not kept (`keep_reasoning` of the model's entry)"
        ),
    ]
    reasoning_tokens: Annotated[int | None, Field(description='null: not known')]
    finish: Literal['stop', 'length', 'given']
    language: Annotated[str, Field(description='of the text, BCP 47; `und`: undecided')]
    obstacles: list[ExplanationsObstacle]
    provenance: ExplanationsProvenance


class ExplanationsBatchReport(Report):
    metric: Literal['explanations'] = 'explanations'
    scored: Annotated[int, Field(description='results that this report rests on')]
    undefined: Annotated[
        int, Field(description='answers that refuse or cannot be read')
    ]
    finding: Annotated[
        str, Field(description='what they come to, and how many they are')
    ] = ''
    left_out: Annotated[
        dict[str, int] | None, Field(description='jobs without a result, by status')
    ] = None
    duplicates: Annotated[
        int,
        Field(description="results that repeat another's request and report; left out"),
    ] = 0
    score: Annotated[
        Interval | None,
        Field(description='null, since an answer has no score; see `scores`'),
    ] = None
    sequence: Annotated[
        SequenceInterval | None,
        Field(
            description='of the mean score of the texts, where asked for; null where the score has no range, and where the looks so far contradict each other'
        ),
    ] = None
    reasons: Annotated[
        dict[str, int] | None,
        Field(
            description='code → results whose score is null for it; one may have several'
        ),
    ] = None
    by_language: Annotated[
        dict[str, LanguageScores] | None,
        Field(
            description='language of the text → its results; those without one are left out'
        ),
    ] = None
    parts: Annotated[
        dict[str, PartSummary] | None,
        Field(
            description='part of the score → its mean over all results; empty in reports of earlier versions, and where there is no score'
        ),
    ] = None
    splits: Annotated[
        list[ScoreSplit],
        Field(
            description='the scores by each of `by`; no p-value holds for several at once',
            validate_default=True,
        ),
    ] = []
    comparison: Annotated[
        SystemComparison | None,
        Field(description='with the results of `against`; null where none were named'),
    ] = None
    further: Annotated[
        list[SystemComparison],
        Field(
            description="of each of the request's `further` systems with `against`",
            validate_default=True,
        ),
    ] = []
    agreement: Annotated[
        HumanAgreement | None,
        Field(description='of people with each other and the metric, where asked for'),
    ] = None
    gold: Annotated[
        GoldAgreement | None,
        Field(
            description='with what people say of the texts and explanations; null where no line has it'
        ),
    ] = None
    plan: Annotated[
        StudyPlan | None,
        Field(description='of the further study that `plan` asked for; else null'),
    ] = None
    corrected: Annotated[
        dict[str, str] | None,
        Field(
            description='p-values that are corrected for several tests → how. No other is, and no interval holds for several numbers at once'
        ),
    ] = None
    warnings: list[str] = []
    plots: Annotated[list[Plot], Field(validate_default=True)] = []
    seed: int
    resamples: int
    confidence: float
    statistics_version: Annotated[
        str, Field(description='of how intervals are made')
    ] = '1'
    service_version: str
    outcomes: Annotated[
        dict[str, ExplanationsOutcomeShare], Field(description='how the answers end')
    ]
    decisions: Annotated[dict[str, int], Field(description='decision → answers')]
    scores: Annotated[
        list[ExplanationsScoreMean], Field(description='one row per metric')
    ]


class ExplanationsReportJob(JobMessage):
    id: str
    object: Literal['job'] = 'job'
    metric: Literal['explanations-report'] = 'explanations-report'
    status: Literal['queued', 'running', 'succeeded', 'failed', 'cancelled']
    created_at: Annotated[int, Field(description='unix seconds')]
    started_at: Annotated[
        int | None, Field(description='unix seconds; null while queued')
    ]
    finished_at: Annotated[
        int | None, Field(description='unix seconds; null until the job is final')
    ]
    timing: JobTiming
    attempts: int
    request_id: Annotated[
        str | None,
        Field(
            description='x-request-id of the request that made it, or its batch; null for older jobs'
        ),
    ]
    batch_id: str | None
    waiting_for: Annotated[
        WaitingFor | None,
        Field(description='while the job is queued because a model is not ready'),
    ]
    metadata: dict[str, str]
    context: ContextAnswer | None
    trace: Annotated[
        TraceAnswer | None, Field(description='the evaluated trace, from the request')
    ]
    request: Annotated[
        dict[str, JsonValueAnswer] | None,
        Field(
            description='with its defaults, at `GET /v1/jobs/{id}`; null elsewhere, and if its texts are not stored'
        ),
    ]
    error: Annotated[Problem | None, Field(description='where the job failed')]
    result: Annotated[
        ExplanationsBatchReport | None, Field(description='where the job succeeded')
    ]


class FtcBatchReport(Report):
    metric: Literal['ftc'] = 'ftc'
    scored: Annotated[int, Field(description='results that this report rests on')]
    undefined: Annotated[int, Field(description='of these, results without a score')]
    finding: Annotated[
        str, Field(description='what they come to, and how many they are')
    ] = ''
    left_out: Annotated[
        dict[str, int] | None, Field(description='jobs without a result, by status')
    ] = None
    duplicates: Annotated[
        int,
        Field(description="results that repeat another's request and report; left out"),
    ] = 0
    score: Annotated[
        Interval, Field(description='mean score, with its interval over texts')
    ]
    sequence: Annotated[
        SequenceInterval | None,
        Field(
            description='of the mean score of the texts, where asked for; null where the score has no range, and where the looks so far contradict each other'
        ),
    ] = None
    reasons: Annotated[
        dict[str, int] | None,
        Field(
            description='code → results whose score is null for it; one may have several'
        ),
    ] = None
    by_language: Annotated[
        dict[str, LanguageScores] | None,
        Field(
            description='language of the text → its results; those without one are left out'
        ),
    ] = None
    parts: Annotated[
        dict[str, PartSummary] | None,
        Field(
            description='part of the score → its mean over all results; empty in reports of earlier versions, and where there is no score'
        ),
    ] = None
    splits: Annotated[
        list[ScoreSplit],
        Field(
            description='the scores by each of `by`; no p-value holds for several at once',
            validate_default=True,
        ),
    ] = []
    comparison: Annotated[
        SystemComparison | None,
        Field(description='with the results of `against`; null where none were named'),
    ] = None
    further: Annotated[
        list[SystemComparison],
        Field(
            description="of each of the request's `further` systems with `against`",
            validate_default=True,
        ),
    ] = []
    agreement: Annotated[
        HumanAgreement | None,
        Field(description='of people with each other and the metric, where asked for'),
    ] = None
    gold: Annotated[
        GoldAgreement | None,
        Field(
            description='with what people say of the texts and explanations; null where no line has it'
        ),
    ] = None
    plan: Annotated[
        StudyPlan | None,
        Field(description='of the further study that `plan` asked for; else null'),
    ] = None
    corrected: Annotated[
        dict[str, str] | None,
        Field(
            description='p-values that are corrected for several tests → how. No other is, and no interval holds for several numbers at once'
        ),
    ] = None
    warnings: list[str] = []
    plots: Annotated[list[Plot], Field(validate_default=True)] = []
    seed: int
    resamples: int
    confidence: float
    statistics_version: Annotated[
        str, Field(description='of how intervals are made')
    ] = '1'
    service_version: str
    skill: Annotated[
        list[FtcSkill],
        Field(
            description='the headline; empty where no result has a score',
            validate_default=True,
        ),
    ] = []
    gain: Annotated[
        Interval | None,
        Field(
            description="mean over the labels' means of `gain`: w_normalized less that of random phrases; chance is 0"
        ),
    ] = None
    coverage: Annotated[
        Interval, Field(description='share of results that have a score')
    ]
    cases: list[FtcCaseScores]
    macro: Annotated[
        FtcScores, Field(description="mean of the original labels' means; the headline")
    ]
    micro: Annotated[FtcScores, Field(description='mean over results')]
    baselines: list[FtcBaselineScores]
    null_win_rate: Interval
    against_random: Annotated[
        FtcAgainstRandom | None,
        Field(description='null where no result has a null, and in earlier reports'),
    ] = None
    null_significant: Annotated[
        Interval,
        Field(
            description='share of results with p <= 0.05, of those that could have reached it (`of`: how many); 0.05 is expected by chance'
        ),
    ]
    rules: Annotated[dict[str, int], Field(description='pattern that fired → results')]
    transformations: Annotated[
        dict[str, int], Field(description='how the hypothesis changed → results')
    ]
    abstentions: Annotated[dict[str, int], Field(description='reason → results')]
    las: Annotated[
        FtcLas | None, Field(description='null unless results bring `study.simulation`')
    ]
    lra: Annotated[
        list[FtcLra],
        Field(description='empty unless results bring `study.perturbations`'),
    ]
    simulatability: Annotated[
        list[FtcSimulatability],
        Field(description='empty unless results bring `study.human_labels`'),
    ]
    sensitivity: Annotated[
        list[FtcInputScores],
        Field(description='empty unless results bring `study.inputs`'),
    ]


class FtcReportJob(JobMessage):
    id: str
    object: Literal['job'] = 'job'
    metric: Literal['ftc-report'] = 'ftc-report'
    status: Literal['queued', 'running', 'succeeded', 'failed', 'cancelled']
    created_at: Annotated[int, Field(description='unix seconds')]
    started_at: Annotated[
        int | None, Field(description='unix seconds; null while queued')
    ]
    finished_at: Annotated[
        int | None, Field(description='unix seconds; null until the job is final')
    ]
    timing: JobTiming
    attempts: int
    request_id: Annotated[
        str | None,
        Field(
            description='x-request-id of the request that made it, or its batch; null for older jobs'
        ),
    ]
    batch_id: str | None
    waiting_for: Annotated[
        WaitingFor | None,
        Field(description='while the job is queued because a model is not ready'),
    ]
    metadata: dict[str, str]
    context: ContextAnswer | None
    trace: Annotated[
        TraceAnswer | None, Field(description='the evaluated trace, from the request')
    ]
    request: Annotated[
        dict[str, JsonValueAnswer] | None,
        Field(
            description='with its defaults, at `GET /v1/jobs/{id}`; null elsewhere, and if its texts are not stored'
        ),
    ]
    error: Annotated[Problem | None, Field(description='where the job failed')]
    result: Annotated[
        FtcBatchReport | None, Field(description='where the job succeeded')
    ]


class FtcResult(Result):
    metric: Literal['ftc'] = 'ftc'
    score: Annotated[
        float | None,
        Field(description='null where the metric is undefined; see `warnings`'),
    ]
    verdict: Annotated[
        Literal['holds_up', 'problem_found', 'not_tested'],
        Field(
            description='`problem_found`: a check failed; `holds_up`: every check that could be tested passed, among them those that carry the metric; else `not_tested`'
        ),
    ]
    reason: Annotated[
        str,
        Field(
            description="why, in one sentence of our own words, without anybody's text"
        ),
    ]
    checks: Annotated[list[Check], Field(description='the gravest question first')]
    problems: Annotated[
        list[str], Field(description='codes of the failed checks, the worst first')
    ]
    untested: Annotated[
        list[Untested],
        Field(description='why checks have no answer, and what you can do about each'),
    ]
    range: list[float] = [0.0, 1.0]
    direction: Literal['higher_is_better', 'lower_is_better'] = 'higher_is_better'
    components: FtcComponents
    evidence: list[FtcSpanEvidence]
    control: FtcBaselines | None
    warnings: Annotated[
        list[str], Field(description='why something is null or doubtful')
    ] = []
    reasons: Annotated[
        list[NullReason],
        Field(
            description='why the score and what it is made of is null, by code; `warnings` has more in sentences',
            validate_default=True,
        ),
    ] = []
    languages: Annotated[
        Languages | None,
        Field(
            description='and how they were identified; null where no rules and no model depend on them, and in results of earlier versions'
        ),
    ] = None
    provenance: Provenance
    elicitation: Annotated[
        Elicitation | None,
        Field(description='what the model answered, where the request said `explain`'),
    ] = None
    label: Annotated[
        Literal['entailment', 'neutral', 'contradiction'] | None,
        Field(
            description="the explained label: as sent, else the model's own; null where that was not asked"
        ),
    ]
    label_source: Literal['request', 'model']
    original: Annotated[
        FtcDistributionAnswer | None,
        Field(
            description="the model's answer to the hypothesis as sent; null where no model was called"
        ),
    ]
    abstained: Annotated[
        str | None, Field(description='why there is no score; null where there is one')
    ]
    extraction: FtcExtraction
    counterfactuals: list[FtcCounterfactual]


class HafBatchReport(Report):
    metric: Literal['haf'] = 'haf'
    scored: Annotated[int, Field(description='results that this report rests on')]
    undefined: Annotated[int, Field(description='of these, results without a score')]
    finding: Annotated[
        str, Field(description='what they come to, and how many they are')
    ] = ''
    left_out: Annotated[
        dict[str, int] | None, Field(description='jobs without a result, by status')
    ] = None
    duplicates: Annotated[
        int,
        Field(description="results that repeat another's request and report; left out"),
    ] = 0
    score: Annotated[
        Interval, Field(description='mean score, with its interval over texts')
    ]
    sequence: Annotated[
        SequenceInterval | None,
        Field(
            description='of the mean score of the texts, where asked for; null where the score has no range, and where the looks so far contradict each other'
        ),
    ] = None
    reasons: Annotated[
        dict[str, int] | None,
        Field(
            description='code → results whose score is null for it; one may have several'
        ),
    ] = None
    by_language: Annotated[
        dict[str, LanguageScores] | None,
        Field(
            description='language of the text → its results; those without one are left out'
        ),
    ] = None
    parts: Annotated[
        dict[str, PartSummary] | None,
        Field(
            description='part of the score → its mean over all results; empty in reports of earlier versions, and where there is no score'
        ),
    ] = None
    splits: Annotated[
        list[ScoreSplit],
        Field(
            description='the scores by each of `by`; no p-value holds for several at once',
            validate_default=True,
        ),
    ] = []
    comparison: Annotated[
        SystemComparison | None,
        Field(description='with the results of `against`; null where none were named'),
    ] = None
    further: Annotated[
        list[SystemComparison],
        Field(
            description="of each of the request's `further` systems with `against`",
            validate_default=True,
        ),
    ] = []
    agreement: Annotated[
        HumanAgreement | None,
        Field(description='of people with each other and the metric, where asked for'),
    ] = None
    gold: Annotated[
        GoldAgreement | None,
        Field(
            description='with what people say of the texts and explanations; null where no line has it'
        ),
    ] = None
    plan: Annotated[
        StudyPlan | None,
        Field(description='of the further study that `plan` asked for; else null'),
    ] = None
    corrected: Annotated[
        dict[str, str] | None,
        Field(
            description='p-values that are corrected for several tests → how. No other is, and no interval holds for several numbers at once'
        ),
    ] = None
    warnings: list[str] = []
    plots: Annotated[list[Plot], Field(validate_default=True)] = []
    seed: int
    resamples: int
    confidence: float
    statistics_version: Annotated[
        str, Field(description='of how intervals are made')
    ] = '1'
    service_version: str
    groups: list[HafGroup]
    variants: Annotated[
        list[str], Field(description='that the results were scored with')
    ]


class HafBulkRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    metric: Literal['haf'] = 'haf'
    requests: Annotated[
        list[HafRequest], Field(description='all are accepted, or none')
    ]


class HafReportJob(JobMessage):
    id: str
    object: Literal['job'] = 'job'
    metric: Literal['haf-report'] = 'haf-report'
    status: Literal['queued', 'running', 'succeeded', 'failed', 'cancelled']
    created_at: Annotated[int, Field(description='unix seconds')]
    started_at: Annotated[
        int | None, Field(description='unix seconds; null while queued')
    ]
    finished_at: Annotated[
        int | None, Field(description='unix seconds; null until the job is final')
    ]
    timing: JobTiming
    attempts: int
    request_id: Annotated[
        str | None,
        Field(
            description='x-request-id of the request that made it, or its batch; null for older jobs'
        ),
    ]
    batch_id: str | None
    waiting_for: Annotated[
        WaitingFor | None,
        Field(description='while the job is queued because a model is not ready'),
    ]
    metadata: dict[str, str]
    context: ContextAnswer | None
    trace: Annotated[
        TraceAnswer | None, Field(description='the evaluated trace, from the request')
    ]
    request: Annotated[
        dict[str, JsonValueAnswer] | None,
        Field(
            description='with its defaults, at `GET /v1/jobs/{id}`; null elsewhere, and if its texts are not stored'
        ),
    ]
    error: Annotated[Problem | None, Field(description='where the job failed')]
    result: Annotated[
        HafBatchReport | None, Field(description='where the job succeeded')
    ]


class HafResult(Result):
    metric: Literal['haf'] = 'haf'
    score: Annotated[
        float | None,
        Field(description='null where the metric is undefined; see `warnings`'),
    ]
    verdict: Annotated[
        Literal['holds_up', 'problem_found', 'not_tested'],
        Field(
            description='`problem_found`: a check failed; `holds_up`: every check that could be tested passed, among them those that carry the metric; else `not_tested`'
        ),
    ]
    reason: Annotated[
        str,
        Field(
            description="why, in one sentence of our own words, without anybody's text"
        ),
    ]
    checks: Annotated[list[Check], Field(description='the gravest question first')]
    problems: Annotated[
        list[str], Field(description='codes of the failed checks, the worst first')
    ]
    untested: Annotated[
        list[Untested],
        Field(description='why checks have no answer, and what you can do about each'),
    ]
    range: list[float] = [0.0, 1.0]
    direction: Literal['higher_is_better', 'lower_is_better'] = 'higher_is_better'
    components: HafComponents
    evidence: list[HafReasonEvidence]
    control: HafControls | None
    warnings: list[str] = []
    reasons: Annotated[
        list[NullReason],
        Field(
            description='why the score and what it is made of is null, by code; `warnings` has more in sentences',
            validate_default=True,
        ),
    ] = []
    languages: Annotated[
        Languages | None,
        Field(
            description='and how they were identified; null where no rules and no model depend on them, and in results of earlier versions'
        ),
    ] = None
    provenance: Provenance
    elicitation: Annotated[
        Elicitation | None,
        Field(description='what the model answered, where the request said `explain`'),
    ] = None
    stance: Annotated[
        Literal['toxic', 'maybe', 'non-toxic', 'unclear'] | None,
        Field(description='null where the JUSTIFY response was not read'),
    ]
    refusal: Annotated[bool, Field(description='the JUSTIFY response refuses the task')]
    stages: Annotated[
        list[HafStagePart], Field(description='in the order of the prompts')
    ]
    counts: HafCounts
    extras: HafExtras | None
    repetition: HafRepetition | None
    permutation: HafPermutation | None
    similarities: Annotated[
        list[list[float]],
        Field(
            description='(R, R) g of the JUSTIFY reasons as DiS uses it: computed once a pair, the earlier reason first, and mirrored; 1 on the diagonal. Empty for more than 64 reasons'
        ),
    ] = []


class HatexscoreResult(Result):
    metric: Literal['hatexscore'] = 'hatexscore'
    score: Annotated[
        float | None,
        Field(description='null where the metric is undefined; see `warnings`'),
    ]
    verdict: Annotated[
        Literal['holds_up', 'problem_found', 'not_tested'],
        Field(
            description='`problem_found`: a check failed; `holds_up`: every check that could be tested passed, among them those that carry the metric; else `not_tested`'
        ),
    ]
    reason: Annotated[
        str,
        Field(
            description="why, in one sentence of our own words, without anybody's text"
        ),
    ]
    checks: Annotated[list[Check], Field(description='the gravest question first')]
    problems: Annotated[
        list[str], Field(description='codes of the failed checks, the worst first')
    ]
    untested: Annotated[
        list[Untested],
        Field(description='why checks have no answer, and what you can do about each'),
    ]
    range: list[float] = [0.0, 1.0]
    direction: Literal['higher_is_better', 'lower_is_better'] = 'higher_is_better'
    components: HatexscoreComponents
    evidence: Annotated[list[Evidence1], Field(validate_default=True)] = []
    control: Annotated[
        HatexscoreRandomSpans | None,
        Field(description='null where undefined; see `warnings`'),
    ] = None
    warnings: Annotated[
        list[str], Field(description='why something is null or doubtful')
    ] = []
    reasons: Annotated[
        list[HatexscoreReason],
        Field(
            description='why each part that is null, and the score, is null; `warnings` has more in sentences',
            validate_default=True,
        ),
    ] = []
    languages: Annotated[
        Languages | None,
        Field(
            description='and how they were identified; null where no rules and no model depend on them, and in results of earlier versions'
        ),
    ] = None
    provenance: Provenance
    elicitation: Annotated[
        Elicitation | None,
        Field(description='what the model answered, where the request said `explain`'),
    ] = None
    not_applicable: Annotated[
        dict[str, str] | None,
        Field(
            description='part of which there is nothing to ask → why; its weight goes to the others'
        ),
    ] = None
    hallucinated_quotes: Annotated[
        list[HatexscoreHallucinatedQuote], Field(validate_default=True)
    ] = []
    other_quotations: Annotated[
        list[HatexscoreOtherQuotation],
        Field(
            description='of something else than the text, each with its reason',
            validate_default=True,
        ),
    ] = []
    quotes_unsearched: Annotated[
        int,
        Field(
            description='quotations of more than 2,000 characters, which were looked for word for word only; none of them is called hallucinated'
        ),
    ] = 0
    masked_text: Annotated[
        str | None, Field(description='null where nothing is quoted')
    ] = None
    probability_original: Annotated[
        float | None,
        Field(
            description='P(hateful) of the text; null where it was not needed or not given'
        ),
    ] = None
    probability_masked: Annotated[
        float | None, Field(description='P(hateful) of the masked text; null likewise')
    ] = None
    model_agrees: Annotated[
        bool | None,
        Field(
            description='whether the asked model makes the decision itself: P(hateful) >= 0.5, or the `threshold` of its entry, if it is hateful, else below; `robust`: where not, QF is null, and CC with it unless the explanation concludes the opposite. Null: no P, or no decision'
        ),
    ] = None
    signed_drop: Annotated[
        float | None,
        Field(
            description='P(hateful) of the text less that of the masked text, probability; > 0: what is quoted makes the text more hateful; null where either is missing'
        ),
    ] = None
    probability_reading: Annotated[
        HatexscoreProbabilityReading | None,
        Field(description="absent where a classifier's head tells P"),
    ] = None
    predicted_label: Annotated[
        str | None,
        Field(
            description='in force: as sent, else as stated; `hateful`, `non-hateful`, or a further class of `labels`'
        ),
    ] = None
    stated_label: Annotated[
        str | None, Field(description='what the explanation concludes')
    ] = None
    label_match: Annotated[
        bool | None,
        Field(
            description='whether the stated label is the one sent; null where either is absent'
        ),
    ] = None
    conclusion: HatexscoreConclusion | None = None
    language: Annotated[str, Field(description='of the text: `languages.text.code`')]
    explanation_language: Annotated[
        str,
        Field(
            description="`languages.explanation.code`; of one without words, the text's"
        ),
    ]
    reader: Annotated[
        HatexscoreReaderUse | None,
        Field(
            description='null where nothing could read it, and in results before version 1.2; the parts of an answer that could not be used are null all the same'
        ),
    ] = None
    groups: Annotated[
        list[str], Field(description='groups that count as identified, sorted')
    ] = []
    text_groups: Annotated[
        list[str] | None,
        Field(
            description='groups of the policy that the text names, sorted; null where nothing looked'
        ),
    ] = None
    post_words: Annotated[
        HatexscorePostWords | None,
        Field(
            description='of a non-hateful decision, and of an explanation without quotes; else null'
        ),
    ] = None


class HlvJob(JobMessage):
    id: str
    object: Literal['job'] = 'job'
    metric: Literal['hlv'] = 'hlv'
    status: Literal['queued', 'running', 'succeeded', 'failed', 'cancelled']
    created_at: Annotated[int, Field(description='unix seconds')]
    started_at: Annotated[
        int | None, Field(description='unix seconds; null while queued')
    ]
    finished_at: Annotated[
        int | None, Field(description='unix seconds; null until the job is final')
    ]
    timing: JobTiming
    attempts: int
    request_id: Annotated[
        str | None,
        Field(
            description='x-request-id of the request that made it, or its batch; null for older jobs'
        ),
    ]
    batch_id: str | None
    waiting_for: Annotated[
        WaitingFor | None,
        Field(description='while the job is queued because a model is not ready'),
    ]
    metadata: dict[str, str]
    context: ContextAnswer | None
    trace: Annotated[
        TraceAnswer | None, Field(description='the evaluated trace, from the request')
    ]
    request: Annotated[
        dict[str, JsonValueAnswer] | None,
        Field(
            description='with its defaults, at `GET /v1/jobs/{id}`; null elsewhere, and if its texts are not stored'
        ),
    ]
    error: Annotated[Problem | None, Field(description='where the job failed')]
    result: Annotated[HlvResult | None, Field(description='where the job succeeded')]


class IceJob(JobMessage):
    id: str
    object: Literal['job'] = 'job'
    metric: Literal['ice'] = 'ice'
    status: Literal['queued', 'running', 'succeeded', 'failed', 'cancelled']
    created_at: Annotated[int, Field(description='unix seconds')]
    started_at: Annotated[
        int | None, Field(description='unix seconds; null while queued')
    ]
    finished_at: Annotated[
        int | None, Field(description='unix seconds; null until the job is final')
    ]
    timing: JobTiming
    attempts: int
    request_id: Annotated[
        str | None,
        Field(
            description='x-request-id of the request that made it, or its batch; null for older jobs'
        ),
    ]
    batch_id: str | None
    waiting_for: Annotated[
        WaitingFor | None,
        Field(description='while the job is queued because a model is not ready'),
    ]
    metadata: dict[str, str]
    context: ContextAnswer | None
    trace: Annotated[
        TraceAnswer | None, Field(description='the evaluated trace, from the request')
    ]
    request: Annotated[
        dict[str, JsonValueAnswer] | None,
        Field(
            description='with its defaults, at `GET /v1/jobs/{id}`; null elsewhere, and if its texts are not stored'
        ),
    ]
    error: Annotated[Problem | None, Field(description='where the job failed')]
    result: Annotated[IceResult | None, Field(description='where the job succeeded')]


class InferenceJob(JobMessage):
    id: str
    object: Literal['job'] = 'job'
    metric: Literal['inference'] = 'inference'
    status: Literal['queued', 'running', 'succeeded', 'failed', 'cancelled']
    created_at: Annotated[int, Field(description='unix seconds')]
    started_at: Annotated[
        int | None, Field(description='unix seconds; null while queued')
    ]
    finished_at: Annotated[
        int | None, Field(description='unix seconds; null until the job is final')
    ]
    timing: JobTiming
    attempts: int
    request_id: Annotated[
        str | None,
        Field(
            description='x-request-id of the request that made it, or its batch; null for older jobs'
        ),
    ]
    batch_id: str | None
    waiting_for: Annotated[
        WaitingFor | None,
        Field(description='while the job is queued because a model is not ready'),
    ]
    metadata: dict[str, str]
    context: ContextAnswer | None
    trace: Annotated[
        TraceAnswer | None, Field(description='the evaluated trace, from the request')
    ]
    request: Annotated[
        dict[str, JsonValueAnswer] | None,
        Field(
            description='with its defaults, at `GET /v1/jobs/{id}`; null elsewhere, and if its texts are not stored'
        ),
    ]
    error: Annotated[Problem | None, Field(description='where the job failed')]
    result: Annotated[
        InferenceDescribeResult | InferenceTokenizeResult | InferenceJudgeExamplesResult | InferenceReadLabelsResult | InferenceJudgeRowsResult | InferenceJudgeWordsResult | InferenceProbabilitiesResult | InferenceTruncatedResult | InferenceAttributeResult | InferenceGenerateResult | InferenceScoreCompletionsResult | None,
        Field(description='where the job succeeded'),
    ]


class InferenceRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    model: Annotated[str, Field(description='a configured classifier or causal model')]
    metadata: Annotated[
        dict[str, str] | None,
        Field(description='at most 16 pairs, returned with the job'),
    ] = None
    context: Annotated[
        Context | None, Field(description='audit fields, returned with the job')
    ] = None
    webhook: Annotated[
        str | None,
        Field(
            description="the webhook endpoint that is notified of this job's end, and no other; if absent, every endpoint of yours that listens to the event"
        ),
    ] = None
    do_not_store_text: Annotated[
        bool,
        Field(
            description='keep no text once the job has ended: what is left of the request is `model`, `variant`, `seed`, `metadata`, `context` and `trace`, and of the result the numbers and names'
        ),
    ] = False
    ask: Annotated[
        Describe | Tokenize | JudgeExamples | ReadLabels | JudgeRows | JudgeWords | Probabilities | Truncated | Attribute | Generate | ScoreCompletions,
        Field(
            description='`judge` and `judge_rows` (label probabilities of examples and of variations of them), `judge_words` (of variations in words, by any judge), `judgements` (with mass and uncertainty), `tokens`, `attributions`, `generate`, `score` (token log-probabilities), `describe`; `probabilities` and `truncated` for plain texts',
            discriminator='operation',
        ),
    ]


class SorResult(Result):
    metric: Literal['sor'] = 'sor'
    score: Annotated[
        float | None,
        Field(description='null where the metric is undefined; see `warnings`'),
    ]
    verdict: Annotated[
        Literal['holds_up', 'problem_found', 'not_tested'],
        Field(
            description='`problem_found`: a check failed; `holds_up`: every check that could be tested passed, among them those that carry the metric; else `not_tested`'
        ),
    ]
    reason: Annotated[
        str,
        Field(
            description="why, in one sentence of our own words, without anybody's text"
        ),
    ]
    checks: Annotated[list[Check], Field(description='the gravest question first')]
    problems: Annotated[
        list[str], Field(description='codes of the failed checks, the worst first')
    ]
    untested: Annotated[
        list[Untested],
        Field(description='why checks have no answer, and what you can do about each'),
    ]
    range: list[float] = [0.0, 1.0]
    direction: Literal['higher_is_better', 'lower_is_better'] = 'higher_is_better'
    components: SorComponents
    evidence: list[SorEvidence]
    control: Annotated[
        SorNull | None, Field(description='the same statement for other posts')
    ]
    warnings: Annotated[
        list[str], Field(description='why something is null or doubtful')
    ] = []
    reasons: Annotated[
        list[NullReason],
        Field(
            description='why the score and what it is made of is null, by code; `warnings` has more in sentences',
            validate_default=True,
        ),
    ] = []
    languages: Annotated[
        Languages | None,
        Field(
            description='and how they were identified; null where no rules and no model depend on them, and in results of earlier versions'
        ),
    ] = None
    provenance: Provenance
    elicitation: Annotated[
        Elicitation | None,
        Field(description='what the model answered, where the request said `explain`'),
    ] = None
    items: list[SorItem]
    missing: Annotated[
        list[Literal['restriction', 'territorial_scope', 'duration', 'facts', 'automated_detection', 'automated_decision', 'ground', 'explanation', 'redress']],
        Field(description='items that are missing or too vague'),
    ]
    routes: Annotated[
        list[Literal['internal_complaint', 'out_of_court_settlement', 'court']],
        Field(description='ways of redress in the statement'),
    ]
    ground_in_policy: Annotated[
        bool | None,
        Field(description='true if `policy` has the named clause; null without either'),
    ]
    reader: Annotated[
        SorReaderUse | None,
        Field(
            description='reader of the items except `facts`; absent: the trained reader'
        ),
    ] = None
    faithfulness: Annotated[
        SorFaithfulness | None,
        Field(
            description='does the decision of `model` rest on the facts? Absent without a model, and with a reason in `reasons`'
        ),
    ] = None


BatchReport = TypeAliasType(
    "BatchReport",
    Annotated[
        ConsistencyBatchReport | Cot2elBatchReport | ExplanationsBatchReport | FtcBatchReport | HafBatchReport | HatexscoreBatchReport | HlvBatchReport | IceBatchReport | SorBatchReport,
        Field(description='A batch report of any metric.', discriminator='metric'),
    ],
)


class ConsistencyResult(Result):
    metric: Literal['consistency'] = 'consistency'
    score: Annotated[
        float | None,
        Field(description='null where the metric is undefined; see `warnings`'),
    ]
    verdict: Annotated[
        Literal['holds_up', 'problem_found', 'not_tested'],
        Field(
            description='`problem_found`: a check failed; `holds_up`: every check that could be tested passed, among them those that carry the metric; else `not_tested`'
        ),
    ]
    reason: Annotated[
        str,
        Field(
            description="why, in one sentence of our own words, without anybody's text"
        ),
    ]
    checks: Annotated[list[Check], Field(description='the gravest question first')]
    problems: Annotated[
        list[str], Field(description='codes of the failed checks, the worst first')
    ]
    untested: Annotated[
        list[Untested],
        Field(description='why checks have no answer, and what you can do about each'),
    ]
    range: list[float] = [0.0, 1.0]
    direction: Literal['higher_is_better', 'lower_is_better'] = 'higher_is_better'
    components: ConsistencyComponents
    evidence: list[ConsistencyEvidence]
    control: ConsistencyControl | None
    warnings: Annotated[
        list[str], Field(description='why something is null or doubtful')
    ] = []
    reasons: Annotated[
        list[NullReason],
        Field(
            description='why the score and what it is made of is null, by code; `warnings` has more in sentences',
            validate_default=True,
        ),
    ] = []
    languages: Annotated[
        Languages | None,
        Field(
            description='and how they were identified; null where no rules and no model depend on them, and in results of earlier versions'
        ),
    ] = None
    provenance: Provenance
    elicitation: Annotated[
        Elicitation | None,
        Field(description='what the model answered, where the request said `explain`'),
    ] = None
    label: Annotated[
        str | None, Field(description='the answer that is explained; null: not read')
    ]
    parts: Annotated[
        list[Literal['simulatability', 'attribution']],
        Field(description='the tests in the score'),
    ]
    cited_by: Annotated[
        Literal['quotations', 'shared words', 'request'] | None,
        Field(description='how the citations were found; null: no citations'),
    ]
    edit_rows: list[ConsistencyEditRow]
    word_values: Annotated[
        list[ConsistencyWordValueAnswer],
        Field(description='empty if the attribution test was not run'),
    ]


Scores = TypeAliasType(
    "Scores",
    Annotated[
        ConsistencyResult | Cot2elResult | FtcResult | HafResult | HatexscoreResult | SorResult,
        Field(discriminator='metric'),
    ],
)


class ExplanationsResult(Answered):
    elicitation: ExplanationsElicitation
    scores: Annotated[
        list[Scores],
        Field(
            description="in the order of the request; each as the metric's own route returns it"
        ),
    ]
    unscored: list[ExplanationsUnscored]
    warnings: list[str]
    provenance: ExplanationsProvenance


class FtcJob(JobMessage):
    id: str
    object: Literal['job'] = 'job'
    metric: Literal['ftc'] = 'ftc'
    status: Literal['queued', 'running', 'succeeded', 'failed', 'cancelled']
    created_at: Annotated[int, Field(description='unix seconds')]
    started_at: Annotated[
        int | None, Field(description='unix seconds; null while queued')
    ]
    finished_at: Annotated[
        int | None, Field(description='unix seconds; null until the job is final')
    ]
    timing: JobTiming
    attempts: int
    request_id: Annotated[
        str | None,
        Field(
            description='x-request-id of the request that made it, or its batch; null for older jobs'
        ),
    ]
    batch_id: str | None
    waiting_for: Annotated[
        WaitingFor | None,
        Field(description='while the job is queued because a model is not ready'),
    ]
    metadata: dict[str, str]
    context: ContextAnswer | None
    trace: Annotated[
        TraceAnswer | None, Field(description='the evaluated trace, from the request')
    ]
    request: Annotated[
        dict[str, JsonValueAnswer] | None,
        Field(
            description='with its defaults, at `GET /v1/jobs/{id}`; null elsewhere, and if its texts are not stored'
        ),
    ]
    error: Annotated[Problem | None, Field(description='where the job failed')]
    result: Annotated[FtcResult | None, Field(description='where the job succeeded')]


class HafJob(JobMessage):
    id: str
    object: Literal['job'] = 'job'
    metric: Literal['haf'] = 'haf'
    status: Literal['queued', 'running', 'succeeded', 'failed', 'cancelled']
    created_at: Annotated[int, Field(description='unix seconds')]
    started_at: Annotated[
        int | None, Field(description='unix seconds; null while queued')
    ]
    finished_at: Annotated[
        int | None, Field(description='unix seconds; null until the job is final')
    ]
    timing: JobTiming
    attempts: int
    request_id: Annotated[
        str | None,
        Field(
            description='x-request-id of the request that made it, or its batch; null for older jobs'
        ),
    ]
    batch_id: str | None
    waiting_for: Annotated[
        WaitingFor | None,
        Field(description='while the job is queued because a model is not ready'),
    ]
    metadata: dict[str, str]
    context: ContextAnswer | None
    trace: Annotated[
        TraceAnswer | None, Field(description='the evaluated trace, from the request')
    ]
    request: Annotated[
        dict[str, JsonValueAnswer] | None,
        Field(
            description='with its defaults, at `GET /v1/jobs/{id}`; null elsewhere, and if its texts are not stored'
        ),
    ]
    error: Annotated[Problem | None, Field(description='where the job failed')]
    result: Annotated[HafResult | None, Field(description='where the job succeeded')]


class HatexscoreJob(JobMessage):
    id: str
    object: Literal['job'] = 'job'
    metric: Literal['hatexscore'] = 'hatexscore'
    status: Literal['queued', 'running', 'succeeded', 'failed', 'cancelled']
    created_at: Annotated[int, Field(description='unix seconds')]
    started_at: Annotated[
        int | None, Field(description='unix seconds; null while queued')
    ]
    finished_at: Annotated[
        int | None, Field(description='unix seconds; null until the job is final')
    ]
    timing: JobTiming
    attempts: int
    request_id: Annotated[
        str | None,
        Field(
            description='x-request-id of the request that made it, or its batch; null for older jobs'
        ),
    ]
    batch_id: str | None
    waiting_for: Annotated[
        WaitingFor | None,
        Field(description='while the job is queued because a model is not ready'),
    ]
    metadata: dict[str, str]
    context: ContextAnswer | None
    trace: Annotated[
        TraceAnswer | None, Field(description='the evaluated trace, from the request')
    ]
    request: Annotated[
        dict[str, JsonValueAnswer] | None,
        Field(
            description='with its defaults, at `GET /v1/jobs/{id}`; null elsewhere, and if its texts are not stored'
        ),
    ]
    error: Annotated[Problem | None, Field(description='where the job failed')]
    result: Annotated[
        HatexscoreResult | None, Field(description='where the job succeeded')
    ]


class SorJob(JobMessage):
    id: str
    object: Literal['job'] = 'job'
    metric: Literal['sor'] = 'sor'
    status: Literal['queued', 'running', 'succeeded', 'failed', 'cancelled']
    created_at: Annotated[int, Field(description='unix seconds')]
    started_at: Annotated[
        int | None, Field(description='unix seconds; null while queued')
    ]
    finished_at: Annotated[
        int | None, Field(description='unix seconds; null until the job is final')
    ]
    timing: JobTiming
    attempts: int
    request_id: Annotated[
        str | None,
        Field(
            description='x-request-id of the request that made it, or its batch; null for older jobs'
        ),
    ]
    batch_id: str | None
    waiting_for: Annotated[
        WaitingFor | None,
        Field(description='while the job is queued because a model is not ready'),
    ]
    metadata: dict[str, str]
    context: ContextAnswer | None
    trace: Annotated[
        TraceAnswer | None, Field(description='the evaluated trace, from the request')
    ]
    request: Annotated[
        dict[str, JsonValueAnswer] | None,
        Field(
            description='with its defaults, at `GET /v1/jobs/{id}`; null elsewhere, and if its texts are not stored'
        ),
    ]
    error: Annotated[Problem | None, Field(description='where the job failed')]
    result: Annotated[SorResult | None, Field(description='where the job succeeded')]


class ConsistencyJob(JobMessage):
    id: str
    object: Literal['job'] = 'job'
    metric: Literal['consistency'] = 'consistency'
    status: Literal['queued', 'running', 'succeeded', 'failed', 'cancelled']
    created_at: Annotated[int, Field(description='unix seconds')]
    started_at: Annotated[
        int | None, Field(description='unix seconds; null while queued')
    ]
    finished_at: Annotated[
        int | None, Field(description='unix seconds; null until the job is final')
    ]
    timing: JobTiming
    attempts: int
    request_id: Annotated[
        str | None,
        Field(
            description='x-request-id of the request that made it, or its batch; null for older jobs'
        ),
    ]
    batch_id: str | None
    waiting_for: Annotated[
        WaitingFor | None,
        Field(description='while the job is queued because a model is not ready'),
    ]
    metadata: dict[str, str]
    context: ContextAnswer | None
    trace: Annotated[
        TraceAnswer | None, Field(description='the evaluated trace, from the request')
    ]
    request: Annotated[
        dict[str, JsonValueAnswer] | None,
        Field(
            description='with its defaults, at `GET /v1/jobs/{id}`; null elsewhere, and if its texts are not stored'
        ),
    ]
    error: Annotated[Problem | None, Field(description='where the job failed')]
    result: Annotated[
        ConsistencyResult | None, Field(description='where the job succeeded')
    ]


class ExplanationsJob(JobMessage):
    id: str
    object: Literal['job'] = 'job'
    metric: Literal['explanations'] = 'explanations'
    status: Literal['queued', 'running', 'succeeded', 'failed', 'cancelled']
    created_at: Annotated[int, Field(description='unix seconds')]
    started_at: Annotated[
        int | None, Field(description='unix seconds; null while queued')
    ]
    finished_at: Annotated[
        int | None, Field(description='unix seconds; null until the job is final')
    ]
    timing: JobTiming
    attempts: int
    request_id: Annotated[
        str | None,
        Field(
            description='x-request-id of the request that made it, or its batch; null for older jobs'
        ),
    ]
    batch_id: str | None
    waiting_for: Annotated[
        WaitingFor | None,
        Field(description='while the job is queued because a model is not ready'),
    ]
    metadata: dict[str, str]
    context: ContextAnswer | None
    trace: Annotated[
        TraceAnswer | None, Field(description='the evaluated trace, from the request')
    ]
    request: Annotated[
        dict[str, JsonValueAnswer] | None,
        Field(
            description='with its defaults, at `GET /v1/jobs/{id}`; null elsewhere, and if its texts are not stored'
        ),
    ]
    error: Annotated[Problem | None, Field(description='where the job failed')]
    result: Annotated[
        ExplanationsResult | None, Field(description='where the job succeeded')
    ]


Job = TypeAliasType(
    "Job",
    Annotated[
        ConsistencyJob | Cot2elJob | ExplanationsJob | FtcJob | HafJob | HatexscoreJob | HlvJob | IceJob | InferenceJob | SimilarityJob | SorJob | ConsistencyReportJob | Cot2elReportJob | ExplanationsReportJob | FtcReportJob | HafReportJob | HatexscoreReportJob | HlvReportJob | IceReportJob | SorReportJob,
        Field(description='A job of any kind.', discriminator='metric'),
    ],
)


class JobList(Message):
    object: Literal['list'] = 'list'
    data: list[JobSummary | Job]
    first_id: str | None
    last_id: Annotated[
        str | None, Field(description='pass it as `after` to get the next page')
    ]
    has_more: bool


class Jobs(Message):
    object: Literal['list'] = 'list'
    data: list[Job]
    has_more: Literal[False] = False


class AcceptedJobs(Message):
    object: Literal['list'] = 'list'
    data: list[Job | JobBrief]
    has_more: Literal[False] = False
