"""Compute the same in different ways with a checkpoint's own weights, and tell how far the results lie apart.

%(prog)s checkpoints/pocket
%(prog)s checkpoints/pocket --exported pocket-ct2 --exported pocket-hf --json

An export also counts if it lies beside the bundle as NAME-ctranslate2 or NAME-huggingface. Exit status: 0 all holds,
1 something does not, 2 a mistake in one line on stderr.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from translator.cli.command import Command
from translator.errors import UserError, at_least

if TYPE_CHECKING:
    from translator.inspection.selfcheck import Finding


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add, told = parser.add_argument, "an export of it; may be repeated"
    add("--exported", metavar="DIR2", type=Path, action="append", default=[], help=told)
    add("--sentences", type=int, default=8, metavar="N", help="how many pairs to try it on (8)")
    add("--json", action="store_true", help="one JSON object in place of lines")


def _check(found: argparse.Namespace) -> tuple[list[str], int]:
    """What to print, and status 1 where something does not hold."""
    at_least("--sentences", found.sentences, 1)
    from translator.bundle import load_bundle
    from translator.inspection.probes import find_probes
    from translator.inspection.selfcheck import Finding, run_checks, subject_of
    from translator.interop.comparison import largest_difference

    bundle = load_bundle(found.directory)
    for folder in found.exported:
        if not _is_export(folder):
            raise UserError(f"there is no exported model at {folder}: give a folder that scripts/export.py wrote")
    probes = find_probes(bundle, found.sentences)
    subject = subject_of(bundle, probes)
    findings = run_checks(subject)
    for folder in [*found.exported, *_beside(found.directory, found.exported)]:
        apart = largest_difference(subject.model, bundle.tokenizer, folder, subject.sources, subject.targets)
        findings.append(Finding(f"exported = ours ({folder})", *apart))
    pairs, holds = len(probes.sources), all(finding.holds for finding in findings)
    if not found.json:
        return [f"{pairs} pairs from {probes.origin}; largest differences:", *_table(findings)], 1 - holds
    head = {"checkpoint": str(found.directory), "pairs": pairs, "origin": probes.origin}
    values = {**head, "checks": [_values(finding) for finding in findings], "holds": holds}
    return [json.dumps(values, ensure_ascii=False)], 1 - holds


def _beside(directory: Path, named: Sequence[Path]) -> list[Path]:
    """Exports that lie beside the bundle and have not been named."""
    place, known = directory.resolve(), {folder.resolve() for folder in named}
    beside = [place.with_name(f"{place.name}-{kind}") for kind in ("ctranslate2", "huggingface")]
    return [folder for folder in beside if _is_export(folder) and folder not in known]


def _is_export(folder: Path) -> bool:
    return (folder / "config.json").is_file()


def _table(findings: "Sequence[Finding]") -> list[str]:
    width, failed = max(len(one.name) for one in findings), sum(not one.holds for one in findings)
    lines = [
        f"{one.name:{width}}  {one.difference:8.1e}  of {one.tolerance:.0e}  {'holds' if one.holds else 'FAILS'}"
        for one in findings
    ]
    return [*lines, f"{failed} of {len(findings)} checks fail" if failed else f"all {len(findings)} checks hold"]


def _values(finding: "Finding") -> dict[str, object]:
    # JSON has no infinity: where the pieces themselves differ, there is no number.
    difference = finding.difference if abs(finding.difference) < float("inf") else None
    return {"name": finding.name, "difference": difference, "tolerance": finding.tolerance, "holds": finding.holds}


COMMAND = Command(__doc__, _add_flags, _check)
