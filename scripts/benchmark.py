"""Measure speed and memory: python scripts/benchmark.py --help. What is measured, and how: benchmarks/README.md."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # where `benchmarks` lies, which is not installed

from benchmarks.command import build_parser, main

__all__ = ["build_parser", "main"]

if __name__ == "__main__":
    sys.exit(main())
