/* Choosing what is shown. */

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

/* Everything that depends on the word that is pointed at or held. */
function drawFocus() {
  const active = pointed === NOTHING ? held : pointed;
  for (const word of document.querySelectorAll(".word")) drawWord(word, active);
  drawCurves(linksOf(active, active === NOTHING ? CURVE : FAINT));
  drawCells(active);
  byId("status").textContent = told(active);
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
