"""The fake reader, for tests of what is made of the reader's answers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.sor.fake import WordReader, reading_words


@pytest.fixture
def reader() -> Iterator[WordReader]:
    with reading_words() as reader:
        yield reader
