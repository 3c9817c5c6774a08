"use strict";

/* Where a model looks, drawn from the JSON in #data. Texts go into the page by textContent and nothing else.

   The units that look are rows, the units that are looked at are columns. What they are follows from the chosen
   sentence, kind of attention, level and step, and is held in `view`; the weights follow from the chosen layer and
   heads on top of that, and are held in `shown`, row after row. */

const CURVE = 0.1; // weaker links have no curve until their word is chosen
const FAINT = 0.02; // weaker links have no curve at all
const TOLD = 5; // links that are named in words

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

/* ---- Numbers ---- */

/* The weights of a layer -> Float32Array, heads x rows x columns of pieces. */
const unpacked = new Map();
function weightsOf(pair, kind, layer) {
  const key = [pair, kind, layer].join();
  if (!unpacked.has(key)) {
    const bytes = atob(data.pairs[pair].weights[kind][layer].packed);
    const low = (i) => bytes.charCodeAt(2 * i);
    const high = (i) => bytes.charCodeAt(2 * i + 1);
    unpacked.set(key, Float32Array.from({ length: bytes.length / 2 }, (_, i) => (low(i) + 256 * high(i)) / 65535));
  }
  return unpacked.get(key);
}

/* One side of a matrix: the names of its units, and for each piece the unit that it is part of, -1 for none. The
   mark is the begin or the end of the sentence. */
function side(sentence, mark, { atStart = false, without = false } = {}) {
  const words = state.level === "words";
  const names = [...(words ? sentence.words : sentence.pieces)];
  const of = words ? [...sentence.word_of] : sentence.pieces.map((_, i) => i);
  const end = atStart ? 0 : names.length;
  if (!without) names.splice(end, 0, mark);
  const shifted = atStart && !without ? of.map((unit) => unit + 1) : of;
  shifted.splice(atStart ? 0 : shifted.length, 0, without ? -1 : end);
  return { names, of: shifted };
}

/* Row t of the decoder's matrices is the step that reads piece t - 1 (the begin first) and writes piece t (the end
   last): reading it at the other step gives the same rows other names. */
function viewOf(pair) {
  const { source, target, begin } = pair;
  if (state.kind === "encoder") {
    const both = side(source, source.end);
    return { rows: both, columns: both, renormalise: false };
  }
  if (state.kind === "decoder") {
    const both = side(target, begin, { atStart: true });
    return { rows: both, columns: both, renormalise: false };
  }
  const without = state.level === "words";
  const written = state.step === "output";
  return {
    rows: side(target, written ? target.end : begin, { atStart: !written, without }),
    columns: side(source, source.end, { without }),
    renormalise: without,
  };
}

function meanOfHeads(weights, heads, size) {
  const mean = new Float32Array(size);
  for (const head of heads) {
    const start = head * size;
    for (let i = 0; i < size; i++) mean[i] += weights[start + i] / heads.length;
  }
  return mean;
}

/* Pieces to units: columns are added up, rows averaged. */
function merge(weights, { rows, columns, renormalise }) {
  const across = columns.names.length;
  const merged = new Float32Array(rows.names.length * across);
  const parts = rows.names.map((_, row) => rows.of.filter((unit) => unit === row).length);
  rows.of.forEach((row, piece) => {
    if (row < 0) return;
    const line = weights.subarray(piece * columns.of.length, (piece + 1) * columns.of.length);
    const kept = renormalise ? line.reduce((sum, weight, i) => sum + (columns.of[i] < 0 ? 0 : weight), 0) : 1;
    columns.of.forEach((column, i) => {
      if (column >= 0 && kept > 0) merged[row * across + column] += line[i] / kept / parts[row];
    });
  });
  return merged;
}

function headsOf(layer) {
  return Array.from({ length: data.pairs[state.pair].weights[state.kind][layer].heads }, (_, head) => head);
}

function matrixOf(layer, heads) {
  const size = view.rows.of.length * view.columns.of.length;
  return merge(meanOfHeads(weightsOf(state.pair, state.kind, layer), heads ?? headsOf(layer), size), view);
}

const weightAt = (row, column) => shown[row * view.columns.names.length + column];

/* The links of a word or cell, or all there are, strongest first. */
function linksOf({ row, column }, least) {
  const links = [];
  view.rows.names.forEach((_, r) => {
    if (row !== null && r !== row) return;
    view.columns.names.forEach((_, c) => {
      if ((column === null || c === column) && weightAt(r, c) > least) links.push({ r, c, weight: weightAt(r, c) });
    });
  });
  return links.sort((a, b) => b.weight - a.weight);
}

/* ---- Drawing ---- */

const shade = (weight) => Math.min(1, weight) ** 0.7; // lifts the weak ones a little

/* A theme's own value, such as the colour that a weight of 1 has. */
const themed = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function element(tag, { text, ...properties } = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  if (text !== undefined) made.textContent = text;
  made.append(...children);
  return made;
}

function paint(canvas, weights) {
  canvas.width = view.columns.names.length;
  canvas.height = view.rows.names.length;
  canvas.className = canvas.width < 48 ? "coarse" : "";
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  const colour = themed("--ramp").split(" ").map(Number);
  weights.forEach((weight, i) => image.data.set([...colour, 255 * shade(weight)], 4 * i));
  context.putImageData(image, 0, 0);
}

/* A name; the mark with which a subword begins a word is set apart. */
function named(text) {
  if (!text.startsWith("▁") || text.length === 1) return element("span", { text });
  return element("span", {}, element("span", { className: "mark", text: "▁" }), text.slice(1));
}

function drawControls() {
  const pair = data.pairs[state.pair];
  for (const name of ["kind", "level", "step"]) {
    for (const input of byId(name).querySelectorAll("input")) input.checked = input.value === state[name];
  }
  for (const input of byId("kind").querySelectorAll("input")) input.disabled = !pair.weights[input.value].length;
  byId("step").hidden = state.kind !== "cross";
  byId("sentence").value = String(state.pair);
  byId("explanation").textContent = EXPLANATIONS[state.kind === "cross" ? state.kind + state.step : state.kind];
}

function drawWords() {
  for (const name of ["columns", "rows"]) {
    const spoken = KINDS[state.kind][name];
    const line = byId(name);
    line.lang = data.languages[spoken === "source" ? 0 : 1];
    byId(`${name}-name`).textContent = `${SIDES[spoken]}: ${name === "rows" ? "looking" : "looked at"}`;
    line.replaceChildren(...view[name].names.map((text, place) => {
      const share = element("span", { className: "share" });
      share.setAttribute("aria-hidden", "true");
      const word = element("button", { type: "button", className: "word" }, named(text), share);
      word.dataset[name === "rows" ? "row" : "column"] = place;
      Object.assign(word.dataset, { line: 0, place });
      word.tabIndex = place === 0 ? 0 : -1;
      return word;
    }));
  }
  fit();
}

/* Two lines that fit are joined by curves; longer ones are set smaller, and if that does not help, told by tints. */
function fit() {
  const classes = byId("stage").classList;
  const wraps = () => [byId("columns"), byId("rows")].some((line) => line.firstChild.offsetTop !== line.lastChild.offsetTop);
  classes.remove("dense", "wrapped");
  if (wraps()) classes.add("dense");
  if (wraps()) classes.add("wrapped");
}

function drawGrid() {
  const layers = data.pairs[state.pair].weights[state.kind];
  const most = Math.max(...layers.map((layer) => layer.heads));
  const heading = (text) => {
    const made = element("span", { className: "heading", text });
    made.setAttribute("aria-hidden", "true");
    return made;
  };
  const tiles = [heading(""), heading("mean"), ...Array.from({ length: most }, (_, head) => heading(`head ${head}`))];
  layers.forEach(({ name, heads }, layer) => {
    tiles.push(heading(name ?? `layer ${layer}`));
    const last = name ? 0 : heads; // a mean of layers has no heads of its own
    for (let place = 0; place <= most; place++) {
      tiles.push(place <= last ? tile(layer, place) : element("span"));
    }
  });
  byId("grid").style.setProperty("--across", most + 1);
  byId("grid").replaceChildren(...tiles);
}

/* A small picture that is a button; place 0 is the mean, place 1 the first head. */
function tile(layer, place) {
  const heads = place === 0 ? null : [place - 1];
  const canvas = element("canvas");
  const made = element("button", { type: "button", className: "tile" }, canvas);
  Object.assign(made.dataset, { line: layer, place });
  const label = placeText(state.kind, layer, heads);
  made.setAttribute("aria-label", label[0].toUpperCase() + label.slice(1));
  made.addEventListener("click", () => select(layer, heads));
  paint(canvas, matrixOf(layer, heads));
  return made;
}

/* A layer and heads of it, or the mean of several layers. */
function placeText(kind, layer, heads) {
  const { name } = data.pairs[state.pair].weights[kind][layer];
  return name ? `mean of ${name}` : `layer ${layer}, ${headsText(heads)}`;
}

function headsText(heads) {
  if (heads === null) return "mean of all heads";
  return heads.length === 1 ? `head ${heads[0]}` : `mean of heads ${heads.join(", ")}`;
}

function drawMatrix() {
  const { rows, columns } = view;
  const about = "Rows look, columns are looked at. Weights in percent.";
  const heads = columns.names.map((text, column) => heading(text, { column }));
  const body = rows.names.map((text, row) => {
    const cells = columns.names.map((_, column) => {
      const dark = shade(weightAt(row, column));
      const cell = element("td", { text: Math.round(100 * weightAt(row, column)), className: dark > flip ? "strong" : "" });
      cell.style.setProperty("--weight", dark.toFixed(3));
      Object.assign(cell.dataset, { row, column });
      return cell;
    });
    return element("tr", {}, heading(text, { row }), ...cells);
  });
  const roomy = Math.min(2.5, Math.max(1.65, 34 / columns.names.length)); // few columns may be wide
  byId("matrix").style.setProperty("--cell", `${roomy.toFixed(2)}rem`);
  byId("matrix").replaceChildren(
    element("caption", { className: "unseen", text: `${byId("matrix-title").textContent}. ${about}` }),
    element("thead", {}, element("tr", {}, element("td", { className: "corner" }), ...heads)),
    element("tbody", {}, ...body),
  );
}

function heading(text, place) {
  const made = element("th", { scope: "row" in place ? "row" : "col", title: text }, named(text));
  Object.assign(made.dataset, place);
  return made;
}

/* Everything that depends on the word that is pointed at or held. */
function drawFocus() {
  const active = pointed === NOTHING ? held : pointed;
  const links = linksOf(active, active === NOTHING ? CURVE : FAINT);
  for (const word of document.querySelectorAll(".word")) drawWord(word, active);
  drawCurves(links);
  for (const cell of byId("matrix").querySelectorAll("[data-row], [data-column]")) {
    const matches = ["row", "column"].filter((name) => active[name] !== null && Number(cell.dataset[name]) === active[name]);
    const asked = ["row", "column"].filter((name) => active[name] !== null && name in cell.dataset);
    cell.classList.toggle("lit", matches.length > 0 && matches.length === asked.length);
    cell.classList.toggle("dim", cell.tagName === "TD" && matches.length < asked.length);
  }
  byId("status").textContent = told(active);
}

/* A word is tinted by its link to the active one. */
function drawWord(word, active) {
  const isRow = "row" in word.dataset;
  const place = Number(word.dataset.place);
  const own = isRow ? active.row : active.column;
  const other = isRow ? active.column : active.row;
  const linked = other !== null && (own === null || own === place);
  const weight = linked ? (isRow ? weightAt(place, other) : weightAt(other, place)) : 0;
  word.style.setProperty("--weight", shade(weight).toFixed(3));
  word.classList.toggle("tinted", weight > 0);
  word.classList.toggle("strong", shade(weight) > flip);
  word.classList.toggle("active", own === place);
  word.setAttribute("aria-pressed", String((isRow ? held.row : held.column) === place));
  word.querySelector(".share").textContent = weight >= 0.05 ? Math.round(100 * weight) : "";
}

function drawCurves(links) {
  const lines = [byId("columns"), byId("rows")];
  const wrapped = byId("stage").classList.contains("wrapped");
  const box = byId("curves").getBoundingClientRect();
  const middle = (word) => word.getBoundingClientRect().left + word.offsetWidth / 2 - box.left;
  byId("curves").replaceChildren(...(wrapped ? [] : links).map(({ r, c, weight }) => {
    const [top, bottom] = [middle(lines[0].children[c]), middle(lines[1].children[r])];
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", `M${top},0 C${top},${box.height / 2} ${bottom},${box.height / 2} ${bottom},${box.height}`);
    path.setAttribute("stroke-width", 1 + 3 * weight);
    path.setAttribute("stroke-opacity", shade(weight));
    return path;
  }));
}

/* The strongest links in words. */
function told(active) {
  const quoted = (name) => `“\u2068${name}\u2069”`; // isolated: a name in another direction turns nothing round it
  const row = (r) => quoted(view.rows.names[r]);
  const column = (c) => quoted(view.columns.names[c]);
  const best = linksOf(active, 0.005).slice(0, TOLD);
  if (active.row !== null && active.column !== null) {
    const weight = weightAt(active.row, active.column).toFixed(3);
    return `${row(active.row)} looks at ${column(active.column)} with a weight of ${weight}.`;
  }
  if (active.row !== null) {
    const list = best.map(({ c, weight }) => `${column(c)} ${weight.toFixed(2)}`).join(", ");
    return `${row(active.row)} looks at ${list || "nothing here"}.`;
  }
  if (active.column !== null) {
    const list = best.map(({ r, weight }) => `${row(r)} ${weight.toFixed(2)}`).join(", ");
    return `${column(active.column)} is looked at by ${list || "nothing here"}.`;
  }
  return `Strongest: ${best.map(({ r, c, weight }) => `${row(r)} to ${column(c)} ${weight.toFixed(2)}`).join(", ")}.`;
}

function drawScale() {
  const steps = [0.05, 0.25, 0.5, 0.75, 1].map((weight) => {
    const swatch = element("i");
    swatch.style.setProperty("--weight", shade(weight).toFixed(3));
    return element("span", {}, swatch, String(weight));
  });
  byId("scale").replaceChildren(...steps);
}

/* ---- Choosing ---- */

/* Show a layer and head; what does not exist in this kind becomes the nearest layer, or the mean. */
function select(layer, heads) {
  state.layer = Math.min(layer, data.pairs[state.pair].weights[state.kind].length - 1);
  const all = headsOf(state.layer);
  const { name } = data.pairs[state.pair].weights[state.kind][state.layer];
  const exist = heads !== null && !name && heads.every((head) => head < all.length);
  state.heads = exist && (heads.length === 1 || heads.length < all.length) ? heads : null;
  shown = matrixOf(state.layer, state.heads);
  byId("matrix-title").textContent = `${KINDS[state.kind].name}, ${placeText(state.kind, state.layer, state.heads)}`;
  const place = state.heads === null ? 0 : state.heads.length === 1 ? state.heads[0] + 1 : -1;
  let stop = null;
  for (const button of byId("grid").querySelectorAll("button")) {
    const chosen = Number(button.dataset.line) === state.layer && Number(button.dataset.place) === place;
    button.setAttribute("aria-pressed", String(chosen));
    if (chosen || stop === null) stop = button;
    button.tabIndex = -1;
  }
  stop.tabIndex = 0;
  drawReading();
  drawMatrix();
  drawFocus();
}

/* After another sentence, kind, level or step was chosen. */
function refresh() {
  flip = Number(themed("--flip"));
  view = viewOf(data.pairs[state.pair]);
  held = pointed = NOTHING;
  drawControls();
  drawWords();
  drawGrid();
  select(state.layer, state.heads);
}

/* Where the model's own alignments are read. */
function drawReading() {
  const { layer, heads, step } = data.pairs[state.pair].reading;
  const all = data.pairs[state.pair].weights.cross[layer].heads === heads.length;
  const isShown = state.kind === "cross" && state.step === step && state.layer === layer
    && String(state.heads ?? headsOf(layer)) === String(heads);
  const place = placeText("cross", layer, all && heads.length > 1 ? null : heads);
  byId("reading").textContent = `Where alignments are read: ${place}, as a word is ${step === "input" ? "read" : "written"}`;
  byId("reading").setAttribute("aria-pressed", String(isShown));
}

function showReading() {
  const { layer, heads, step } = data.pairs[state.pair].reading;
  Object.assign(state, { kind: "cross", step, layer, heads });
  refresh();
}

/* ---- Listening ---- */

const placeIn = ({ dataset }) => ({
  row: "row" in dataset ? Number(dataset.row) : null,
  column: "column" in dataset ? Number(dataset.column) : null,
});

function point(event) {
  const target = event.target.closest("[data-row], [data-column]");
  pointed = target === null ? NOTHING : placeIn(target);
  drawFocus();
}

function letGo() {
  pointed = NOTHING;
  drawFocus();
}

function hold(event) {
  const word = event.target.closest(".word");
  if (word === null) return;
  const place = placeIn(word);
  held = String([held.row, held.column]) === String([place.row, place.column]) ? NOTHING : place;
  drawFocus();
}

/* A group of buttons is one stop of the Tab key; the arrow keys, Home and End move inside. */
function rove(group) {
  group.addEventListener("keydown", (event) => {
    const at = event.target.closest("button");
    if (at === null || event.ctrlKey || event.altKey || event.metaKey) return;
    const forward = getComputedStyle(group).direction === "rtl" ? -1 : 1;
    const moves = {
      ArrowRight: [0, forward], ArrowLeft: [0, -forward], ArrowDown: [1, 0], ArrowUp: [-1, 0],
      Home: [0, -Infinity], End: [0, Infinity],
    };
    if (!(event.key in moves)) return;
    const [down, along] = moves[event.key];
    const line = [...group.querySelectorAll(`button[data-line="${Number(at.dataset.line) + down}"]`)];
    const place = Number(at.dataset.place) + along;
    const next = line.find((button) => Number(button.dataset.place) >= place) ?? line.at(-1);
    if (next === undefined) return;
    event.preventDefault();
    next.focus();
  });
  group.addEventListener("focusin", (event) => {
    for (const button of group.querySelectorAll("button")) button.tabIndex = button === event.target ? 0 : -1;
  });
}

function resized() {
  fit();
  drawFocus();
}

function listen() {
  for (const name of ["kind", "level", "step"]) {
    byId(name).addEventListener("change", (event) => {
      state[name] = event.target.value;
      refresh();
    });
  }
  byId("sentence").addEventListener("change", (event) => {
    state.pair = Number(event.target.value);
    refresh();
  });
  byId("reading").addEventListener("click", showReading);
  byId("numbers").addEventListener("change", (event) => byId("matrix").classList.toggle("numbered", event.target.checked));
  for (const id of ["columns", "rows", "matrix"]) {
    byId(id).addEventListener("pointerover", point);
    byId(id).addEventListener("pointerleave", letGo);
    byId(id).addEventListener("focusin", point);
    byId(id).addEventListener("focusout", letGo);
    byId(id).addEventListener("click", hold);
  }
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    held = NOTHING;
    letGo();
  });
  for (const id of ["columns", "rows", "grid"]) rove(byId(id));
  new ResizeObserver(() => requestAnimationFrame(resized)).observe(byId("stage"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", refresh);
}

byId("name").textContent = data.name;
byId("choice").hidden = data.pairs.length < 2;
data.pairs.forEach((pair, index) => {
  byId("sentence").append(element("option", { value: index, text: `${index + 1}. ${pair.source.text}` }));
});
drawScale();
showReading();
listen();
