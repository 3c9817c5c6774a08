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
