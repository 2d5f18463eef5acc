"use strict";
const records = (() => {
  document.documentElement.classList.add("js");
  let current = null;

  function begin(section) {
    const game = JSON.parse(section.querySelector("script").textContent);
    const parts = {
      caption: section.querySelector(".caption"),
      moves: section.querySelector(".moves"),
      slider: section.querySelector("input"),
      board: section.querySelector(".player .board"),
      buttons: Object.fromEntries(
        [...section.querySelectorAll("button")].map((button) => [button.dataset.go, button])),
    };
    const last = game.positions.length - 1;
    let at = 0;

    function go(where) {
      const places = { first: 0, previous: at - 1, next: at + 1, last };
      at = Math.min(last, Math.max(0, typeof where === "number" ? where : places[where]));
      show();
    }

    function show() {
      const [pieces, moves, played, came, halos, caption, names, ways] = game.positions[at];
      const nameOf = new Map(moves.map((move, number) => [move, names[number] ?? game.actions[move[0]]]));
      const marks = moves.map(([action, value, spot, words], number) =>
        ({ action, value, spot, words, halo: halos[number] }));
      fillBoard(parts.board, game.shapes, { pieces, marks, played, came, ways });
      parts.caption.textContent = caption;
      parts.board.setAttribute("aria-label", caption);
      parts.moves.replaceChildren(...[...moves].sort((a, b) => b[1] - a[1]).map((move) => {
        const line = document.createElement("li");
        const name = document.createElement("span");
        const value = document.createElement("span");
        name.textContent = nameOf.get(move);
        value.textContent = move[3];
        line.append(name, value);
        if (move[0] === played) line.className = "played";
        return line;
      }));
      parts.slider.value = at;
      parts.buttons.first.disabled = parts.buttons.previous.disabled = at === 0;
      parts.buttons.last.disabled = parts.buttons.next.disabled = at === last;
    }

    const record = { section, go };
    for (const [where, button] of Object.entries(parts.buttons)) {
      button.addEventListener("click", () => go(where));
    }
    parts.slider.addEventListener("input", () => go(Number(parts.slider.value)));
    section.addEventListener("pointerdown", () => { current = record; });
    section.addEventListener("focusin", () => { current = record; });
    section.querySelector(".player").hidden = false;
    show();
    if (!current?.section.isConnected) current = record;
    return record;
  }

  // Arrows step through the game that was last used, wherever the focus is now.
  document.addEventListener("keydown", (event) => {
    const where = { ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "last" }[event.key];
    const ours = current && where && !event.altKey && !event.ctrlKey && !event.metaKey;
    if (!ours || event.target.type === "range") return;
    // Home and End belong to the page unless a game has the focus.
    if (event.key.length < 5 && !current.section.contains(event.target)) return;
    current.go(where);
    event.preventDefault();
  });
  return { begin };
})();
document.querySelectorAll(".record").forEach(records.begin);

// A link to a run unfolds it, and printing unfolds all.
function unfold() {
  const fold = document.getElementById(location.hash.slice(1))?.querySelector(".fold");
  if (fold) fold.open = true;
}
addEventListener("hashchange", unfold);
addEventListener("beforeprint", () => document.querySelectorAll(".fold").forEach((fold) => { fold.open = true; }));
unfold();
