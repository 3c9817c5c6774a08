/* One layer and head, enlarged. */

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
  const room = byId("views").classList.contains("wide") ? 64 : 34;
  const roomy = Math.min(2.5, Math.max(0.95, room / columns.names.length)); // few columns may be wide
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

/* The rows, columns and cells of the active word stand out. */
function drawCells(active) {
  for (const cell of byId("matrix").querySelectorAll("[data-row], [data-column]")) {
    const asked = ["row", "column"].filter((name) => active[name] !== null && name in cell.dataset);
    const matches = ["row", "column"].filter((name) => active[name] !== null && Number(cell.dataset[name]) === active[name]);
    cell.classList.toggle("lit", matches.length > 0 && matches.length === asked.length);
    cell.classList.toggle("dim", cell.tagName === "TD" && matches.length < asked.length);
  }
}

function drawScale() {
  const steps = [0.05, 0.25, 0.5, 0.75, 1].map((weight) => {
    const swatch = element("i");
    swatch.style.setProperty("--weight", shade(weight).toFixed(3));
    return element("span", {}, swatch, String(weight));
  });
  byId("scale").replaceChildren(...steps);
}
