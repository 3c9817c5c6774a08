"""A minimal, trainable encoder-decoder translator.

``from translator import Translator`` is the public Python interface; it loads on first use, so that the
command line answers at once.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from translator.inference.translator import Translation, Translator

__all__ = ["Translation", "Translator"]


def __getattr__(name: str) -> Any:
    """Import the public classes when they are first asked for (PEP 562)."""
    if name in __all__:
        from translator.inference import translator

        return getattr(translator, name)
    raise AttributeError(f"module 'translator' has no attribute {name!r}")


def __dir__() -> list[str]:
    """What there is to use, loaded or not."""
    return sorted({*globals(), *__all__})
