/* The two sentences, and the links between their words: curves, tints, and what is told of them. */

const CURVE = 0.1; // weaker links have no curve until their word is chosen
const FAINT = 0.02; // weaker links have no curve at all
const TOLD = 5; // links that are named in words

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
