// The page: its table asks the server, keeps the game in the address, and hears every key.
import * as server from "./api.js";
import * as address from "./address.js";
import { setUp } from "./table.js";

const named = (game) => { document.title = `${game} · jaxgbg`; };
setUp(document.querySelector(".play"), { ...server, ...address, keys: document, named });
