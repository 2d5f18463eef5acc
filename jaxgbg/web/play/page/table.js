// A game at a table: what is shown, the requests, and the turns. The page and the notebook board
// differ in their host: the server, the storage of the game, and the source of key events.
import { cut } from "./moves.js";
import { chanceText, historyList, moveTable, seatRows, seatState, seatText } from "./panel.js";
import { SetUp } from "./setup.js";
import { startForm } from "./start.js";
import { Surface } from "./surface.js";
import { showTuples } from "./inside.js";

const DELAYS = [2500, 1200, 600, 200, 0];
const KEYS = {
  "arrows": "move over the board; in 2048 slide",
  "Enter": "play there, or pick a piece up",
  "← →, Home, End": "turn the pages of the game, off the board",
  "[ ]": "move back, next move",
  "u": "take back", "n": "new game", "h": "hint", "f": "flip",
  "v": "show or hide the agent’s values", "space": "autoplay",
};

function download(name, content, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// `root` contains the markup of play.html. `host` has about() and ask(name, question) with the answers of
// the server, read() and write({ moves, seats }) for the stored game, onChange(listener) for changes of it
// by others, and `values`, whose values are shown at first (default: none).
export function setUp(root, host) {
  const find = (selector) => root.querySelector(selector);
  let about, surface;
  // `text` is the whole game and `at` the current ply; `turn` increases with every action of a person,
  // so that late answers are recognized.
  const game = { text: "", seats: [], at: 0, plies: 0, names: [], players: [], chance: [], expected: [],
    turn: 0, paused: false, begun: false };
  // Answers by their questions. `shown` is the question whose answer, `position`, is on the board.
  const looks = new Map();
  let position = null, shown = null;
  let verdicts = null, judged = null;
  // The position that is being set up; until that is over, nothing else happens at the table.
  let setup = null;
  // The turn in which the others move by themselves, and the latest load of a game.
  let moving = null, loading = 0;
  // The turn of a person's move whose answer is awaited, and the moves that the person made meanwhile.
  let waiting = { turn: null, actions: [] };

  const here = () => cut(game.text, game.at);
  const values = () => (about.agents.length ? find("#values").value : "none");
  const question = (moves) => ({ moves, judge: find("#judge").value, values: about.agents.length ? (values() === "all" ? "all" : "mover") : "none" });
  const asked = () => JSON.stringify(question(here()));
  const current = () => position !== null && shown === asked();

  function guarded(action) {
    return async (...given) => {
      try {
        return await action(...given);
      } catch (error) {
        if (error.gone === undefined) throw error;
        thinking(false);
        fault(error, () => action(...given));
      }
    };
  }

  function fault(error, again) {
    const [place, button] = [find("#fault"), find("#fault button")];
    place.hidden = !error;
    if (!error) return;
    place.querySelector("p").textContent = error.message;
    button.textContent = error.gone ? "Try again" : "Close";
    button.onclick = guarded(async () => {
      place.hidden = true;
      if (error.gone) await again();
    });
  }

  let slow;
  function thinking(on) {
    root.classList.toggle("thinking", on);
    root.classList.remove("slow");
    clearTimeout(slow);
    if (on) slow = setTimeout(() => root.classList.add("slow"), 4000);
  }

  // Whether to show the choice of seat and strength: at the start of a game without chosen seats.
  const choosing = () => !game.begun && !game.plies && about.sides.length > 1;

  // Position and history of the game in the address. The present game goes on until both are there.
  const open = guarded(async ({ moves, seats }) => {
    const [turn, own, look] = [game.turn, ++loading, question(moves)];
    const start = await host.ask("position", look);
    const history = await host.ask("history", { moves: start.moves, judge: look.judge });
    if (turn !== game.turn || own !== loading) return false;
    game.turn++;
    setUpOver();
    looks.clear();
    const known = seats.filter(Boolean);
    game.begun = game.begun || known.length > 0;
    game.seats = about.sides.map((_, number) => seatText(about, known[number] ?? game.seats[number] ?? fallback(number)));
    Object.assign(game, { text: start.moves, plies: start.ply, at: start.ply, names: history.names, players: history.players, chance: history.chance, expected: history.expected });
    keep({ ...look, moves: start.moves }, start);
    game.paused = choosing() || !game.seats.includes("person");
    seatRows(find, about, game.seats, changeSeat);
    await show();
    goOn();
    return true;
  });

  // Open what a person asked for. What was wrong with an earlier try is no longer worth reading.
  async function openAsked(given) {
    const there = await open(given);
    if (there) fault(null);
    return there;
  }

  function fallback(number) {
    return number === 0 ? "person" : about.levels[Math.floor(about.levels.length / 2)].player;
  }

  // The choice at the start: the seats, and whether the game begins.
  function seatsChosen(seats, begins) {
    game.turn++;
    Object.assign(game, { seats, begun: begins, paused: !begins });
    seatRows(find, about, game.seats, changeSeat);
    redraw();
  }

  function changeSeat(number, seat) {
    game.turn++;
    game.seats[number] = seat;
    game.begun = true;
    game.paused = !game.seats.includes("person");
    seatRows(find, about, game.seats, changeSeat);
    host.write({ moves: game.text, seats: game.seats });
    redraw();
  }

  function keep(look, answer) {
    looks.set(JSON.stringify(look), answer);
    if (looks.size > 500) looks.delete(looks.keys().next().value);
  }

  // Show the current position; false if something else is to be shown by the time its answer is there.
  async function show() {
    const [own, look] = [asked(), question(here())];
    if (!looks.has(own) && position !== null && position.moves !== look.moves) surface.lock();
    const answer = looks.get(own) ?? await host.ask("position", look);
    keep(look, answer);
    if (own !== asked()) return false;
    const perfect = find("#perfect").checked && answer.player !== null;
    [position, shown, verdicts] = [answer, own, perfect ? [] : null];
    draw();
    judged = perfect ? judge(look.moves) : null;
    return true;
  }

  // Perfect play may take long: the position is shown before it is known.
  const judge = guarded(async (moves) => {
    const { moves: known } = await host.ask("perfect", { moves });
    if (!current() || moves !== position.moves || verdicts === null) return;
    verdicts = known;
    draw();
  });

  // Show the position again after a change of seats, values or the pace, and go on.
  const redraw = guarded(async () => {
    if (moving !== game.turn) thinking(false);
    if (current()) draw();
    else if (position !== null) await show();
    goOn();
  });

  function draw() {
    if (setup) return drawSetUp();
    const playable = position.player !== null && game.seats[position.player] === "person";
    const best = (verdicts ?? []).filter((verdict) => verdict.best);
    const perfect = best.map(({ action, sign }) => ({ spot: position.legal.find((move) => move.action === action).spot, sign }));
    surface.show({ ...position, playable, values: values() !== "none", perfect });
    moveTable(find, about, position, { values: values(), verdicts, playable, play });
    seatState(find, position);
    historyList(find, about, { ...game, go, values: values() });
    startForm(find, about, { shown: choosing(), seats: game.seats, choose: seatsChosen });
    find("#caption").textContent = caption();
    find("#values option[value=all]").disabled = !about.every.includes(find("#judge").value);
    for (const [name, off] of Object.entries({ first: !game.at, previous: !game.at, next: game.at === game.plies, last: game.at === game.plies,
      back: !game.plies, restart: !game.plies && !about.chance, hint: position.player === null })) {
      find(`[data-do=${name}]`).disabled = off;
    }
    find("[data-do=auto]").textContent = running() ? "Pause" : "Autoplay";
    // If a person plays, the others answer at once.
    find(".auto").hidden = game.seats.includes("person") && (!game.paused || game.seats.every((seat) => seat === "person"));
    const textarea = find("#text textarea");
    if (root.getRootNode().activeElement !== textarea) textarea.value = here();
    if (!choosing()) host.write({ moves: game.text, seats: game.seats });
    if (find("#inside").open && cell !== null) guarded(inspect)(cell);
  }

  function drawSetUp() {
    surface.show({ ...position, pieces: setup.pieces, legal: [], playable: false, values: false, perfect: [], last: null });
    find("#caption").textContent = "Click a cell to change what is on it.";
  }

  function beginSetUp() {
    if (position === null || !current()) return;
    game.turn++;
    thinking(false);
    surface.inspect(false);
    find("#inside").open = false;
    setup = new SetUp(about.setUp, position);
    showSetUp(setup.controls({
      clear: () => { setup.clear(); draw(); },
      done: () => openAsked({ moves: setup.text, seats: game.seats }),
      cancel: () => { setUpOver(); redraw(); },
    }));
    surface.edit(setup.spots);
    draw();
  }

  function setUpOver() {
    if (!setup) return;
    setup = null;
    showSetUp([]);
    surface.edit(null);
  }

  // The controls of a position that is being set up, in place of those of the game.
  function showSetUp(controls) {
    find("#setup").replaceChildren(...controls);
    find("#setup").hidden = !controls.length;
    for (const group of root.querySelectorAll(".seen .buttons:not(#setup), #start")) group.classList.toggle("away", controls.length > 0);
    find(".panel").inert = controls.length > 0;
  }

  function caption() {
    const { last, player, outcome, score, out } = position;
    const who = (seat) => (about.sides.length > 1 ? about.sides[seat] : "");
    const parts = [];
    if (last) parts.push(about.sides.length > 1 ? `${who(last.player)}: ${last.name}` : last.name);
    if (last?.chance.length) parts.push(`chance: ${chanceText(about, last.chance)}`);
    if (score && player !== null) parts.push(score);
    if (out.length) parts.push(`out: ${out.map(who).join(", ")}`);
    if (player !== null && about.sides.length > 1) parts.push(`${who(player)} to move`);
    if (player === null) parts.push(`the game is over: ${outcome}`);
    return parts.map((part) => `${part[0].toUpperCase()}${part.slice(1)}.`).join(" ");
  }

  const running = () => !setup && !game.paused && game.at === game.plies && position?.player !== null
    && game.seats.some((seat) => seat !== "person");

  // Whether a player that is not a person is to move now.
  const others = () => !setup && !game.paused && game.at === game.plies && position.player !== null && game.seats[position.player] !== "person";

  // Players that are not persons move after a delay, until a person is to move or does something else.
  const goOn = guarded(async () => {
    if (position === null || moving === game.turn) return;
    const turn = moving = game.turn;
    try {
      while ((current() || await show()) && turn === game.turn && others()) {
        thinking(true);
        await judged;
        const delay = game.seats.includes("person") ? Math.min(DELAYS[find("#speed").value], 200) : DELAYS[find("#speed").value];
        await new Promise((done) => setTimeout(done, delay));
        if (turn !== game.turn) return;
        const look = question(game.text);
        const answer = await host.ask("move", { ...look, player: game.seats[position.player] });
        if (turn !== game.turn) return;
        arrive(look, answer);
      }
    } finally {
      if (moving === turn) moving = null;
    }
  });

  // A move of a person. Those made before its answer is there follow it, if they are legal then.
  const play = guarded(async (action) => {
    if (waiting.turn === game.turn) return void waiting.actions.push(action);
    // The board still shows the position before another one: this move is not meant for that one.
    if (position.moves !== here()) return redraw();
    const [turn, actions, look] = [++game.turn, [], question(here())];
    waiting = { turn, actions };
    try {
      const answer = await host.ask("move", { ...look, action });
      if (turn !== game.turn) return;
      fault(null);
      if (game.seats.includes("person")) game.paused = false;
      arrive(look, answer);
      await show();
    } finally {
      if (waiting.turn === turn) waiting.turn = null;
    }
    if (turn !== game.turn) return;
    actions.forEach(tryPlay);
    goOn();
  });

  function tryPlay(action) {
    const mine = position?.player != null && game.seats[position.player] === "person";
    if (waiting.turn === game.turn || (mine && position.legal.some((move) => move.action === action))) play(action);
  }

  // A move at the current ply replaces the later moves. `look` is the question about the position before it.
  function arrive(look, answer) {
    thinking(false);
    const at = answer.ply;
    game.names.splice(at - 1, Infinity, answer.last.name);
    game.players.splice(at - 1, Infinity, answer.last.player);
    game.chance.splice(at - 1, Infinity, answer.last.chance);
    game.expected.splice(at, Infinity, answer.expected);
    Object.assign(game, { text: answer.moves, at, plies: at, begun: true });
    keep({ ...look, moves: answer.moves }, answer);
  }

  const go = guarded(async (ply) => {
    game.turn++;
    thinking(false);
    game.at = Math.max(0, Math.min(game.plies, ply));
    await show();
  });

  const jump = async (ply) => { await go(ply); goOn(); };

  const act = {
    first: () => jump(0),
    previous: () => jump(game.at - 1),
    next: () => jump(game.at + 1),
    last: () => jump(game.plies),
    restart: async () => {
      surface.cursor = 0;
      if (!await openAsked({ moves: "", seats: game.seats })) return;
      if (game.seats.filter((seat) => seat === "person").length !== 1) return;
      game.turn++;
      game.begun = false;
      game.paused = choosing();
      thinking(false);
      draw();
    },
    // Back to the last position in which a person was to move.
    back: async () => {
      let ply = game.at - 1;
      while (ply > 0 && game.seats[game.players[ply]] !== "person" && game.seats.includes("person")) ply--;
      if (ply < 0) return;
      const [text, mover] = [cut(game.text, ply), game.players[ply]];
      Object.assign(game, { text, plies: ply, names: game.names.slice(0, ply), players: game.players.slice(0, ply),
        chance: game.chance.slice(0, ply), expected: game.expected.slice(0, ply + 1) });
      game.paused = game.paused || game.seats[mover] !== "person";
      await go(ply);
    },
    hint: guarded(async () => {
      // Values of another kind may still be on their way, and would replace the hint.
      if (!current() && !await show()) return;
      const own = asked();
      const known = verdicts?.find(({ best }) => best);
      const names = about.seats.map(({ name }) => name);
      const seat = find("#judge").value || ["maxn", "ab-dl", "mcts"].find((name) => names.includes(name)) || names[0];
      const found = known ?? await host.ask("choose", { moves: here(), player: seat === "mcts" ? "mcts-1000" : seat });
      if (!current() || own !== shown) return;
      surface.hint(found.action);
      const name = position.legal.find(({ action }) => action === found.action).name;
      find("#caption").textContent = `Hint: ${name}.`;
    }),
    flip: () => surface.turn(),
    setup: beginSetUp,
    auto: () => {
      game.paused = running();
      game.turn++;
      redraw();
    },
    load: () => openAsked({ moves: find("#text textarea").value.trim(), seats: game.seats }),
    copy: () => navigator.clipboard?.writeText(here()),
    save: () => {
      const content = { game: about.game, parameters: about.parameters, seats: game.seats, moves: game.text, names: game.names };
      download(`${about.game}.json`, JSON.stringify(content, null, 1), "application/json");
    },
    page: guarded(async () => {
      const { page } = await host.ask("page", { moves: game.text, judge: find("#judge").value, seats: game.seats.join(",") });
      download(`${about.game}.html`, page, "text/html");
    }),
    open: () => find("#text input").click(),
  };

  async function opened(event) {
    const [file] = event.target.files;
    event.target.value = "";
    if (!file) return;
    try {
      const { game: name, parameters, seats, moves } = JSON.parse(await file.text());
      const same = name === about.game && JSON.stringify(parameters) === JSON.stringify(about.parameters);
      if (!same) throw new Error(`it is a game of ${name}, and this page plays ${about.game}`);
      await openAsked({ moves: String(moves), seats: Array.isArray(seats) ? seats.map(String) : [] });
    } catch (error) {
      fault({ message: `${file.name} cannot be opened: ${error.message}.`, gone: false });
    }
  }

  let cell = null;

  async function inspect(number) {
    cell = number;
    const text = here();
    const answer = await host.ask("tuples", { moves: text, cell: number, judge: find("#judge").value });
    if (text === here() && number === cell) showTuples(find, about, answer, number, surface);
  }

  function keys(event) {
    const field = event.target.closest("input, textarea, select");
    if (setup || event.altKey || event.ctrlKey || event.metaKey || (field && field.type !== "checkbox")) return;
    if (event.key in about.keys && position?.player != null && !surface.inspecting) {
      event.preventDefault();
      // A key that is held down does not run ahead of the answers.
      if (!event.repeat || waiting.turn !== game.turn) slide(event.key);
      return;
    }
    const pressed = event.target.closest("button, summary");
    const does = { ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "last", "[": "previous", "]": "next",
      u: "back", n: "restart", h: "hint", f: "flip", ...(pressed ? {} : { " ": "auto" }) }[event.key];
    if (event.key === "v" && about.agents.length) {
      find("#values").value = values() === "none" ? "mover" : "none";
      redraw();
    } else if (does) {
      event.preventDefault();
      const button = find(`[data-do=${does}]`);
      if (!button.disabled && !button.hidden) act[does]();
    }
  }

  const slide = (key) => tryPlay(about.keys[key]);

  async function begin() {
    about = await host.about((seconds) => {
      find("#caption").textContent = `Compiling rules and agents: ${Math.round(seconds)} s so far, on the first start up to a minute.`;
    });
    host.named?.(about.title);
    find("#game").textContent = about.title;
    const settings = about.changed.map((name) => `${name} ${about.parameters[name]}`);
    find("#about").textContent = settings.join(" · ");
    surface = new Surface(find("#board"), about, { onMove: play, onCell: guarded(inspect), onKey: slide,
      onEdit: (spot) => { setup.change(spot); draw(); } });
    about.colours.forEach((colour, seat) => root.style.setProperty(`--seat-${seat}`, colour));
    find("[data-do=flip]").hidden = !about.turns;
    find("[data-do=setup]").hidden = !about.setUp;
    find("#perfect-choice").hidden = !about.perfect;
    for (const name of ["values", "judge"]) find(`#${name}-choice`).hidden = !about.agents.length;
    find("#judge-choice").hidden = about.agents.length < 2;
    find("#judge").replaceChildren(...about.agents.map((name) => new Option(about.seats.find((seat) => seat.name === name).label, name)));
    find("#values").value = host.values ?? "none";
    find("#inside").hidden = !about.tuples.length;
    find("[data-do=page]").hidden = !about.page || !about.agents.length;
    find("#keys dl").replaceChildren(...Object.entries(KEYS).flatMap(([key, does]) =>
      [Object.assign(document.createElement("dt"), { textContent: key }), Object.assign(document.createElement("dd"), { textContent: does })]));
    for (const button of root.querySelectorAll("[data-do]")) button.addEventListener("click", () => act[button.dataset.do]());
    find("#text input").addEventListener("change", opened);
    find("#inside").addEventListener("toggle", () => {
      surface.inspect(find("#inside").open);
      if (!find("#inside").open) { cell = null; surface.read([]); }
    });
    for (const name of ["values", "judge"]) find(`#${name}`).addEventListener("change", redraw);
    find("#perfect").addEventListener("change", () => { shown = null; redraw(); });
    host.keys.addEventListener("keydown", keys);
    host.onChange(() => openAsked(host.read()));
    await open(host.read());
    // Report invalid moves in the address, and start a new game.
    if (!position) await open({ ...host.read(), moves: "" });
  }

  return guarded(begin)();
}
