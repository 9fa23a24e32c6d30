"""The fields of requests, for type checkers: keyword arguments of the methods."""
from __future__ import annotations

# Made by sdk/generate.py from docs/openapi.json; do not edit.

from typing import Any, Literal, TypeAlias

from typing_extensions import NotRequired, TypedDict


class Judged(TypedDict, closed=True):
    queue: NotRequired[str | None]
    random: NotRequired[bool]


Label: TypeAlias = str


Rationale: TypeAlias = str


Rating: TypeAlias = str


class GoldColumns(TypedDict, closed=True):
    label: NotRequired[Label]
    rationale: NotRequired[Rationale]
    rating: NotRequired[Rating]
    accepted_from: NotRequired[float | None]


ModelKey: TypeAlias = str


DatasetKey: TypeAlias = str


class HafReportOptions(TypedDict, closed=True):
    model_key: NotRequired[ModelKey]
    dataset_key: NotRequired[DatasetKey]


class IceReportOptions(TypedDict, closed=True):
    alpha: NotRequired[float]
    example_alpha: NotRequired[float]
    error: NotRequired[Literal['discovery', 'family']]


class OutputExpiry(TypedDict, closed=True):
    anchor: Literal['created_at']
    seconds: int


class BatchRequest(TypedDict):
    input_file_id: NotRequired[str]
    endpoint: NotRequired[Literal['/v1/explanations', '/v1/inference', '/v1/scores/consistency', '/v1/scores/cot2el', '/v1/scores/ftc', '/v1/scores/haf', '/v1/scores/hatexscore', '/v1/scores/hlv', '/v1/scores/ice', '/v1/scores/sor', '/v1/similarity']]
    completion_window: NotRequired[Literal['24h']]
    metadata: NotRequired[dict[str, str]]
    language: NotRequired[str]
    output_expires_after: NotRequired[OutputExpiry | None]


class ConsistencySpan(TypedDict, closed=True):
    start: int
    end: int


class ConsistencyEdit(TypedDict, closed=True):
    text: str
    expected: NotRequired[Literal['changes', 'stays'] | None]


class ConsistencyWordValue(TypedDict, closed=True):
    start: int
    end: int
    answer: float
    explanation: float


class ConsistencyPredictions(TypedDict, closed=True):
    answer: str
    edits: NotRequired[list[str]]
    words: NotRequired[list[ConsistencyWordValue]]


class ConsistencyTurn(TypedDict, closed=True):
    role: Literal['system', 'user', 'assistant']
    content: str


class ConsistencyPrompt(TypedDict, closed=True):
    turns: list[ConsistencyTurn]
    style: NotRequired[Literal['chat', 'raw']]


class Cot2elUnitSpan(TypedDict, closed=True):
    start: int
    end: int


class EndpointChange(TypedDict):
    url: NotRequired[str | None]
    events: NotRequired[list[Literal['job.succeeded', 'job.failed', 'job.cancelled', 'batch.completed', 'batch.failed', 'batch.expired', 'batch.cancelled', 'judgement.created']] | None]
    description: NotRequired[str | None]
    enabled: NotRequired[bool | None]
    authorization: NotRequired[str | None]
    sample: NotRequired[float | None]
    metrics: NotRequired[list[str] | None]
    parts: NotRequired[bool | None]


class EndpointRequest(TypedDict):
    url: NotRequired[str]
    events: NotRequired[list[Literal['job.succeeded', 'job.failed', 'job.cancelled', 'batch.completed', 'batch.failed', 'batch.expired', 'batch.cancelled', 'judgement.created']]]
    description: NotRequired[str]
    format: NotRequired[Literal['standard-webhooks', 'otlp-logs', 'langfuse-scores', 'phoenix-annotations']]
    authorization: NotRequired[str | None]
    sample: NotRequired[float]
    metrics: NotRequired[list[str]]
    parts: NotRequired[bool]


class FtcSupplied(TypedDict, closed=True):
    kind: Literal['substituted', 'a', 'b']
    text: str


class FtcDistribution(TypedDict, closed=True):
    entailment: float
    neutral: float
    contradiction: float


class FtcSimulation(TypedDict, closed=True):
    from_input: Literal['entailment', 'neutral', 'contradiction']
    from_input_and_explanation: Literal['entailment', 'neutral', 'contradiction']
    from_explanation: NotRequired[Literal['entailment', 'neutral', 'contradiction'] | None]


class FtcPerturbation(TypedDict, closed=True):
    variance: float
    label: Literal['entailment', 'neutral', 'contradiction']
    simulated: NotRequired[Literal['entailment', 'neutral', 'contradiction'] | None]


class FtcStudy(TypedDict, closed=True):
    simulation: NotRequired[FtcSimulation | None]
    perturbations: NotRequired[list[FtcPerturbation]]
    human_labels: NotRequired[dict[str, list[Literal['entailment', 'neutral', 'contradiction']]]]
    inputs: NotRequired[Literal['all', 'hypothesis', 'premise', 'label', 'another_item'] | None]


class HafGeneration(TypedDict, closed=True):
    temperature: NotRequired[float]
    top_p: NotRequired[float]
    max_tokens: NotRequired[int]


class HatexscoreProbabilities(TypedDict, closed=True):
    original: float | None
    masked: float | None


class HlvScale(TypedDict, closed=True):
    low: NotRequired[float]
    high: NotRequired[float]


class HlvHuman(TypedDict, closed=True):
    votes: NotRequired[list[dict[str, float]] | dict[str, float] | None]
    ratings: NotRequired[list[dict[str, float]] | dict[str, float] | None]
    ranking: NotRequired[list[dict[str, float]] | dict[str, float] | None]
    scale: NotRequired[HlvScale]


class LeaseRequest(TypedDict):
    reviewer: NotRequired[str | None]
    skip: NotRequired[int | None]


class ReplayRequest(TypedDict):
    delivery: NotRequired[str | None]


class ReviewQueueRequest(TypedDict):
    batch: NotRequired[str]
    name: NotRequired[str]
    query: NotRequired[str]
    order: NotRequired[Literal['random', 'surprising', 'uncertain']]
    lines: NotRequired[int]
    per_line: NotRequired[int]
    blind: NotRequired[bool]
    seed: NotRequired[int]
    rubric: NotRequired[list[Literal['agree', 'score', 'label', 'spans', 'note']]]


class RotationRequest(TypedDict):
    overlap_seconds: NotRequired[int]


class Pair(TypedDict, closed=True):
    a: str
    b: str


class Context(TypedDict):
    puid: NotRequired[str | None]
    decision_ground: NotRequired[str | None]
    automated_detection: NotRequired[str | None]
    automated_decision: NotRequired[str | None]
    content_language: NotRequired[str | None]


class Against(TypedDict):
    batch: NotRequired[str | None]
    jobs: NotRequired[list[str] | None]
    of_model: NotRequired[str | None]
    of_metadata: NotRequired[dict[str, str]]
    wilcoxon: NotRequired[bool]


class WantedEffect(TypedDict):
    effect: NotRequired[float | None]
    beat_rate: NotRequired[float | None]
    power: NotRequired[float]
    alpha: NotRequired[float]


class Trace(TypedDict):
    trace_id: NotRequired[str | None]
    span_id: NotRequired[str | None]
    response_id: NotRequired[str | None]
    session_id: NotRequired[str | None]


class PromptKeys(TypedDict):
    style: NotRequired[Literal['chat', 'raw'] | None]
    system: NotRequired[str | None]
    policy: NotRequired[str | None]
    user: NotRequired[str | None]
    after: NotRequired[str | None]
    answer_prefix: NotRequired[str]
    verbalizers: NotRequired[dict[str, Any] | None]
    template_kwargs: NotRequired[dict[str, Any]]
    add_generation_prompt: NotRequired[bool]
    thinking: NotRequired[Literal['off', 'before']]
    reasoning_tokens: NotRequired[int]
    draws: NotRequired[int]


class NliQuestion(TypedDict):
    premise: str
    hypothesis: str


class Scenario(TypedDict):
    scenario: str
    question: str


class Option(TypedDict):
    key: str
    text: str


class Explanation(TypedDict):
    explanation: str
    label: str
    stance: NotRequired[Literal['support', 'oppose']]


class Cot2elWriting(TypedDict):
    temperature: NotRequired[float]
    top_p: NotRequired[float]
    max_tokens: NotRequired[int]
    source: NotRequired[Literal['reasoning', 'answer_text']]
    structuring_model: NotRequired[str | None]


class ExplanationsOwnPrompt(TypedDict):
    system: NotRequired[str | None]
    user: str
    reader: NotRequired[Literal['hatexscore', 'haf', 'labels', 'none']]
    labels: NotRequired[list[str]]
    policy: NotRequired[str | None]
    explanation_after: NotRequired[str | None]


class ExplanationsOwnPolicy(TypedDict):
    text: str


class ExplanationsGeneration(TypedDict):
    temperature: NotRequired[float]
    top_p: NotRequired[float]
    max_tokens: NotRequired[int | None]


JsonValue: TypeAlias = Any


class ExplanationFields(TypedDict):
    decision: NotRequired[str | None]
    quotes: NotRequired[list[str] | None]
    target_groups: NotRequired[list[str] | None]
    reasons: NotRequired[list[str] | None]
    text: NotRequired[str | None]


class HafAnswerWeights(TypedDict, closed=True):
    upheld: NotRequired[float]
    doubtful: NotRequired[float]
    denied: NotRequired[float]
    unanswered: NotRequired[float]


class HafWeights(TypedDict):
    sos_confidence: NotRequired[float]
    uii_confidence: NotRequired[float]
    uei_confidence: NotRequired[float]
    sufficiency_confidence: NotRequired[float]
    answers: NotRequired[HafAnswerWeights]
    necessity_without_reasons: NotRequired[float | None]


class HatexscoreWeights(TypedDict, closed=True):
    htc: NotRequired[float]
    qf: NotRequired[float]
    tgi: NotRequired[float]
    cc: NotRequired[float]


class HatexscoreOptions(TypedDict):
    labels: NotRequired[Literal['default', 'hate', 'toxicity', 'safety', 'policy', 'three-way', 'sentiment-free'] | dict[str, list[str]] | None]
    prompt: NotRequired[PromptKeys | None]
    reader: NotRequired[Literal['rules', 'llm', 'auto']]
    reader_model: NotRequired[str | None]
    policy: NotRequired[Literal['un', 'meta', 'twitter', 'youtube'] | dict[str, list[str]]]
    tau: NotRequired[float]
    consistency_rule: NotRequired[Literal['causal', 'eq5', 'reference'] | None]
    weights: NotRequired[HatexscoreWeights]
    short_text_max_words: NotRequired[int]
    control_draws: NotRequired[int | None]


class HlvJudge(TypedDict):
    methods: NotRequired[list[Literal['rank', 'logits', 'score']]]
    runs: NotRequired[int]
    order: NotRequired[Literal['fixed', 'rotated']]
    temperature: NotRequired[float]
    top_p: NotRequired[float]
    max_tokens: NotRequired[int]
    chat: NotRequired[bool]


class AttributionMethod(TypedDict):
    name: Literal['attention', 'gradient', 'integrated_gradients', 'lime']
    attention: NotRequired[Literal['mean', 'last', 'rollout']]
    gradient: NotRequired[Literal['l2', 'input_x_gradient']]
    steps: NotRequired[int]
    samples: NotRequired[int]
    seed: NotRequired[int]
    calibrated: NotRequired[bool]


class IceAttributedSpan(TypedDict):
    start: int
    end: int
    of: NotRequired[Literal['text', 'text_pair']]
    value: float


class IceSpan(TypedDict):
    start: int
    end: int
    of: NotRequired[Literal['text', 'text_pair']]


class IceNamedExplanation(TypedDict):
    name: str
    attributions: NotRequired[list[IceAttributedSpan] | None]
    rationale: NotRequired[list[IceSpan | str] | str | None]


class Describe(TypedDict):
    operation: Literal['describe']


class Probabilities(TypedDict):
    operation: Literal['probabilities']
    texts: list[str]


class Truncated(TypedDict):
    operation: Literal['truncated']
    texts: list[str]


class MarkedSpan(TypedDict):
    of: NotRequired[str]
    start: int
    end: int


class SorFields(TypedDict):
    decision_visibility: NotRequired[list[str] | str | None]
    decision_visibility_other: NotRequired[str | None]
    decision_monetary: NotRequired[str | None]
    decision_monetary_other: NotRequired[str | None]
    decision_provision: NotRequired[str | None]
    decision_account: NotRequired[str | None]
    account_type: NotRequired[str | None]
    decision_ground: NotRequired[str | None]
    decision_ground_reference_url: NotRequired[str | None]
    illegal_content_legal_ground: NotRequired[str | None]
    illegal_content_explanation: NotRequired[str | None]
    incompatible_content_ground: NotRequired[str | None]
    incompatible_content_explanation: NotRequired[str | None]
    incompatible_content_illegal: NotRequired[str | None]
    content_type: NotRequired[list[str] | None]
    content_type_other: NotRequired[str | None]
    content_language: NotRequired[str | None]
    content_date: NotRequired[str | None]
    content_id_ean: NotRequired[str | None]
    category: NotRequired[str | None]
    category_addition: NotRequired[list[str] | None]
    category_specification: NotRequired[list[str] | None]
    category_specification_other: NotRequired[str | None]
    territorial_scope: NotRequired[list[str] | None]
    application_date: NotRequired[str | None]
    end_date_visibility_restriction: NotRequired[str | None]
    end_date_monetary_restriction: NotRequired[str | None]
    end_date_service_restriction: NotRequired[str | None]
    end_date_account_restriction: NotRequired[str | None]
    decision_facts: NotRequired[str | None]
    source_type: NotRequired[str | None]
    source_identity: NotRequired[str | None]
    automated_detection: NotRequired[str | None]
    automated_decision: NotRequired[str | None]
    puid: NotRequired[str | None]


class WrittenToken(TypedDict):
    id: int | None
    start: int
    end: int
    logprob: float


class HafChatToken(TypedDict):
    token: str
    logprob: float
    bytes: NotRequired[list[int] | None]


class HafChatLogprobs(TypedDict):
    content: list[HafChatToken]


class HafCompletionLogprobs(TypedDict):
    tokens: list[str]
    token_logprobs: list[float]


class HafResponse(TypedDict):
    text: str
    logprobs: NotRequired[HafChatLogprobs | HafCompletionLogprobs | None]
    tokens: NotRequired[list[WrittenToken] | None]


class HlvAnswers(TypedDict):
    rankings: NotRequired[list[dict[str, float]]]
    distributions: NotRequired[list[dict[str, float]]]
    logits: NotRequired[list[dict[str, float]]]
    scores: NotRequired[list[dict[str, float]]]


class Template(TypedDict):
    prefix: NotRequired[str]
    suffix: NotRequired[str]
    verbalizers: dict[str, str]


class Example(TypedDict):
    text: str
    text_pair: NotRequired[str | None]
    template: NotRequired[Template | None]
    prompt: NotRequired[PromptKeys | None]
    language: NotRequired[str | None]
    categories: NotRequired[bool]


class Turn(TypedDict, closed=True):
    role: Literal['system', 'user', 'assistant']
    content: str


class Prompt(TypedDict):
    text: NotRequired[str | None]
    turns: NotRequired[list[Turn] | None]
    draw: NotRequired[int | None]


class Sampling(TypedDict):
    temperature: NotRequired[float]
    top_p: NotRequired[float]
    max_tokens: NotRequired[int]
    stop: NotRequired[list[str]]
    seed: NotRequired[int]
    answer_schema: NotRequired[str | None]


class Row(TypedDict, closed=True):
    kept: NotRequired[list[int] | None]
    replaced: NotRequired[list[list[int]]]


class ExampleRows(TypedDict):
    example: Example
    rows: list[Row]
    calibrated: NotRequired[bool]


class WordSpan(TypedDict, closed=True):
    start: int
    end: int
    of: NotRequired[Literal['text', 'text_pair']]


class WordRow(TypedDict, closed=True):
    kept: NotRequired[list[int] | None]
    masked: NotRequired[list[int]]
    replaced: NotRequired[list[list[int | str]]]


class WordRows(TypedDict):
    example: Example
    words: list[WordSpan]
    rows: list[WordRow]


class BatchReportRequest(TypedDict):
    model: NotRequired[str | None]
    metadata: NotRequired[dict[str, str]]
    context: NotRequired[Context | None]
    webhook: NotRequired[str | None]
    do_not_store_text: NotRequired[bool]
    batch: NotRequired[str | None]
    jobs: NotRequired[list[str] | None]
    of_model: NotRequired[str | None]
    of_metadata: NotRequired[dict[str, str]]
    seed: NotRequired[int]
    resamples: NotRequired[int]
    confidence: NotRequired[float]
    cluster_key: NotRequired[str | None]
    sequence: NotRequired[bool]
    against: NotRequired[Against | None]
    further: NotRequired[list[Against]]
    judged: NotRequired[Judged | None]
    plan: NotRequired[WantedEffect | None]
    by: NotRequired[list[str]]
    gold: NotRequired[GoldColumns]
    pairwise: NotRequired[bool]
    mixed: NotRequired[bool]
    metric: NotRequired[Literal['consistency', 'cot2el', 'explanations', 'ftc', 'haf', 'hatexscore', 'hlv', 'ice', 'sor']]
    options: NotRequired[HafReportOptions | IceReportOptions | None]


class Cot2elRequest(TypedDict):
    model: NotRequired[str | None]
    metadata: NotRequired[dict[str, str]]
    context: NotRequired[Context | None]
    webhook: NotRequired[str | None]
    do_not_store_text: NotRequired[bool]
    variant: NotRequired[Literal['robust', 'paper', 'reference']]
    seed: NotRequired[int]
    trace: NotRequired[Trace | None]
    language: NotRequired[str]
    accept_untrained_languages: NotRequired[bool]
    question: NotRequired[NliQuestion | Scenario | str]
    options: NotRequired[list[Option]]
    reasoning: NotRequired[str | None]
    answer: NotRequired[str | None]
    pairs: NotRequired[list[Explanation] | None]
    units: NotRequired[list[Cot2elUnitSpan] | None]
    granularity: NotRequired[Literal['edu', 'sentence', 'both'] | None]
    min_similarity: NotRequired[float | None]
    polarity: NotRequired[Literal['nli', 'cues', 'none'] | None]
    nli_model: NotRequired[str | None]
    human_pairs: NotRequired[list[Explanation] | None]
    similarity: NotRequired[str | None]
    writing: NotRequired[Cot2elWriting | None]
    control_draws: NotRequired[int]
    control_pool: NotRequired[list[str]]


class JudgementRequest(TypedDict):
    verdict: NotRequired[Literal['agree', 'disagree', 'unsure']]
    reviewer: NotRequired[str | None]
    about: NotRequired[str]
    human_score: NotRequired[float | None]
    human_label: NotRequired[str | None]
    spans: NotRequired[list[MarkedSpan]]
    note: NotRequired[str | None]
    blind: NotRequired[bool]
    queue: NotRequired[str | None]
    seconds: NotRequired[float | None]
    job_id: NotRequired[str]


class SimilarityRequest(TypedDict):
    model: NotRequired[str | None]
    metadata: NotRequired[dict[str, str]]
    context: NotRequired[Context | None]
    webhook: NotRequired[str | None]
    do_not_store_text: NotRequired[bool]
    pairs: NotRequired[list[Pair]]


class Explain(TypedDict):
    model: NotRequired[str | None]
    prompt: NotRequired[str | ExplanationsOwnPrompt | None]
    shots: NotRequired[Literal[0, 2]]
    style: NotRequired[Literal['chat', 'raw']]
    policy: NotRequired[Literal['un', 'meta', 'twitter', 'youtube'] | ExplanationsOwnPolicy | None]
    target_label: NotRequired[str | None]
    generation: NotRequired[ExplanationsGeneration]


class ExplanationsAnswer(TypedDict):
    text: str
    tokens: NotRequired[list[WrittenToken]]
    reasoning: NotRequired[str | None]
    finish: NotRequired[Literal['stop', 'length', 'given']]


class ExplanationsItem(TypedDict):
    text: NotRequired[str | None]
    premise: NotRequired[str | None]
    hypothesis: NotRequired[str | None]
    scenario: NotRequired[str | None]
    question: NotRequired[str | None]
    target_label: NotRequired[str | None]
    answer: NotRequired[ExplanationsAnswer | None]
    gold: NotRequired[str | None]
    metadata: NotRequired[dict[str, str]]


class HafResponses(TypedDict):
    justify: HafResponse
    internal: NotRequired[HafResponse | None]
    external: NotRequired[HafResponse | None]
    individual: NotRequired[list[HafResponse | None] | None]


class HlvPredictions(TypedDict):
    explained: NotRequired[HlvAnswers | None]
    baseline: NotRequired[HlvAnswers | None]


class IceOptions(TypedDict):
    template: NotRequired[Template | None]
    prompt: NotRequired[PromptKeys | None]
    rank_by: NotRequired[Literal['value', 'magnitude']]
    k: NotRequired[float | list[float]]
    rows: NotRequired[Literal['tokens', 'words'] | None]
    operators: NotRequired[list[Literal['delete', 'mask', 'mask_unk', 'mask_pad', 'infill']]]
    null: NotRequired[Literal['tokens', 'words', 'spans', 'spans_gaps'] | None]
    strata: NotRequired[Literal['frequency', 'pos'] | None]
    match_tokens: NotRequired[bool]
    aspects: NotRequired[list[Literal['sufficiency', 'necessity']]]
    draws: NotRequired[int | None]
    alternative: NotRequired[Literal['two-sided', 'greater']]
    infills: NotRequired[int]
    infill_pool: NotRequired[list[str]]
    infill_excluded: NotRequired[list[str]]
    eligible: NotRequired[Literal['text', 'all'] | None]
    alpha: NotRequired[float]
    nsr_epsilon: NotRequired[float]
    fluency_model: NotRequired[str | None]
    token_values: NotRequired[bool]


class Attribute(TypedDict):
    operation: Literal['attributions']
    examples: list[Example]
    targets: list[str]
    method: AttributionMethod


class Generate(TypedDict):
    operation: Literal['generate']
    prompts: list[Prompt]
    sampling: NotRequired[Sampling]


class JudgeExamples(TypedDict):
    operation: Literal['judge']
    examples: list[Example]


class JudgeRows(TypedDict):
    operation: Literal['judge_rows']
    asked: list[ExampleRows]


class JudgeWords(TypedDict):
    operation: Literal['judge_words']
    asked: list[WordRows]


class ReadLabels(TypedDict):
    operation: Literal['judgements']
    examples: list[Example]


class ScoreCompletions(TypedDict):
    operation: Literal['score']
    prompts: list[Prompt]
    completions: list[str]


class Tokenize(TypedDict):
    operation: Literal['tokens']
    examples: list[Example]


class ConsistencyRequest(TypedDict):
    model: NotRequired[str | None]
    metadata: NotRequired[dict[str, str]]
    context: NotRequired[Context | None]
    webhook: NotRequired[str | None]
    do_not_store_text: NotRequired[bool]
    variant: NotRequired[Literal['robust', 'paper', 'reference']]
    seed: NotRequired[int]
    trace: NotRequired[Trace | None]
    language: NotRequired[str]
    accept_untrained_languages: NotRequired[bool]
    explain: NotRequired[Literal[True] | Explain | None]
    text: NotRequired[str]
    explanation: NotRequired[str]
    decision: NotRequired[str | None]
    cited: NotRequired[list[ConsistencySpan]]
    edits: NotRequired[list[ConsistencyEdit]]
    predictions: NotRequired[ConsistencyPredictions | None]
    parts: NotRequired[list[Literal['simulatability', 'attribution']]]
    operators: NotRequired[list[Literal['delete', 'mask']]]
    draws: NotRequired[int]
    contributions: NotRequired[Literal['occlusion', 'shapley'] | None]
    orders: NotRequired[int]
    permutations: NotRequired[int]
    prompt: NotRequired[PromptKeys | None]
    explanation_prompt: NotRequired[ConsistencyPrompt | None]
    preceding: NotRequired[str]
    reader: NotRequired[Literal['rules', 'model']]
    reader_model: NotRequired[str | None]


class ExplanationsRequest(TypedDict):
    model: NotRequired[str | None]
    metadata: NotRequired[dict[str, str]]
    context: NotRequired[Context | None]
    webhook: NotRequired[str | None]
    do_not_store_text: NotRequired[bool]
    text: NotRequired[str | None]
    premise: NotRequired[str | None]
    hypothesis: NotRequired[str | None]
    scenario: NotRequired[str | None]
    question: NotRequired[str | None]
    target_label: NotRequired[str | None]
    prompt: NotRequired[str | ExplanationsOwnPrompt]
    shots: NotRequired[Literal[0, 2]]
    style: NotRequired[Literal['chat', 'raw']]
    policy: NotRequired[Literal['un', 'meta', 'twitter', 'youtube'] | ExplanationsOwnPolicy | None]
    language: NotRequired[str]
    generation: NotRequired[ExplanationsGeneration]
    seed: NotRequired[int]
    answer: NotRequired[ExplanationsAnswer | None]
    score: NotRequired[list[str] | dict[str, dict[str, JsonValue]]]
    gold: NotRequired[str | None]
    items: NotRequired[list[ExplanationsItem] | None]
    draws: NotRequired[int]


class FtcRequest(TypedDict):
    model: NotRequired[str | None]
    metadata: NotRequired[dict[str, str]]
    context: NotRequired[Context | None]
    webhook: NotRequired[str | None]
    do_not_store_text: NotRequired[bool]
    variant: NotRequired[Literal['robust', 'paper', 'reference']]
    seed: NotRequired[int]
    trace: NotRequired[Trace | None]
    language: NotRequired[str]
    accept_untrained_languages: NotRequired[bool]
    explain: NotRequired[Literal[True] | Explain | None]
    premise: NotRequired[str]
    hypothesis: NotRequired[str]
    explanation: NotRequired[str | ExplanationFields]
    decision: NotRequired[Literal['entailment', 'neutral', 'contradiction'] | None]
    prompt: NotRequired[PromptKeys | None]
    extractor: NotRequired[Literal['rules', 'llm']]
    writer: NotRequired[str | None]
    counterfactuals: NotRequired[list[FtcSupplied] | None]
    targets: NotRequired[dict[str, FtcDistribution]]
    alpha: NotRequired[float]
    epsilon: NotRequired[float]
    null: NotRequired[Literal['phrases', 'any'] | None]
    draws: NotRequired[int | None]
    substitutes: NotRequired[list[str]]
    study: NotRequired[FtcStudy | None]


class HafRequest(TypedDict):
    model: NotRequired[str | None]
    metadata: NotRequired[dict[str, str]]
    context: NotRequired[Context | None]
    webhook: NotRequired[str | None]
    do_not_store_text: NotRequired[bool]
    variant: NotRequired[Literal['robust', 'paper', 'reference']]
    seed: NotRequired[int]
    trace: NotRequired[Trace | None]
    language: NotRequired[str]
    accept_untrained_languages: NotRequired[bool]
    explain: NotRequired[Literal[True] | Explain | None]
    text: NotRequired[str]
    responses: NotRequired[HafResponses | None]
    explanation: NotRequired[ExplanationFields | None]
    similarity: NotRequired[str]
    generation: NotRequired[HafGeneration]
    samples: NotRequired[int]
    permute_reasons: NotRequired[int]
    decision_target: NotRequired[Literal['sentence', 'label'] | None]
    weights: NotRequired[HafWeights]
    extras: NotRequired[bool]
    token_values: NotRequired[bool]


class HatexscoreRequest(TypedDict):
    model: NotRequired[str | None]
    metadata: NotRequired[dict[str, str]]
    context: NotRequired[Context | None]
    webhook: NotRequired[str | None]
    do_not_store_text: NotRequired[bool]
    variant: NotRequired[Literal['robust', 'paper', 'reference']]
    seed: NotRequired[int]
    trace: NotRequired[Trace | None]
    language: NotRequired[str]
    accept_untrained_languages: NotRequired[bool]
    explain: NotRequired[Literal[True] | Explain | None]
    text: NotRequired[str]
    explanation: NotRequired[str | ExplanationFields]
    options: NotRequired[HatexscoreOptions]
    decision: NotRequired[str | None]
    probabilities: NotRequired[HatexscoreProbabilities | None]


class HlvRequest(TypedDict):
    model: NotRequired[str | None]
    metadata: NotRequired[dict[str, str]]
    context: NotRequired[Context | None]
    webhook: NotRequired[str | None]
    do_not_store_text: NotRequired[bool]
    variant: NotRequired[Literal['robust', 'paper', 'reference']]
    seed: NotRequired[int]
    trace: NotRequired[Trace | None]
    language: NotRequired[str]
    accept_untrained_languages: NotRequired[bool]
    question: NotRequired[NliQuestion | Scenario | str]
    options: NotRequired[list[Option]]
    explanations: NotRequired[list[Explanation]]
    rationale: NotRequired[str | None]
    human: NotRequired[HlvHuman]
    judge: NotRequired[HlvJudge | None]
    prompt: NotRequired[PromptKeys | None]
    predictions: NotRequired[HlvPredictions | None]
    normalisation: NotRequired[Literal['softmax', 'abs_sum_reference'] | None]
    epsilon: NotRequired[float | None]
    log_base: NotRequired[Literal['e', '2']]


class IceRequest(TypedDict):
    model: NotRequired[str | None]
    metadata: NotRequired[dict[str, str]]
    context: NotRequired[Context | None]
    webhook: NotRequired[str | None]
    do_not_store_text: NotRequired[bool]
    variant: NotRequired[Literal['robust', 'paper', 'reference']]
    seed: NotRequired[int]
    trace: NotRequired[Trace | None]
    language: NotRequired[str]
    accept_untrained_languages: NotRequired[bool]
    text: NotRequired[str]
    text_pair: NotRequired[str | None]
    decision: NotRequired[str | None]
    attribution: NotRequired[Literal['attention', 'gradient', 'integrated_gradients', 'lime'] | AttributionMethod | list[Literal['attention', 'gradient', 'integrated_gradients', 'lime'] | AttributionMethod] | None]
    attributions: NotRequired[list[IceAttributedSpan] | None]
    rationale: NotRequired[list[IceSpan | str] | str | None]
    explanations: NotRequired[list[IceNamedExplanation]]
    human: NotRequired[list[IceSpan | str] | str | None]
    options: NotRequired[IceOptions]


class InferenceRequest(TypedDict):
    model: NotRequired[str]
    metadata: NotRequired[dict[str, str]]
    context: NotRequired[Context | None]
    webhook: NotRequired[str | None]
    do_not_store_text: NotRequired[bool]
    ask: NotRequired[Describe | Tokenize | JudgeExamples | ReadLabels | JudgeRows | JudgeWords | Probabilities | Truncated | Attribute | Generate | ScoreCompletions]


class SorRequest(TypedDict):
    model: NotRequired[str | None]
    metadata: NotRequired[dict[str, str]]
    context: NotRequired[Context | None]
    webhook: NotRequired[str | None]
    do_not_store_text: NotRequired[bool]
    variant: NotRequired[Literal['robust', 'paper', 'reference']]
    seed: NotRequired[int]
    trace: NotRequired[Trace | None]
    language: NotRequired[str]
    accept_untrained_languages: NotRequired[bool]
    explain: NotRequired[Literal[True] | Explain | None]
    text: NotRequired[str]
    statement: NotRequired[str | ExplanationFields | None]
    fields: NotRequired[SorFields | None]
    policy: NotRequired[str | None]
    other_posts: NotRequired[list[str]]
    reader: NotRequired[Literal['auto', 'rules', 'llm']]
    reader_model: NotRequired[str | None]
    decision: NotRequired[str | None]
    faithfulness_draws: NotRequired[int]
