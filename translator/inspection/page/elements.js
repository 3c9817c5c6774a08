/* What all drawing is made with. */

const shade = (weight) => Math.min(1, weight) ** 0.7; // lifts the weak ones a little

/* A theme's own value, such as the colour that a weight of 1 has. */
const themed = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function element(tag, { text, ...properties } = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  if (text !== undefined) made.textContent = text;
  made.append(...children);
  return made;
}

/* A name; the mark with which a subword begins a word is set apart. */
function named(text) {
  if (!text.startsWith("▁") || text.length === 1) return element("span", { text });
  return element("span", {}, element("span", { className: "mark", text: "▁" }), text.slice(1));
}
