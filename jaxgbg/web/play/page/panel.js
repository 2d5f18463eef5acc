// The panel: seats, legal moves, the game so far. `find` searches the table's markup.
import { curve } from "./chart.js";

export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// A bar from zero within [low, high], green if it is good for its player.
export function bar(value, low, high) {
  const place = (figure) => 100 * (Math.min(high, Math.max(low, figure)) - low) / (high - low || 1);
  const [zero, end] = [place(0), place(value ?? 0)];
  const cell = element("td", { className: "bar" }, element("i", { className: value < 0 ? "bad" : "good" }));
  cell.firstChild.style.left = `${Math.min(zero, end)}%`;
  cell.firstChild.style.width = `${Math.abs(end - zero)}%`;
  cell.style.setProperty("--zero", `${zero}%`);
  return cell;
}

// The outcome of chance on the board: 2 at row 1, column 3. A die stands at a spot that is called a die.
export const chanceText = (about, changes) => changes.map(([spot, kind]) => {
  const [piece, place] = [String(about.pieces[kind] ?? kind), about.spots[spot] ?? `spot ${spot + 1}`];
  const last = place.split(" ").at(-1);
  return Number.isNaN(Number(last)) && piece.startsWith(last) ? piece : `${piece} at ${place}`;
}).join("; ");

// In a long game, show the moves around the current one.
const MOST_SHOWN = 500;
const PERSON = { name: "person", label: "person", strength: null };

// A seat is text: a player's name, its strength if it has one, and its switch if that is on.
function parts(seat, choices) {
  const exact = choices.find((choice) => choice.name === seat);
  if (exact) return { choice: exact, strength: exact.strength?.value, on: false };
  for (const choice of choices.filter(({ strength }) => strength)) {
    const on = Boolean(choice.switch) && seat.endsWith(choice.switch.name);
    const plain = on ? seat.slice(0, -choice.switch.name.length) : seat;
    if (on && plain === choice.name) return { choice, strength: choice.strength.value, on };
    const start = choice.name + choice.strength.join;
    if (plain.startsWith(start)) return { choice, strength: plain.slice(start.length), on };
  }
  return { choice: choices[0], strength: undefined, on: false };
}

const named = (choice, strength, on) =>
  choice.name + (choice.strength ? choice.strength.join + strength : "") + (on ? choice.switch.name : "");

// As in the address: with its strength.
export function seatText(about, seat) {
  const { choice, strength, on } = parts(seat, [PERSON, ...about.seats]);
  return named(choice, strength, on);
}

export function seatRows(find, about, seats, onChange) {
  const choices = [PERSON, ...about.seats];
  find("#seats .rows").replaceChildren(...about.sides.map((side, number) => {
    const { choice, strength, on } = parts(seats[number], choices);
    const select = element("select", { ariaLabel: `${side} is played by` },
      ...choices.map(({ name, label }) => element("option", { value: name, textContent: label, selected: name === choice.name })));
    const row = element("div", { className: `row seat-${number % 8}` },
      element("span", { className: "side", textContent: about.sides.length > 1 ? side : "player" }), select);
    if (choice.strength) {
      const { low, high, unit } = choice.strength;
      const field = element("input", { type: "number", min: low, max: high, value: strength, ariaLabel: `${unit} of ${side}` });
      field.addEventListener("change", () => {
        const whole = Math.round(Number(field.value)) || low;
        onChange(number, named(choice, Math.min(high, Math.max(low, whole)), on));
      });
      row.append(element("label", { className: "strength" }, field, ` ${unit}`));
    }
    if (choice.switch) {
      const { label, title } = choice.switch;
      const box = element("input", { type: "checkbox", checked: on, ariaLabel: `${label} of ${side}` });
      box.addEventListener("change", () => onChange(number, named(choice, strength, box.checked)));
      row.append(element("label", { className: "switch", title }, box, ` ${label}`));
    }
    select.addEventListener("change", () => {
      const chosen = choices.find(({ name }) => name === select.value);
      onChange(number, named(chosen, chosen.strength?.value, false));
    });
    row.append(element("span", { className: "result" }));
    return row;
  }));
}

export function seatState(find, position) {
  find("#seats .rows").querySelectorAll(".row").forEach((row, number) => {
    row.classList.toggle("moving", position.player === number);
    const out = position.out.includes(number);
    row.classList.toggle("out", out);
    row.querySelector(".result").textContent = position.outcome ? position.rewards[number] : out ? `out: ${position.rewards[number]}` : "";
  });
}

export function moveTable(find, about, position, { values, verdicts, playable, play }) {
  const every = values === "all" && position.legal.some((move) => move.every);
  const columns = every ? about.sides : values === "none" ? [] : [about.unit];
  const heads = ["move", ...columns, ...(verdicts ? ["perfect play"] : [])];
  find("#moves table").classList.toggle("many", columns.length > 4);
  find("#moves thead").replaceChildren(element("tr", {}, ...heads.map((textContent, at) =>
    element("th", { textContent, scope: "col", colSpan: at === 1 && columns.length && !every ? 2 : 1 }))));
  const words = new Map((verdicts ?? []).map((verdict) => [verdict.action, verdict]));
  const ordered = [...position.legal];
  // Sorting by value would reveal hidden values.
  if (columns.length) ordered.sort((a, b) => (b.value ?? -Infinity) - (a.value ?? -Infinity));
  const figuresKnown = position.legal.map(({ value }) => value ?? 0);
  const [low, high] = about.sides.length > 1 ? about.span : [Math.min(...figuresKnown), Math.max(...figuresKnown)];
  find("#moves tbody").replaceChildren(...ordered.map((move) => {
    const button = element("button", { type: "button", textContent: move.name, disabled: !playable });
    button.addEventListener("click", () => play(move.action));
    const figures = every ? move.every : columns.length ? [move.words] : [];
    const row = element("tr", {}, element("td", {}, button), ...figures.map((textContent) => element("td", { textContent })));
    if (columns.length && !every) row.append(bar(move.value, Math.min(low, 0), Math.max(high, 0)));
    const verdict = words.get(move.action);
    const look = ["verdict", verdict?.best ? "best" : "", { 1: "good", [-1]: "bad" }[verdict?.sign] ?? ""];
    if (verdicts) row.append(element("td", { className: look.join(" "), textContent: verdict?.words ?? "" }));
    return row;
  }));
}

export function historyList(find, about, { names, players, chance, expected, at, go, values }) {
  const list = find("#history .line");
  const from = Math.max(0, Math.min(at - MOST_SHOWN / 2, names.length - MOST_SHOWN));
  list.style.counterReset = `ply ${from}`;
  const pieces = names.slice(from, from + MOST_SHOWN).map((name, number) => {
    const ply = from + number;
    const button = element("button", { type: "button", textContent: name, className: `seat-${players[ply] % 8}` });
    if (chance[ply]?.length) button.append(element("span", { className: "chance", textContent: ` + ${chanceText(about, chance[ply])}` }));
    if (ply + 1 === at) button.setAttribute("aria-current", "step");
    button.addEventListener("click", () => go(ply + 1));
    return element("li", {}, button);
  });
  list.replaceChildren(...pieces);
  const now = list.querySelector("[aria-current]");
  if (now) list.scrollTop = now.offsetTop - list.clientHeight / 2;
  else list.scrollTop = 0;
  const span = about.sides.length > 1 ? about.span : null;
  const shown = values === "none" ? null : curve({ expected, at, span, sides: about.sides, go });
  find("#curve").replaceChildren(...[shown].filter(Boolean));
}
