// The choice of seat and strength before the first move.
import { element, seatText } from "./panel.js";

// A row of radio buttons; `chosen` may be none of them.
function oneOf(name, legend, options, chosen, onChange) {
  return element("fieldset", { name }, element("legend", { textContent: legend }), ...options.map(({ label, title, look }, number) => {
    const input = element("input", { type: "radio", name, checked: number === chosen });
    input.addEventListener("change", () => onChange(number));
    const mark = look ? [element("i", { className: look })] : [];
    return element("label", { title: title ?? "" }, input, ...mark, label);
  }));
}

// `choose(seats, begins)` is called for every change, and for the start.
export function startForm(find, about, { shown, seats, choose }) {
  const form = find("#start");
  form.hidden = !shown;
  if (!shown) return form.replaceChildren();
  const people = seats.flatMap((seat, number) => (seat === "person" ? [number] : []));
  const others = seats.filter((seat) => seat !== "person");
  const side = people.length === 1 ? people[0] : people.length ? -1 : seats.length;
  const players = about.levels.map(({ player }) => seatText(about, player));
  const level = players.findIndex((player) => others.length && others.every((seat) => seat === player));
  const seated = (own, strength) => about.sides.map((_, number) =>
    (number === own ? "person" : players[strength < 0 ? Math.floor(players.length / 2) : strength]));
  const sides = about.sides.map((name, number) => ({ label: number ? name : `${name} (first)`, look: `seat-${number % 8}` }));
  const focused = form.contains(form.getRootNode().activeElement) ? form.getRootNode().activeElement.name : null;
  const start = element("button", { type: "button", textContent: "Start" });
  start.addEventListener("click", () => choose(seats, true));
  form.replaceChildren(
    oneOf("side", "You play", [...sides, { label: "nobody", title: "Watch" }], side, (number) => choose(seated(number, level), false)),
    ...(about.levels.length > 1
      ? [oneOf("level", "against", about.levels.map(({ label, player }) => ({ label, title: player })), level, (number) => choose(seated(side, number), false))]
      : []),
    start);
  // Redrawn elements keep the focus.
  if (focused) form.querySelector(`[name=${focused}]:checked`)?.focus();
}
