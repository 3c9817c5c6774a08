"""How well single heads align words."""

from translator.attention.heads import attentions
from translator.inference import Translator
from translator.inspection.aer import links_by_reading
from translator.inspection.gold import GoldLinks
from translator.inspection.head_names import Head, heads_of
from translator.reading import Reading


def alignment_errors(translator: Translator, gold: GoldLinks) -> dict[Head, dict[str, float]]:
    """The alignment error rate of every head of cross-attention, read alone, at the output step."""
    kept = {site: attention.kept for site, attention in attentions(translator.model).items()}
    readings = {
        head: Reading.at(head.layer, [kept[head.site].index(head.number)])
        for head in heads_of(translator.model)
        if head.kind == "cross"
    }
    links = links_by_reading(translator, gold.sources, gold.targets, list(readings.values()))
    return {head: {"aer": gold.error(links[reading])} for head, reading in readings.items()}
