"""The data that a bundle was trained on, which most of what is measured here is measured on."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from translator.errors import UserError


def own_data(config: Mapping[str, Any], whose: str | Path, advice: str = "") -> dict[str, Any]:
    """The settings of a bundle's data, as `translator.data.corpus.load_split` takes them, from its config.json.

    Raises:
        UserError: it does not say; names ``whose`` data that would be, and ends in ``advice``.
    """
    data = config.get("data")
    if not isinstance(data, Mapping):
        raise UserError(f"{whose} does not say what it was trained on{advice}")
    return {**data, "source": config["source"], "target": config["target"]}
