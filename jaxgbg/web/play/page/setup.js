// Setting up a position by clicking. Python reads the text that comes out, and says what is wrong.
import { element } from "./panel.js";

export class SetUp {
  // `form` says how cells are written; the position to begin with is the one on the board.
  constructor(form, { pieces, player }) {
    this.form = form;
    this.kinds = form.contents.map(([, kind]) => kind);
    this.spots = new Set(form.rows.flat());
    this.side = Math.max(0, player ?? 0);
    // Cells that differ only in what may be played there are empty.
    this.pieces = pieces.map((kind, spot) => (this.spots.has(spot) && !this.kinds.includes(kind) ? this.kinds[0] : kind));
  }

  change(spot) {
    this.pieces[spot] = this.kinds[(this.kinds.indexOf(this.pieces[spot]) + 1) % this.kinds.length];
  }

  clear() {
    for (const spot of this.spots) this.pieces[spot] = this.kinds[0];
  }

  get text() {
    const { contents, rows, between, sides } = this.form;
    const written = (spot) => contents[this.kinds.indexOf(this.pieces[spot])][0];
    const board = rows.map((row) => row.map(written).join(between)).join("/");
    return `${board}${sides.length ? ` ${sides[this.side][0]}` : ""};`;
  }

  // The buttons below the board, and the choice of the side to move where the board leaves it open.
  controls({ clear, done, cancel }) {
    const { sides } = this.form;
    const select = element("select", {}, ...sides.map(([, name], at) =>
      element("option", { textContent: name, value: at, selected: at === this.side })));
    select.addEventListener("change", () => { this.side = Number(select.value); });
    const buttons = Object.entries({ Clear: clear, Done: done, Cancel: cancel }).map(([textContent, act]) => {
      const button = element("button", { type: "button", textContent });
      button.addEventListener("click", act);
      return button;
    });
    return [...(sides.length ? [element("label", { className: "choice" }, "To move ", select)] : []), ...buttons];
  }
}
