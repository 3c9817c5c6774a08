/* A small picture of every layer and head; each is a button that enlarges it. */

const BESIDE = { heads: 5, columns: 20 }; // with more, the enlarged view stands below and not beside

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
  byId("views").classList.toggle("wide", most > BESIDE.heads || view.columns.names.length > BESIDE.columns);
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
