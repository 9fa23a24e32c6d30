"""The messages of the API, as docs/openapi.json describes them."""
from __future__ import annotations

# Made by sdk/generate.py from docs/openapi.json; do not edit.

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field
from touchstone_client._base import Answered, JobMessage, Message, Report, Result, Shown
from typing_extensions import TypeAliasType


class JobBrief(Message):
    id: str
    object: Literal['job'] = 'job'
    metric: str
    status: Literal['queued', 'running', 'succeeded', 'failed', 'cancelled']


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
            description="only results of this model: the first that answered or, if none was called, the one in the request, or the metric's default"
        ),
    ] = None
    of_metadata: Annotated[
        dict[str, str] | None,
        Field(
            description='only results of lines whose metadata has all of these values, for example those of one of several systems'
        ),
    ] = None
    wilcoxon: Annotated[
        bool,
        Field(
            description="whether to add Wilcoxon's signed-rank test, applied to the mean difference of each text"
        ),
    ] = False


class AttributionMethod(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    name: Literal['attention', 'gradient', 'integrated_gradients', 'lime']
    attention: Annotated[
        Literal['mean', 'last', 'rollout'],
        Field(description='how layers are combined; the heads of a layer are averaged'),
    ] = 'mean'
    gradient: Literal['l2', 'input_x_gradient'] = 'l2'
    steps: Annotated[int, Field(description='steps of integrated gradients')] = 32
    samples: Annotated[int, Field(description='perturbations of LIME')] = 500
    seed: Annotated[int, Field(description="seed of LIME's perturbations")] = 0
    calibrated: Annotated[
        bool,
        Field(
            description="whether LIME explains the probability at the model's own temperature, or at 1"
        ),
    ] = True


class BatchEvent(Message):
    id: Annotated[
        str | None,
        Field(
            description='id of the event; send the last id as `Last-Event-ID` to continue after that event'
        ),
    ] = None
    retry: Annotated[
        int | None, Field(description='milliseconds to wait before connecting again')
    ] = None
    event: Literal['end', 'batch.validating', 'batch.failed', 'batch.in_progress', 'batch.finalizing', 'batch.completed', 'batch.expired', 'batch.cancelling', 'batch.cancelled']
    data: str


class SequenceInterval(Message):
    low: float
    high: float
    of: Annotated[
        int,
        Field(
            description='number of texts so far; several results of one text are averaged'
        ),
    ]


class Plot(Message):
    name: str
    title: str
    svg: str
    png_base64: str


class Judged(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    queue: Annotated[
        str | None, Field(description='only judgements of this review queue')
    ] = None
    random: Annotated[
        bool,
        Field(
            description='whether the results are a random sample of all the texts you want to draw conclusions about'
        ),
    ] = False


Label = TypeAliasType(
    "Label", Annotated[str, Field(description='the gold label of the text')]
)


Rationale = TypeAliasType(
    "Rationale",
    Annotated[
        str,
        Field(
            description='passages of the text that people marked: JSON such as `[[start, end], …]` or `[{start, end}, …]` with character offsets, `end` exclusive; `[]` if they marked nothing'
        ),
    ],
)


Rating = TypeAliasType(
    "Rating",
    Annotated[
        str,
        Field(
            description='ratings of the explanation: one number, a list with one number per person (`4; 5`, or JSON), or one key per person that begins with this and `_`, as in `rating_anna`; yes and no are 1 and 0'
        ),
    ],
)


class GoldColumns(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    label: Annotated[Label, Field(description='the gold label of the text')] = 'gold'
    rationale: Annotated[
        Rationale,
        Field(
            description='passages of the text that people marked: JSON such as `[[start, end], …]` or `[{start, end}, …]` with character offsets, `end` exclusive; `[]` if they marked nothing'
        ),
    ] = 'gold_rationale'
    rating: Annotated[
        Rating,
        Field(
            description='ratings of the explanation: one number, a list with one number per person (`4; 5`, or JSON), or one key per person that begins with this and `_`, as in `rating_anna`; yes and no are 1 and 0'
        ),
    ] = 'rating'
    accepted_from: Annotated[
        float | None,
        Field(
            description='a rating of at least this value accepts the explanation; absent: the higher value, if there are only two values'
        ),
    ] = None


ModelKey = TypeAliasType(
    "ModelKey",
    Annotated[
        str,
        Field(
            description='metadata key whose value names the model of responses that the request sent'
        ),
    ],
)


DatasetKey = TypeAliasType(
    "DatasetKey",
    Annotated[str, Field(description='metadata key whose value names the data set')],
)


class HafReportOptions(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    model_key: Annotated[
        ModelKey,
        Field(
            description='metadata key whose value names the model of responses that the request sent'
        ),
    ] = 'model'
    dataset_key: Annotated[
        DatasetKey, Field(description='metadata key whose value names the data set')
    ] = 'dataset'


class IceReportOptions(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    alpha: Annotated[
        float, Field(description='which error rate is controlled over configurations')
    ] = 0.05
    example_alpha: Annotated[
        float,
        Field(
            description='level of the false discovery rate over examples, as in the paper'
        ),
    ] = 0.1
    error: Annotated[
        Literal['discovery', 'family'],
        Field(
            description='the error that `alpha` limits over configurations: the share of false verdicts (Benjamini-Hochberg), or the probability of any false verdict (Holm)'
        ),
    ] = 'discovery'


class OutputExpiry(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    anchor: Literal['created_at'] = 'created_at'
    seconds: int


class BatchRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    input_file_id: Annotated[
        str,
        Field(description='id of a file of purpose `batch`, with one request per line'),
    ]
    endpoint: Annotated[
        Literal['/v1/explanations', '/v1/inference', '/v1/scores/consistency', '/v1/scores/cot2el', '/v1/scores/ftc', '/v1/scores/haf', '/v1/scores/hatexscore', '/v1/scores/hlv', '/v1/scores/ice', '/v1/scores/sor', '/v1/similarity'],
        Field(
            description='the route that every line is sent to, as in /v1/scores/hatexscore'
        ),
    ]
    completion_window: Literal['24h'] = '24h'
    metadata: dict[str, str] | None = None
    language: Annotated[
        str,
        Field(
            description='language of lines that state none, BCP 47; `auto` identifies the language of each text. To score a file again in another language, create another batch from it'
        ),
    ] = 'auto'
    output_expires_after: OutputExpiry | None = None


class BatchFault(Message):
    code: str
    message: str
    param: Annotated[str | None, Field(description='JSON pointer into the line')]
    line: Annotated[
        int | None, Field(description='line number in the input file, from 1')
    ]


class BatchFaults(Message):
    object: Literal['list'] = 'list'
    data: list[BatchFault]


class Calibration(Message):
    basis: Literal['other posts'] = 'other posts'
    posts: Annotated[
        int,
        Field(
            description='number of passages of other posts; single words if the explanation quotes single words'
        ),
    ]
    least_placements: Annotated[
        int,
        Field(
            description='the smallest number of other placements that one of these passages has'
        ),
    ]
    most_placements: Annotated[int, Field(description='the most')]
    standing: Annotated[
        float,
        Field(
            description="(fall of the log odds - mean) / (standard deviation + 0.1), for the explanation's words among all other placements: how much its words stand out"
        ),
    ]
    p_anti: Annotated[
        float,
        Field(
            description='p-value of the opposite test: how often a random passage stands out at most this much'
        ),
    ]


class ConsistencyComponents(Message):
    simulatability: Annotated[
        float | None,
        Field(
            description='how often the model answers an edited text as the explanation predicts; by default the mean of two shares, over edits that should change the answer and edits that should keep it'
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
        Field(
            description='share of the edits predicted to change the answer that do change it'
        ),
    ]
    precision_stays: Annotated[
        float | None,
        Field(
            description='share of the edits predicted to keep the answer that do keep it'
        ),
    ]
    edits: Annotated[int, Field(description='edited texts that the model answered')]
    simulatable: Annotated[
        int, Field(description='edited texts whose answer the explanation predicts')
    ]
    cited_words: Annotated[
        int, Field(description='words of the text that the explanation cites')
    ]
    words: Annotated[int, Field(description='words of the text, without punctuation')]


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


class ConsistencyEdit(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    text: str
    expected: Annotated[
        Literal['changes', 'stays'] | None,
        Field(
            description='the answer that someone who reads the explanation would expect; absent: `reader` predicts it, and its rules check which of the cited words are missing'
        ),
    ] = None


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


class ConsistencyPredictions(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    answer: Annotated[str, Field(description="the model's answer to `text`")]
    edits: Annotated[
        list[str], Field(description="the model's answers to `edits`, one for each")
    ] = []
    words: Annotated[
        list[ConsistencyWordValue],
        Field(
            description='contributions of the words of `text` to answer and explanation',
            validate_default=True,
        ),
    ] = []


class ConsistencyTurn(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    role: Literal['system', 'user', 'assistant']
    content: Annotated[
        str,
        Field(
            description='`{text}` and `{label}` are replaced by the text and the decision; write a literal brace as `{{`'
        ),
    ]


class ConsistencyPrompt(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    turns: list[ConsistencyTurn]
    style: Annotated[
        Literal['chat', 'raw'],
        Field(
            description="`chat`: the model's own template; `raw`: the turns joined into one text, for a model without a template"
        ),
    ] = 'chat'


class Context(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    puid: str | None = None
    decision_ground: str | None = None
    automated_detection: str | None = None
    automated_decision: str | None = None
    content_language: str | None = None


class Cot2elComponents(Message):
    faithfulness: Annotated[
        float | None,
        Field(description='number of explanations kept, divided by the number parsed'),
    ]
    mean_similarity: Annotated[
        float | None, Field(description='mean similarity to the nearest unit')
    ]
    parsed: Annotated[
        int, Field(description='number of different explanations in the parse')
    ]
    kept: Annotated[
        int, Field(description='explanations aligned above `min_similarity`')
    ]
    contradicted: Annotated[
        int,
        Field(
            description='explanations aligned above `min_similarity` whose unit says the opposite'
        ),
    ] = 0
    distinct: Annotated[
        int,
        Field(
            description='different units of the aligned explanations, counted per label and stance'
        ),
    ]
    labels_with_support: Annotated[
        int, Field(description='options with a supporting explanation')
    ]
    units: Annotated[int, Field(description='discourse units of the reasoning')]


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
            description="probability that the unit contradicts the parse's wording; null: not computed"
        ),
    ] = None
    polarity: Annotated[
        Literal['kept', 'contradicted', 'unread'] | None,
        Field(
            description='`kept`: the unit does not say the opposite; `unread`: this could not be decided; null: it was not checked'
        ),
    ] = None


class Cot2elUnitSpan(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    start: Annotated[int, Field(description='character offset into `reasoning`')]
    end: Annotated[int, Field(description='exclusive')]


class Cot2elOtherItems(Message):
    draws: int
    faithfulness: float
    mean_similarity: float


class Cot2elShuffledWords(Message):
    draws: int
    faithfulness: float
    mean_similarity: float
    other_items: Annotated[
        Cot2elOtherItems | None,
        Field(description='control with the explanations of other items'),
    ] = None


class Cot2elWriting(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    temperature: Annotated[
        float, Field(description='sampling temperature for the reasoning and the parse')
    ] = 0.6
    top_p: float = 0.95
    max_tokens: Annotated[int, Field(description='maximum tokens of each answer')] = (
        4096
    )
    source: Annotated[
        Literal['reasoning', 'answer_text'],
        Field(
            description='the part of the answer that is the chain of thought. `reasoning`: the text between <think> and </think>; `answer_text`: the whole answer, for models that write no separate reasoning'
        ),
    ] = 'reasoning'
    structuring_model: Annotated[
        str | None,
        Field(description='model that converts the parse into JSON; absent: `model`'),
    ] = None


class Deleted(Message):
    id: str
    object: Literal['job', 'file']
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
            description='matching jobs and lines that were not deleted because they or their batch have not ended, plus batches that are still being validated; if not 0, repeat the deletion later'
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
        int | None,
        Field(
            description='time of the next attempt, unix seconds; null after the last one'
        ),
    ]
    ended_at: Annotated[int | None, Field(description='unix seconds')]


class Describe(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    operation: Literal['describe'] = 'describe'


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
        bool | None,
        Field(
            description='whether the endpoint receives events; with false its pending deliveries fail'
        ),
    ] = None
    authorization: Annotated[
        str | None, Field(description='an empty string removes it')
    ] = None
    sample: float | None = None
    metrics: list[str] | None = None
    parts: bool | None = None


class EndpointRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    url: Annotated[
        str,
        Field(
            description='address of the endpoint: https, a public host, and port 443 or 8443 unless the operator allows others'
        ),
    ]
    events: Annotated[
        list[Literal['job.succeeded', 'job.failed', 'job.cancelled', 'batch.completed', 'batch.failed', 'batch.expired', 'batch.cancelled', 'judgement.created']],
        Field(description='the events to send; empty: all events'),
    ] = []
    description: str = ''
    format: Annotated[
        Literal['standard-webhooks', 'otlp-logs', 'langfuse-scores', 'phoenix-annotations'],
        Field(
            description='`standard-webhooks`: events in the format of Standard Webhooks. The other formats push each score of a job or batch line, without texts, to an OpenTelemetry collector, Langfuse or Phoenix'
        ),
    ] = 'standard-webhooks'
    authorization: Annotated[
        str | None,
        Field(
            description='the Authorization header sent with every request, as in `Bearer KEY`; never shown'
        ),
    ] = None
    sample: Annotated[
        float, Field(description='share of the jobs whose scores are pushed')
    ] = 1.0
    metrics: Annotated[
        list[str],
        Field(description='metrics whose scores are pushed; empty: all metrics'),
    ] = []
    parts: Annotated[
        bool, Field(description='whether the parts of a score are also pushed')
    ] = False


class Endpoint(Message):
    id: str
    object: Literal['webhook_endpoint'] = 'webhook_endpoint'
    url: str
    description: str
    events: Annotated[
        list[Literal['job.succeeded', 'job.failed', 'job.cancelled', 'batch.completed', 'batch.failed', 'batch.expired', 'batch.cancelled', 'judgement.created']],
        Field(description='the events that are sent; empty: all events'),
    ]
    enabled: bool
    disabled_reason: str | None
    created_at: Annotated[int, Field(description='unix seconds')]
    last_success_at: Annotated[int | None, Field(description='unix seconds')]
    rotating_until: Annotated[
        int | None,
        Field(
            description='time until which the previous secret also signs, unix seconds'
        ),
    ]
    format: Literal['standard-webhooks', 'otlp-logs', 'langfuse-scores', 'phoenix-annotations']
    has_authorization: Annotated[
        bool, Field(description='whether requests have an Authorization header')
    ]
    sample: Annotated[
        float, Field(description='share of the jobs whose scores are pushed, (0, 1]')
    ]
    metrics: Annotated[
        list[str],
        Field(description='metrics whose scores are pushed; empty: all metrics'),
    ]
    parts: Annotated[
        bool, Field(description='whether the parts of a score are also pushed')
    ]
    untraced: Annotated[
        int,
        Field(
            description='number of jobs that were not pushed because their requests lack the `trace` that the format needs'
        ),
    ]


class EndpointNotice(Message):
    id: str
    object: Literal['webhook_endpoint'] = 'webhook_endpoint'


class EndpointWebhook(Message):
    type: Literal['endpoint.test'] = 'endpoint.test'
    timestamp: str
    data: Annotated[
        EndpointNotice,
        Field(description='The tested endpoint.', title='EndpointNotice'),
    ]


class EndpointWithSecret(Endpoint):
    secret: Annotated[
        str,
        Field(
            description='`whsec_` and base64, as Standard Webhooks libraries expect it'
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


class Row(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    kept: Annotated[
        list[int] | None,
        Field(
            description='positions of the tokens that stay, in ascending order; absent: all tokens stay'
        ),
    ] = None
    replaced: Annotated[
        list[list[int]],
        Field(description='tokens to insert, as pairs of position and token id'),
    ] = []


class Explanation(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    explanation: str
    label: Annotated[
        str, Field(description='the key of the option that the explanation is about')
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


class ExplanationsSpan(Message):
    start: Annotated[
        int, Field(description='character offset into `answer` (Unicode code points)')
    ]
    end: Annotated[int, Field(description='character offset, exclusive')]
    by: Annotated[
        Literal['rules', 'reader'],
        Field(
            description='what read the decision; `rules`: a field of the answer; `reader`: the trained reader'
        ),
    ] = 'rules'


class ExplanationsObstacle(Message):
    component: Literal['decision', 'p', 'stated_p', 'tokens']
    code: Literal['no-judge', 'not-asked', 'refused', 'explanation-unfit', 'no-rules', 'conclusion-unread', 'no-words', 'language-undecided', 'untrained-language', 'probability-missing', 'label-unknown', 'model-disagrees', 'judge-has-no-such-label', 'quote-not-found', 'quote-unread', 'answer-unread', 'label-not-listed', 'answer-cut-by-reasoning', 'no-logprobs', 'text-too-long', 'votes-too-coarse']
    detail: str


class ExplanationsGeneration(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    temperature: Annotated[float, Field(description='0: greedy')] = 0.0
    top_p: float = 1.0
    max_tokens: Annotated[
        int | None,
        Field(
            description="maximum tokens of the answer, reasoning included; absent: the prompt's default"
        ),
    ] = None


class ExplanationsOwnPolicy(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    text: Annotated[str, Field(description='the policy, as text for the model')]


class ExplanationsOwnPrompt(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    system: str | None = None
    user: Annotated[
        str,
        Field(
            description='must contain `{text}`, or `{premise}` and `{hypothesis}`, or `{scenario}` and `{question}`. May contain `{label}` (the `target_label`), `{policy}`, `{labels}` and `{language}`. Write a literal brace as `{{`'
        ),
    ]
    reader: Annotated[
        Literal['hatexscore', 'haf', 'labels', 'none'],
        Field(
            description='how to read the decision in the answer: as this metric does (`hatexscore`: hateful or not, in eight languages; `haf`: toxic or not, in English). `labels` expects a line with one of `labels`, alone or after a word such as `Label:`. `none`: the answer has no decision, because it explains `target_label`'
        ),
    ] = 'hatexscore'
    labels: Annotated[
        list[str], Field(description='the possible decisions, for the reader `labels`')
    ] = []
    policy: Annotated[
        str | None,
        Field(description='value of `{policy}` if the request names no policy'),
    ] = None
    explanation_after: Annotated[
        str | None,
        Field(
            description='text after which the explanation begins, such as `Explanation:`; absent: the whole answer is the explanation'
        ),
    ] = None


class ExplanationsPromptUse(Message):
    name: Annotated[
        str,
        Field(description="the prompt's name; `own`: the request contained the prompt"),
    ]
    version: str | None
    sha256: Annotated[
        str,
        Field(
            description="SHA-256 of the prompt's file, or of the fields of your own prompt as JSON"
        ),
    ]
    shots: Annotated[
        int, Field(description='number of demonstrations before the question')
    ]
    source: str
    deviations: Annotated[
        list[str], Field(description='how the prompt deviates from its source')
    ]


class ExplanationsUnscored(Message):
    metric: str
    code: Annotated[
        Literal['refused', 'unparsable', 'unfit'],
        Field(description='`unfit`: the metric cannot score this kind of answer'),
    ]
    detail: str


class FtcComponents(Message):
    delta: Annotated[
        float | None,
        Field(description='share of answers whose likeliest label is the target'),
    ]
    k: Annotated[
        float | None, Field(description='1 - KL(target || answer), natural logarithm')
    ]
    w: Annotated[
        float | None,
        Field(description='1 - Wasserstein-1 distance, as printed in the paper'),
    ]
    w_normalized: Annotated[
        float | None,
        Field(
            description='`w` with the distance divided by the largest distance that the target allows'
        ),
    ]
    geometric_mean_p: Annotated[float | None, Field(description='exp(k - 1)')]
    gain: Annotated[
        float | None,
        Field(
            description='mean of w_normalized minus that of random phrases, over counterfactuals that have random phrases; chance is 0'
        ),
    ] = None


class FtcSupplied(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    kind: Annotated[
        Literal['substituted', 'a', 'b'],
        Field(
            description='`substituted` for the labels entailment and contradiction; `a` or `b` for neutral'
        ),
    ]
    text: str


class FtcDistribution(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    entailment: float
    neutral: float
    contradiction: float


class FtcSimulation(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    from_input: Annotated[
        Literal['entailment', 'neutral', 'contradiction'],
        Field(description='prediction from premise and hypothesis'),
    ]
    from_input_and_explanation: Annotated[
        Literal['entailment', 'neutral', 'contradiction'],
        Field(description='prediction from premise, hypothesis and explanation'),
    ]
    from_explanation: Annotated[
        Literal['entailment', 'neutral', 'contradiction'] | None,
        Field(description='prediction from the explanation alone; needed for LAS'),
    ] = None


class FtcPerturbation(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    variance: Annotated[
        float, Field(description='variance of the Gaussian noise, whose mean is 0')
    ]
    label: Annotated[
        Literal['entailment', 'neutral', 'contradiction'],
        Field(description="the model's label under noise"),
    ]
    simulated: Annotated[
        Literal['entailment', 'neutral', 'contradiction'] | None,
        Field(
            description="the simulator's label for the noisy input together with the explanation generated from it; needed for the stability form of LRA"
        ),
    ] = None


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
            description='the input that the explanation was generated from; `another_item`: another pair of sentences'
        ),
    ] = None


class FtcSatisfaction(Message):
    delta: Annotated[
        float,
        Field(description="1 if the model's likeliest label is the target, else 0"),
    ]
    k: Annotated[
        float, Field(description='1 - KL(target || answer), natural logarithm')
    ]
    w: Annotated[
        float, Field(description='1 - Wasserstein-1 distance, as printed in the paper')
    ]
    w_normalized: Annotated[
        float,
        Field(
            description='`w` with the distance divided by the largest distance that the target allows'
        ),
    ]
    geometric_mean_p: Annotated[
        float,
        Field(
            description="exp(k - 1): the answer's probability of a hard target; over several answers, their geometric mean"
        ),
    ]


class FtcSpanEvidence(Message):
    kind: Annotated[
        Literal['a', 'b', 'replaced'],
        Field(
            description='`a`, `b`: the two sides of the relation that the explanation states; `replaced`: the span that one of them replaces'
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
        Field(description='null if the type is not known'),
    ]


class ConfusionCell(Message):
    gold: str
    decided: Annotated[
        str | None, Field(description='the decision; null if none could be read')
    ]
    results: int


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
        HafComponents,
        Field(description='values if every token of a reason has the same weight'),
    ]
    unweighted: Annotated[
        HafComponents,
        Field(
            description='values if every confidence is 1, so that only similarity counts'
        ),
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


class HafGeneration(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    temperature: float = 0.6
    top_p: float = 0.8
    max_tokens: Annotated[int, Field(description='maximum tokens of each response')] = (
        256
    )


class HafChatToken(Message):
    token: str
    logprob: Annotated[float, Field(description='natural logarithm')]
    bytes: Annotated[
        list[int] | None,
        Field(
            description="the token's UTF-8 bytes, for tokens that are not whole characters"
        ),
    ] = None


class HafChatLogprobs(Message):
    content: list[HafChatToken]


class HafCompletionLogprobs(Message):
    tokens: list[str]
    token_logprobs: list[float]


class HafAnswerWeights(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    upheld: Annotated[
        float,
        Field(
            description='for sufficiency: the reason is sufficient; for necessity: the other reasons are not'
        ),
    ] = 1.0
    doubtful: Annotated[
        float, Field(description='the reason may or may not be sufficient')
    ] = 0.5
    denied: Annotated[float, Field(description='the opposite of `upheld`')] = 0.1
    unanswered: Annotated[
        float, Field(description='the answer is irrelevant or unclear')
    ] = 0.1


class HafWeights(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    sos_confidence: Annotated[
        float,
        Field(description='w_c of Eq. 5, the weight of confidence; w_g is 1 - w_c'),
    ] = 0.8
    uii_confidence: Annotated[float, Field(description='w_c of Eq. 7')] = 0.5
    uei_confidence: Annotated[
        float, Field(description='w_c of Eq. 7 for UEI, the weight of confidence')
    ] = 0.5
    sufficiency_confidence: Annotated[
        float, Field(description='weight of confidence in Eq. 10')
    ] = 0.5
    answers: Annotated[
        HafAnswerWeights | None,
        Field(
            description='The weights of the answers (w_S and w_N of the HAF paper, section 4.3).',
            title='HafAnswerWeights',
        ),
    ] = None
    necessity_without_reasons: Annotated[
        float | None,
        Field(
            description='I_N if no reason is given, which Eq. 12 leaves undefined; absent: 0 for `robust`, 0.01 for `reference`, undefined for `paper`'
        ),
    ] = None


class HatexscoreCategoryEvidence(Message):
    kind: Literal['category'] = 'category'
    start: Annotated[None, Field(None)] = None
    end: Annotated[None, Field(None)] = None
    text: Annotated[
        str, Field(description="the label in the words of the model's entry")
    ]
    value: float | None = None
    category: Annotated[str, Field(description='the label as the model writes it')]
    model: str


class HatexscoreGroupEvidence(Message):
    kind: Literal['group'] = 'group'
    start: Annotated[
        int | None,
        Field(
            description='character offset into the explanation, or into its fields written as one text'
        ),
    ]
    end: Annotated[int | None, Field(description='character offset, exclusive')]
    text: str
    value: float | None = None
    offsets_into: Literal['explanation'] = 'explanation'
    group: Annotated[str, Field(description='name of the group in the list')]
    category: Annotated[str, Field(description='category of the group in the list')]
    found_as: Annotated[
        str, Field(description='the kind of match between the mention and the list')
    ]
    by: Annotated[
        Literal['rules', 'reader', 'llm'],
        Field(description='what read the mention; `rules`: a field, or only the list'),
    ] = 'rules'
    counts: Annotated[
        bool,
        Field(description='whether the mention counts as identification of the target'),
    ]
    reason: Annotated[
        str, Field(description='why the mention counts, or why it does not')
    ]
    attacked: Annotated[
        bool,
        Field(description='whether the explanation says that the group is attacked'),
    ] = False
    in_text: Annotated[
        bool | None,
        Field(
            description='whether the text names the same group; null if it names none, or if text and explanation have different languages'
        ),
    ] = None


class HatexscoreWeights(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    htc: Annotated[float, Field(description='weight of the Hate-Type Check')] = 1.0
    qf: Annotated[float, Field(description='weight of Quotation Faithfulness')] = 1.0
    tgi: Annotated[
        float, Field(description='weight of Target-Group Identification')
    ] = 1.0
    cc: Annotated[float, Field(description='weight of the Consistency Check')] = 1.0


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
            description='exact: equal after normalisation; inflected: a single word with a different ending in the text; fuzzy: at most 15 % of the characters differ'
        ),
    ]
    quoted_as: Annotated[
        str, Field(description='the quote as the explanation writes it')
    ]


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


class HatexscoreComponents(Message):
    htc: Annotated[
        float | None,
        Field(
            description='1 if the explanation states a conclusion, which in `robust` must not contradict the decision sent'
        ),
    ]
    qf: Annotated[
        float | None,
        Field(
            description='effect of masking the quotes, where dp is the drop of P(hateful): max(0, dp) if hateful, else 1 - max(0, dp); variants `paper` and `reference`: |dp|; 0 without a quote'
        ),
    ]
    tgi: Annotated[
        float | None,
        Field(
            description='1 if the explanation names a protected group as the target; for a non-hateful decision, a group that the text names. Null if the text names none: `not_applicable`'
        ),
    ]
    cc: Annotated[
        float | None, Field(description='1 if decision, QF and TGI are consistent')
    ]


Evidence1 = TypeAliasType(
    "Evidence1",
    Annotated[
        HatexscoreQuoteEvidence | HatexscoreGroupEvidence | HatexscoreCategoryEvidence,
        Field(discriminator='kind'),
    ],
)


class HatexscoreReason(Message):
    component: Literal['htc', 'qf', 'tgi', 'cc', 'score']
    code: Literal['refused', 'explanation-unfit', 'no-rules', 'conclusion-unread', 'no-words', 'language-undecided', 'untrained-language', 'probability-missing', 'label-unknown', 'model-disagrees', 'judge-has-no-such-label', 'quote-not-found', 'quote-unread', 'answer-unread', 'label-not-listed', 'answer-cut-by-reasoning', 'no-logprobs', 'text-too-long', 'votes-too-coarse']
    detail: str


class Health(Message):
    status: Literal['ok'] = 'ok'


class HlvAnswers(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    rankings: Annotated[
        list[dict[str, float]],
        Field(description='option → position, 1 = best; missing options tie for last'),
    ] = []
    distributions: Annotated[
        list[dict[str, float]],
        Field(description='probabilities, or weights of any sum > 0'),
    ] = []
    logits: Annotated[
        list[dict[str, float]], Field(description="logit of each option's letter")
    ] = []
    scores: Annotated[
        list[dict[str, float]],
        Field(description='rating of each option on `human.scale`'),
    ] = []


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


class HlvJudge(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    methods: Annotated[
        list[Literal['rank', 'logits', 'score']],
        Field(
            description="`rank`: the judge lists the options from best to worst. `logits`: the probability of each option's letter as the first token. `score`: the judge rates each option from 1 to 5. The score uses the first method"
        ),
    ] = ['rank', 'logits', 'score']
    runs: Annotated[
        int, Field(description='number of answers to average for `rank` and `score`')
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
        Field(
            description="R² over this item's options; null if all gold values are equal"
        ),
    ]


class HlvMeasured(Message):
    ranks: Annotated[
        dict[str, float], Field(description='ranks of the mean rank over all runs')
    ]
    values: Annotated[
        dict[str, Any] | None, Field(description='mean distribution, or mean scores')
    ]
    tau_b: Annotated[
        float | None, Field(description="Kendall's tau, corrected for ties")
    ]
    tau_a: Annotated[
        float | None,
        Field(
            description="Kendall's tau as printed in the paper (Eq. 13); ties count 0"
        ),
    ]
    spearman: Annotated[
        float | None, Field(description="Pearson's correlation of fractional ranks")
    ]
    spearman_without_ties: Annotated[
        float | None,
        Field(description="Spearman's rho as printed in the paper (Eq. 14)"),
    ]
    distribution: HlvDivergences | None
    scalar: HlvErrors | None
    runs: Annotated[int, Field(description='number of answers that are averaged')]
    invalid_runs: Annotated[
        int, Field(description='number of answers that could not be read')
    ] = 0
    label_mass: Annotated[
        float | None,
        Field(description="probability that the first token is an option's letter"),
    ] = None
    normalised: Annotated[
        dict[str, float | None] | None,
        Field(
            description='metric → (value - chance) / (ceiling - chance): 0 = the uniform judge, 1 = the agreement of people with themselves. Null where people hardly agree better than chance; empty without a ceiling'
        ),
    ] = None


class HlvMethodResult(Message):
    method: Literal['rank', 'logits', 'score']
    explained: Annotated[
        HlvMeasured | None,
        Field(description='the judge with explanations; null if none were given'),
    ]
    baseline: Annotated[
        HlvMeasured | None, Field(description='the same judge without explanations')
    ]
    gain: Annotated[
        HlvGain | None,
        Field(
            description='effect of the explanations; null without `explained` or `baseline`'
        ),
    ]


class HlvPredictions(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    explained: Annotated[
        HlvAnswers | None,
        Field(description="the judge's answers when it saw the explanations"),
    ] = None
    baseline: Annotated[
        HlvAnswers | None,
        Field(description="the judge's answers without the explanations"),
    ] = None


class HlvScale(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    low: Annotated[float, Field(description='rating of an impossible option')] = 1
    high: Annotated[float, Field(description='rating of a very likely option')] = 5


class HlvHuman(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    votes: Annotated[
        list[dict[str, float]] | dict[str, float] | None,
        Field(
            description='option → number of votes; a missing option has 0. Each source is normalised before sources are averaged'
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
    scale: Annotated[
        HlvScale | None, Field(description='scale of `ratings`', title='HlvScale')
    ] = None


class IceArea(Message):
    explanation: str
    operator: Literal['delete', 'mask', 'mask_unk', 'mask_pad', 'infill', 'mean']
    k_from: float
    k_to: float
    win_rate: Annotated[
        float | None,
        Field(
            description='area under the win rates of sufficiency over the budgets; 0.5 is chance'
        ),
    ]
    nsr: Annotated[
        float | None,
        Field(
            description='area under NSR over the budgets; null if one of the values is null'
        ),
    ]


class IceAttributedSpan(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    start: Annotated[int, Field(description='character offset (Unicode code points)')]
    end: Annotated[int, Field(description='character offset, exclusive')]
    of: Annotated[
        Literal['text', 'text_pair'],
        Field(description='the text that the offsets point into'),
    ] = 'text'
    value: Annotated[float, Field(description='importance, in your own units')]


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
        Field(
            description='two-sided p-value of the interaction, compared with those of random rationales'
        ),
    ]
    p_value: Annotated[
        float | None,
        Field(
            description='corrected p-value of both tests together; null with several budgets or operators'
        ),
    ] = None
    reading: Annotated[
        Literal['cause', 'redundant', 'sufficient', 'partner', 'needed', 'relevant', 'no evidence', 'against', 'undecidable', 'undefined'],
        Field(
            description='`cause`: the rationale alone is sufficient, and it is needed; `redundant`: it is sufficient, but so is the rest of the text; `partner`: it is needed, but works only together with the rest; `sufficient`, `needed`: only this is shown, without a clear interaction; `relevant`: only both together are significant; `against`: the prediction is stronger without it; `undecidable`: there are too few random rationales; `undefined`: there is no random rationale'
        ),
    ]


class IceComparison(Message):
    first: str
    second: str
    k: float
    operator: Literal['delete', 'mask', 'mask_unk', 'mask_pad', 'infill', 'mean']
    score_difference: Annotated[
        float,
        Field(
            description='s(first) - s(second), a difference of probabilities that involves no sampling'
        ),
    ]
    win_rate_difference: Annotated[
        float | None,
        Field(
            description='difference of win rates, first - second, over the random rationales of `draws`'
        ),
    ]
    low: Annotated[
        float | None,
        Field(
            description='95 % Wilson interval over the draws; for an exact test, the value itself'
        ),
    ]
    high: float | None
    draws: Annotated[
        int,
        Field(description='number of random rationales with which both are compared'),
    ]


class IcePlausibility(Message):
    explanation: str
    k: float | None
    human_tokens: int
    iou: Annotated[float, Field(description='intersection over union of the tokens')]
    precision: float
    recall: float
    f1: float
    auprc: Annotated[
        float | None,
        Field(
            description='average precision of the ranking, independent of the budget; null for spans without values'
        ),
    ]
    prevalence: Annotated[
        float,
        Field(
            description='share of tokens that people marked, which is the AUPRC expected by chance'
        ),
    ]


class IceRationaleEvidence(Message):
    kind: Literal['rationale'] = 'rationale'
    start: Annotated[
        int | None, Field(description='character offset into the text as sent')
    ]
    end: Annotated[int | None, Field(description='character offset, exclusive')]
    text: str
    value: Annotated[
        float | None, Field(description="mean of the values sent for the span's tokens")
    ] = None
    offsets_into: Literal['text', 'text_pair'] = 'text'
    explanation: str


class IceChance(Message):
    win_rate: Annotated[
        float,
        Field(description='mean of the score by chance, which follows from symmetry'),
    ]
    sd: Annotated[
        float | None,
        Field(
            description="standard deviation of the score: that of the operators' mean mid-ranks over random rationales. For one operator without ties, and in variants paper and reference, √((M+2)/(12M))"
        ),
    ]
    draws: Annotated[int, Field(description='M')]


class IceSpan(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    start: Annotated[int, Field(description='character offset (Unicode code points)')]
    end: Annotated[int, Field(description='character offset, exclusive')]
    of: Annotated[
        Literal['text', 'text_pair'],
        Field(description='the text that the offsets point into'),
    ] = 'text'


class IceScores(Message):
    full: Annotated[float, Field(description='s(x): score of the whole text')]
    rationale: Annotated[
        float, Field(description='s(r): score if only the rationale stays')
    ]
    empty: Annotated[
        float | None, Field(description='s(empty): score if nothing of the text stays')
    ]
    without: Annotated[
        float | None,
        Field(
            description='s(x without r): score if everything except the rationale stays; null if not requested, or if nothing would be left for the model to read'
        ),
    ] = None


class Import(Message):
    object: Literal['judgement_import'] = 'judgement_import'
    imported: int
    unchanged: Annotated[int, Field(description='judgements that already existed')]


class Attributions(Message):
    values: Annotated[list[float], Field(description='(T,), one a token')]
    convergence_gap: Annotated[
        float | None,
        Field(
            description='error of integrated gradients: the sum of the values minus the difference of the logits'
        ),
    ] = None


class Interval(Message):
    value: Annotated[
        float | None,
        Field(description='the estimate; null if there are no observations'),
    ]
    low: Annotated[
        float | None,
        Field(
            description='lower end; null for fewer than two clusters, or if undefined'
        ),
    ]
    high: float | None
    of: Annotated[int, Field(description='observations')]
    method: Annotated[
        Literal['wilson', 'studentised', 'bca', 'order', 't', 'exact'] | None,
        Field(description='the method that computed the two ends'),
    ] = None
    clusters: Annotated[
        int | None,
        Field(
            description='number of texts that the observations belong to; null: unknown'
        ),
    ] = None
    effective: Annotated[
        float | None, Field(description='effective number of independent observations')
    ] = None
    se: Annotated[
        float | None, Field(description='standard error, in units of the value')
    ] = None
    detectable: Annotated[
        float | None,
        Field(
            description='smallest true difference that this number of texts detects with power 0.8, in units of the value; null if the range of the value is narrower. Also null if all values are equal, because the spread of further values is then unknown'
        ),
    ] = None


class JobTiming(Message):
    queued_seconds: Annotated[
        float | None,
        Field(
            description="seconds from the job's acceptance to its first start, or to its end if it never started; null while queued"
        ),
    ]
    run_seconds: Annotated[
        float | None,
        Field(
            description="seconds from the job's first start to its end, including further attempts; null until it ends"
        ),
    ]


class WaitingFor(Message):
    model: str
    state: Annotated[
        Literal['absent', 'downloading', 'waiting', 'loading', 'ready', 'failed', 'away'] | None,
        Field(description="the model's state at the last attempt"),
    ] = None
    detail: Annotated[str, Field(description='why it is not ready')]


class JobEvent(Message):
    id: Annotated[
        str | None,
        Field(
            description='id of the event; send the last id as `Last-Event-ID` to continue after that event'
        ),
    ] = None
    retry: Annotated[
        int | None, Field(description='milliseconds to wait before connecting again')
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
        float | None, Field(description='the score; null if it is undefined or missing')
    ]
    error_type: Annotated[
        str | None, Field(description='the problem `type` of a failed job')
    ]


class JobProgress(Message):
    id: str
    object: Literal['job'] = 'job'
    status: Literal['queued', 'running', 'succeeded', 'failed', 'cancelled']
    attempts: int
    at: Annotated[
        int | None, Field(description='unix seconds; null if the time was not stored')
    ]


class JobSummary(JobMessage):
    id: str
    object: Literal['job'] = 'job'
    metric: str
    status: Literal['queued', 'running', 'succeeded', 'failed', 'cancelled']
    verdict: Annotated[
        Literal['holds_up', 'problem_found', 'not_tested'] | None,
        Field(description="verdict of a metric's result"),
    ]
    score: Annotated[
        float | None, Field(description="score of a metric's result; null if undefined")
    ]
    decision: Annotated[
        str | None,
        Field(
            description='the explained decision, as sent or else as stated in the explanation'
        ),
    ]
    batch_id: str | None
    metadata: dict[str, str]
    created_at: Annotated[int, Field(description='unix seconds')]
    started_at: Annotated[int | None, Field(description='unix seconds')]
    finished_at: Annotated[int | None, Field(description='unix seconds')]


class JobWebhook(Message):
    type: Literal['job.succeeded', 'job.failed', 'job.cancelled']
    timestamp: str
    data: JobNotice


JsonValue = TypeAliasType("JsonValue", Any)


class JudgementNotice(Message):
    id: str
    object: Literal['judgement'] = 'judgement'
    job_id: str
    metric: str
    verdict: Literal['agree', 'disagree', 'unsure']
    about: Annotated[str, Field(description='`score`, or the name of a part')]
    reviewer: str
    verified: bool


class JudgementWebhook(Message):
    type: Literal['judgement.created'] = 'judgement.created'
    timestamp: str
    data: JudgementNotice


class LabelAccuracy(Message):
    label: str
    gold: Annotated[int, Field(description='results with this gold label')]
    decided: Annotated[int, Field(description='results with this decision')]
    precision: Annotated[
        float | None,
        Field(description='precision; null if no result has this decision'),
    ]
    recall: Annotated[
        float | None, Field(description='recall; null if no result has this gold label')
    ]
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
            description='certainty, [0, 1]: share of letters in the script, or probability by the language model; 1: stated in the request'
        ),
    ]
    by: Annotated[
        Literal['request', 'script', 'model', 'assumed', 'undecided'],
        Field(
            description="how the language was identified. `assumed`: it was not recognised, and the language of the other text, or the model's only training language, is used; a warning reports this"
        ),
    ]
    likely: Annotated[
        list[str],
        Field(description='the likeliest languages, if the language is not recognised'),
    ] = []


class LanguageScores(Message):
    results: int
    undefined: Annotated[int, Field(description='results without a score')]
    score: Annotated[
        Interval, Field(description='mean score, with its interval over texts')
    ]


class Languages(Message):
    text: LanguageFound
    explanation: Annotated[
        LanguageFound | None,
        Field(
            description='language of the explanation; null if it has no words besides quotes of the text'
        ),
    ] = None


class LeaseRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    reviewer: Annotated[
        str | None,
        Field(description='name of the person who judges, if the key has no reviewer'),
    ] = None
    skip: Annotated[int | None, Field(description='position of a line to skip')] = None


class MarkedSpan(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    of: Annotated[
        str, Field(description='the field of the request that contains them')
    ] = 'text'
    start: Annotated[int, Field(description='character offset into the text as sent')]
    end: Annotated[int, Field(description='character offset, exclusive')]


class PartExcess(Message):
    operator: Annotated[
        Literal['delete', 'mask'],
        Field(description='the operator applied to the other words'),
    ]
    kept: Annotated[float, Field(description='share of the words that were kept')]
    excess: Annotated[
        float,
        Field(
            description='expected calibration error minus the error expected by chance'
        ),
    ]


class ModelUse(Message):
    name: str
    revision: str
    sha256: Annotated[
        str | None,
        Field(
            description='SHA-256 of the safetensors; null for a model behind a server'
        ),
    ]
    device: str
    dtype: str
    numerics: Annotated[
        Literal['bytes', 'tolerance'],
        Field(
            description='`bytes`: the same request gives the same bytes on the same kind of processor; `tolerance`: probabilities may differ by 1e-5 in float32, and by 0.02 in bfloat16, float16 and behind a server'
        ),
    ] = 'tolerance'
    prompt_sha256: Annotated[
        str | None,
        Field(
            description="hash of a causal model's own prompt with an empty text; for a model behind a server, hash of the prompt's turns as JSON"
        ),
    ] = None
    preset: Annotated[
        str | None,
        Field(
            description="the preset (settings including the prompt) that the model's entry names, as name@version"
        ),
    ] = None
    runtime: Annotated[
        Literal['openvino'] | None,
        Field(description='the runtime of the model, if it is not torch'),
    ] = None
    system_fingerprint: Annotated[
        str | None,
        Field(
            description="the version of the model's server, as last reported by the server"
        ),
    ] = None
    warnings: Annotated[
        list[str],
        Field(
            description="known problems of the model's labels, repeated in every report that uses the model"
        ),
    ] = []
    thresholds: Annotated[
        dict[str, float] | None,
        Field(
            description='label → smallest probability at which it is the decision; absent: the likeliest label is the decision'
        ),
    ] = None
    on_parts: Annotated[
        list[PartExcess],
        Field(
            description="the model's calibration on parts of texts, if its card states this",
            validate_default=True,
        ),
    ] = []
    training_tokens: Annotated[
        list[int] | None,
        Field(
            description="1st and 99th percentile of the number of tokens, special ones included, in the model's training texts, if its card states them"
        ),
    ] = None


class ReviewItem(Message):
    position: int
    line: Annotated[int, Field(description='line number in the batch')]
    job_id: str
    leased_until: Annotated[int, Field(description='unix seconds')]


class NliQuestion(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    premise: str
    hypothesis: str


class NullReason(Message):
    component: Annotated[
        str, Field(description='the component that is null, or `score`')
    ]
    code: Literal['refused', 'explanation-unfit', 'no-rules', 'conclusion-unread', 'no-words', 'language-undecided', 'untrained-language', 'probability-missing', 'label-unknown', 'model-disagrees', 'judge-has-no-such-label', 'quote-not-found', 'quote-unread', 'answer-unread', 'label-not-listed', 'answer-cut-by-reasoning', 'no-logprobs', 'text-too-long', 'votes-too-coarse']
    detail: str


class Option(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    key: Annotated[str, Field(description='the letter that is shown before the option')]
    text: str


class PartAgreement(Message):
    part: Annotated[str, Field(description="`score`, or the part's name")]
    auc: Annotated[
        Interval,
        Field(
            description='how often an explanation that people agree with has the higher value; chance is 0.5'
        ),
    ]
    human_score: Annotated[
        Interval,
        Field(description='rank correlation with the scores given by people, [-1, 1]'),
    ]


class PartSummary(Message):
    mean: Annotated[
        Interval, Field(description='mean over the results that have this part')
    ]
    undefined: Annotated[
        int,
        Field(description='number of results where this part applies but is unknown'),
    ]
    not_applicable: Annotated[
        int, Field(description='number of results where this part does not apply')
    ]


class Plausibility(Message):
    results: Annotated[
        int,
        Field(
            description='results where people marked passages, or where the explanation is based on passages'
        ),
    ]
    without_spans: Annotated[
        int,
        Field(
            description='number of these results whose explanation is based on no passage'
        ),
    ]
    character_f1: Annotated[
        Interval,
        Field(description='F1 of the overlap in characters, mean over results, [0, 1]'),
    ]
    span_f1: Annotated[
        Interval,
        Field(
            description='F1 of passages; a passage matches if intersection over union is at least 0.5'
        ),
    ]
    chance: Annotated[
        Interval,
        Field(
            description='expected `character_f1` if the passages were at random places in the text'
        ),
    ]
    above_chance: Annotated[
        Interval, Field(description='mean of `character_f1` - chance, [-1, 1]')
    ]


class Probabilities(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    operation: Literal['probabilities'] = 'probabilities'
    texts: list[str]


class ProblemChange(Message):
    problem: Annotated[
        str, Field(description='code of the problem, as in `problems` of a result')
    ]
    only_new: Annotated[
        int,
        Field(description="pairs where only the report's own result has the problem"),
    ]
    only_baseline: Annotated[
        int,
        Field(description='pairs where only the result of `against` has the problem'),
    ]
    p_value: Annotated[
        float | None,
        Field(
            description='two-sided p-value for the hypothesis that both systems have the problem equally often'
        ),
    ]
    p_adjusted: Annotated[
        float | None, Field(description='`p_value` after Holm over all problems')
    ]


class FieldError(Message):
    detail: str
    pointer: Annotated[
        str,
        Field(description='JSON pointer (RFC 6901) into the body, as a URI fragment'),
    ]


class SdkError(Message):
    message: Annotated[
        str, Field(description='title, detail and location in one sentence')
    ]
    type: Annotated[
        str, Field(description="type in OpenAI's form, such as `invalid_request_error`")
    ]
    code: Annotated[str, Field(description="the last part of the problem's `type`")]
    param: Annotated[
        str | None,
        Field(description='the first invalid field, as in `requests.17.text`'),
    ]


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
    error: Annotated[
        SdkError,
        Field(
            description="The problem in the form of OpenAI's SDKs.", title='SdkError'
        ),
    ]
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
            description='for status 429: `requests` (see RateLimit-Policy), `open-jobs`, `open-streams`, `open-batches`, `stored-files`, `stored-bytes`, `uploads` or `bulk-calls`',
        ),
    ] = None


class Turn(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    role: Literal['system', 'user', 'assistant']
    content: str


class Prompt(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    text: str | None = None
    turns: list[Turn] | None = None
    draw: Annotated[
        int | None,
        Field(
            description="number that is combined with the seed in place of the prompt's position in the call, so that a prompt gets the same answer alone and among others; absent: the position"
        ),
    ] = None


class PromptKeys(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    style: Annotated[
        Literal['chat', 'raw'] | None,
        Field(
            description="`chat`: uses the model's chat template, the default if there is one; `raw`: the prompt consists of `user` alone"
        ),
    ] = None
    system: str | None = None
    policy: Annotated[str | None, Field(description='value of `{policy}`')] = None
    user: Annotated[
        str | None,
        Field(description="the user's turn; absent: the standard question of the task"),
    ] = None
    after: Annotated[
        str | None,
        Field(
            description='a further turn of the user, after the turn with the text (Granite Guardian)'
        ),
    ] = None
    answer_prefix: Annotated[
        str, Field(description="text that precedes the label in the model's answer")
    ] = ''
    verbalizers: Annotated[
        dict[str, Any] | None,
        Field(description='label → strings that the model writes for it'),
    ] = None
    template_kwargs: Annotated[
        dict[str, Any] | None, Field(description='arguments of the chat template')
    ] = None
    add_generation_prompt: bool = True
    thinking: Annotated[
        Literal['off', 'before'],
        Field(description='`before`: the model writes its reasoning before the label'),
    ] = 'off'
    reasoning_tokens: int = 512
    draws: Annotated[
        int,
        Field(
            description='number of reasonings that are drawn; the probabilities are averaged over them'
        ),
    ] = 1


class Provenance(Message):
    metric_version: str
    variant: Literal['robust', 'paper', 'reference']
    seed: int
    parameters: Annotated[
        dict[str, Any],
        Field(description='the parameters that were used, including defaults'),
    ]
    models: Annotated[list[ModelUse], Field(description='models that were called')]
    service_version: str
    text_key: Annotated[
        str | None,
        Field(
            description='keyed hash (BLAKE2b, 128 bits) of the judged text, ignoring case and spaces; results of one text have the same hash, even after the text is deleted. It is comparable within this installation only; absent if the installation has no TOUCHSTONE_SECRET_KEYS'
        ),
    ] = None


class QueueProgress(Message):
    done: int
    skipped: int
    left: int
    seconds: Annotated[
        float | None,
        Field(description='median time that a judgement of this queue took'),
    ]


class Readiness(Message):
    status: Literal['ok'] = 'ok'
    ledger: Literal['ok'] = 'ok'
    broker: Literal['ok'] = 'ok'
    files: Annotated[
        str,
        Field(
            description='`ready`, or why the file store is unavailable; until it is available, batches wait and uploads are rejected'
        ),
    ]
    workers: Annotated[
        dict[str, str],
        Field(
            description='service → `ready`, or why its jobs wait: its worker is starting or not running'
        ),
    ]


class ReplayRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    delivery: Annotated[
        str | None,
        Field(description='id of an ended delivery; null: all failed deliveries'),
    ] = None


class Replayed(Message):
    object: Literal['webhook_replay'] = 'webhook_replay'
    replayed: int


class RequestCounts(Message):
    total: int
    completed: int
    failed: int


class ReviewQueueRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    batch: str
    name: str
    query: Annotated[
        str,
        Field(
            description="filters of the lines, written as in the address of the batch's table"
        ),
    ] = ''
    order: Annotated[
        Literal['random', 'surprising', 'uncertain'],
        Field(
            description="order of the lines. `uncertain`: lines closest to the verdict's threshold first. Only results from `random` queues are valid for the whole batch"
        ),
    ] = 'random'
    lines: Annotated[int, Field(description='maximum number of lines')] = 60
    per_line: Annotated[
        int, Field(description='number of people who judge each line')
    ] = 1
    blind: Annotated[
        bool,
        Field(description='hide the score and the verdict until the person has judged'),
    ] = True
    seed: Annotated[int, Field(description='seed of the random order')] = 0
    rubric: Annotated[
        list[Literal['agree', 'score', 'label', 'spans', 'note']],
        Field(description='the questions that reviewers answer'),
    ] = ['agree']


class ReviewQueue(Message):
    id: str
    object: Literal['review_queue'] = 'review_queue'
    name: str
    metric: str
    batch_id: str
    query: Annotated[
        list[list[str]], Field(description='the filters when the queue was created')
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
        bool,
        Field(
            description='true if the name is that of the key, false if the caller sent it'
        ),
    ]
    verdict: Literal['agree', 'disagree', 'unsure', 'withdrawn']
    about: Annotated[str, Field(description='`score`, or the name of a part')]
    human_score: Annotated[float | None, Field(description='[0, 1]')]
    human_label: str | None
    spans: Annotated[
        list[MarkedSpan],
        Field(description='passages that the person marked as decisive'),
    ]
    note: str | None
    blind: Annotated[
        bool, Field(description='whether the score was hidden while the person judged')
    ]
    queue_id: str | None
    seconds: Annotated[
        float | None, Field(description='seconds that the person took to judge')
    ]
    supersedes: str | None
    current: Annotated[
        bool,
        Field(description="whether this is the person's latest judgement of the job"),
    ]
    source: Annotated[
        str | None, Field(description='the system that it was imported from')
    ]
    created_at: Annotated[int, Field(description='unix seconds')]
    key_id: Annotated[
        str | None,
        Field(description='the key that sent the judgement; for keys of scope `admin`'),
    ]
    address_family: Annotated[
        str | None,
        Field(
            description='IPv4 or IPv6 address of the sender; for keys of scope `admin`'
        ),
    ]
    request_id: Annotated[
        str | None,
        Field(
            description='id of the request that sent the judgement; for keys of scope `admin`'
        ),
    ]


class ReviewerPair(Message):
    first: str
    second: str
    texts: int
    agreed: Annotated[
        Interval, Field(description='share of texts with the same judgement by both')
    ]
    kappa: Annotated[
        float | None,
        Field(
            description="Cohen's kappa, [-1, 1]; null if both gave the same answer to every text"
        ),
    ]


class RotationRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    overlap_seconds: Annotated[
        int, Field(description='seconds for which the previous secret also signs')
    ] = 86400


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
            description="JSON Schema that the answer of a chat must match, if the model's server enforces schemas"
        ),
    ] = None


class Scenario(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    scenario: str
    question: str


class ScoreChange(Message):
    new_job: str
    baseline_job: str
    custom_id: str | None
    new: float
    baseline: float
    difference: Annotated[float, Field(description='new - baseline')]


class ScoreCompletions(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    operation: Literal['score'] = 'score'
    prompts: list[Prompt]
    completions: list[str]


class ScoreDecile(Message):
    low: float
    high: float
    agreed: Annotated[
        Interval, Field(description='share of judgements that agree with the metric')
    ]


class ServerAbilities(Message):
    name: str
    source: Annotated[
        str, Field(description='the scheme of the source; addresses are not shown')
    ]
    served: str
    owner: Annotated[
        str | None, Field(description='owner of the model, as reported by the server')
    ] = None
    milliseconds: Annotated[
        float | None, Field(description='time that one short answer took')
    ] = None
    error: Annotated[str | None, Field(description='why it cannot be used')] = None
    is_away: Annotated[bool, Field(description='true if the error is temporary')] = (
        False
    )
    lists_models: bool | None = None
    completions: bool | None = None
    chat: bool | None = None
    given_text: Annotated[
        str | None, Field(description='method by which the server scores a given text')
    ] = None
    tells_tokens: bool | None = None
    top_logprobs: Annotated[
        int | None,
        Field(
            description='number of tokens whose log-probabilities the server lists; 0: none'
        ),
    ] = None
    asked_logprobs: int | None = None
    label_endpoint: str | None = None
    prefill_continues: bool | None = None
    reasoning_field: str | None = None
    limit_field: str | None = None
    left_out: Annotated[
        list[str], Field(description='request fields that the server rejects')
    ] = []
    seed_repeats: Annotated[
        int | None, Field(description='number of equal answers among 3 draws')
    ] = None
    length: Annotated[
        int | None,
        Field(description='context length in tokens, as reported by the server'),
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
        str | None,
        Field(description='why the probabilities of the test text could not be read'),
    ] = None
    metrics: dict[str, str] | None = None


class Pair(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    a: str
    b: str


class SimilarityRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    model: Annotated[
        str | None, Field(description='a configured model; absent: the default model')
    ] = None
    metadata: Annotated[
        dict[str, str] | None, Field(description='at most 16 pairs')
    ] = None
    context: Annotated[
        Context | None, Field(description='your own data, returned with the job')
    ] = None
    webhook: Annotated[
        str | None,
        Field(
            description='the only webhook endpoint to notify; absent: all that receive the event'
        ),
    ] = None
    do_not_store_text: Annotated[
        bool, Field(description='store no text after the job ends')
    ] = False
    pairs: Annotated[
        list[Pair],
        Field(
            description='a cross-encoder reads `a` before `b`; a bi-encoder ignores the order'
        ),
    ]


class SimilarityResult(Message):
    similarities: Annotated[
        list[float], Field(description='similarity, from 0 to 1 (most similar)')
    ]
    model: ModelUse
    service_version: str


class SorComponents(Message):
    completeness: Annotated[
        float | None,
        Field(
            description='mean of all items except `facts`; items that the form has no field for do not count'
        ),
    ]
    specificity: Annotated[
        float | None,
        Field(
            description='how far the statement names the facts of this post: 1 with a quotation, up to 0.95 for words of the post, minus what words of other posts would reach'
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
            description="Article 17(3)(f): share of complaint, out-of-court settlement and court that is named; null for the database's fields, which lack it"
        ),
    ]
    quotes: Annotated[int, Field(description='number of quotations of the post')]
    quotes_not_found: Annotated[
        int,
        Field(
            description='number of quotations that are neither from the post nor from a rule'
        ),
    ]
    post_words: Annotated[
        int,
        Field(
            description='number of different content words of the post in the statement'
        ),
    ]
    faithfulness: Annotated[
        float | None,
        Field(
            description='with a `model`: share of random other words of the post that support its decision less than the words that the statement names; chance is 0.5; not part of the score'
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
            description='the text that `start` and `end` refer to: `statement`, or one of its fields'
        ),
    ]
    route: Annotated[
        Literal['internal_complaint', 'out_of_court_settlement', 'court'] | None,
        Field(description='the route of `redress`'),
    ] = None
    post_start: Annotated[
        int | None, Field(description='character offset into `text`')
    ] = None
    post_end: Annotated[
        int | None, Field(description='character offset into `text`, exclusive')
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


class SplitPair(Message):
    first: str
    second: str
    difference: Annotated[
        float,
        Field(
            description='mean of `second` minus mean of `first`, in units of the score'
        ),
    ]
    p_value: Annotated[
        float | None,
        Field(
            description='p-value for equal means; null if there is nothing to permute'
        ),
    ]
    p_adjusted: Annotated[
        float | None, Field(description='`p_value` after Holm over all pairs')
    ]


class SplitValue(Message):
    value: str
    results: int
    undefined: Annotated[int, Field(description='results with this value but no score')]
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


class DifferenceBounds(Message):
    low: float
    high: float
    pairs: Annotated[
        int, Field(description='all pairs, including those with an undefined score')
    ]


class VerdictChange(Message):
    new: Literal['holds_up', 'problem_found', 'not_tested']
    baseline: Literal['holds_up', 'problem_found', 'not_tested']
    pairs: int


class DifferenceHistogram(Message):
    low: float
    high: float
    counts: list[int]


class DensityCell(Message):
    new: Annotated[
        int, Field(description='column of the grid, counted from the lowest score')
    ]
    baseline: Annotated[
        int, Field(description='row of the grid, counted from the lowest score')
    ]
    pairs: int


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
        Field(description='the part of the example that each token belongs to'),
    ]
    starts: Annotated[
        list[int | None],
        Field(
            description='start of each token, as a character offset into `text` (or `text_pair`); null for other parts'
        ),
    ]
    ends: Annotated[
        list[int | None],
        Field(description='end of each token, exclusive; null for other parts'),
    ]
    truncated: Annotated[
        bool,
        Field(
            description='true if the example is too long and the model reads only its beginning'
        ),
    ]
    mask_id: Annotated[
        int | None, Field(description='the text of a masked token, if there is one')
    ]
    unk_id: int | None
    pad_id: int | None
    mask_text: Annotated[
        str | None,
        Field(
            description='the token that replaces a masked token in a text: mask, else unk, pad, eos'
        ),
    ] = None


class Trace(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    trace_id: Annotated[
        str | None, Field(description='trace id of W3C Trace Context, 32 hex digits')
    ] = None
    span_id: Annotated[
        str | None, Field(description='id of the span, 16 hex digits')
    ] = None
    response_id: Annotated[
        str | None, Field(description="id that the model's server gave to its answer")
    ] = None
    session_id: Annotated[str | None, Field(description='id of the conversation')] = (
        None
    )


class Truncated(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    operation: Literal['truncated'] = 'truncated'
    texts: list[str]


class Unread(Message):
    code: Literal['answer-unread', 'label-not-listed', 'answer-cut-by-reasoning', 'no-logprobs', 'text-too-long', 'votes-too-coarse']
    detail: str


class WantedEffect(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    effect: Annotated[
        float | None,
        Field(
            description='the smallest difference that the study should detect, in units of the score: between the mean score and a fixed value, or between the means of two systems on the same texts'
        ),
    ] = None
    beat_rate: Annotated[
        float | None,
        Field(
            description='the share of random explanations that a good explanation beats; the test of such an explanation should detect this'
        ),
    ] = None
    power: Annotated[
        float,
        Field(description='power: the probability that the tests detect the effect'),
    ] = 0.8
    alpha: Annotated[float, Field(description='significance level of the tests')] = 0.05


class WebhookTest(Message):
    id: Annotated[str, Field(description='the `webhook-id` of the delivery')]
    object: Literal['webhook_test'] = 'webhook_test'
    delivered: Annotated[
        bool, Field(description='whether the endpoint answered with status 2xx')
    ]
    status: Annotated[
        int | None, Field(description="the HTTP status of the endpoint's answer")
    ]
    milliseconds: Annotated[
        int, Field(description='milliseconds from name resolution to the answer')
    ]
    error: Annotated[str | None, Field(description='why the event was not delivered')]
    untraced: Annotated[
        int,
        Field(
            description='number of jobs that were not pushed because their requests lack the `trace` that the format needs'
        ),
    ]
    note: Annotated[
        str | None, Field(description='notes on jobs whose scores were not pushed')
    ]


class WordJudgements(Message):
    probabilities: Annotated[
        list[list[float] | None],
        Field(
            description='an array of shape (R, L) whose rows sum to 1; a row is null if it could not be read'
        ),
    ]
    unread: Annotated[
        Unread | None,
        Field(description='the reason why the first null row could not be read'),
    ] = None
    uncertainty: Annotated[
        float, Field(description='the largest uncertainty of any row')
    ] = 0


class WordSpan(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    start: Annotated[int, Field(description='character offset (Unicode code points)')]
    end: Annotated[int, Field(description='character offset, exclusive')]
    of: Literal['text', 'text_pair'] = 'text'


class WordRow(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    kept: Annotated[
        list[int] | None,
        Field(
            description='positions of the words that stay, in ascending order; absent: all words stay'
        ),
    ] = None
    masked: Annotated[
        list[int],
        Field(
            description="positions of the words that are replaced by the model's `mask_text`"
        ),
    ] = []
    replaced: Annotated[
        list[list[int | str]], Field(description='pairs of a word and its replacement')
    ] = []


class WrittenToken(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    id: Annotated[
        int | None, Field(description='null if the server does not report it')
    ]
    start: Annotated[
        int, Field(description="character offset into the completion's text")
    ]
    end: Annotated[int, Field(description='character offset, exclusive')]
    logprob: Annotated[
        float,
        Field(
            description="natural logarithm of the token's probability, before temperature is applied"
        ),
    ]


class Check(Message):
    name: Annotated[str, Field(description='such as `quotes-in-post`')]
    outcome: Annotated[
        Literal['passed', 'failed', 'inconclusive', 'not_tested', 'not_applicable'],
        Field(
            description='`inconclusive`: tested without a clear result; `not_tested`: could not be tested; `not_applicable`: the question does not arise'
        ),
    ]
    reason: Annotated[
        str | None,
        Field(
            description='code of the problem, or of the reason why there is no answer; otherwise null'
        ),
    ] = None
    sentence: Annotated[
        str,
        Field(
            description="the result of the check in plain English, without the request's text"
        ),
    ]


class Untested(Message):
    reason: str
    action: str


class MetricResult(Result):
    score: Annotated[
        float | None, Field(description='null if undefined; `reasons` says why')
    ]
    verdict: Annotated[
        Literal['holds_up', 'problem_found', 'not_tested'],
        Field(
            description='`problem_found`: a check failed; `holds_up`: every check that could be tested passed, including the checks that the metric requires; otherwise `not_tested`'
        ),
    ]
    reason: Annotated[
        str,
        Field(
            description="the reason for the verdict in one sentence, without the request's text"
        ),
    ]
    checks: Annotated[
        list[Check], Field(description='the checks, the most important question first')
    ]
    problems: Annotated[
        list[str], Field(description='codes of the failed checks, worst first')
    ]
    untested: Annotated[
        list[Untested],
        Field(description='reasons why checks have no answer, with advice for each'),
    ]
    direction: Literal['higher_is_better', 'lower_is_better'] = 'higher_is_better'
    languages: Annotated[
        Languages | None,
        Field(
            description='languages, and how they were identified; null if no model or rule depends on them'
        ),
    ] = None
    provenance: Provenance
    details: Annotated[
        dict[str, Any] | None,
        Field(
            description="the metric's additional fields, described on its page; null without `expand=details`"
        ),
    ]


class Histogram(Message):
    low: Annotated[
        float, Field(description='the smallest value, where the first bin begins')
    ]
    high: Annotated[
        float,
        Field(description='the largest value, where the last bin ends (inclusive)'),
    ]
    counts: Annotated[
        list[int],
        Field(
            description='number of values in each bin, lowest first; a single bin if all values are equal'
        ),
    ]


class Null(Message):
    placements: Annotated[
        int | None,
        Field(
            description='number of other possible explanations of this kind; null if above 1e15 or not counted'
        ),
    ] = None
    win_rate_draws: Annotated[
        int | None,
        Field(
            description='number of draws in the first round, on which the win rate is based; whether more are drawn depends on their result'
        ),
    ] = None
    exact: Annotated[
        bool,
        Field(
            description='whether the draws are all possible explanations of this kind'
        ),
    ] = False
    overlap: Annotated[
        float | None,
        Field(
            description="mean intersection over union of the tested explanation's units and those of a random one. Near 1, they are almost the same, and the win rate tends to 1/2. Null if the explanation is not a set of units"
        ),
    ] = None
    p_anti: Annotated[
        float | None,
        Field(
            description='one-sided p-value of the opposite test: draws with at most this score'
        ),
    ] = None
    p_two_sided: Annotated[
        float | None,
        Field(description='two-sided p-value: twice the smaller of the two, at most 1'),
    ] = None
    ties: Annotated[
        float | None, Field(description='share of the draws with the same score')
    ] = None
    mean: Annotated[float | None, Field(description="mean of the draws' scores")] = None
    deciles: Annotated[
        list[float],
        Field(
            description="the 10 % to 90 % quantiles of the draws' scores; empty without draws"
        ),
    ] = []
    histogram: Annotated[
        Histogram | None,
        Field(
            description="histogram of the draws' scores, in 20 equal bins; null without draws"
        ),
    ] = None


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
        str | None, Field(description='a configured model; absent: the default model')
    ] = None
    metadata: Annotated[
        dict[str, str] | None, Field(description='at most 16 pairs')
    ] = None
    context: Annotated[
        Context | None, Field(description='your own data, returned with the job')
    ] = None
    webhook: Annotated[
        str | None,
        Field(
            description='the only webhook endpoint to notify; absent: all that receive the event'
        ),
    ] = None
    do_not_store_text: Annotated[
        bool, Field(description='store no text after the job ends')
    ] = False
    batch: Annotated[str | None, Field(description="a batch's id")] = None
    jobs: Annotated[
        list[str] | None, Field(description='ids of jobs of this metric')
    ] = None
    of_model: Annotated[
        str | None,
        Field(
            description="only results of this model: the first that answered or, if none was called, the one in the request, or the metric's default"
        ),
    ] = None
    of_metadata: Annotated[
        dict[str, str] | None,
        Field(
            description='only results of lines whose metadata has all of these values, for example those of one of several systems'
        ),
    ] = None
    seed: Annotated[int, Field(description='seed of the bootstrap')] = 0
    resamples: Annotated[
        int, Field(description='number of resamples of the bootstrap')
    ] = 2000
    confidence: Annotated[
        float, Field(description='confidence level of every interval')
    ] = 0.95
    cluster_key: Annotated[
        str | None,
        Field(
            description='metadata key whose value groups results; without a key, or for a result without a value, results of the same text form a group'
        ),
    ] = None
    sequence: Annotated[
        bool,
        Field(
            description='whether to add an interval of the mean score that is valid however often you check a growing batch'
        ),
    ] = False
    against: Annotated[
        Against | None,
        Field(
            description="another system's results on the same texts, for `comparison`"
        ),
    ] = None
    further: Annotated[
        list[Against],
        Field(
            description='more systems to compare with `against`', validate_default=True
        ),
    ] = []
    judged: Annotated[
        Judged | None,
        Field(description="people's judgements of these results, for `agreement`"),
    ] = None
    plan: Annotated[
        WantedEffect | None,
        Field(
            description='an effect, for which `plan` states how many texts and draws would detect it'
        ),
    ] = None
    by: Annotated[
        list[str],
        Field(
            description='keys by which `splits` splits the scores: `metadata.<key>`, `model`, `variant`, `language`, `verdict`, `decision_sent`, `decision_stated`'
        ),
    ] = []
    gold: Annotated[
        GoldColumns | None,
        Field(
            description="metadata keys of gold labels, marked passages and ratings: see the report's `gold`",
            title='GoldColumns',
        ),
    ] = None
    pairwise: Annotated[
        bool, Field(description='whether to compare the values of each split in pairs')
    ] = False
    mixed: Annotated[
        bool,
        Field(
            description='whether to combine results of several versions of the metric, with a warning; otherwise such a request is rejected, because the numbers of different versions have different meanings'
        ),
    ] = False
    metric: Literal['consistency', 'cot2el', 'explanations', 'ftc', 'haf', 'hatexscore', 'hlv', 'ice', 'sor']
    options: Annotated[
        HafReportOptions | IceReportOptions | None,
        Field(
            description="options of the metric's own report; only `haf` and `ice` have such options"
        ),
    ] = None


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
            description='number of lines deleted on request; the counts include them'
        ),
    ]
    metadata: dict[str, str]


class BatchWebhook(Message):
    type: Literal['batch.completed', 'batch.failed', 'batch.expired', 'batch.cancelled']
    timestamp: str
    data: BatchNotice


class CalibratedThreshold(Message):
    results: Annotated[
        int, Field(description='results whose ratings have a majority of yes or of no')
    ]
    ties: Annotated[
        int, Field(description='results left out because as many people say yes as no')
    ]
    value: Annotated[
        float | None,
        Field(
            description='threshold of the score; a score at least as good is accepted; null: `reason` gives the reason'
        ),
    ]
    low: Annotated[
        float | None,
        Field(
            description="lower end of the threshold's interval, by percentile bootstrap over texts"
        ),
    ]
    high: float | None
    agreed: Annotated[
        Interval,
        Field(
            description='share of texts where score and majority agree, [0, 1]; the threshold for each text is chosen without this text'
        ),
    ]
    chance: Annotated[
        float | None,
        Field(
            description='share of texts that would agree if every text had the more frequent answer'
        ),
    ]
    kappa: Annotated[
        Interval, Field(description="Cohen's kappa of the same decisions, [-1, 1]")
    ]
    alpha_people: Annotated[
        Interval,
        Field(
            description="Krippendorff's alpha (nominal) of people's yes and no, over all texts rated by several people, ties included"
        ),
    ]
    alpha_with_score: Annotated[
        Interval,
        Field(
            description="`alpha_people` with the score's decisions as one more person; if it is not much lower, the score decides like a person"
        ),
    ]
    reason: Annotated[
        str | None, Field(description='the reason why the threshold is null')
    ] = None


class ComparisonSlice(Message):
    by: str
    value: str
    pairs: Annotated[int, Field(description='pairs where both systems have a score')]
    difference: Annotated[
        Interval,
        Field(description='mean of new - baseline, with its interval over texts'),
    ]


class Completion(Message):
    text: str
    tokens: list[WrittenToken]
    finish: Annotated[
        Literal['stop', 'length', 'given'],
        Field(
            description='why the generation ended; `given`: the text was not generated but scored'
        ),
    ]
    reasoning: Annotated[
        str | None,
        Field(
            description="reasoning that a chat server's model wrote first; kept if the model's entry says `keep_reasoning`, and never scored"
        ),
    ] = None


class ComponentDifference(Message):
    component: Annotated[str, Field(description="`score`, or the component's name")]
    pairs: Annotated[
        int, Field(description='number of pairs where both systems have this component')
    ]
    difference: Annotated[
        Interval,
        Field(
            description="mean of new - baseline, in units of the component, with its interval over texts; above 0, the report's own results have the larger number"
        ),
    ]
    new: Annotated[
        float | None, Field(description='mean of the new system on these pairs')
    ] = None
    baseline: Annotated[
        float | None, Field(description='mean of the baseline on these pairs')
    ] = None
    p_value: Annotated[
        float | None,
        Field(
            description='two-sided p-value for a mean difference of 0: the larger of `p_t` and `p_randomization`; null without pairs, 1 for a single text'
        ),
    ]
    p_t: Annotated[float | None, Field(description='p-value of a t test over texts')]
    p_randomization: Annotated[
        float | None,
        Field(
            description="p-value of sign flips of whole texts; for 0/1 parts on single texts McNemar's exact p"
        ),
    ]
    p_adjusted: Annotated[
        float | None,
        Field(description='`p_value` after Holm over all components of the comparison'),
    ] = None
    p_systems: Annotated[
        float | None,
        Field(
            description='for the score: `p_value` after Holm also over `further` systems'
        ),
    ] = None
    p_wilcoxon: Annotated[
        float | None,
        Field(
            description='p-value of the signed-rank test, if requested; null: no text differs'
        ),
    ] = None
    effect: Annotated[
        float | None,
        Field(
            description='mean of new - baseline, divided by its standard deviation over pairs; null if that is 0'
        ),
    ]
    higher: Annotated[
        int, Field(description='pairs where the new system has the larger value')
    ]
    equal: int
    lower: Annotated[
        int, Field(description='pairs where the new system has the smaller value')
    ]


class ConsistencyNull(Null):
    kind: Literal['spans', 'predictions', 'permuted words']
    draws: Annotated[int, Field(description='number of random explanations compared')]
    p_value: Annotated[
        float | None,
        Field(
            description='one-sided p-value: (1 + draws with at least this score) / (1 + draws); from the first round if its result is clear'
        ),
    ] = None
    attainable_p: Annotated[
        float | None,
        Field(
            description='the smallest possible p-value, with all draws that the request allows or with all placements'
        ),
    ] = None
    sd: Annotated[
        float | None,
        Field(
            description="standard deviation of the draws' scores, over n - 1; null for a single draw"
        ),
    ] = None
    win_rate: Annotated[
        float | None,
        Field(description='share of random draws that score lower; ties count half'),
    ] = None


class Cot2elRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    model: Annotated[
        str | None, Field(description='a configured model; absent: the default model')
    ] = None
    metadata: Annotated[
        dict[str, str] | None, Field(description='at most 16 pairs')
    ] = None
    context: Annotated[
        Context | None, Field(description='your own data, returned with the job')
    ] = None
    webhook: Annotated[
        str | None,
        Field(
            description='the only webhook endpoint to notify; absent: all that receive the event'
        ),
    ] = None
    do_not_store_text: Annotated[
        bool, Field(description='store no text after the job ends')
    ] = False
    variant: Annotated[
        Literal['robust', 'paper', 'reference'],
        Field(
            description='`robust`: the paper with its defects corrected; `paper`: the equations as printed; `reference`: like the released code'
        ),
    ] = 'robust'
    seed: Annotated[int, Field(description='seed of every random draw')] = 0
    trace: Annotated[
        Trace | None,
        Field(
            description='the judged answer in your tracing, to which scores are attached'
        ),
    ] = None
    language: Annotated[
        str,
        Field(
            description='BCP 47 language of question and reasoning; `auto` detects it for each. The prompts are English. The segmentation rules cover en, zh, ko and ja; with your own `units` the language does not matter'
        ),
    ] = 'auto'
    accept_untrained_languages: Annotated[
        bool,
        Field(
            description='score texts in languages that the model did not learn, with a warning'
        ),
    ] = False
    question: Annotated[
        NliQuestion | Scenario | str,
        Field(
            description='a string; or `premise` and `hypothesis`; or `scenario` and `question`'
        ),
    ]
    options: Annotated[
        list[Option],
        Field(description='the options, in the order in which they are shown'),
    ]
    reasoning: Annotated[
        str | None, Field(description='the chain of thought; absent: `model` writes it')
    ] = None
    answer: Annotated[
        str | None,
        Field(
            description='the answer that follows the reasoning; if present, the parsing model sees it'
        ),
    ] = None
    pairs: Annotated[
        list[Explanation] | None,
        Field(
            description='your own list of explanations, which is aligned and checked; the service calls no model'
        ),
    ] = None
    units: Annotated[
        list[Cot2elUnitSpan] | None,
        Field(
            description='your own discourse units (clauses or sentences of the reasoning); absent: rules find them'
        ),
    ] = None
    granularity: Annotated[
        Literal['edu', 'sentence', 'both'] | None,
        Field(
            description='units to which explanations are aligned. `edu`: clauses and units that begin with a connective; `sentence`: sentences; `both`: all of these. Absent: `both`, or `edu` for variants `paper` and `reference`'
        ),
    ] = None
    min_similarity: Annotated[
        float | None,
        Field(
            description='an explanation is dropped unless its similarity to some unit is above this value; 0: none is dropped. Absent: 0.6, or 0 for variant `paper`'
        ),
    ] = None
    polarity: Annotated[
        Literal['nli', 'cues', 'none'] | None,
        Field(
            description='check whether the unit says the opposite of the explanation, which is then dropped. `nli`: a natural-language-inference model gives P(contradiction) >= 0.5, or both have the same words but only one has an odd number of negations. `cues`: only one has an odd number of negations. `none`: no check. Absent: `nli`, or `none` for variants `paper` and `reference`. `nli` falls back to `cues` if the model does not know the language or is not configured'
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
        Field(
            description='pairs that an annotator marked, with which the result is compared'
        ),
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
            description='number of random draws that measure chance: explanations with shuffled words, and explanations of other items'
        ),
    ] = 3
    control_pool: Annotated[
        list[str],
        Field(
            description='explanations of other items that are drawn to measure chance; absent: 200 built-in ones'
        ),
    ] = []


class Cot2elResult(MetricResult):
    metric: Literal['cot2el'] = 'cot2el'
    range: list[float]
    components: Cot2elComponents
    evidence: Annotated[
        list[Cot2elRefinedPair], Field(description="EL filtered, in the parse's order")
    ]
    control: Cot2elShuffledWords | None
    warnings: Annotated[
        list[str], Field(description='reasons why a value is null or doubtful')
    ] = []
    reasons: Annotated[
        list[NullReason],
        Field(
            description='reasons why the score or a part of it is null',
            validate_default=True,
        ),
    ] = []


class DeliveryList(Message):
    object: Literal['list'] = 'list'
    data: list[Delivery]
    first_id: str | None
    last_id: Annotated[
        str | None, Field(description='pass it as `after` to get the next page')
    ]
    has_more: bool


class Description(Message):
    kind: Literal['classifier', 'causal', 'similarity', 'cross-encoder']
    use: ModelUse
    labels: Annotated[
        list[str],
        Field(
            description="labels of a classifier, or of a causal model's own prompt; otherwise empty"
        ),
    ]
    languages: list[str]
    mask_text: Annotated[
        str, Field(description='the text that replaces a masked word in rows of words')
    ] = '[MASK]'


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
        Template | None, Field(description='for causal models only')
    ] = None
    prompt: Annotated[
        PromptKeys | None,
        Field(
            description="settings that replace those of a causal model's own prompt, if its entry allows this"
        ),
    ] = None
    language: Annotated[
        str | None,
        Field(
            description='BCP 47 language that replaces `{language}` in a prompt; absent: identified from the text'
        ),
    ] = None
    categories: Annotated[
        bool,
        Field(
            description="whether to return a guard model's further labels (`judgements`)"
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
        Field(
            description="the name of a prompt, or your own prompt; absent: the metric's prompt"
        ),
    ] = None
    shots: Annotated[
        Literal[0, 2],
        Field(description='number of demonstrations, for a prompt that has them'),
    ] = 0
    style: Annotated[
        Literal['chat', 'raw'],
        Field(description='`raw`: a format for models without a chat template'),
    ] = 'chat'
    policy: Annotated[
        Literal['un', 'meta', 'twitter', 'youtube'] | ExplanationsOwnPolicy | None,
        Field(
            description="the policy by which the model decides; absent: the request's `policy`, if it is a text and the prompt has a place for it"
        ),
    ] = None
    target_label: Annotated[
        str | None,
        Field(
            description='the label to explain, for a prompt that does not let the model decide'
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
            description='the answer; reasoning between <think> and </think> at its start is removed'
        ),
    ]
    tokens: Annotated[
        list[WrittenToken],
        Field(
            description='tokens with offsets into `text`, in the form that `POST /v1/inference` returns',
            validate_default=True,
        ),
    ] = []
    reasoning: Annotated[
        str | None,
        Field(
            description="the model's reasoning, if its server sends it as a separate field"
        ),
    ] = None
    finish: Literal['stop', 'length', 'given'] = 'given'


class ExplanationsElicitation(Message):
    outcome: Annotated[
        Literal['answered', 'refused', 'unparsable'],
        Field(
            description='`refused`: the model refuses to answer; `unparsable`: no decision can be read; neither is scored'
        ),
    ]
    decision: Annotated[
        str | None,
        Field(
            description="the decision as the answer states it, in the prompt's labels; the `target_label` if the prompt explains one; null unless `answered`"
        ),
    ]
    decided_by: Literal['model', 'request']
    conclusion: Annotated[
        ExplanationsSpan | None,
        Field(description='the sentence that states the decision'),
    ]
    p: Annotated[
        dict[str, Any] | None,
        Field(
            description='label → its probability when the same model judges the text with its own prompt for labels and without an explanation; null: `obstacles` gives the reason'
        ),
    ]
    probability: Annotated[
        float | None, Field(description='probability of the decision, from `p`')
    ]
    reading: Annotated[
        Literal['head', 'verbalizers', 'scored', 'label-endpoint', 'top-logprobs', 'votes'] | None,
        Field(description='how `p` was read'),
    ]
    mass: Annotated[
        float | None, Field(description='probability of all labels together')
    ]
    stated_p: Annotated[
        float | None,
        Field(
            description='product of the probabilities of the tokens that state the decision, given the text before them; near 1 if the explanation leads to the decision'
        ),
    ]
    answer: Annotated[
        str,
        Field(description="the model's whole answer, without the reasoning before it"),
    ]
    explanation: Annotated[
        str, Field(description='the part of the answer that is the explanation')
    ]
    tokens: Annotated[
        list[WrittenToken],
        Field(
            description='tokens of `answer`; empty if the server does not return them'
        ),
    ]
    reasoning: Annotated[
        str | None,
        Field(
            description="the chain of thought before the answer; never scored as an explanation; null if there was none, or if the model's entry does not keep it (`keep_reasoning`)"
        ),
    ]
    reasoning_tokens: Annotated[int | None, Field(description='null if unknown')]
    finish: Literal['stop', 'length', 'given']
    language: Annotated[
        str, Field(description='language of the text, BCP 47; `und`: undecided')
    ]
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
    target_label: Annotated[str | None, Field(description='the label to explain')] = (
        None
    )
    answer: Annotated[
        ExplanationsAnswer | None,
        Field(description='your own answer instead of `model`'),
    ] = None
    gold: Annotated[str | None, Field(description='the gold label')] = None
    metadata: Annotated[
        dict[str, str] | None, Field(description="added to the request's metadata")
    ] = None


class ExplanationsProvenance(Message):
    prompt: ExplanationsPromptUse
    model: Annotated[
        ModelUse | None, Field(description='null if the request contained the answer')
    ]
    seed: int
    generation: Annotated[
        dict[str, Any], Field(description='settings of the sampling that were used')
    ]
    policy: Annotated[
        str | None,
        Field(
            description="name of the policy; `own`: a text sent with the request; null: the prompt's default"
        ),
    ]
    service_version: str


class ExplanationsRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    model: Annotated[
        str | None, Field(description='a configured model; absent: the default model')
    ] = None
    metadata: Annotated[
        dict[str, str] | None, Field(description='at most 16 pairs')
    ] = None
    context: Annotated[
        Context | None, Field(description='your own data, returned with the job')
    ] = None
    webhook: Annotated[
        str | None,
        Field(
            description='the only webhook endpoint to notify; absent: all that receive the event'
        ),
    ] = None
    do_not_store_text: Annotated[
        bool, Field(description='store no text after the job ends')
    ] = False
    text: Annotated[str | None, Field(description='the text that is judged')] = None
    premise: Annotated[
        str | None, Field(description='a statement taken to be true')
    ] = None
    hypothesis: Annotated[
        str | None, Field(description='the statement that may follow from `premise`')
    ] = None
    scenario: Annotated[
        str | None, Field(description='the situation that `question` is about')
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
            description='the name of a prompt, `NAME@VERSION` for an older version, or your own prompt; `explanation-fields` (asks for JSON in the form of `GET /v1/schemas/explanation`), `hatexscore-table8`, `haf-justify`, `ftc-label`, `genex-nli`, `genex-siqa`, `genex-cqa`',
            validate_default=True,
        ),
    ] = 'explanation-fields'
    shots: Annotated[
        Literal[0, 2],
        Field(
            description='number of demonstrations to show the model, if the prompt has some'
        ),
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
            description="a named policy, or your own text; metrics that know the named policy also use it. Absent: the prompt's policy"
        ),
    ] = None
    language: Annotated[
        str, Field(description='BCP 47 language of all texts; `auto` detects it')
    ] = 'auto'
    generation: ExplanationsGeneration | None = None
    seed: Annotated[
        int, Field(description='seed of the generation and of the metrics')
    ] = 0
    answer: Annotated[
        ExplanationsAnswer | None,
        Field(
            description='your own answer instead of `model`; the service generates nothing'
        ),
    ] = None
    score: Annotated[
        list[str] | dict[str, dict[str, JsonValue]] | None,
        Field(
            description="metrics that score the explanation in the same job: names, or name → the metric's parameters. `hatexscore`, `haf`, `ftc`, `cot2el` (which scores the reasoning), `sor`, `consistency`"
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
            description='several items instead of one text. Each becomes a job that counts towards quotas. Returns the list of jobs in the order of the items. Not allowed in lines of a batch'
        ),
    ] = None
    draws: Annotated[
        int,
        Field(
            description='number of answers per item. Each becomes a job that counts towards quotas, and each uses the next `seed`. More than one needs a `temperature` above 0. Not allowed in lines of a batch'
        ),
    ] = 1


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
        FtcSatisfaction,
        Field(description='the score of a model that always answers entailment'),
    ]
    uniform: Annotated[
        FtcSatisfaction,
        Field(description='the score of a model that gives each label one third'),
    ]
    unedited: Annotated[
        FtcSatisfaction | None,
        Field(
            description="the model's answer to the original hypothesis; null if no model was called"
        ),
    ]
    blank_premise: Annotated[
        FtcSatisfaction | None,
        Field(
            description="the model's answers to the counterfactuals without the premise"
        ),
    ]
    null_win_rate: Annotated[
        float | None,
        Field(
            description='mean win rate over the counterfactuals that have random phrases; chance is 0.5'
        ),
    ]
    null_p_value: Annotated[
        float | None,
        Field(
            description="p-value of the counterfactuals' mean score, compared with that of each draw"
        ),
    ]
    null_attainable_p: Annotated[
        float | None,
        Field(
            description='the smallest possible null_p_value; if it is above 0.05, no explanation of this pair can rule out chance'
        ),
    ] = None


class FtcRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    model: Annotated[
        str | None, Field(description='a configured model; absent: the default model')
    ] = None
    metadata: Annotated[
        dict[str, str] | None, Field(description='at most 16 pairs')
    ] = None
    context: Annotated[
        Context | None, Field(description='your own data, returned with the job')
    ] = None
    webhook: Annotated[
        str | None,
        Field(
            description='the only webhook endpoint to notify; absent: all that receive the event'
        ),
    ] = None
    do_not_store_text: Annotated[
        bool, Field(description='store no text after the job ends')
    ] = False
    variant: Annotated[
        Literal['robust', 'paper', 'reference'],
        Field(
            description='`robust`: the paper with its defects corrected; `paper`: the equations as printed; `reference`: like the released code'
        ),
    ] = 'robust'
    seed: Annotated[int, Field(description='seed of every random draw')] = 0
    trace: Annotated[
        Trace | None,
        Field(
            description='the judged answer in your tracing, to which scores are attached'
        ),
    ] = None
    language: Annotated[
        str, Field(description='BCP 47 language, not checked; `auto` identifies it')
    ] = 'auto'
    accept_untrained_languages: Annotated[
        bool,
        Field(
            description='score texts in languages that the model did not learn, with a warning'
        ),
    ] = False
    explain: Annotated[
        Literal[True] | Explain | None,
        Field(
            description="instead of an explanation: let a model decide and explain; `true`: the request's `model` with the metric's prompt"
        ),
    ] = None
    premise: Annotated[str, Field(description='the statement taken to be true')]
    hypothesis: Annotated[
        str,
        Field(
            description='the statement that follows from it, contradicts it, or does neither'
        ),
    ]
    explanation: Annotated[
        str | ExplanationFields,
        Field(
            description='explanation of the decision, as a text or as fields. The fields `text` and `reasons` are read, and `decision` if the request has none. The variant `robust` also recognises fields that are sent as a JSON text. An empty explanation has no phrases to extract. Required unless `explain` is set',
            validate_default=True,
        ),
    ] = ''
    decision: Annotated[
        Literal['entailment', 'neutral', 'contradiction'] | None,
        Field(
            description="the explained decision; absent: the model's own decision, which tests faithfulness"
        ),
    ] = None
    prompt: Annotated[
        PromptKeys | None,
        Field(
            description="replaces keys of the model entry's `prompt`, if the entry has `allow_request_prompt`. For causal models and chat servers"
        ),
    ] = None
    extractor: Annotated[
        Literal['rules', 'llm'],
        Field(
            description='the method that builds the counterfactuals; ignored if the request contains counterfactuals'
        ),
    ] = 'rules'
    writer: Annotated[
        str | None,
        Field(description='configured language model for the extractor `llm`'),
    ] = None
    counterfactuals: Annotated[
        list[FtcSupplied] | None, Field(description='your own counterfactuals')
    ] = None
    targets: Annotated[
        dict[str, FtcDistribution] | None,
        Field(
            description="label distributions, such as human votes. They replace the labels that the explanation's logic demands for the counterfactuals"
        ),
    ] = None
    alpha: Annotated[
        float,
        Field(
            description='distance between neutral and each of the other labels, whose own distance is 1. Below 1/2 the triangle inequality fails'
        ),
    ] = 0.7
    epsilon: Annotated[
        float,
        Field(
            description='smallest probability in the score k: smaller probabilities are raised to it'
        ),
    ] = 1e-06
    null: Annotated[
        Literal['phrases', 'any'] | None,
        Field(
            description="the properties that random phrases share with the explanation's phrases. `phrases`: the type, and the share of words that occur in the premise, if 19 such phrases exist; `any`: only the type; absent: `phrases`, or `any` for variants `paper` and `reference`"
        ),
    ] = None
    draws: Annotated[
        int | None,
        Field(
            description='maximum number of random substitutions, M; 0: none; `robust` checks after 19, 39, 79 and 139 substitutions, and stops when the result is clear; absent: 199, or 50 for variants `paper` and `reference`'
        ),
    ] = None
    substitutes: Annotated[
        list[str],
        Field(
            description="phrases of other examples from which random ones are drawn; absent: the service's list"
        ),
    ] = []
    study: Annotated[
        FtcStudy | None,
        Field(description='data for the batch report; it never changes the score'),
    ] = None


class Generate(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    operation: Literal['generate'] = 'generate'
    prompts: list[Prompt]
    sampling: Annotated[
        Sampling | None,
        Field(description='leave out an absent field instead of sending null'),
    ] = None


class GoldLabels(Message):
    results: Annotated[int, Field(description='results with a gold label')]
    unread: Annotated[
        int,
        Field(description='results with a gold label whose decision could not be read'),
    ]
    refused: Annotated[
        int,
        Field(
            description='results with a gold label where the model refused to answer'
        ),
    ]
    accuracy: Annotated[
        Interval,
        Field(
            description='share of correct decisions among the decided results, [0, 1]'
        ),
    ]
    accuracy_of_all: Annotated[
        Interval,
        Field(
            description='share of correct decisions among all results: an undecided result counts as wrong'
        ),
    ]
    chance: Annotated[
        float | None,
        Field(
            description='accuracy that always choosing the most frequent gold label would have on the decided results; null if nothing was decided'
        ),
    ]
    chance_of_all: Annotated[
        float | None,
        Field(description='`majority`, over all results with a gold label'),
    ] = None
    macro_f1: Annotated[
        Interval,
        Field(description="mean of the labels' F1 over the decided results, [0, 1]"),
    ]
    kappa: Annotated[
        Interval,
        Field(description="Cohen's kappa of decisions and gold labels, [-1, 1]"),
    ]
    labels: list[LabelAccuracy]
    confusion: Annotated[
        list[ConfusionCell],
        Field(description='the cells of the confusion matrix that are not empty'),
    ]


class HafResponse(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    text: str
    logprobs: Annotated[
        HafChatLogprobs | HafCompletionLogprobs | None,
        Field(
            description='`choices[].logprobs` of a chat completion or of a completion. Without them, score and parts are undefined, and `control.unweighted` has the values from the texts alone'
        ),
    ] = None
    tokens: Annotated[
        list[WrittenToken] | None,
        Field(
            description='instead of `logprobs`: tokens with offsets into `text`, in the form that `POST /v1/inference` returns'
        ),
    ] = None


class HafResponses(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    justify: Annotated[
        HafResponse,
        Field(description='answer to the JUSTIFY prompt: is the text toxic, and why?'),
    ]
    internal: Annotated[
        HafResponse | None,
        Field(
            description='answer to UPHOLD-REASON (internal): is a reason based on the text missing?'
        ),
    ] = None
    external: Annotated[
        HafResponse | None,
        Field(
            description='answer to UPHOLD-REASON (external): is a reason beyond the text missing?'
        ),
    ] = None
    individual: Annotated[
        list[HafResponse | None] | None,
        Field(
            description='answers to UPHOLD-STANCE, one for each JUSTIFY reason in order. The prompt shows this reason alone (toxic, maybe), or all other reasons (non-toxic). Null if there is no answer'
        ),
    ] = None


class HatexscoreOptions(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    labels: Annotated[
        Literal['default', 'hate', 'toxicity', 'safety', 'policy', 'three-way', 'sentiment-free'] | dict[str, list[str]] | None,
        Field(
            description='words for the classes of the decision, which are searched for in the explanation: the name of a built-in vocabulary, or your own. Your own needs words for `hateful` and `non-hateful`, and may add classes, as `three-way` does. Capital letters match only capital letters; digits and single characters match only in a label line. Absent: the vocabulary that contains `decision`, else `default`'
        ),
    ] = None
    prompt: Annotated[
        PromptKeys | None,
        Field(
            description="replaces keys of the model entry's `prompt`, if the entry has `allow_request_prompt`. For causal models and chat servers"
        ),
    ] = None
    reader: Annotated[
        Literal['rules', 'llm', 'auto'],
        Field(
            description="what reads the explanation's conclusion and groups (HTC, TGI). `rules`: the explanation's fields, or the trained reader for prose; `llm`: `reader_model`; `auto`: as `rules`, but with a `reader_model` for other languages and uncertain cases"
        ),
    ] = 'auto'
    reader_model: Annotated[
        str | None,
        Field(
            description='configured language model that reads the explanation; absent: the reader model in the entry of `model`'
        ),
    ] = None
    policy: Annotated[
        Literal['un', 'meta', 'twitter', 'youtube'] | dict[str, list[str]],
        Field(
            description='protected groups: a named list, or your own `{"category": ["term", ...]}`'
        ),
    ] = 'un'
    tau: Annotated[
        float, Field(description='threshold of the Consistency Check, a probability')
    ] = 0.3
    consistency_rule: Annotated[
        Literal['causal', 'eq5', 'reference'] | None,
        Field(
            description='the condition on the QF of a non-hateful decision in the Consistency Check: `causal` 1 - QF < tau, `eq5` QF < tau, `reference` QF >= tau; absent: as in the variant'
        ),
    ] = None
    weights: Annotated[
        HatexscoreWeights | None,
        Field(
            description="Weights of the four components in the score; the default is the paper's mean (Eq. 6).",
            title='HatexscoreWeights',
        ),
    ] = None
    short_text_max_words: Annotated[
        int, Field(description='maximum words of a text that may be quoted in full')
    ] = 5
    control_draws: Annotated[
        int | None,
        Field(
            description='maximum number of random spans masked to measure chance; `robust` first masks 19. For a hateful decision it continues to 39, 79, 139 and all spans until the result is clear. Absent: 199 in `robust`, fewer for a `text` above 10,050 characters (2,000,000 characters of masked text at most); else 20'
        ),
    ] = None


class HatexscoreRandomSpans(Null):
    kind: Annotated[
        Literal['spans'],
        Field(
            description='the random spans are passages with as many words as the quotes'
        ),
    ] = 'spans'
    draws: Annotated[
        int, Field(description='different random placements, the quoted one excluded')
    ]
    p_value: Annotated[
        float | None,
        Field(
            description='one-sided p-value: how often random spans have at least the same effect; lower is stronger evidence. (1 + draws that reach the quotes) / (1 + draws), or by stage-wise ordering if the draws were extended in steps. Based on the signed drop for hateful decisions in `robust`, else on |dp|; not used in the verdict on a non-hateful decision'
        ),
    ] = None
    attainable_p: Annotated[
        float | None,
        Field(
            description='the smallest possible p-value, with all draws that the request allows or with all placements'
        ),
    ] = None
    sd: Annotated[
        float | None,
        Field(
            description="standard deviation of the draws' scores, over n - 1; null for a single draw"
        ),
    ] = None
    p_calibrated: Annotated[
        float | None,
        Field(
            description='for texts with 4 to 18 other placements, too few for a `p_value` of 0.05: how often a random passage of another post stands out as much among its own placements. Valid on average over posts (`calibration`), for judges and languages that were measured'
        ),
    ] = None
    calibration: Annotated[
        Calibration | None,
        Field(
            description='the texts that `p_calibrated` is based on; null without `p_calibrated`'
        ),
    ] = None
    rank: Annotated[
        int,
        Field(
            description='rank of the quotes among the quotes and the draws; 1 is best, ties count against the quotes'
        ),
    ]
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
            description='share of draws that the quotes beat, by the same quantity as `p_value`; ties count half; 0.5 is chance'
        ),
    ]
    drops: Annotated[
        list[float],
        Field(description='|dp| of each draw, probability, in the order of drawing'),
    ] = []
    signed_drops: Annotated[
        list[float], Field(description='dp of each draw, as `signed_drop`')
    ] = []
    qf_mean: Annotated[float | None, Field(description='mean QF of the draws')] = None
    qf_excess: Annotated[
        float | None,
        Field(description='QF minus `qf_mean`; 0 is chance, higher is better'),
    ] = None


class HatexscoreRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    model: Annotated[
        str | None, Field(description='a configured model; absent: the default model')
    ] = None
    metadata: Annotated[
        dict[str, str] | None, Field(description='at most 16 pairs')
    ] = None
    context: Annotated[
        Context | None, Field(description='your own data, returned with the job')
    ] = None
    webhook: Annotated[
        str | None,
        Field(
            description='the only webhook endpoint to notify; absent: all that receive the event'
        ),
    ] = None
    do_not_store_text: Annotated[
        bool, Field(description='store no text after the job ends')
    ] = False
    variant: Annotated[
        Literal['robust', 'paper', 'reference'],
        Field(
            description='`robust`: the paper with its defects corrected; `paper`: the equations as printed; `reference`: like the released code'
        ),
    ] = 'robust'
    seed: Annotated[int, Field(description='seed of every random draw')] = 0
    trace: Annotated[
        Trace | None,
        Field(
            description='the judged answer in your tracing, to which scores are attached'
        ),
    ] = None
    language: Annotated[
        str,
        Field(
            description='language of the text (BCP 47); `auto` identifies it. An explanation that is clearly in another language is read in that language. Supported languages of explanations: en, de, fr, es, it, pt, zh and ko'
        ),
    ] = 'auto'
    accept_untrained_languages: Annotated[
        bool,
        Field(
            description='also score a text in a language that the model did not learn, with a warning; otherwise QF, CC and the score of such a text are null'
        ),
    ] = False
    explain: Annotated[
        Literal[True] | Explain | None,
        Field(
            description="instead of an explanation: let a model decide and explain; `true`: the request's `model` with the metric's prompt"
        ),
    ] = None
    text: Annotated[str, Field(description='the moderated text')]
    explanation: Annotated[
        str | ExplanationFields,
        Field(
            description='explanation of the decision, as a text or as fields. The variant `robust` also recognises fields that are sent as a JSON text. An empty text scores 0. Required unless `explain` is set',
            validate_default=True,
        ),
    ] = ''
    options: Annotated[
        HatexscoreOptions | None,
        Field(description='settings for reading, model calls and scoring'),
    ] = None
    decision: Annotated[
        str | None,
        Field(
            description='the explained decision: `hateful`, `non-hateful`, or a class or word of `labels`; absent: the decision that the explanation states'
        ),
    ] = None
    probabilities: Annotated[
        HatexscoreProbabilities | None,
        Field(
            description="your own model's probabilities; the service calls no model, and there is no comparison with chance"
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
        Field(description="a judge that knows only the humans' first choice"),
    ]


class HlvComponents(Message):
    kendall: Annotated[
        float | None, Field(description='tau-b; tau-a for variant `paper`')
    ]
    spearman: float | None
    kendall_baseline: Annotated[
        float | None,
        Field(description="Kendall's tau of the judge without explanations"),
    ]
    spearman_baseline: float | None
    kendall_gain: float | None
    spearman_gain: float | None
    kendall_normalised: Annotated[
        float | None,
        Field(
            description="Kendall's tau of the first method on a scale from 0 (chance) to 1 (agreement between people); null without a ceiling"
        ),
    ] = None
    methods: list[HlvMethodResult]


class HlvRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    model: Annotated[
        str | None, Field(description='a configured model; absent: the default model')
    ] = None
    metadata: Annotated[
        dict[str, str] | None, Field(description='at most 16 pairs')
    ] = None
    context: Annotated[
        Context | None, Field(description='your own data, returned with the job')
    ] = None
    webhook: Annotated[
        str | None,
        Field(
            description='the only webhook endpoint to notify; absent: all that receive the event'
        ),
    ] = None
    do_not_store_text: Annotated[
        bool, Field(description='store no text after the job ends')
    ] = False
    variant: Annotated[
        Literal['robust', 'paper', 'reference'],
        Field(
            description='`robust`: the paper with its defects corrected; `paper`: the equations as printed; `reference`: like the released code'
        ),
    ] = 'robust'
    seed: Annotated[int, Field(description='seed of every random draw')] = 0
    trace: Annotated[
        Trace | None,
        Field(
            description='the judged answer in your tracing, to which scores are attached'
        ),
    ] = None
    language: Annotated[
        str, Field(description='BCP 47 language, not checked; `auto` identifies it')
    ] = 'auto'
    accept_untrained_languages: Annotated[
        bool,
        Field(
            description='score texts in languages that the model did not learn, with a warning'
        ),
    ] = False
    question: Annotated[
        NliQuestion | Scenario | str,
        Field(
            description='a string; or `premise` and `hypothesis`; or `scenario` and `question`'
        ),
    ]
    options: Annotated[
        list[Option],
        Field(description='the options, in the order in which they are shown'),
    ]
    explanations: Annotated[
        list[Explanation],
        Field(
            description='explanations shown to the judge; the baseline never sees them',
            validate_default=True,
        ),
    ] = []
    rationale: Annotated[
        str | None,
        Field(description='an explanation as one text, such as a chain of thought'),
    ] = None
    human: Annotated[
        HlvHuman,
        Field(
            description='Exactly one of `votes`, `ratings` and `ranking`, as an object or as a list with one object\nper source.\n\nA source is an annotator or a data set. Sources are averaged.',
            title='HlvHuman',
        ),
    ]
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
            description='smaller probabilities of both distributions are raised to this value for KL; 0: unchanged, as printed in the paper. Absent: 1e-10, or 0 for variant `paper`'
        ),
    ] = None
    log_base: Annotated[
        Literal['e', '2'],
        Field(description='base of the logarithm in the Jensen-Shannon distance'),
    ] = 'e'


class HlvResult(MetricResult):
    metric: Literal['hlv'] = 'hlv'
    range: Annotated[
        list[float], Field(description='[-2, 2] for a gain, [-1, 1] for an agreement')
    ]
    components: HlvComponents
    evidence: Annotated[list[Evidence], Field(validate_default=True)] = []
    control: HlvBaselines
    warnings: Annotated[
        list[str], Field(description='reasons why a value is null or doubtful')
    ] = []
    reasons: Annotated[
        list[NullReason],
        Field(
            description='reasons why the score or a part of it is null',
            validate_default=True,
        ),
    ] = []


class HumanAgreement(Message):
    judgements: int
    texts: Annotated[int, Field(description='number of results that somebody judged')]
    reviewers: int
    random: Annotated[
        bool,
        Field(description='whether the numbers also apply to lines that nobody judged'),
    ]
    agreed: Annotated[
        Interval,
        Field(
            description='share of pairs of people who give the same judgement on a text'
        ),
    ]
    kappa: Annotated[
        Interval, Field(description="Cohen's kappa, for exactly two people; else null")
    ]
    alpha: Annotated[
        Interval,
        Field(
            description="Krippendorff's alpha (nominal); people need not judge every text"
        ),
    ]
    pairs: Annotated[list[ReviewerPair], Field(validate_default=True)] = []
    disputed: Annotated[list[DisputedResult], Field(validate_default=True)] = []
    with_metric: Annotated[
        Interval,
        Field(
            description='share of judgements that agree with the metric. A blind judgement agrees if it calls the explanation good and the verdict is `holds_up`, or calls it not good and the verdict is `problem_found`'
        ),
    ]
    above: Annotated[
        Interval,
        Field(
            description='`with_metric`, for results with a score in the top 30 % of its range'
        ),
    ]
    below: Annotated[
        Interval,
        Field(
            description='`with_metric`, for results with a score in the lowest 30 % of its range'
        ),
    ]
    deciles: Annotated[list[ScoreDecile], Field(validate_default=True)] = []
    parts: Annotated[list[PartAgreement], Field(validate_default=True)] = []
    by_verdict: dict[str, Interval] | None = None
    by_language: dict[str, Interval] | None = None
    warnings: list[str] = []


class HumanRatings(Message):
    results: Annotated[int, Field(description='results with a score and a rating')]
    people: int
    spearman: Annotated[
        Interval,
        Field(description="Spearman's rank correlation with the mean rating, [-1, 1]"),
    ]
    kendall: Annotated[
        Interval, Field(description="Kendall's tau-b with the mean rating, [-1, 1]")
    ]
    alpha: Annotated[
        Interval,
        Field(
            description="Krippendorff's alpha (interval) of the ratings of several people, at most 1"
        ),
    ]
    threshold: CalibratedThreshold


class IceNamedExplanation(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    name: Annotated[
        str,
        Field(
            description='name of the explanation in the report; stored even if texts are not stored'
        ),
    ]
    attributions: list[IceAttributedSpan] | None = None
    rationale: list[IceSpan | str] | str | None = None


class IceNull(Null):
    kind: Annotated[
        Literal['tokens', 'words', 'spans', 'spans_gaps'],
        Field(
            description='the property that random rationales share with the tested one: the number of tokens, the numbers of whole words and tokens, the lengths of passages, or also the gaps between them. For rows of words, `words` is the number of words'
        ),
    ] = 'tokens'
    draws: Annotated[int, Field(description='number of random explanations compared')]
    p_value: Annotated[
        float | None,
        Field(
            description='one-sided p-value: (1 + draws with at least this score) / (1 + draws); from the first round if its result is clear'
        ),
    ] = None
    attainable_p: Annotated[
        float | None,
        Field(
            description='the smallest possible p-value, with all draws that the request allows or with all placements; one-sided if `alternative` is `greater`'
        ),
    ] = None
    sd: Annotated[
        float | None,
        Field(
            description='standard deviation over n - 1 (variants paper and reference: n); null if undefined'
        ),
    ] = None
    p_calibrated: Annotated[
        float | None,
        Field(
            description='for texts with 4 to 18 other placements, too few for a `p_value` of 0.05: how often a random passage of another post stands out as much among its own placements. Valid on average over posts (`calibration`), for judges and languages that were measured'
        ),
    ] = None
    calibration: Annotated[
        Calibration | None,
        Field(
            description='the texts that `p_calibrated` is based on; null without `p_calibrated`'
        ),
    ] = None
    strata: Annotated[
        Literal['frequency', 'pos'] | None,
        Field(
            description='a further property that random rationales share with the tested one, token by token'
        ),
    ] = None
    match_tokens: Annotated[
        bool,
        Field(
            description='whether random rationales must have about as many tokens as the tested one'
        ),
    ] = False


class IceOptions(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    template: Annotated[
        Template | None, Field(description='prompt template; only for causal models')
    ] = None
    prompt: Annotated[
        PromptKeys | None,
        Field(
            description="replaces keys of the model entry's `prompt`, if the entry has `allow_request_prompt`. For causal models and chat servers; not together with `template`"
        ),
    ] = None
    rank_by: Annotated[
        Literal['value', 'magnitude'],
        Field(
            description='whether tokens are ranked by their signed or their absolute value'
        ),
    ] = 'value'
    k: Annotated[
        float | list[float],
        Field(description='size of a rationale, as a share of the eligible tokens'),
    ] = 0.2
    rows: Annotated[
        Literal['tokens', 'words'] | None,
        Field(
            description="units of rationales and operators: the model's tokens, or words of the text, which work with every model. Absent: tokens if the model shows them, else words"
        ),
    ] = None
    operators: Annotated[
        list[Literal['delete', 'mask', 'mask_unk', 'mask_pad', 'infill']],
        Field(
            description='how the other tokens or words are removed; `mask_unk` and `mask_pad` are for tokens only'
        ),
    ] = ['delete']
    null: Annotated[
        Literal['tokens', 'words', 'spans', 'spans_gaps'] | None,
        Field(
            description='the structure that random rationales share with an explanation made of spans. Absent: `words` for single scattered words, else `spans`. An explanation with values is compared with random tokens'
        ),
    ] = None
    strata: Annotated[
        Literal['frequency', 'pos'] | None,
        Field(
            description="draw random tokens that are as rare as the explanation's (by quintiles of the text, from a list of English word frequencies), or that have the same part of speech (English). For the nulls `tokens` and `words`"
        ),
    ] = None
    match_tokens: Annotated[
        bool,
        Field(
            description='draw random spans with the same number of words and about as many tokens (within a factor of 1.25). Ignored with a warning if fewer than 19 exist. For rows of tokens only'
        ),
    ] = False
    aspects: Annotated[
        list[Literal['sufficiency', 'necessity']],
        Field(
            description='the tests of the rationale. `sufficiency`: does it alone keep the decision? `necessity`: does its removal change the decision? Both together allow a causal reading. Absent: both, or `sufficiency` for variants `paper` and `reference`. The score is based on `sufficiency`'
        ),
    ] = ['sufficiency', 'necessity']
    draws: Annotated[
        int | None,
        Field(
            description='number of random rationales; if there are fewer other placements, all of these are used; absent: 199, or 50 for variants `paper` and `reference`'
        ),
    ] = None
    alternative: Annotated[
        Literal['two-sided', 'greater'],
        Field(
            description='`greater`: test whether the explanation is better than random ones; `two-sided`: also test whether it is worse. For a passage, `two-sided` needs a text of about 40 words instead of about 20. Absent: `greater`, or `two-sided` for variants `paper` and `reference`'
        ),
    ] = 'greater'
    infills: Annotated[
        int,
        Field(
            description='number of random fillings of each mask, over which results are averaged'
        ),
    ] = 4
    infill_pool: Annotated[
        list[str],
        Field(
            description='texts whose tokens fill masks; the text that is tested is left out'
        ),
    ] = []
    infill_excluded: Annotated[
        list[str],
        Field(
            description='words that are never filled in, in addition to the words of the labels'
        ),
    ] = []
    eligible: Annotated[
        Literal['text', 'all'] | None,
        Field(
            description='tokens that a rationale may contain: the tokens of the text, or also those of the template; absent: `text`, or `all` for variant `reference`'
        ),
    ] = None
    alpha: Annotated[float, Field(description='significance level of the verdicts')] = (
        0.05
    )
    nsr_epsilon: Annotated[
        float, Field(description='NSR is null if |s(x) - s(empty)| is below this value')
    ] = 0.05
    fluency_model: Annotated[
        str | None,
        Field(
            description='language model that measures how much less fluent the perturbed texts are than the original (`distance.perplexity_ratio`), for which it reads about 50 texts. Absent: not measured'
        ),
    ] = None
    token_values: Annotated[
        bool,
        Field(
            description='whether the report lists each token with its value in every explanation, for example to draw a heat map'
        ),
    ] = False


class IceRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    model: Annotated[
        str | None, Field(description='a configured model; absent: the default model')
    ] = None
    metadata: Annotated[
        dict[str, str] | None, Field(description='at most 16 pairs')
    ] = None
    context: Annotated[
        Context | None, Field(description='your own data, returned with the job')
    ] = None
    webhook: Annotated[
        str | None,
        Field(
            description='the only webhook endpoint to notify; absent: all that receive the event'
        ),
    ] = None
    do_not_store_text: Annotated[
        bool, Field(description='store no text after the job ends')
    ] = False
    variant: Annotated[
        Literal['robust', 'paper', 'reference'],
        Field(
            description='`robust`: the paper with its defects corrected; `paper`: the equations as printed; `reference`: like the released code'
        ),
    ] = 'robust'
    seed: Annotated[int, Field(description='seed of every random draw')] = 0
    trace: Annotated[
        Trace | None,
        Field(
            description='the judged answer in your tracing, to which scores are attached'
        ),
    ] = None
    language: Annotated[
        str, Field(description='BCP 47 language, not checked; `auto` identifies it')
    ] = 'auto'
    accept_untrained_languages: Annotated[
        bool,
        Field(
            description='score texts in languages that the model did not learn, with a warning'
        ),
    ] = False
    text: Annotated[str, Field(description='the text that the model judged')]
    text_pair: Annotated[
        str | None, Field(description='the second text of a pair; only for encoders')
    ] = None
    decision: Annotated[
        str | None,
        Field(
            description="the explained decision, a label of the model, whose probability is the score; absent: the model's own"
        ),
    ] = None
    attribution: Annotated[
        Literal['attention', 'gradient', 'integrated_gradients', 'lime'] | AttributionMethod | list[Literal['attention', 'gradient', 'integrated_gradients', 'lime'] | AttributionMethod] | None,
        Field(description='explanations that the service computes: one, or a list'),
    ] = None
    attributions: Annotated[
        list[IceAttributedSpan] | None,
        Field(
            description='values of tokens that you computed; a token without a value has 0'
        ),
    ] = None
    rationale: Annotated[
        list[IceSpan | str] | str | None,
        Field(
            description='spans without values (quoted or highlighted), or quotations of the text as strings; `k` does not change their size. A passage can be tested exactly in a text of about 20 words or more, 40 where `alternative` is `two-sided`'
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
    options: Annotated[IceOptions | None, Field(description='settings of the test')] = (
        None
    )


class IceTest(Message):
    explanation: str
    aspect: Annotated[
        Literal['sufficiency', 'necessity'],
        Field(
            description='the tested quantity: the probability s(r) that remains with the rationale alone, or the loss s(x) - s(x without r) when it is removed'
        ),
    ] = 'sufficiency'
    k: Annotated[
        float | None,
        Field(
            description='share of the eligible tokens; null for a rationale sent as spans'
        ),
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
            description='share of random rationales with a lower score; ties count half; 0.5 is chance'
        ),
    ]
    strict_win_rate: Annotated[
        float | None, Field(description='win rate with ties counted as losses')
    ]
    tie_rate: float | None
    effect: Annotated[
        float | None,
        Field(description='(observed - null mean) / null sd; null if sd is 0'),
    ]
    p_value: Annotated[
        float | None,
        Field(
            description='one-sided p-value: P(a random rationale scores at least as high)'
        ),
    ]
    p_anti: Annotated[
        float | None,
        Field(
            description='one-sided p-value of the opposite test: P(a random rationale scores at most as high)'
        ),
    ]
    p_two_sided: Annotated[
        float | None,
        Field(description='two-sided p-value: twice the smaller of the two, at most 1'),
    ]
    p_adjusted: Annotated[
        float | None,
        Field(
            description='p-value corrected for all tests of the request; null in variants paper and reference'
        ),
    ] = None
    verdict: Annotated[
        Literal['faithful', 'inconclusive', 'anti-faithful', 'undecidable'] | None,
        Field(
            description='verdict at level alpha, by `p_adjusted` (variants paper and reference: `p_two_sided`), or by `null.p_calibrated` for necessity with few placements; `undecidable`: `null.attainable_p` is above alpha, so no other verdict was possible'
        ),
    ]
    drop: Annotated[
        float | None,
        Field(
            description='probability of the target label that is lost: s(x) - s(r); in a necessity test s(x) - s(x without r)'
        ),
    ] = None
    nsr: Annotated[
        float | None, Field(description='Eq. 1; null if |s(x) - s(empty)| < epsilon')
    ]
    scores: Annotated[IceScores | None, Field(description='null for operator `mean`')]
    null: IceNull


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
            description='an array of length L in the order of `labels`, with sum 1 unless the model has outputs without a label; null: `unread` gives the reason'
        ),
    ]
    mass: Annotated[
        float | None,
        Field(
            description='probability of all labels together, before they are normalised; null: unknown'
        ),
    ] = None
    reading: Annotated[
        Literal['head', 'verbalizers', 'scored', 'label-endpoint', 'top-logprobs', 'votes'] | None,
        Field(
            description='how `probabilities` were read; null if they could not be read'
        ),
    ]
    uncertainty: Annotated[
        float,
        Field(
            description='how far a probability may be off because of the way it was read: the possible share of labels that a server did not list, or half the width of the 95 % Wilson interval of votes'
        ),
    ] = 0
    votes: Annotated[
        int | None,
        Field(
            description='number of drawn answers, if the probability is a share of such answers'
        ),
    ] = None
    prompt_sha256: Annotated[
        str | None,
        Field(
            description='hash of the prompt with an empty text, if the example has its own prompt'
        ),
    ] = None
    read_share: Annotated[
        float,
        Field(
            description='share of the text that the model read; below 1: the text was cut'
        ),
    ] = 1.0
    unread: Unread | None = None
    categories: Annotated[
        dict[str, str] | None,
        Field(
            description="a guard model's further labels → its judgement in words, if requested; they do not change the probabilities"
        ),
    ] = None


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
        Literal['agree', 'disagree', 'unsure'],
        Field(description='whether the person agrees with the metric'),
    ]
    reviewer: Annotated[
        str | None,
        Field(
            description="the reviewer's name; a key that has a reviewer can only judge under that name"
        ),
    ] = None
    about: Annotated[str, Field(description='`score`, or the name of a part')] = 'score'
    human_score: Annotated[
        float | None, Field(description='the score that the person finds correct')
    ] = None
    human_label: Annotated[
        str | None,
        Field(
            description='the label that the person finds correct; for jobs whose texts are not stored, only a canonical label such as `hateful` is accepted'
        ),
    ] = None
    spans: Annotated[
        list[MarkedSpan],
        Field(
            description='passages on which the decision rests; rejected for jobs whose texts are not stored',
            validate_default=True,
        ),
    ] = []
    note: Annotated[
        str | None,
        Field(
            description='a free note; rejected for jobs whose texts are not stored, because it may quote them'
        ),
    ] = None
    blind: Annotated[
        bool, Field(description='whether the score was hidden while the person judged')
    ] = False
    queue: Annotated[
        str | None, Field(description='the review queue that gave out the line')
    ] = None
    seconds: Annotated[
        float | None, Field(description='seconds that the person took to judge')
    ] = None
    job_id: str


class Model(Message):
    name: str
    created: Annotated[
        int,
        Field(
            description="time of the last change of the model's entry or files, unix seconds"
        ),
    ]
    owned_by: str
    kind: Annotated[
        Literal['classifier', 'causal', 'similarity', 'cross-encoder'] | None,
        Field(description="null if the model's entry does not state it"),
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
        dict[str, Any] | None,
        Field(
            description="language → F1 that the model's authors report; null: not stated"
        ),
    ]
    dtype: str
    device: str
    outputs: Annotated[
        list[str] | None,
        Field(
            description="outputs of the model's head, in order; null if its files are not on this disk"
        ),
    ]
    mapping: Annotated[
        dict[str, Any] | None,
        Field(
            description='canonical label → its outputs; if empty, its probability is 1 minus that of the other label'
        ),
    ]
    ignored: Annotated[
        list[str], Field(description='outputs without a canonical label')
    ]
    activation: Literal['softmax', 'sigmoid', 'one-output'] | None
    warnings: Annotated[
        list[str], Field(description='warnings in every result that uses this model')
    ]
    preset: Annotated[str | None, Field(description='preset as name@version')]
    licence: str | None
    card: str | None
    id: Annotated[str, Field(description='the name that requests use for the model')]
    object: Literal['model'] = 'model'
    state: Annotated[
        Literal['absent', 'downloading', 'waiting', 'loading', 'ready', 'failed', 'away'] | None,
        Field(
            description="the model's state in the worker where it is closest to ready; null if no worker reports it. `waiting`: for memory; `away`: its server cannot be reached; `absent`: no files; `failed`: its files cannot be used"
        ),
    ]
    error: Annotated[str | None, Field(description='why the model is not ready')]
    since: Annotated[
        int | None, Field(description='time at which this state began, unix seconds')
    ]
    bytes: Annotated[
        int | None,
        Field(
            description="size of the model's files in bytes; null if no worker has loaded it"
        ),
    ]
    memory: Annotated[
        int | None,
        Field(
            description='estimated memory that the model needs, in bytes; null if no worker has loaded it'
        ),
    ]
    server: Annotated[
        ServerAbilities | None,
        Field(
            description='abilities of a model behind a server. A worker tests them daily, and after an answer that contradicts them; `checked_at` is the last time'
        ),
    ]
    checked_at: Annotated[
        int | None,
        Field(
            description='time of the last test, unix seconds; null if no server was tested'
        ),
    ]


class NextReview(Message):
    object: Literal['next_review'] = 'next_review'
    item: Annotated[
        ReviewItem | None,
        Field(description='the next line; null if no line is left for this reviewer'),
    ]
    progress: QueueProgress


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


class ScoreSplit(Message):
    by: str
    values: Annotated[
        list[SplitValue],
        Field(
            description='the values of the split, the lowest mean first',
            validate_default=True,
        ),
    ] = []
    without: Annotated[
        int, Field(description='results left out because they have no value')
    ]
    p_value: Annotated[
        float | None,
        Field(
            description='p-value for the hypothesis that all means are equal. Whole texts are permuted, and for a text with several values, these values within the text; null if there is nothing to permute'
        ),
    ] = None
    within_texts: Annotated[
        bool | None,
        Field(
            description='whether some texts have several values, which are permuted within the text'
        ),
    ] = None
    texts: Annotated[
        int | None, Field(description='texts with a score under any value')
    ] = None
    common_texts: Annotated[
        int | None,
        Field(
            description='texts with a score under every value; if fewer than `texts`, the groups also differ in their texts'
        ),
    ] = None
    pairs: Annotated[
        list[SplitPair],
        Field(
            description='pairwise comparisons, if `pairwise` requests them',
            validate_default=True,
        ),
    ] = []
    warnings: Annotated[
        list[str], Field(description='the reason why there is no split')
    ] = []


class SorNull(Null):
    kind: Literal['other posts'] = 'other posts'
    draws: Annotated[int, Field(description='number of random explanations compared')]
    p_value: Annotated[
        float | None,
        Field(
            description='one-sided p-value: (1 + draws with at least this score) / (1 + draws); from the first round if its result is clear'
        ),
    ] = None
    attainable_p: Annotated[
        float | None,
        Field(
            description='the smallest possible p-value, with all draws that the request allows or with all placements'
        ),
    ] = None
    sd: Annotated[
        float | None,
        Field(
            description="standard deviation of the draws' scores, over n - 1; null for a single draw"
        ),
    ] = None
    win_rate: Annotated[
        float | None,
        Field(
            description='share of other posts of which the statement names fewer facts; ties count half'
        ),
    ] = None
    pool: Annotated[
        Literal['request', 'own'], Field(description='source of the other posts')
    ]


class SorRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    model: Annotated[
        str | None, Field(description='a configured model; absent: the default model')
    ] = None
    metadata: Annotated[
        dict[str, str] | None, Field(description='at most 16 pairs')
    ] = None
    context: Annotated[
        Context | None, Field(description='your own data, returned with the job')
    ] = None
    webhook: Annotated[
        str | None,
        Field(
            description='the only webhook endpoint to notify; absent: all that receive the event'
        ),
    ] = None
    do_not_store_text: Annotated[
        bool, Field(description='store no text after the job ends')
    ] = False
    variant: Annotated[
        Literal['robust', 'paper', 'reference'],
        Field(
            description='`robust`: the paper with its defects corrected; `paper`: the equations as printed; `reference`: like the released code'
        ),
    ] = 'robust'
    seed: Annotated[int, Field(description='seed of every random draw')] = 0
    trace: Annotated[
        Trace | None,
        Field(
            description='the judged answer in your tracing, to which scores are attached'
        ),
    ] = None
    language: Annotated[
        str, Field(description='BCP 47 language, not checked; `auto` identifies it')
    ] = 'auto'
    accept_untrained_languages: Annotated[
        bool,
        Field(
            description='score texts in languages that the model did not learn, with a warning'
        ),
    ] = False
    explain: Annotated[
        Literal[True] | Explain | None,
        Field(
            description="instead of an explanation: let a model decide and explain; `true`: the request's `model` with the metric's prompt"
        ),
    ] = None
    text: Annotated[str, Field(description='the post that the decision is about')]
    statement: Annotated[
        str | ExplanationFields | None,
        Field(
            description='the statement as its recipient received it, or an explanation as fields'
        ),
    ] = None
    fields: Annotated[
        SorFields | None,
        Field(
            description='instead of `statement`: fields of the DSA Transparency Database (version 2)'
        ),
    ] = None
    policy: Annotated[
        str | None,
        Field(
            description='the rules that the statement refers to; the clause that it names is searched for in them'
        ),
    ] = None
    other_posts: Annotated[
        list[str],
        Field(
            description='other posts, to which the statement is also compared; absent: built-in posts'
        ),
    ] = []
    reader: Annotated[
        Literal['auto', 'rules', 'llm'],
        Field(
            description='what reads a plain statement. `rules`: the trained reader, for English and German. `llm`: the `reader_model`. `auto`: the trained reader if it knows the language, else the `reader_model` if there is one'
        ),
    ] = 'auto'
    reader_model: Annotated[
        str | None,
        Field(
            description='configured language model that reads the statement; its quotes must occur in the statement word for word'
        ),
    ] = None
    decision: Annotated[
        str | None,
        Field(
            description="the explained decision, a label of `model`; absent: the model's own"
        ),
    ] = None
    faithfulness_draws: Annotated[
        int,
        Field(
            description='with a `model`: number of random draws of other words of the post, in runs of the same lengths, with which the facts are compared'
        ),
    ] = 99


class StudyPlan(Message):
    wanted: WantedEffect
    texts: Annotated[
        int | None,
        Field(
            description='texts needed to detect a difference between the mean score and a fixed value (two-sided t test); null without `effect`; see `warnings`'
        ),
    ] = None
    texts_upper: Annotated[
        int | None,
        Field(
            description="cautious number of `texts`, from the upper end of a one-sided 80 % interval of the scores' spread; for reports with few texts"
        ),
    ] = None
    compared_texts: Annotated[
        int | None,
        Field(
            description='texts that both systems must share (paired t test), computed from their differences in this report; null without `effect` or `against`; see `warnings`'
        ),
    ] = None
    compared_texts_upper: Annotated[
        int | None,
        Field(
            description='cautious number of `compared_texts`, computed as for `texts_upper`'
        ),
    ] = None
    draws: Annotated[
        int | None,
        Field(
            description='random explanations that a two-sided test of one explanation needs, if all are drawn at once; null without `beat_rate`, and for metrics without random explanations; see `warnings`'
        ),
    ] = None
    one_sided_draws: Annotated[
        int | None,
        Field(description='number of random explanations for a one-sided test'),
    ] = None
    warnings: Annotated[
        list[str], Field(description='reasons why a number is null or doubtful')
    ] = []


class SystemComparison(Shown):
    decision: Annotated[
        str,
        Field(
            description='which side is better, in one sentence: problems with a corrected p-value of at most 0.05 decide first, then the score'
        ),
    ] = ''
    pairs: int
    unpaired_new: Annotated[
        int,
        Field(
            description='results of the report that match no result of `against`, and are left out'
        ),
    ]
    unpaired_baseline: Annotated[
        int,
        Field(
            description='results of `against` that match no result of the report, and are left out'
        ),
    ]
    left_out: Annotated[
        dict[str, int] | None,
        Field(description='jobs of `against` without a result, by status'),
    ] = None
    differences: list[ComponentDifference]
    conflicting: Annotated[
        int,
        Field(
            description='results left out because they have a common custom_id but different texts'
        ),
    ] = 0
    by_text: Annotated[
        int | None,
        Field(
            description='pairs matched by text and label, without a common custom_id'
        ),
    ] = None
    undefined_new: Annotated[
        int,
        Field(description='pairs where only the new system has no score, or failed'),
    ] = 0
    undefined_baseline: Annotated[
        int, Field(description='pairs where only the baseline has no score, or failed')
    ] = 0
    bounds: Annotated[
        DifferenceBounds | None,
        Field(description='null if there are no pairs, or if the score has no range'),
    ] = None
    verdicts: Annotated[
        list[VerdictChange],
        Field(description='the pairs of verdicts that occur', validate_default=True),
    ] = []
    problems: Annotated[
        list[ProblemChange],
        Field(
            description='problems that only one of the two results has in some pair, worst first',
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
            description="comparisons by the request's `by`, for keys with 2 to 50 values, lowest first",
            validate_default=True,
        ),
    ] = []
    warnings: Annotated[
        list[str],
        Field(description='reasons to doubt the pairs or the difference of the scores'),
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
        Field(
            description='the words in ascending order, those of `text` first; they must not overlap'
        ),
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


class BatchList(Message):
    object: Literal['list'] = 'list'
    data: list[Batch]
    first_id: str | None
    last_id: Annotated[
        str | None, Field(description='pass it as `after` to get the next page')
    ]
    has_more: bool


class ConsistencyControl(Message):
    simulatability: ConsistencyNull | None = None
    attribution: ConsistencyNull | None = None


class ConsistencyRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    model: Annotated[
        str | None, Field(description='a configured model; absent: the default model')
    ] = None
    metadata: Annotated[
        dict[str, str] | None, Field(description='at most 16 pairs')
    ] = None
    context: Annotated[
        Context | None, Field(description='your own data, returned with the job')
    ] = None
    webhook: Annotated[
        str | None,
        Field(
            description='the only webhook endpoint to notify; absent: all that receive the event'
        ),
    ] = None
    do_not_store_text: Annotated[
        bool, Field(description='store no text after the job ends')
    ] = False
    variant: Annotated[
        Literal['robust', 'paper', 'reference'],
        Field(
            description='`robust`: the paper with its defects corrected; `paper`: the equations as printed; `reference`: like the released code'
        ),
    ] = 'robust'
    seed: Annotated[int, Field(description='seed of every random draw')] = 0
    trace: Annotated[
        Trace | None,
        Field(
            description='the judged answer in your tracing, to which scores are attached'
        ),
    ] = None
    language: Annotated[
        str, Field(description='BCP 47 language, not checked; `auto` identifies it')
    ] = 'auto'
    accept_untrained_languages: Annotated[
        bool,
        Field(
            description='score texts in languages that the model did not learn, with a warning'
        ),
    ] = False
    explain: Annotated[
        Literal[True] | Explain | None,
        Field(
            description="instead of an explanation: let a model decide and explain; `true`: the request's `model` with the metric's prompt"
        ),
    ] = None
    text: Annotated[str, Field(description='the text that the model judged')]
    explanation: Annotated[
        str | None,
        Field(
            description="explanation of the model's answer; required unless `explain` is set"
        ),
    ] = None
    decision: Annotated[
        str | None,
        Field(
            description="the explained decision, one of the model's labels; absent: the model's own answer. If the model answers differently, there is no score"
        ),
    ] = None
    cited: Annotated[
        list[ConsistencySpan],
        Field(
            description='passages that the explanation cites; absent: its quotations. For an English explanation without quotations, the content words that it shares with the text',
            validate_default=True,
        ),
    ] = []
    edits: Annotated[
        list[ConsistencyEdit],
        Field(
            description='your own edited texts; absent: the metric removes the cited words and, for comparison, other passages of the same length',
            validate_default=True,
        ),
    ] = []
    predictions: Annotated[
        ConsistencyPredictions | None,
        Field(description="your own model's answers; the service then calls no model"),
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
        int,
        Field(
            description='maximum number of other passages that are removed for comparison'
        ),
    ] = 99
    contributions: Annotated[
        Literal['occlusion', 'shapley'] | None,
        Field(
            description='how the contribution of a word to answer and explanation is measured. `occlusion`: the drop in probability without the word. `shapley`: its mean marginal contribution over `orders`. Absent: `occlusion`, or `shapley` for variants `paper` and `reference`'
        ),
    ] = None
    orders: Annotated[
        int, Field(description='number of random word orders that `shapley` samples')
    ] = 10
    permutations: Annotated[
        int,
        Field(
            description='permutations of the contributions that form the chance baseline'
        ),
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
            description='the prompt that the model answered with the explanation; absent: a built-in question'
        ),
    ] = None
    preceding: Annotated[
        str,
        Field(
            description='text that the model wrote after that prompt and before the explanation'
        ),
    ] = ''
    reader: Annotated[
        Literal['rules', 'model'],
        Field(
            description='how the answers to the edits are predicted from the explanation. `rules`: by rules; `model`: by `reader_model`, which reads the explanation with each edited text'
        ),
    ] = 'rules'
    reader_model: Annotated[
        str | None,
        Field(
            description='configured language model that predicts answers if `reader` is `model`'
        ),
    ] = None


class Elicitation(ExplanationsElicitation):
    provenance: ExplanationsProvenance


class FtcResult(MetricResult):
    metric: Literal['ftc'] = 'ftc'
    range: list[float] = [0.0, 1.0]
    components: FtcComponents
    evidence: list[FtcSpanEvidence]
    control: FtcBaselines | None
    warnings: Annotated[
        list[str], Field(description='reasons why a value is null or doubtful')
    ] = []
    reasons: Annotated[
        list[NullReason],
        Field(
            description='reasons why the score or a part of it is null',
            validate_default=True,
        ),
    ] = []
    elicitation: Annotated[
        Elicitation | None,
        Field(description="the model's answer, if the request has `explain`"),
    ] = None


class GoldAgreement(Message):
    labels: GoldLabels | None
    rationales: Plausibility | None
    ratings: HumanRatings | None
    warnings: list[str] = []


class HafRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    model: Annotated[
        str | None, Field(description='a configured model; absent: the default model')
    ] = None
    metadata: Annotated[
        dict[str, str] | None, Field(description='at most 16 pairs')
    ] = None
    context: Annotated[
        Context | None, Field(description='your own data, returned with the job')
    ] = None
    webhook: Annotated[
        str | None,
        Field(
            description='the only webhook endpoint to notify; absent: all that receive the event'
        ),
    ] = None
    do_not_store_text: Annotated[
        bool, Field(description='store no text after the job ends')
    ] = False
    variant: Annotated[
        Literal['robust', 'paper', 'reference'],
        Field(
            description='`robust`: the paper with its defects corrected; `paper`: the equations as printed; `reference`: like the released code'
        ),
    ] = 'robust'
    seed: Annotated[int, Field(description='seed of every random draw')] = 0
    trace: Annotated[
        Trace | None,
        Field(
            description='the judged answer in your tracing, to which scores are attached'
        ),
    ] = None
    language: Annotated[
        str, Field(description='BCP 47 language, not checked; `auto` identifies it')
    ] = 'auto'
    accept_untrained_languages: Annotated[
        bool,
        Field(
            description='score texts in languages that the model did not learn, with a warning'
        ),
    ] = False
    explain: Annotated[
        Literal[True] | Explain | None,
        Field(
            description="instead of an explanation: let a model decide and explain; `true`: the request's `model` with the metric's prompt"
        ),
    ] = None
    text: Annotated[str, Field(description='the moderated text')]
    responses: Annotated[
        HafResponses | None,
        Field(
            description="your own model's responses instead of `model`; the service generates nothing"
        ),
    ] = None
    explanation: Annotated[
        ExplanationFields | None,
        Field(
            description='instead of `responses`: decision and reasons as fields. Fields have no log-probabilities, so only `control.unweighted` has values. If you have log-probabilities, send the fields as JSON in `responses.justify.text`'
        ),
    ] = None
    similarity: Annotated[
        str,
        Field(
            description='configured similarity model or cross-encoder that computes g'
        ),
    ] = 'embedded-similarity'
    generation: Annotated[
        HafGeneration | None,
        Field(
            description='Generation settings. The seed is that of the request.',
            title='HafGeneration',
        ),
    ] = None
    samples: Annotated[
        int, Field(description='number of generations; needs `model`')
    ] = 1
    permute_reasons: Annotated[
        int,
        Field(
            description='number of other orders of the reasons to try; needs `model`'
        ),
    ] = 0
    decision_target: Annotated[
        Literal['sentence', 'label'] | None,
        Field(
            description="what the relevance of a decision's tokens is measured against: the `sentence` (Eq. 3), or its `label` as in the released code; absent: set by the variant"
        ),
    ] = None
    weights: HafWeights | None = None
    extras: Annotated[
        bool, Field(description='whether to report DiS-dpp and del-PE too')
    ] = False
    token_values: Annotated[
        bool,
        Field(
            description="whether to report each token's log-probability and relevance, for every reason and decision; about 100 bytes per token"
        ),
    ] = False


class HafResult(MetricResult):
    metric: Literal['haf'] = 'haf'
    range: list[float] = [0.0, 1.0]
    components: HafComponents
    evidence: list[HafReasonEvidence]
    control: HafControls | None
    warnings: list[str] = []
    reasons: Annotated[
        list[NullReason],
        Field(
            description='reasons why the score or a part of it is null',
            validate_default=True,
        ),
    ] = []
    elicitation: Annotated[
        Elicitation | None,
        Field(description="the model's answer, if the request has `explain`"),
    ] = None


class HatexscoreResult(MetricResult):
    metric: Literal['hatexscore'] = 'hatexscore'
    range: list[float] = [0.0, 1.0]
    components: Annotated[
        HatexscoreComponents,
        Field(
            description='The four parts of the score; null if undefined, see `reasons`.',
            title='HatexscoreComponents',
        ),
    ]
    evidence: Annotated[list[Evidence1], Field(validate_default=True)] = []
    control: Annotated[
        HatexscoreRandomSpans | None,
        Field(description='null if undefined; `warnings` says why'),
    ] = None
    warnings: Annotated[
        list[str], Field(description='reasons why a value is null or doubtful')
    ] = []
    reasons: Annotated[
        list[HatexscoreReason],
        Field(
            description='why the score, or a part of it, is null; `warnings` has sentences with details',
            validate_default=True,
        ),
    ] = []
    elicitation: Annotated[
        Elicitation | None,
        Field(description="the model's answer, if the request has `explain`"),
    ] = None


class IceComponents(Message):
    tests: list[IceTest]
    areas: Annotated[
        list[IceArea], Field(description='areas over the budgets, if there are several')
    ]
    comparisons: Annotated[
        list[IceComparison],
        Field(description='comparisons of explanations, if there are several'),
    ]
    plausibility: Annotated[
        list[IcePlausibility],
        Field(
            description='comparisons with tokens that people marked, if `human` was sent'
        ),
    ]
    readings: Annotated[
        list[IceCausalReading],
        Field(
            description='causal readings, if sufficiency and necessity were tested',
            validate_default=True,
        ),
    ] = []


class IceResult(MetricResult):
    metric: Literal['ice'] = 'ice'
    range: list[float] = [0.0, 1.0]
    components: IceComponents
    evidence: list[IceRationaleEvidence]
    control: Annotated[
        IceChance | None, Field(description='null if undefined; `warnings` says why')
    ]
    warnings: Annotated[
        list[str], Field(description='reasons why a value is null or doubtful')
    ] = []
    reasons: Annotated[
        list[NullReason],
        Field(
            description='reasons why the score or a part of it is null',
            validate_default=True,
        ),
    ] = []


class InferenceResult(Message):
    operation: Literal['describe', 'tokens', 'judge', 'judgements', 'judge_rows', 'judge_words', 'probabilities', 'truncated', 'attributions', 'generate', 'score']
    answer: Annotated[
        Description | list[Tokens | list[float] | Judgement | list[list[float]] | WordJudgements | bool | Attributions | Completion],
        Field(
            description='results in the form of the operation, in the order of the request'
        ),
    ]
    labels: Annotated[
        list[str],
        Field(
            description="labels of the columns of a classifier's result; otherwise empty"
        ),
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
    first_id: str | None
    last_id: Annotated[
        str | None, Field(description='pass it as `after` to get the next page')
    ]
    has_more: bool


class SorResult(MetricResult):
    metric: Literal['sor'] = 'sor'
    range: list[float] = [0.0, 1.0]
    components: SorComponents
    evidence: list[SorEvidence]
    control: Annotated[
        SorNull | None,
        Field(description='the same statement, compared with other posts'),
    ]
    warnings: Annotated[
        list[str], Field(description='reasons why a value is null or doubtful')
    ] = []
    reasons: Annotated[
        list[NullReason],
        Field(
            description='reasons why the score or a part of it is null',
            validate_default=True,
        ),
    ] = []
    elicitation: Annotated[
        Elicitation | None,
        Field(description="the model's answer, if the request has `explain`"),
    ] = None


class BatchReport(Report):
    metric: Literal['consistency', 'cot2el', 'explanations', 'ftc', 'haf', 'hatexscore', 'hlv', 'ice', 'sor']
    scored: Annotated[
        int, Field(description='number of results that this report is based on')
    ]
    undefined: Annotated[int, Field(description='number of results without a score')]
    finding: Annotated[
        str,
        Field(
            description='the meaning of the results in a sentence or two, and their number'
        ),
    ] = ''
    left_out: Annotated[
        dict[str, int] | None, Field(description='jobs without a result, by status')
    ] = None
    duplicates: Annotated[
        int,
        Field(
            description='results left out because they have the same request and result as another one'
        ),
    ] = 0
    score: Annotated[
        Interval, Field(description='mean score, with its interval over texts')
    ]
    sequence: Annotated[
        SequenceInterval | None,
        Field(
            description="interval of the texts' mean score, valid however often you check a growing batch, if requested; null if the score has no range, or if earlier intervals contradict it"
        ),
    ] = None
    reasons: Annotated[
        dict[str, int] | None,
        Field(
            description='code → number of results whose score is null for this reason; a result may have several reasons'
        ),
    ] = None
    by_language: Annotated[
        dict[str, LanguageScores] | None,
        Field(
            description='language of the text → number of results; results without a language are left out'
        ),
    ] = None
    parts: Annotated[
        dict[str, PartSummary] | None,
        Field(
            description='part of the score → its mean over all results; empty if there is no score'
        ),
    ] = None
    splits: Annotated[
        list[ScoreSplit],
        Field(
            description='the scores split by each of `by`; p-values are not corrected across splits',
            validate_default=True,
        ),
    ] = []
    comparison: Annotated[
        SystemComparison | None,
        Field(
            description='comparison with the results of `against`; null if the request names none'
        ),
    ] = None
    further: Annotated[
        list[SystemComparison],
        Field(
            description="comparison of each of the request's `further` systems with `against`",
            validate_default=True,
        ),
    ] = []
    agreement: Annotated[
        HumanAgreement | None,
        Field(
            description='agreement between people, and between people and the metric, if requested'
        ),
    ] = None
    gold: Annotated[
        GoldAgreement | None,
        Field(
            description='comparison with gold labels, marked passages and ratings; null if no line has them'
        ),
    ] = None
    plan: Annotated[
        StudyPlan | None,
        Field(
            description="texts and draws that would detect the effect in the request's `plan`; null without one"
        ),
    ] = None
    corrected: Annotated[
        dict[str, str] | None,
        Field(
            description='names of the p-values that are corrected for several tests → the correction; all other p-values and all intervals are uncorrected'
        ),
    ] = None
    warnings: list[str] = []
    plots: Annotated[list[Plot], Field(validate_default=True)] = []
    seed: int
    resamples: int
    confidence: float
    statistics_version: Annotated[
        str, Field(description='version of the methods that compute intervals')
    ] = '1'
    service_version: str
    details: Annotated[
        dict[str, JsonValue],
        Field(description="the metric's own tables, described on its page"),
    ]


class BulkRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    metric: Literal['consistency', 'cot2el', 'ftc', 'haf', 'hatexscore', 'hlv', 'ice', 'sor']
    requests: Annotated[
        list[ConsistencyRequest | Cot2elRequest | FtcRequest | HafRequest | HatexscoreRequest | HlvRequest | IceRequest | SorRequest],
        Field(description='the requests; either all are accepted or none'),
    ]


class ConsistencyResult(MetricResult):
    metric: Literal['consistency'] = 'consistency'
    range: list[float] = [0.0, 1.0]
    components: ConsistencyComponents
    evidence: list[ConsistencyEvidence]
    control: ConsistencyControl | None
    warnings: Annotated[
        list[str], Field(description='reasons why a value is null or doubtful')
    ] = []
    reasons: Annotated[
        list[NullReason],
        Field(
            description='reasons why the score or a part of it is null',
            validate_default=True,
        ),
    ] = []
    elicitation: Annotated[
        Elicitation | None,
        Field(description="the model's answer, if the request has `explain`"),
    ] = None


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
            description="the metrics' results in the order of the request, each in the form that the metric's own route returns"
        ),
    ]
    unscored: list[ExplanationsUnscored]
    warnings: list[str]
    provenance: ExplanationsProvenance


class InferenceRequest(Message):
    model_config = ConfigDict(
        extra='forbid',
    )
    model: Annotated[str, Field(description='a configured classifier or causal model')]
    metadata: Annotated[
        dict[str, str] | None, Field(description='at most 16 pairs')
    ] = None
    context: Annotated[
        Context | None, Field(description='your own data, returned with the job')
    ] = None
    webhook: Annotated[
        str | None,
        Field(
            description='the only webhook endpoint to notify; absent: all that receive the event'
        ),
    ] = None
    do_not_store_text: Annotated[
        bool, Field(description='store no text after the job ends')
    ] = False
    ask: Annotated[
        Describe | Tokenize | JudgeExamples | ReadLabels | JudgeRows | JudgeWords | Probabilities | Truncated | Attribute | Generate | ScoreCompletions,
        Field(
            description='`judge`: label probabilities of examples; `judge_rows`: of variations of an example; `judge_words`: of variations by words, with any judge; `judgements`: with mass and uncertainty; `tokens`; `attributions`; `generate`; `score`: token log-probabilities; `describe`; for plain texts also `probabilities` and `truncated`',
            discriminator='operation',
        ),
    ]


class Job(JobMessage):
    id: str
    object: Literal['job'] = 'job'
    metric: Literal['consistency', 'consistency-report', 'cot2el', 'cot2el-report', 'explanations', 'explanations-report', 'ftc', 'ftc-report', 'haf', 'haf-report', 'hatexscore', 'hatexscore-report', 'hlv', 'hlv-report', 'ice', 'ice-report', 'inference', 'similarity', 'sor', 'sor-report']
    status: Literal['queued', 'running', 'succeeded', 'failed', 'cancelled']
    created_at: Annotated[int, Field(description='unix seconds')]
    started_at: Annotated[
        int | None, Field(description='unix seconds; null while queued')
    ]
    finished_at: Annotated[
        int | None, Field(description='unix seconds; null until the job is final')
    ]
    timing: Annotated[
        JobTiming,
        Field(
            description='The times that a job waited and ran, to the millisecond.',
            title='JobTiming',
        ),
    ]
    attempts: int
    request_id: Annotated[
        str | None,
        Field(
            description='x-request-id of the request that created the job or its batch; null for older jobs'
        ),
    ]
    batch_id: str | None
    waiting_for: Annotated[
        WaitingFor | None,
        Field(
            description='the model that the job waits for, while it is queued because the model is not ready'
        ),
    ]
    metadata: dict[str, str]
    context: Context | None
    trace: Annotated[Trace | None, Field(description="the request's `trace`")]
    request: Annotated[
        dict[str, Any] | None,
        Field(
            description='the request with its defaults, only in `GET /v1/jobs/{id}`; null elsewhere, and if its texts are not stored'
        ),
    ]
    error: Annotated[Problem | None, Field(description='the problem of a failed job')]
    result: Annotated[
        ConsistencyResult | Cot2elResult | ExplanationsResult | FtcResult | HafResult | HatexscoreResult | HlvResult | IceResult | InferenceResult | SimilarityResult | SorResult | BatchReport | None,
        Field(description='the result of `metric`, if the job succeeded'),
    ]


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
