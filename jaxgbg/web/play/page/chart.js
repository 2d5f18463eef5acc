// The expected reward of each player, ply by ply; a click goes there.
const WIDTH = 320, HEIGHT = 96, EDGE = 6;

export function curve({ expected, at, span, sides, go }) {
  const figures = expected.flat().filter((value) => value !== null);
  if (!figures.length) return null;
  let [low, high] = span ?? [Math.min(...figures), Math.max(...figures)];
  low = Math.min(low, ...figures);
  high = Math.max(high, ...figures);
  if (high === low) [low, high] = [low - 1, high + 1];
  const last = Math.max(expected.length - 1, 1);
  const x = (ply) => EDGE + (ply / last) * (WIDTH - 2 * EDGE);
  const y = (value) => EDGE + ((high - value) / (high - low)) * (HEIGHT - 2 * EDGE);
  const lines = sides.map((_, seat) => {
    const points = expected
      .map((values, ply) => [ply, values[seat]])
      .filter(([, value]) => value !== null)
      .map(([ply, value]) => [x(ply).toFixed(1), y(value).toFixed(1)]);
    const dots = points.length < 80
      ? points.map(([px, py]) => `<circle cx="${px}" cy="${py}" r="2.2"/>`).join("") : "";
    return `<g class="seat-${seat % 8}"><polyline points="${points.map((point) => point.join(",")).join(" ")}"/>${dots}</g>`;
  });
  const zero = low < 0 && high > 0 ? `<path class="zero" d="M0 ${y(0)}H${WIDTH}"/>` : "";
  const figure = document.createElement("div");
  figure.innerHTML = `<svg class="curve" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img"
    aria-label="Value of the position for each player, move by move">${zero}
    <path class="now" d="M${x(at)} 0V${HEIGHT}"/>${lines.join("")}</svg>`;
  const picture = figure.firstElementChild;
  picture.addEventListener("click", (event) => {
    const box = picture.getBoundingClientRect();
    const place = ((event.clientX - box.left) / box.width) * WIDTH;
    go(Math.max(0, Math.min(expected.length - 1, Math.round(((place - EDGE) / (WIDTH - 2 * EDGE)) * last))));
  });
  return picture;
}
