"""Pocket: an English-German parallel corpus from a small grammar, with exact word alignments."""

from .splits import SPLITS, Pair, generate

__all__ = ["SPLITS", "Pair", "generate"]
