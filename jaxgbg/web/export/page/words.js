// Format numbers and outcomes as Python does for the served page.

const comma = (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ",");

function figureText(scale, figure, short) {
  const [whole, part] = Math.abs(figure).toFixed(scale.digits).split(".");
  let text = comma(whole) + (part ? `.${part}` : "");
  if (short && part) text = text.replace(/\.?0+$/, "");
  const none = !/[1-9]/.test(text);
  return (figure < 0 && !none ? "−" : "") + text + (scale.percent ? " %" : "");
}

// A value on a scale; null where a network has diverged.
export function valueOn(scale, value) {
  return Number.isFinite(value) ? Number((scale.zero + scale.factor * value).toPrecision(6)) : null;
}

export const valueText = (scale, figure) => (figure === null ? "?" : figureText(scale, figure, false));

export const rewardText = (scale, reward) => figureText(scale, scale.zero + scale.factor * reward, true);

export function outcomeText(scale, sides, rewards) {
  if (rewards.length === 1) return `${rewardText(scale, rewards[0])} ${scale.unit}`;
  if (rewards.length === 2) {
    if (rewards[0] === rewards[1]) return "a draw";
    return `${sides[rewards[0] > rewards[1] ? 0 : 1]} wins`;
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
  return values.map((value) => (value === null ? 0 : Math.round(100 * shade(value)) / 100));
}
