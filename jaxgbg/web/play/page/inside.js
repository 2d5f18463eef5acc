// The n-tuples through a cell: their digits and weights.
import { bar, element } from "./panel.js";

export function showTuples(find, about, answer, cell, surface) {
  const card = find("#inside");
  const signed = (number) => `${number < 0 ? "−" : "+"}${Math.abs(number).toFixed(3)}`;
  const name = about.spots[about.cells.indexOf(cell)] ?? `cell ${cell}`;
  card.querySelector(".sum").textContent = `${name}, valued for ${about.sides[answer.player]}: `
    + `${answer.count} of ${answer.lookups} look-ups read it and add ${signed(answer.through)} `
    + `to a sum of ${signed(answer.total)}. TC counters are ${answer.counters}.`;
  const factors = answer.tuples.some(({ factor }) => factor !== null);
  const heads = ["n-tuple", "image", "digits", "weight", "", "hits", ...(factors ? ["TC factor"] : [])];
  card.querySelector("thead").replaceChildren(
    element("tr", {}, ...heads.map((textContent) => element("th", { textContent, scope: "col" }))));
  const most = Math.max(...answer.tuples.map(({ weight }) => Math.abs(weight)), 1e-9);
  card.querySelector("tbody").replaceChildren(...answer.tuples.map((tuple) => {
    const cells = [tuple.tuple, tuple.image, tuple.digits.join(" "), signed(tuple.weight), tuple.hits];
    const row = element("tr", { tabIndex: 0 }, ...cells.map((textContent) => element("td", { textContent })));
    if (factors) {
      const counters = [`N ${signed(tuple.n)}`, `A ${tuple.a.toPrecision(3)}`];
      row.append(element("td", { className: "tc" }, tuple.factor.toFixed(3),
        ...counters.map((textContent) => element("small", { textContent }))));
    }
    row.children[3].after(bar(tuple.weight, -most, most));
    for (const event of ["pointerenter", "focus"]) row.addEventListener(event, () => surface.read(tuple.cells));
    for (const event of ["pointerleave", "blur"]) row.addEventListener(event, () => surface.read([cell]));
    return row;
  }));
  surface.read([cell]);
}
