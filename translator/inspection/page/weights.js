/* From the packed weights to the matrix that is shown, and to its links. */

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
