// The page: its table talks to the server, keeps the game in the address, and handles all keys.
import * as server from "./api.js";
import * as address from "./address.js";
import { setUp } from "./table.js";

const named = (game) => { document.title = `${game} · jaxgbg`; };
setUp(document.querySelector(".play"), { ...server, ...address, keys: document, named });
