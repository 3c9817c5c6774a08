"""Hand-made rows of every kind."""

from typing import Any

WHERE = {"versions": {"translator": "1.2", "torch": "3.4", "python": "5.6"}, "threads": 2, "cpus": 8,
         "cpu_capability": "AVX9", "device": "cpu", "rounds": 3}  # fmt: skip


def spread(name: str, median: float) -> dict[str, float]:
    """A median with extremes around it."""
    return {name: median, f"{name}_min": median / 2, f"{name}_max": median * 2}


def train(model: str = "tiny", tokens: float = 4321.0) -> dict[str, Any]:
    """A row of training."""
    return {"kind": "train", "model": model, "parameters": 2_345_678, "precision": "32-true", "padding": 0.0712,
            **spread("tokens_per_second", tokens), "sentences_per_second": 12.34, "peak_mb": 700.0,
            "baseline_mb": 300.0, "command": "python x train", **WHERE}  # fmt: skip


def decode(**changes: Any) -> dict[str, Any]:
    """A row of translating."""
    row = {"kind": "decode", "checkpoint": "somewhere/pocket", "beam": 5, "batch": 64, "cache": True,
           "precision": "float32", **spread("sentences_per_second", 56.78), "tokens_per_second": 901.0,
           "padding": 0.02, "peak_mb": 500.0, "baseline_mb": 400.0, "outputs": "abcdef0123456789",
           "command": "python x decode", **WHERE}  # fmt: skip
    return row | changes


def growth(length: int, ms: float, **changes: Any) -> dict[str, Any]:
    """A row of what a token costs."""
    row = {"kind": "growth", "model": "small", "cache": True, "batch": 8, "beam": 1, "kv_heads": 8,
           "precision": "float32", "length": length, **spread("ms_per_token", ms), "state_bytes": 100 * length,
           "state_bytes_per_token": 100.0, "source_bytes": 4096, "command": "python x growth", **WHERE}  # fmt: skip
    return row | changes


def kinds(name: str, ratio: float) -> dict[str, Any]:
    """A row of a kind of attention."""
    return {"kind": "kinds", "model": "small", "attention": name, "parameters": 7654, "batch": 64, "beam": 1,
            "length": 32, **spread("tokens_per_second", 800.0), **spread("ratio", ratio), "state_bytes": 64 * 32 * 512,
            "source_bytes": 4096, "command": "python x kinds", **WHERE}  # fmt: skip


def attention(length: int, seconds: float, **changes: Any) -> dict[str, Any]:
    """A row of a kernel."""
    row = {"kind": "attention", "rule": "dense", "kernel": "fused", "passes": "forward", "length": length,
           "seconds": seconds, "peak_bytes": length << 20, "command": "python x attention", **WHERE}  # fmt: skip
    return row | changes


def peer(program: str, ratio: float, **changes: Any) -> dict[str, Any]:
    """A row of a comparison."""
    row = {"kind": "peers-decode", "program": program, "setting": "beam 5, batch 64", "unit": "sentences a second",
           **spread("rate", 70.0), **spread("ratio", ratio), "peak_mb": 80.0, "same_outputs": 0.875, "turns": 4,
           "threads": 1, "cpus": 8, "versions": {"python": "5.6"}, "command": "python x peers"}  # fmt: skip
    return row | changes
