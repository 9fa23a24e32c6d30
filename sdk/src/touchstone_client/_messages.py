"""The generated messages, imported at their first use, since they take most of the import time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from touchstone_client import models
else:

    class Models:
        """A proxy of the module `touchstone_client.models`."""

        def __getattr__(self, name: str) -> Any:
            import touchstone_client.models

            return getattr(touchstone_client.models, name)

    models = Models()

__all__ = ["models"]
