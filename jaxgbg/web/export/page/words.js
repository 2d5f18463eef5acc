// Format numbers and outcomes as Python does for the served page.

const comma = (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ",");

// More decimals than a tie between two roundings has.
const EXACT = 60;

// The text of a number that is exact up to EXACT decimals, cut after some of them, if that rounds a
// tie to even; otherwise null. Browsers round ties up.
function evenTie(exact, decimals) {
  const cut = exact.indexOf(".") + (decimals && decimals + 1);
  const kept = exact.slice(0, cut);
  return /^\.?50*$/.test(exact.slice(cut)) && /[02468]$/.test(kept) ? kept : null;
}

// A number that is not negative, with so many decimals.
const fixed = (number, decimals) => evenTie(number.toFixed(EXACT), decimals) ?? number.toFixed(decimals);

// A number rounded to so many significant digits.
function precise(number, digits) {
  const [mantissa, exponent] = number.toExponential(EXACT).split("e");
  const kept = evenTie(mantissa, digits - 1);
  return Number(kept === null ? number.toPrecision(digits) : `${kept}e${exponent}`);
}

function figureText(scale, figure, short) {
  const [whole, part] = fixed(Math.abs(figure), scale.digits).split(".");
  let text = comma(whole) + (part ? `.${part}` : "");
  if (short && part) text = text.replace(/\.?0+$/, "");
  const none = !/[1-9]/.test(text);
  return (figure < 0 && !none ? "−" : "") + text + (scale.percent ? " %" : "");
}

// A value on a scale; null where a network has diverged.
export function valueOn(scale, value) {
  return Number.isFinite(value) ? precise(scale.zero + scale.factor * value, 6) : null;
}

export const valueText = (scale, figure) => (figure === null ? "?" : figureText(scale, figure, false));

export const rewardText = (scale, reward) => figureText(scale, scale.zero + scale.factor * reward, true);

export function outcomeText(scale, range, sides, rewards) {
  if (rewards.length === 1) return `${rewardText(scale, rewards[0])} ${scale.unit}`;
  if (rewards.length === 2) {
    if (rewards[0] === rewards[1]) return "a draw";
    return `${sides[rewards[0] > rewards[1] ? 0 : 1]} wins`;
  }
  const [low, high] = range.map(Math.fround);
  const most = Math.max(...rewards);
  const others = new Set([...rewards].filter((reward) => reward !== most));
  if (!others.size && low < most && most < high) return "a draw";
  if (most === high && others.size === 1) {
    const winners = sides.filter((_, seat) => rewards[seat] === most);
    return `${winners.join(" and ")} ${winners.length > 1 ? "win" : "wins"}`;
  }
  const figures = [...rewards].map((reward, seat) => `${rewardText(scale, reward)} for ${sides[seat]}`);
  return `${scale.unit} ${figures.join(", ")}`;
}

// The opacity of each mark, from the worst to the best move of the position.
export function halos(values) {
  const finite = values.filter((value) => value !== null);
  const low = Math.min(...finite);
  const reach = Math.max(...finite) - low;
  const shade = (value) => 0.05 + 0.45 * (reach ? (value - low) / reach : 1);
  return values.map((value) => (value === null ? 0 : Number(fixed(shade(value), 2))));
}
