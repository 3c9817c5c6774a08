"use strict";

/* What is shown, and what is chosen. The page is drawn from the JSON in #data; texts go into it by textContent and
   nothing else. All files of this folder are joined into one script, in the order that `report.py` gives them.

   The units that look are rows, the units that are looked at are columns. What they are follows from the chosen
   sentence, kind of attention, level and step, and is held in `view`; the weights follow from the chosen layer and
   heads on top of that, and are held in `shown`, row after row. */

const KINDS = {
  cross: { name: "Cross-attention", rows: "target", columns: "source" },
  encoder: { name: "Encoder self-attention", rows: "source", columns: "source" },
  decoder: { name: "Decoder self-attention", rows: "target", columns: "target" },
};
const SIDES = { source: "Source", target: "Target" };
const EXPLANATIONS = {
  crossoutput: "Each word of the translation, and where in the source the decoder looks while it writes it.",
  crossinput:
    "Each word of the translation, and where in the source the decoder looks when it has read it and writes the next.",
  encoder: "Each word of the source, and where in its own sentence the encoder looks to understand it.",
  decoder: "Each word that the decoder has just read, and where it looks in what it has read so far. It never sees ahead.",
};

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const state = { pair: 0, kind: "cross", level: "words", step: "output", layer: 0, heads: null }; // heads null: all
const NOTHING = { row: null, column: null };
let flip = 1; // from this shade on, writing on it is in the other colour
let view = null; // { rows, columns, renormalise }
let shown = null; // Float32Array, rows x columns
let held = NOTHING; // the word that a click holds
let pointed = NOTHING; // the word, or cell, under the pointer or the keyboard's focus

/* A layer and heads of it, or the mean of several layers. */
function placeText(kind, layer, heads) {
  const { name } = data.pairs[state.pair].weights[kind][layer];
  return name ? `mean of ${name}` : `layer ${layer}, ${headsText(heads)}`;
}

function headsText(heads) {
  if (heads === null) return "mean of all heads";
  return heads.length === 1 ? `head ${heads[0]}` : `mean of heads ${heads.join(", ")}`;
}
