"""The embedded corpus: the tables in `pocket/`, which `python -m pocket` at the top of the repository wrote."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from translator.data.tables import Sides, read_parquet
from translator.errors import UserError

SEED = 7  # of the corpus that the tables hold
# The parts, and the settings that say how many pairs of each are used.
POCKET_SIZES = {"train": "train_size", "valid": "valid_size", "test": "test_size", "test_unseen": "test_size"}


def first_of_pocket(config: Mapping[str, Any], split: str, columns: tuple[str, str]) -> Sides:
    """Two columns ("en", "de" or "links", written `0-0 1-2`) of the first pairs of a part, as many as `config` says.

    Raises UserError where there are fewer, and where a checkpoint remembers a corpus that is not in the tables.
    """
    if config.get("seed", SEED) != SEED:
        raise UserError(
            f"data.seed={config['seed']}: the pocket corpus that comes with the program was drawn with {SEED}; in the "
            f"repository, `python -m pocket --seed {config['seed']} --output DIR` writes the other one, for data=files"
        )
    first, second = read_parquet(str(Path(__file__).with_name("pocket") / f"{split}.parquet"), columns)
    name, size = POCKET_SIZES[split], config[POCKET_SIZES[split]]
    if not 0 <= size <= len(first):
        raise UserError(
            f"data.{name}={size}: pocket has {len(first)} pairs in {split}; "
            f"`python -m pocket --{name.replace('_', '-')} N` in the repository writes more"
        )
    return first[:size], second[:size]
