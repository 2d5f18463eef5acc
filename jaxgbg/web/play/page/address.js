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

let waiting = null;

// Browsers limit the number of address changes per second.
export function write({ moves, seats }) {
  const address = `#seats=${encodeURI(seats.join(","))}&moves=${moves}`;
  clearTimeout(waiting);
  waiting = setTimeout(() => { waiting = null; history.replaceState(null, "", address); }, 250);
  pending = address;
}

let pending = null;
addEventListener("pagehide", () => { if (waiting !== null) history.replaceState(null, "", pending); });

export const onChange = (listener) => addEventListener("hashchange", listener);
