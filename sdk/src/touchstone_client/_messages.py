"""Access to the generated messages. They are only imported when first used, because the import is
slow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from touchstone_client import models
else:

    class Models:
        """Stands for the module `touchstone_client.models` and imports it when first used."""

        def __getattr__(self, name: str) -> Any:
            import touchstone_client.models

            return getattr(touchstone_client.models, name)

    models = Models()

__all__ = ["models"]
