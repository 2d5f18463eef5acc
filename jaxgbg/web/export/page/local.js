// Answers the requests of the page here instead of on a server, with functions that were compiled
// from the rules and the agents.
import { Fault } from "./fault.js";
import { compiled } from "./compiled.js";
import { unpack } from "./data.js";
import * as line from "./line.js";
import { search } from "./search.js";
import { halos, outcomeText, rewardText, valueOn, valueText } from "./words.js";

const NO_WORD = 2 ** 32 - 1;
let known, rules;

// `FILE` is the data that Python wrote into the page: the description of the game, the facts about
// chance and scales, of each agent which arrays are its weights, and how all arrays are packed.
export async function about() {
  if (!globalThis.DecompressionStream) throw new Fault("this browser is too old for the file: one of 2023 or later opens it", false);
  known = JSON.parse(document.querySelector("#file").textContent);
  const packed = document.querySelector("#data");
  const arrays = await unpack(known.arrays, packed.textContent);
  packed.remove();
  rules = compiled(arrays);
  known.weights = known.agents.map(([from, to]) => arrays.slice(from, to));
  return known.about;
}

// The same interface as the server.
export async function ask(name, question) {
  return answers[name]({ moves: "", values: "none", judge: "", ...question });
}

// Available to other scripts, like the server's API: jaxgbg.ask("position", { moves: "3,2" }).
globalThis.jaxgbg = { ask };

const words = (count) => Array.from(crypto.getRandomValues(new Uint32Array(count)));

function looked(state) {
  const [kinds, legal, spots, touched, origins, named, player, terminal, rewards, active] = rules.look(...state);
  const actions = [...legal.keys()].filter((action) => legal[action]);
  const out = terminal ? [] : [...active.keys()].filter((seat) => !active[seat]);
  return { kinds, actions, spots, touched, origins, named, player, terminal, rewards, out };
}

// The name of a legal action: one of its own, or a row of words.
function nameOf({ named, spots }, action) {
  if (!known.words.length) return known.names[action];
  const each = named.length / spots.length;
  return [...named.slice(action * each, (action + 1) * each)].map((word) => known.words[word]).join("");
}

// The path of a legal action from spot to spot, "" if it has none.
function wayOf({ origins, spots }, action) {
  if (origins[action] < 0 || spots[action] < 0) return "";
  return `M${known.places[origins[action]]}L${known.places[spots[action]]}`;
}

// The states along the last requested line; `states[n]` is the one after n plies.
let trail = { start: null, plies: [], states: [] };

const same = (one, other) => one.length === other.length && one.every((word, at) => word === other[at]);

function along(game) {
  if (!trail.start || !same(trail.start, game.start)) {
    if (game.start.length !== known.startWords) {
      throw new Fault(`${known.about.game} starts from ${known.startWords} random words`, false);
    }
    trail = { start: game.start, plies: [], states: [rules.start(Uint32Array.from(game.start))] };
  }
  let common = 0;
  while (common < Math.min(game.plies.length, trail.plies.length) && same(game.plies[common], trail.plies[common])) common++;
  for (let ply = common; ply < game.plies.length; ply++) {
    const state = played(trail.states[ply], game.plies[ply], ply + 1);
    trail.plies.splice(ply, Infinity, game.plies[ply]);
    trail.states.splice(ply + 1, Infinity, state);
  }
  return trail.states;
}

const after = (game) => along(game)[game.plies.length];

function played(state, [action, ...chance], number) {
  const none = known.listed && !chance.length;
  if (!none && chance.length !== known.chanceWords) {
    throw new Fault(`${known.about.game}: a move needs ${known.chanceWords} numbers of chance after it, and move ${number} has ${chance.length}`, false);
  }
  const words = Uint32Array.from(none ? [NO_WORD] : chance);
  const [fine, ...next] = rules.ply(...state, Math.min(action, 2 ** 31 - 1), words);
  if (!fine) throw new Fault(`${known.about.game}: move ${number} is not legal there`, false);
  return next;
}

// A game after a move, with chance drawn.
function longer(game, action) {
  let chance = known.listed ? [] : words(known.chanceWords);
  if (known.listed) {
    const [shares] = rules.chances(...after(game), action);
    const total = shares.reduce((sum, share) => sum + share, 0);
    let left = (words(1)[0] / 2 ** 32) * total;
    const possible = [...shares.keys()].filter((number) => shares[number] > 0);
    if (possible.length) chance = [possible.find((number) => (left -= shares[number]) < 0) ?? possible.at(-1)];
  }
  return { start: game.start, plies: [...game.plies, [action, ...chance]] };
}

function read(text) {
  const game = line.read(text, known.mostPlies);
  if (!game.start.length && !game.plies.length) game.start = words(known.startWords);
  return game;
}

// The number of an agent; "" is the first.
function agentOf(name) {
  const { agents } = known.about;
  if (name && !agents.includes(name)) {
    throw new Fault(`there is no agent ${name} here; agents are ${agents.join(", ") || "none"}`, false);
  }
  return name ? agents.indexOf(name) : 0;
}

// An agent's values of all actions for the mover; -Infinity where illegal, and for NaN.
function valuesOf(state, name) {
  const number = agentOf(name);
  if (valued.state !== state || valued.number !== number) {
    const [values] = rules[`values${number}`](...known.weights[number], ...state);
    valued = { state, number, values };
  }
  return valued.values;
}

// A request for a position is usually followed by a move there.
let valued = {};

const drawn = (actions) => actions[Math.floor((words(1)[0] / 2 ** 32) * actions.length)];

// The best actions of a tree search by an agent's values.
function searched(state, name, iterations) {
  const number = agentOf(name);
  if (!rules[`leaf${number}`]) throw new Fault(`${name} cannot search in this file`, false);
  const { low, high } = known.about.seats.find(({ strength }) => strength).strength;
  if (iterations < low || iterations > high) {
    throw new Fault(`puct takes ${low} to ${high} iterations here, not ${iterations}`, false);
  }
  return search(state, iterations, {
    ...known.search,
    leaf: (position) => rules[`leaf${number}`](...known.weights[number], ...position),
    moved: (position, action) => rules.ply(...position, action, Uint32Array.from([])).slice(1),
  });
}

async function choice(state, name) {
  const { actions, terminal } = looked(state);
  if (terminal) throw new Fault("the game is over", false);
  if (!name) throw new Fault("give an action or a player", false);
  const [, agent, iterations] = name.match(/^(.+):search=puct-(\d+)$/) ?? [];
  if (name !== "random" && !known.about.agents.includes(agent ?? name)) {
    const players = known.about.seats.map((seat) => seat.name + (seat.strength ? `${seat.strength.join}N` : ""));
    throw new Fault(`there is no player ${name} here; players are ${players.join(", ")}`, false);
  }
  if (agent) return drawn(await searched(state, agent, Number(iterations)));
  let best = actions;
  if (known.about.agents.includes(name)) {
    const values = valuesOf(state, name).map((value) => (Number.isNaN(value) ? -Infinity : value));
    const most = Math.max(...actions.map((action) => values[action]));
    best = actions.filter((action) => values[action] === most);
  }
  return drawn(best);
}

function expected({ player, terminal, rewards }, best) {
  if (terminal) return [...rewards].map((reward) => valueOn(known.scale, reward));
  const value = best === null ? null : valueOn(known.scale, Math.fround(rewards[player] + best));
  return [...rewards].map((_, seat) => (seat === player ? value : null));
}

function movesOf(state, look, { values: wanted, judge }) {
  const { actions, spots, touched, origins } = look;
  const values = wanted === "none" ? null : valuesOf(state, judge);
  let every = null;
  if (wanted === "all") {
    const number = agentOf(judge);
    if (!known.about.every.includes(known.about.agents[number])) {
      throw new Fault("this agent has learned values of actions, which exist for the mover only", false);
    }
    every = (action) => {
      const [all] = rules[`every${number}`](...known.weights[number], ...state, action);
      all[look.player] = values[action];
      return [...all].map((value) => valueText(known.scale, valueOn(known.scale, value)));
    };
  }
  const figures = actions.map((action) => (values ? valueOn(known.scale, values[action]) : null));
  const shades = halos(figures);
  const each = touched.length / spots.length;
  const moves = actions.map((action, at) => ({
    action,
    name: nameOf(look, action),
    spot: spots[action],
    origin: origins[action],
    touched: [...touched.slice(action * each, (action + 1) * each)].filter((spot) => spot >= 0 || each === 1),
    value: figures[at],
    words: values ? valueText(known.scale, figures[at]) : "",
    shade: shades[at],
    ...(every && { every: every(action) }),
  }));
  return [moves, values && Math.max(...values)];
}

// [spot, kind of piece] where chance changed the board after a ply of the trail.
function chanceOf(ply) {
  if (!rules.unspawned) return [];
  const [before] = rules.unspawned(...trail.states[ply], trail.plies[ply][0]);
  const { kinds } = looked(trail.states[ply + 1]);
  return [...kinds.keys()].filter((spot) => kinds[spot] !== before[spot]).map((spot) => [spot, kinds[spot]]);
}

function lastOf(game) {
  if (!game.plies.length) return null;
  const before = looked(along(game)[game.plies.length - 1]);
  const action = game.plies.at(-1)[0];
  return { action, name: nameOf(before, action), chance: chanceOf(game.plies.length - 1), player: before.player, spot: before.spots[action], way: wayOf(before, action) };
}

const outcome = ({ rewards }) => outcomeText(known.rewardScale, known.rewardRange, known.about.sides, rewards);

function positionOf(game, question) {
  const state = after(game);
  const look = looked(state);
  const [legal, best] = movesOf(state, look, question);
  const single = look.rewards.length === 1;
  return {
    moves: line.write(game),
    ply: game.plies.length,
    player: look.terminal ? null : look.player,
    pieces: [...look.kinds],
    legal,
    last: lastOf(game),
    score: single ? outcome(look) : "",
    expected: expected(look, best),
    rewards: [...look.rewards].map((reward) => rewardText(known.rewardScale, reward)),
    out: look.out,
    outcome: look.terminal ? outcome(look) : "",
  };
}

const answers = {
  position: (question) => positionOf(read(question.moves), question),
  move: async (question) => {
    const game = read(question.moves);
    const action = question.action >= 0 ? question.action : await choice(after(game), question.player);
    return positionOf(longer(game, action), question);
  },
  choose: async ({ moves, player }) => {
    const state = after(read(moves));
    const action = await choice(state, player);
    return { action, name: nameOf(looked(state), action) };
  },
  history: ({ moves, judge }) => {
    const game = read(moves);
    const states = along(game).slice(0, game.plies.length + 1);
    const looks = states.map(looked);
    const best = (state) => (known.about.agents.length ? Math.max(...valuesOf(state, judge)) : null);
    return {
      moves: line.write(game),
      names: game.plies.map(([action], at) => nameOf(looks[at], action)),
      chance: game.plies.map((_, at) => chanceOf(at)),
      players: looks.slice(0, -1).map(({ player }) => player),
      expected: looks.map((look, at) => expected(look, best(states[at]))),
    };
  },
};
