// Polls the server every few seconds for the progress of the runs, and fetches what has changed.
const ROOT = "/api/v1/", EVERY = 2000;
const find = (what) => document.querySelector(what);
const shown = { curves: "", game: "" };
let name = null, told = null, latest = "";

async function fetched(name) {
  const answer = await fetch(ROOT + name);
  if (!answer.ok) throw new Error(`The server answers ${answer.status}.`);
  return answer.json();
}

function element(tag, text, look) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (look) made.className = look;
  return made;
}

const facts = (pairs) => pairs.flatMap(([name, figure]) => [element("dt", name), element("dd", figure)]);

function say(what, text) {
  const place = find(what);
  place.hidden = !text;
  // Set only on change: a screen reader would repeat the text.
  if (place.textContent !== text) place.textContent = text;
}

// Elements are reused, so that nothing loses the focus and only changed states are announced.
function showRuns(runs) {
  const names = runs.map(({ name }) => name).join("\n");
  if (names !== told) {
    told = names;
    find("#runs").replaceChildren(...runs.map(({ name }) => {
      const run = element("article", undefined, "run");
      const bar = element("progress");
      bar.setAttribute("aria-label", `Episodes done of ${name}`);
      const state = element("p", "", "state");
      state.setAttribute("role", "status");
      run.append(element("h3", name), state, bar, element("dl"));
      return run;
    }));
  }
  runs.forEach(({ state, words, share, facts: pairs }, number) => {
    const run = find("#runs").children[number];
    const [, line, bar, list] = run.children;
    line.className = `state ${state}`;
    if (line.textContent !== words) line.textContent = words;
    bar.value = share;
    list.replaceChildren(...facts(pairs));
  });
}

async function change(part, version, where) {
  if (version === shown[part] || !version) return;
  const { html } = await fetched(part);
  // Two may have asked: a button and the clock. The second would take the focus from what is shown.
  if (version === shown[part]) return;
  shown[part] = version;
  find(where).innerHTML = html;
  find(where).querySelectorAll(".record").forEach(records.begin);
}

async function look() {
  const state = await fetched("state");
  name ??= state.name;
  // Another server has this address now, and its runs are different ones.
  if (state.name !== name) {
    location.reload();
    return false;
  }
  find("#name").textContent = `Watching ${state.name}`;
  const share = state.runs.reduce((sum, run) => sum + run.share, 0) / (state.runs.length || 1);
  document.title = `${Math.floor(100 * share)} % · ${state.name} · jaxgbg`;
  say("#line", state.line);
  say("#game-line", state.game_line);
  showRuns(state.runs);
  find("#settings").hidden = !state.settings.length;
  find("#settings dl").replaceChildren(...facts(state.settings));
  find("#problems").hidden = !state.problems.length;
  find("#problems").replaceChildren(...state.problems.map((line) => element("li", line)));
  say("#no-curves", state.curves_line);
  await change("curves", state.curves, "#curves");
  find("#no-curves").hidden = Boolean(shown.curves);
  latest = state.game;
  // Do not replace a game that has the focus.
  const busy = find("#game").contains(document.activeElement);
  if (!busy) await change("game", state.game, "#game");
  find("#newer").hidden = !busy || state.game === shown.game;
  say("#fault", state.ended ? "The training's process has ended, and this page with it: jaxgbg watch shows the run again." : "");
  return !state.ended;
}

async function goOn() {
  let more = true;
  try {
    more = await look();
  } catch (error) {
    say("#fault", error instanceof TypeError
      ? "jaxgbg watch has ended, so this page is no longer updated. Start it again, and the page continues."
      : error.message);
  }
  if (more) setTimeout(goOn, document.hidden ? 5 * EVERY : EVERY);
}

find("#newer").addEventListener("click", async () => {
  await change("game", latest, "#game");
  find("#game .record").focus();
  find("#newer").hidden = true;
});
goOn();
