// PUCT as in Python's `jaxgbg.search.puct`, with the same rounding, for games without chance. It runs
// in slices, so that the page stays responsive.

const SLICE = 30;
const f = Math.fround;
let latest = 0;

function nodeOf(state, { leaf }) {
  const [gains, prior, player, rewards] = leaf(state);
  const visits = new Float32Array(prior.length);
  return { state, gains, prior, player, paid: rewards[player], visits, totals: visits.slice(), count: 0, children: [] };
}

// The first action of the highest score, -1 at the end of a game.
function next({ prior, visits, totals, count }, { exploration, unvisited }) {
  const visited = f(Math.sqrt(f(count + f(1e-8))));
  let [best, most] = [-1, -Infinity];
  for (let action = 0; action < prior.length; action++) {
    if (prior[action] < 0) continue;
    const q = visits[action] ? f(totals[action] / visits[action]) : unvisited;
    const score = f(q + f(f(f(f(exploration) * prior[action]) * visited) / (1 + visits[action])));
    if (score > most) [best, most] = [action, score];
  }
  return best;
}

function iterate(root, rules) {
  const path = [];
  let node = root;
  for (let made = false; !made; ) {
    const action = next(node, rules);
    if (action < 0) break;
    path.push([node, action]);
    made = !node.children[action];
    node = node.children[action] ??= nodeOf(rules.moved(node.state, action), rules);
  }
  for (const [above, action] of path) {
    above.visits[action]++;
    above.count++;
    above.totals[action] += f(node.gains[above.player] - above.paid);
  }
}

// The actions that were visited most and, of these, have the best mean. `rules` are leaf(state), which is
// [reward so far plus value of each player, prior of each action (-1 if illegal), player, rewards],
// moved(state, action), exploration and unvisited. A later search ends an earlier one, whose answer nobody
// awaits any more.
export async function search(state, iterations, rules) {
  const [own, root] = [++latest, nodeOf(state, rules)];
  let until = performance.now() + SLICE;
  for (let number = 0; number < iterations && own === latest; number++) {
    iterate(root, rules);
    if (performance.now() > until) {
      await new Promise((done) => setTimeout(done));
      until = performance.now() + SLICE;
    }
  }
  const tried = [...root.visits.keys()].filter((action) => root.visits[action]);
  const mean = (action) => root.totals[action] / root.visits[action];
  const top = (actions, of) => actions.filter((action) => of(action) === Math.max(...actions.map(of)));
  return top(top(tried, (action) => root.visits[action]), mean);
}
