"""Sentence pairs, and how two files of lines become such."""

from dataclasses import dataclass
from pathlib import Path

from translator.data.lines import is_blank, read_text
from translator.errors import UserError

MULTI30K_NAMES = {"train": ("train",), "valid": ("val", "valid"), "test": ("test_2016_flickr", "test*")}


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


def read_multi30k(root: Path, split: str, source: str, target: str) -> ParallelText | None:
    """A part of Multi30k from local files: train, val and a test set, as NAME.LANGUAGE or NAME.LANGUAGE.gz.

    The test set is test_2016_flickr, or else the first test* that there is in both languages; None without any, and
    for parts other than "train", "valid" and "test".
    Raises UserError for a missing training or validation part.
    """
    for pattern in MULTI30K_NAMES.get(split, ()):
        for path in sorted(root.glob(f"{pattern}.{source}")) + sorted(root.glob(f"{pattern}.{source}.gz")):
            stem = path.name.removesuffix(".gz").removesuffix(source)
            for other in (root / f"{stem}{target}", root / f"{stem}{target}.gz"):
                if other.exists():
                    return read_parallel(path, other)
    if split not in ("train", "valid"):
        return None
    name = MULTI30K_NAMES[split][0]
    raise UserError(
        f"{root} has no {name}.{source} and {name}.{target} (or .gz): "
        "data.root must be the directory with these files; without any, take data=pocket"
    )
