// A game as text: its moves and the outcomes of chance, in the format of the served page.
import { Fault } from "./fault.js";

const WORDS = "\\d{1,10}(?:-\\d{1,10})*";
const PLY = `\\d{1,10}(?:\\.${WORDS})?`;
const TEXT = new RegExp(`^(?:${WORDS}/)?(?:${PLY}(?:,${PLY})*)?$`);

// { start: random words of the start position, plies: [action, outcome of chance ...] each }.
export function read(text, most) {
  const clean = text.replace(/\s/g, "");
  if (!TEXT.test(clean)) throw new Fault(`not a list of moves such as 3,2,4: ${clean.slice(0, 60)}`, false);
  const slash = clean.indexOf("/");
  const numbers = (words) => words.split(/[-.]/).map(Number);
  const plies = clean.slice(slash + 1);
  const line = { start: slash < 0 ? [] : numbers(clean.slice(0, slash)), plies: plies ? plies.split(",").map(numbers) : [] };
  if (line.plies.length > most) throw new Fault(`a game lasts ${most} plies at most, not ${line.plies.length}`, false);
  const largest = [line.start, ...line.plies].reduce((most, each) => Math.max(most, ...each), 0);
  if (largest >= 2 ** 32) throw new Fault(`${largest} is too large: a word of chance has 32 bits`, false);
  return line;
}

export function write({ start, plies }) {
  const moves = plies.map(([action, ...chance]) => action + (chance.length ? `.${chance.join("-")}` : ""));
  return (start.length ? `${start.join("-")}/` : "") + moves.join(",");
}
