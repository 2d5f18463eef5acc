// Runtime of the compiled functions. Arrays are flat; the compiler made the tables of places.

const inside = (start, limit) => (start < 0 ? 0 : start > limit ? limit : start);

// The number of bits that are set.
function ones(word) {
  word -= (word >>> 1) & 0x55555555;
  word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
  return Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

// Where the window that row `row` of the indices points to begins; -1 where it lies outside of an
// array and outside windows are to be dropped.
function start(indices, row, strides, limits, drop) {
  let place = 0;
  for (let d = 0; d < strides.length; d++) {
    const index = indices[row * strides.length + d];
    if (drop && (index < 0 || index > limits[d])) return -1;
    place += inside(index, limits[d]) * strides[d];
  }
  return place;
}

function gather(out, from, indices, [rows, offsets, strides, limits], drop, fill) {
  for (let k = 0; k < out.length; k++) {
    const place = start(indices, rows[k], strides, limits, drop);
    out[k] = place < 0 ? fill : from[place + offsets[k]];
  }
}

function scatter(out, onto, indices, updates, [rows, offsets, strides, limits], drop, join) {
  out.set(onto);
  for (let k = 0; k < updates.length; k++) {
    const place = start(indices, rows[k], strides, limits, drop);
    if (place >= 0) out[place + offsets[k]] = join(out[place + offsets[k]], updates[k]);
  }
}

// The combination of each row of `count` entries.
function fold(out, from, places, count, initial, join) {
  for (let k = 0, at = 0; k < out.length; k++) {
    let all = initial;
    for (let j = 0; j < count; j++, at++) all = join(all, from[places[at]]);
    out[k] = all;
  }
}

const WINDOW = 32, LANES = 16;

// A sum of float32 in the order in which XLA adds on a processor with 16 lanes: more than 32 terms
// in windows of 32, which lie in the middle of what they have room for, and whole lanes side by side.
function total(terms) {
  const count = terms.length;
  let sum = 0;
  if (count > WINDOW) {
    const sums = [];
    const room = Math.ceil(count / WINDOW) * WINDOW;
    for (let from = -Math.floor((room - count) / 2); from < count; from += WINDOW) {
      let part = 0;
      for (let k = Math.max(from, 0); k < Math.min(from + WINDOW, count); k++) part = Math.fround(part + terms[k]);
      sums.push(part);
    }
    return total(sums);
  }
  if (count % LANES || !count) {
    for (let k = 0; k < count; k++) sum = Math.fround(sum + terms[k]);
    return sum;
  }
  const lanes = new Float32Array(LANES);
  for (let k = 0; k < count; k++) lanes[k % LANES] += terms[k];
  for (let half = LANES / 2; half >= 1; half /= 2) {
    for (let k = 0; k < half; k++) lanes[k] += lanes[k + half];
  }
  return lanes[0];
}

function sum(out, from, places, count) {
  const terms = new Float32Array(count);
  for (let k = 0; k < out.length; k++) {
    for (let j = 0; j < count; j++) terms[j] = from[places[k * count + j]];
    out[k] = total(terms);
  }
}

const fused = (a, b, c) => Math.fround(a * b + c);
const TANH = [
  [-2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-8,
    1.48572235717979e-5, 6.37261928875436e-4, 4.89352455891786e-3],
  [1.19825839466702e-6, 1.18534705686654e-4, 2.268434632439e-3, 4.89352518554385e-3],
].map((row) => row.map(Math.fround));

// Eigen's quotient of polynomials, as XLA uses on a CPU: equal to the bit, not the best approximation.
function tanh(x) {
  if (Math.abs(x) < 0.0004) return x;
  const near = Math.max(-7.998811721801758, Math.min(7.998811721801758, x));
  const square = Math.fround(near * near);
  const [above, below] = TANH.map((row) => row.reduce((value, each) => fused(square, value, each)));
  return Math.fround(near * above) / below;
}

// The cumulative combination of each row of `count` entries.
function scan(out, from, places, count, initial, join) {
  for (let at = 0, all; at < places.length; at++) {
    all = join(at % count ? all : initial, from[places[at]]);
    out[places[at]] = all;
  }
}

// The place of the first entry that is `better` than all others; NaN is best.
function arg(out, from, places, count, better) {
  for (let k = 0; k < out.length; k++) {
    let best = 0;
    for (let j = 1; j < count; j++) {
      const [now, entry] = [from[places[k * count + best]], from[places[k * count + j]]];
      if (better(entry, now) || (entry !== entry && now === now)) best = j;
    }
    out[k] = best;
  }
}

function dot(out, left, right, [lefts, rights], [batch, rows, columns, count], next) {
  for (let b = 0, at = 0; b < batch; b++) {
    for (let i = b * rows; i < (b + 1) * rows; i++) {
      for (let j = b * columns; j < (b + 1) * columns; j++, at++) {
        let sum = 0;
        for (let k = 0; k < count; k++) sum = next(sum, left[lefts[i * count + k]], right[rights[j * count + k]]);
        out[at] = sum;
      }
    }
  }
}
