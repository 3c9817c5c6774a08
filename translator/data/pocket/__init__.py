"""Pocket: an English-German parallel corpus from a small grammar, with exact word alignments."""

from .generate import SPLITS, Pair, generate
from .inventory import lemmas

__all__ = ["SPLITS", "Pair", "generate", "lemmas"]
