"""The generated messages. They are imported when they are first used, because the import is
slow."""

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
