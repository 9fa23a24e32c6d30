"""The tasks that have an embedded adapter: what each reads, measures and says of itself."""

from __future__ import annotations

from typing import Any

from services.inference.embedded.task import Task
from services.inference.embedded.tasks.hate import HATE
from services.inference.embedded.tasks.nli import NLI
from services.inference.embedded.tasks.sentiment import SENTIMENT

TASKS: dict[str, Task[Any]] = {task.name: task for task in (HATE, NLI, SENTIMENT)}
