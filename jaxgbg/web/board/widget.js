// The play page's table in a notebook: it talks to Python by messages, and its game is in the model.
const SOURCES = {}, MARKUP = "", STYLE = "";

// The page's modules, each with its own address, for this board only.
function tableModule() {
  const addresses = {};
  const address = (name) => {
    const source = SOURCES[name].replace(/from "\.\/([\w.]+)"/g, (_, other) => `from "${address(other)}"`);
    return addresses[name] ??= URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  };
  const loaded = import(address("table.js"));
  loaded.finally(() => Object.values(addresses).forEach(URL.revokeObjectURL));
  return loaded;
}

// Answers are matched to requests by number; a second view of this model uses another name.
function messages(model) {
  const own = Math.random().toString(36).slice(2), waiting = new Map();
  const arrived = ({ to, answer, error }) => {
    const asked = waiting.get(to);
    waiting.delete(to);
    if (error) asked?.fail(Object.assign(new Error(error), { gone: false }));
    else asked?.done(answer);
  };
  model.on("msg:custom", arrived);
  let count = 0;
  const ask = (name, question) => new Promise((done, fail) => {
    const from = `${own}-${++count}`;
    waiting.set(from, { done, fail });
    model.send({ from, name, question });
  });
  return { ask, close: () => model.off("msg:custom", arrived) };
}

// The state of the game: Python and other views read and write it too.
function kept(model) {
  let writing = false, listener = null;
  const changed = () => { if (!writing) listener?.(); };
  for (const name of ["moves", "seats"]) model.on(`change:${name}`, changed);
  return {
    read: () => ({ moves: model.get("moves"), seats: model.get("seats") }),
    write: ({ moves, seats }) => {
      writing = true;
      model.set("moves", moves);
      model.set("seats", [...seats]);
      writing = false;
      model.save_changes();
    },
    onChange: (told) => { listener = told; },
    close: () => { for (const name of ["moves", "seats"]) model.off(`change:${name}`, changed); },
  };
}

// Light or dark like the notebook, whatever the system setting: by the background of the board.
function themed(el) {
  const look = () => {
    for (let at = el; at; at = at.parentElement) {
      const [red, green, blue, alpha = 1] = getComputedStyle(at).backgroundColor.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
      if (alpha < 0.5) continue;
      el.style.colorScheme = red + green + blue < 3 * 128 ? "dark" : "light";
      return;
    }
  };
  const watch = new MutationObserver(() => requestAnimationFrame(look));
  for (const of of [document.documentElement, document.body]) watch.observe(of, { attributes: true });
  requestAnimationFrame(look);
  return watch;
}

function render({ model, el }) {
  // While the board has the focus, keys are not shortcuts of the notebook.
  el.dataset.lmSuppressShortcuts = "true";
  el.addEventListener("keydown", (event) => event.stopPropagation());
  // The picture below is for viewers in which widgets do not work.
  for (const picture of document.getElementsByClassName(model.get("mark"))) picture.hidden = true;
  const inside = el.attachShadow({ mode: "open" });
  inside.innerHTML = `<style>${STYLE}</style><div class="waiting">${model.get("still")}<p>Waiting for Python: run the cell to play.</p></div>`;
  const [watch, transport, place] = [themed(el), messages(model), kept(model)];
  transport.ask("game").then(async (about) => {
    const { setUp } = await tableModule();
    const root = document.createElement("div");
    root.className = "play";
    root.innerHTML = MARKUP;
    inside.querySelector(".waiting").replaceWith(root);
    setUp(root, { ...transport, ...place, about: async () => about, keys: root, values: "mover" });
  }).catch((error) => { inside.querySelector(".waiting p").textContent = error.message; });
  return () => { watch.disconnect(); transport.close(); place.close(); };
}

export default { render };
