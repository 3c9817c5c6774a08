"""Sentence pairs, and how two files of lines become such."""

from dataclasses import dataclass
from pathlib import Path

from translator.data.lines import is_blank, read_text
from translator.errors import UserError


@dataclass(frozen=True)
class ParallelText:
    """Sentence pairs as they were read. `dropped`: how many with a blank side were left out."""

    sources: list[str]
    targets: list[str]
    dropped: int = 0

    def __len__(self) -> int:
        return len(self.sources)

    def without_blank_sides(self) -> "ParallelText":
        """The pairs with text on both sides, the only ones that a loss can be computed of."""
        pairs = [(s, t) for s, t in zip(self.sources, self.targets, strict=True) if not (is_blank(s) or is_blank(t))]
        return ParallelText([s for s, _ in pairs], [t for _, t in pairs], self.dropped + len(self) - len(pairs))


def read_parallel(source: str | Path, target: str | Path) -> ParallelText:
    """Line n of one file with line n of the other. Raises UserError with both counts where they differ."""
    sources, targets = read_text(source), read_text(target)
    if len(sources) != len(targets):
        raise UserError(
            f"{source} has {len(sources)} lines and {target} has {len(targets)}: "
            "line n of one must be the translation of line n of the other"
        )
    return ParallelText(sources, targets)
