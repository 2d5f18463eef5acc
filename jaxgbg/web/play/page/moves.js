// Python writes and parses moves; this code only splits the text.
export function cut(text, plies) {
  const slash = text.indexOf("/") + 1;
  return text.slice(0, slash) + text.slice(slash).split(",").slice(0, plies).join(",");
}
