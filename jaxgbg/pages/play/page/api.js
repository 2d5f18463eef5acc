// What the server is asked. Nothing of the rules is known here.
import { Fault } from "./fault.js";

const ROOT = "/api/v1/";

async function fetched(address, options) {
  let answer;
  try {
    answer = await fetch(ROOT + address, options);
  } catch {
    throw new Fault("The server does not answer. Start it again: the game is kept in this page’s address.", true);
  }
  const content = await answer.json().catch(() => ({ error: `The server answers ${answer.status}.` }));
  if (!answer.ok) throw new Fault(content.error, false);
  return content;
}

export const about = () => fetched("game");

export const ask = (name, question) => fetched(name, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(question),
});
