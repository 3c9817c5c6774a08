/* Pointer and controls, then the beginning. */

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
