// The board: drawn by Python, updated by board.js, used with mouse, touch and keys.

export class Surface {
  constructor(place, about, { onMove, onCell, onKey, onEdit }) {
    this.about = about;
    this.listeners = { onMove, onCell, onKey, onEdit };
    place.innerHTML = `<svg class="shapes" aria-hidden="true" width="0" height="0"><defs>${about.definitions}</defs></svg>${about.board}`;
    this.board = place.querySelector("svg.board");
    this.board.setAttribute("role", "group");
    this.board.setAttribute("aria-label", "Board");
    // Limit the scale of a small board, whose strokes would become too thick.
    this.board.style.maxWidth = `${2 * this.board.viewBox.baseVal.width}px`;
    place.classList.toggle("swiped", Object.keys(about.keys).length > 0);
    this.spots = [...this.board.querySelectorAll(".spot")];
    this.centres = this.spots.map((spot) => spot.transform.baseVal[0].matrix).map(({ e, f }) => [e, f]);
    this.legal = [];
    this.picked = -1;
    this.cursor = 0;
    this.hinted = null;
    this.inspecting = false;
    this.editable = null;
    this.turned = false;
    for (const spot of this.spots) spot.setAttribute("role", "button");
    this.board.addEventListener("pointerdown", (event) => this.press(event));
    this.board.addEventListener("pointerup", (event) => this.release(event));
    this.board.addEventListener("keydown", (event) => this.key(event));
    this.board.addEventListener("focusin", (event) => {
      const at = this.spots.indexOf(event.target.closest(".spot"));
      if (at >= 0) this.move(at, false);
    });
  }

  // `look` is the position to show: the answer of the server, and which parts of it are visible.
  show(look) {
    Object.assign(this, { look, legal: look.playable ? look.legal : [], picked: -1, hinted: null });
    this.fill();
  }

  // No moves until the next position is there.
  lock() {
    this.legal = [];
    for (const spot of this.spots) {
      spot.classList.remove("legal", "picked");
      spot.setAttribute("aria-disabled", "true");
    }
  }

  hint(action) {
    this.hinted = this.look.legal.find((move) => move.action === action);
    this.fill();
  }

  inspect(on) {
    this.inspecting = on;
    this.picked = -1;
    if (this.look) this.fill();
  }

  // Clicks on these spots change the board; null ends this.
  edit(spots) {
    this.editable = spots;
    this.fill();
  }

  turn() {
    this.turned = !this.turned;
    const [, , width, height] = this.board.getAttribute("viewBox").split(" ").map(Number);
    const ground = this.board.querySelector("use");
    ground.style.setProperty("--turn", this.turned ? "180deg" : "0deg");
    ground.setAttribute("transform", this.turned ? `rotate(180 ${width / 2} ${height / 2})` : "");
    this.board.querySelectorAll(".way").forEach((path) =>
      path.setAttribute("transform", ground.getAttribute("transform")));
    this.spots.forEach((spot, number) => {
      const [x, y] = this.centres[number];
      spot.setAttribute("transform", `translate(${this.turned ? width - x : x} ${this.turned ? height - y : y})`);
    });
  }

  // If pieces go from spot to spot, first mark the spots that pieces can go from, then the
  // spots that the picked piece can go to.
  marks() {
    const { legal, values } = this.look;
    const goes = legal.some((move) => move.origin >= 0);
    const best = new Map();
    for (const move of legal) {
      if (goes && this.picked >= 0 && move.origin !== this.picked) continue;
      const taken = goes && this.picked < 0 && move.origin >= 0;
      const spot = taken ? move.origin : move.spot;
      const before = best.get(spot);
      if (before && !((move.value ?? -Infinity) > (before.value ?? -Infinity))) continue;
      best.set(spot, { action: move.action, value: values ? move.value : null, spot,
        words: values ? move.words : "", halo: values && !taken ? move.shade : 0.14 });
    }
    return [...best.values()];
  }

  fill() {
    const { look, about } = this;
    const marks = look.playable || look.values ? this.marks() : [];
    const goes = look.legal.some((move) => move.origin >= 0);
    const came = look.last ? look.last.spot : -1;
    fillBoard(this.board, about.shapes, {
      pieces: look.pieces, marks, played: this.hinted ? this.hinted.action : -1, came,
      ways: [look.last ? look.last.way : "", ""],
    });
    if (this.hinted) this.mark(goes && this.picked < 0 ? this.hinted.origin : this.hinted.spot, "hinted");
    const legal = new Map(marks.map((mark) => [mark.spot, mark]));
    this.spots.forEach((spot, number) => {
      const mark = legal.get(number);
      const edited = Boolean(this.editable?.has(number));
      spot.classList.toggle("legal", edited || (Boolean(mark) && look.playable && !this.inspecting));
      spot.classList.toggle("picked", number === this.picked);
      spot.setAttribute("aria-label", this.words(number, mark));
      spot.setAttribute("aria-disabled", String(!mark && !this.inspecting && !edited));
    });
    for (const { spot, sign } of look.perfect ?? []) {
      this.mark(spot, "perfect");
      if (sign <= 0) this.mark(spot, sign ? "losing" : "drawing");
    }
    this.board.classList.toggle("inspecting", this.inspecting);
    this.move(this.cursor, false);
  }

  mark(number, name) {
    if (number >= 0) this.spots[number].classList.add(name);
  }

  // Mark all spots that show the cells which an n-tuple reads.
  read(cells) {
    this.spots.forEach((spot, number) =>
      spot.classList.toggle("read", cells.includes(this.about.cells[number])));
  }

  words(number, mark) {
    const { about, look } = this;
    const piece = about.pieces[look.pieces[number]];
    const name = about.spots[number] ?? `spot ${number + 1}`;
    const move = mark && look.legal.find(({ action }) => action === mark.action);
    const value = move && mark.words ? `, value ${mark.words}` : "";
    return name + (piece ? `: ${piece}` : "") + (move && look.playable ? `, legal${value}` : "");
  }

  // Arrows reach every spot; Tab reaches one of them.
  move(number, focus) {
    this.cursor = number;
    this.spots.forEach((spot, at) => spot.setAttribute("tabindex", at === number ? "0" : "-1"));
    if (focus) this.spots[number].focus();
  }

  neighbour(x, y) {
    const places = this.spots.map((spot) => spot.transform.baseVal[0].matrix);
    const here = places[this.cursor];
    const far = places.map(({ e, f }) => {
      const along = (e - here.e) * x + (f - here.f) * y;
      const aside = Math.abs((e - here.e) * y) + Math.abs((f - here.f) * x);
      return along > 1 && aside < 2 * along ? along + 2.5 * aside : Infinity;
    });
    const nearest = far.indexOf(Math.min(...far));
    return far[nearest] < Infinity ? nearest : this.cursor;
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key in this.about.keys && !this.inspecting && !this.editable) return;
    if (event.key in ways) this.move(this.neighbour(...ways[event.key]), true);
    else if (event.key === "Enter" || event.key === " ") this.touch(this.cursor);
    else if (event.key === "Escape" && this.picked >= 0) { this.picked = -1; this.fill(); }
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  press(event) {
    this.pressed = [event.clientX, event.clientY];
  }

  release(event) {
    if (!this.pressed) return;
    const [x, y] = [event.clientX - this.pressed[0], event.clientY - this.pressed[1]];
    this.pressed = null;
    if (Math.hypot(x, y) > 24 && Object.keys(this.about.keys).length && !this.editable) {
      const level = Math.abs(x) > Math.abs(y);
      this.listeners.onKey(level ? (x < 0 ? "ArrowLeft" : "ArrowRight") : y < 0 ? "ArrowUp" : "ArrowDown");
      return;
    }
    const spot = this.spots.indexOf(event.target.closest(".spot"));
    const number = spot >= 0 ? spot : this.nearest(event);
    if (number < 0) return;
    this.move(number, true);
    this.touch(number);
  }

  nearest(event) {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.board.getScreenCTM().inverse());
    const far = this.spots.map((spot) => spot.transform.baseVal[0].matrix)
      .map(({ e, f }) => Math.hypot(e - point.x, f - point.y));
    const nearest = far.indexOf(Math.min(...far));
    return far[nearest] < 40 ? nearest : -1;
  }

  touch(number) {
    if (this.editable) {
      if (this.editable.has(number)) this.listeners.onEdit(number);
      return;
    }
    if (this.inspecting) {
      const cell = this.about.cells[number] ?? -1;
      if (cell >= 0) this.listeners.onCell(cell);
      return;
    }
    const goes = this.legal.some((move) => move.origin >= 0);
    const found = this.legal.filter((move) => goes
      ? move.origin === this.picked && move.spot === number
      : move.touched.includes(number));
    if (found.length) this.listeners.onMove(found[0].action);
    else if (goes) {
      const own = this.legal.some((move) => move.origin === number);
      this.picked = own && this.picked !== number ? number : -1;
      this.fill();
    }
  }
}
