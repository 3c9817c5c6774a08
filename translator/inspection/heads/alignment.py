"""How well single heads align words."""

from translator.alignment.gold import GoldLinks
from translator.alignment.reading import Reading
from translator.attention.heads import attentions
from translator.inference.translator import Translator
from translator.inspection.heads.names import Head, heads_of
from translator.inspection.readings import links_by_reading


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
