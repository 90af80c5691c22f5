/** A server that speaks chat completions and says what it is told to, one answer after the other. */
import { once } from "node:events";
import { createServer } from "node:http";

export class Model {
  #server;

  /** @param {object[]} answers each the JSON of one answer */
  constructor(answers) {
    const left = answers.map((answer) => JSON.stringify(answer));
    /** What it was asked. @type {string[]} */
    this.asked = [];
    this.#server = createServer(async (request, response) => {
      let body = "";
      for await (const part of request) body += part;
      this.asked.push(body);
      const content = left.shift();
      if (content === undefined) return void response.writeHead(500).end();
      response.writeHead(200, { "content-type": "text/event-stream" });
      const chunk = (/** @type {object} */ delta, /** @type {string | null} */ reason) =>
        response.write(`data: ${JSON.stringify({ object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`);
      chunk({ role: "assistant", content }, null);
      chunk({}, "stop");
      response.end("data: [DONE]\n\n");
    });
  }

  /** The settings of a house that asks it. */
  async start() {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const { port } = /** @type {import("node:net").AddressInfo} */ (this.#server.address());
    return { GATEHOUSE_PLANNER: "openai", OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`, GATEHOUSE_MODEL_NAME: "scripted" };
  }

  close() {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
