// Moves are text that Python writes and reads; here it is only cut between them.
export function cut(text, plies) {
  const slash = text.indexOf("/") + 1;
  return text.slice(0, slash) + text.slice(slash).split(",").slice(0, plies).join(",");
}
