// Requests to the server. This page does not know any rules.
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
  if (!answer.ok) throw Object.assign(new Fault(content.error, false), { waiting: content.waiting });
  return content;
}

// The page opens before rules and agents are compiled; `wait(seconds)` is called until they are.
export async function about(wait) {
  for (;;) {
    try {
      return await fetched("game");
    } catch (error) {
      if (error.waiting === undefined) throw error;
      wait(error.waiting);
      await new Promise((done) => setTimeout(done, 1000));
    }
  }
}

export const ask = (name, question) => fetched(name, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(question),
});
