"""Compute the same in different ways with a checkpoint's own weights, and tell how far the results lie apart.

%(prog)s checkpoints/pocket
%(prog)s checkpoints/pocket --exported pocket-ct2 --exported pocket-hf --json

An export also counts if it lies beside the bundle as NAME-ctranslate2 or NAME-huggingface. Exit status: 0 all holds,
1 something does not, 2 a mistake in one line on stderr.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
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
    place, named = found.directory.resolve(), {folder.resolve() for folder in found.exported}
    beside = {place.with_name(f"{place.name}-{kind}") for kind in ("ctranslate2", "huggingface")} - named
    for folder in [*found.exported, *sorted(filter(_is_export, beside))]:
        apart = largest_difference(subject.model, bundle.tokenizer, folder, subject.sources, subject.targets)
        findings.append(Finding(f"exported = ours ({folder})", *apart))
    pairs, holds = len(probes.sources), all(finding.holds for finding in findings)
    if not found.json:
        return [f"{pairs} pairs from {probes.origin}; largest differences:", *_table(findings)], 1 - holds
    checks = [asdict(finding) | {"holds": finding.holds} for finding in findings]
    for check in checks:  # JSON has no infinity: where the pieces themselves differ, there is no number
        check["difference"] = check["difference"] if abs(check["difference"]) < float("inf") else None
    values = {"checkpoint": str(found.directory), "pairs": pairs, "origin": probes.origin, "checks": checks}
    return [json.dumps({**values, "holds": holds}, ensure_ascii=False)], 1 - holds


def _is_export(folder: Path) -> bool:
    return (folder / "config.json").is_file()


def _table(findings: "Sequence[Finding]") -> list[str]:
    width, failed = max(len(one.name) for one in findings), sum(not one.holds for one in findings)
    lines = [
        f"{one.name:{width}}  {one.difference:8.1e}  of {one.tolerance:.0e}  {'holds' if one.holds else 'FAILS'}"
        for one in findings
    ]
    return [*lines, f"{failed} of {len(findings)} checks fail" if failed else f"all {len(findings)} checks hold"]


COMMAND = Command(__doc__, _add_flags, _check)
