"""Tables in memory: pandas and polars DataFrames, and the `Dataset` of Hugging Face. Their
libraries are not imported here."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol


class Frame(Protocol):
    """A table of columns with ordered rows."""

    names: Sequence[str]
    length: int

    def rows(self, names: Sequence[str]) -> Iterator[Mapping[str, Any]]:
        """Yield the rows with only the named columns."""
        ...

    def extended(self, columns: Mapping[str, list[Any]]) -> Any:
        """Return a copy of the table with these columns appended."""
        ...


class PandasFrame:
    """A pandas DataFrame. Its index is kept."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.names: Sequence[str] = list(frame.columns)
        self.length = len(frame)

    def rows(self, names: Sequence[str]) -> Iterator[Mapping[str, Any]]:
        if not names:
            yield from ({} for _ in range(self.length))
        for values in zip(*(self._frame[name] for name in names), strict=True):
            yield dict(zip(names, values, strict=True))

    def extended(self, columns: Mapping[str, list[Any]]) -> Any:
        return self._frame.assign(**columns)


class PolarsFrame:
    """A polars DataFrame. A new column that mixes numbers and strings is converted to strings."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.names: Sequence[str] = frame.columns
        self.length = frame.height

    def rows(self, names: Sequence[str]) -> Iterator[Mapping[str, Any]]:
        if not names:
            yield from ({} for _ in range(self.length))
            return
        for values in self._frame.select(names).iter_rows():
            yield dict(zip(names, values, strict=True))

    def extended(self, columns: Mapping[str, list[Any]]) -> Any:
        series = sys.modules["polars"].Series
        new = [series(name, one_kind(values)) for name, values in columns.items()]
        return self._frame.with_columns(new)


class HuggingFaceDataset:
    """A Hugging Face `Dataset` with random access. Its rows are read from its file one at a
    time."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self.names: Sequence[str] = dataset.column_names
        self.length = len(dataset)

    def rows(self, names: Sequence[str]) -> Iterator[Mapping[str, Any]]:
        if not names:
            yield from ({} for _ in range(self.length))
            return
        yield from self._dataset.select_columns(list(names))

    def extended(self, columns: Mapping[str, list[Any]]) -> Any:
        module = sys.modules["datasets"]
        uniform = {name: one_kind(values) for name, values in columns.items()}
        features = module.Features(
            {name: module.Value(_feature(name, values)) for name, values in uniform.items()}
        )
        ours = module.Dataset.from_dict(uniform, features=features)
        return module.concatenate_datasets([self._dataset, ours], axis=1)


KINDS = (
    ("pandas", "DataFrame", PandasFrame),
    ("polars", "DataFrame", PolarsFrame),
    ("datasets", "Dataset", HuggingFaceDataset),
)


def frame_of(data: object) -> Frame | None:
    """Return a DataFrame or Dataset as a Frame. Return None for an iterable of requests."""
    for module, name, kind in KINDS:
        type_of_frame = getattr(sys.modules.get(module), name, None)
        if type_of_frame is not None and isinstance(data, type_of_frame):
            return kind(data)
    return None


def one_kind(values: list[Any]) -> list[Any]:
    """Return the values with one type. Numbers become floats. Booleans alone and strings alone are
    unchanged. All other values become strings. None stays None."""
    types = {type(value) for value in values if value is not None}
    if types <= {bool} or types <= {str}:
        return values
    if types <= {int, float}:
        return [None if value is None else float(value) for value in values]
    return [None if value is None else str(value) for value in values]


def _feature(name: str, values: list[Any]) -> str:
    first = next((value for value in values if value is not None), None)
    if isinstance(first, bool):
        return "bool"
    is_number = isinstance(first, float) or (first is None and name.endswith("score"))
    return "float64" if is_number else "string"
