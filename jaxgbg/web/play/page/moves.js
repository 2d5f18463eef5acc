// Python writes and parses moves; this code only splits the text.
export function cut(text, plies) {
  // A position that was set up stands before a semicolon, random words of the start before a slash.
  const start = (text.includes(";") ? text.indexOf(";") : text.indexOf("/")) + 1;
  return text.slice(0, start) + text.slice(start).split(",").slice(0, plies).join(",");
}
