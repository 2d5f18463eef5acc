// The page's address holds the game: moves and seats.

export function read() {
  const entries = location.hash.slice(1).split("&").map((entry) => {
    const at = entry.indexOf("=");
    return [entry.slice(0, at), safely(entry.slice(at + 1))];
  });
  const { moves = "", seats = "" } = Object.fromEntries(entries);
  // A comma before key= belongs to the search of a seat.
  return { moves, seats: seats ? seats.split(/,(?![\w-]+=)/) : [] };
}

function safely(words) {
  try {
    return decodeURIComponent(words);
  } catch {
    return words;
  }
}

const PAUSE = 250;
let waiting = null, latest = null, written = -PAUSE;

// At once, so that a reload finds the last move, but browsers limit the number of changes per second.
export function write({ moves, seats }) {
  latest = `#seats=${encodeURI(seats.join(","))}&moves=${encodeURI(moves)}`;
  waiting ??= setTimeout(replace, Math.max(0, written + PAUSE - performance.now()));
}

function replace() {
  if (waiting === null) return;
  clearTimeout(waiting);
  waiting = null;
  written = performance.now();
  history.replaceState(null, "", latest);
}

addEventListener("pagehide", replace);

export const onChange = (listener) => addEventListener("hashchange", listener);
