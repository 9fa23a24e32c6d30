"""Text from a server: requests for completions and chats, and how their answers are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from shared.calls import Completion, Prompt, Sampling, WrittenToken
from shared.errors import ScoringError, Unavailable
from shared.openai.answers import Choice, Piece, choice
from shared.openai.connection import Connection, Json
from shared.openai.offsets import CUT, spans

# What servers would else add of their own, or of the model's generation_config.json.
NEUTRAL: dict[str, Json] = {
    "vllm": {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0},
    "llamacpp": {"top_k": 0, "min_p": 0.0, "repeat_penalty": 1.0},
}


def neutral(owner: str) -> Json:
    """Fields with which this kind of server samples by temperature and top-p alone."""
    return NEUTRAL.get(owner, {})


def generate(
    connection: Connection, prompts: Sequence[Prompt], sampling: Sampling, extra: Json
) -> list[Completion]:
    """A completion of each prompt; conversations go through the server's chat template.

    `finish` is the server's. Tokens are none where it did not tell those of the whole text: servers
    refuse or leave out log-probabilities, and llama.cpp those of parts of characters.
    """
    bodies = [
        {**extra, **_sampling(sampling, _draw(prompt, place)), **_asked(prompt)}
        for place, prompt in enumerate(prompts)
    ]
    chats = [place for place, prompt in enumerate(prompts) if prompt.turns is not None]
    texts = [place for place, prompt in enumerate(prompts) if prompt.turns is None]
    done: dict[int, Completion] = {}
    for path, places in (("/chat/completions", chats), ("/completions", texts)):
        answers = connection.post(path, [bodies[place] for place in places])
        for place, answer in zip(places, answers, strict=True):
            done[place] = _read(choice(answer))
    return [done[place] for place in range(len(prompts))]


def _draw(prompt: Prompt, place: int) -> int:
    return place if prompt.draw is None else prompt.draw


def seed_of(seed: int, place: int) -> int:
    """The seed of a prompt's draws, whatever the others are; 31 bits, as all servers take."""
    return int(np.random.SeedSequence([seed, place]).generate_state(1)[0] >> np.uint32(1))


def written_tokens(pieces: Sequence[Piece], text: str) -> list[WrittenToken]:
    """The tokens that lie in the text, with their offsets."""
    tokens = []
    places = spans([piece.spelled for piece in pieces], text)
    for piece, place in zip(pieces, places, strict=True):
        if place is None:
            continue
        if piece.logprob is None:
            raise ScoringError("the server gives no log-probability for a token")
        # float32 on the server: the logarithm of a probability of 1 may come out above 0
        logprob = min(0.0, piece.logprob)
        tokens.append(WrittenToken(id=piece.id, start=place[0], end=place[1], logprob=logprob))
    return tokens


def completion(
    text: str, tokens: Sequence[WrittenToken], finish: Literal["stop", "length", "given"]
) -> Completion:
    """A completion whose tokens cover its text. A character that was cut off at the end is dropped.

    Raises ScoringError where the tokens end before the text does.
    """
    covered = tokens[-1].end if tokens else 0
    if text[covered:].strip(CUT):
        raise ScoringError("the server's tokens do not spell its text")
    return Completion(text=text[:covered], tokens=tuple(tokens), finish=finish)


def _sampling(sampling: Sampling, place: int) -> Json:
    body: Json = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_tokens": sampling.max_tokens,
        "seed": seed_of(sampling.seed, place),
    }
    return {**body, "stop": list(sampling.stop)} if sampling.stop else body


def _asked(prompt: Prompt) -> Json:
    if prompt.turns is None:
        return {"prompt": prompt.text, "logprobs": 1}
    return {"messages": [turn.model_dump() for turn in prompt.turns], "logprobs": True}


def _read(found: Choice) -> Completion:
    text, finish = found.written, found.finish
    try:
        return completion(text, written_tokens(found.pieces or [], text), finish)
    except Unavailable:
        raise
    except ScoringError:
        return Completion(text=text, tokens=(), finish=finish)
