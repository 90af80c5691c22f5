/** Server-sent events by the rules of the HTML standard, read from a fetch: EventSource cannot POST. */

/**
 * @param {ReadableStream<Uint8Array>} body
 * @returns {AsyncGenerator<{id: string, event: string, data: string}>}
 */
export async function* readEvents(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let buffer = "";
  let current = blank();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      buffer += decoder.decode(value, { stream: true });
      // A carriage return at the very end may be half of a CRLF: it waits for the next chunk.
      const lines = buffer.split(/\r\n|\n|\r(?!$)/);
      buffer = lines.pop() ?? "";
      for (const line of lines) {
        if (line !== "") take(current, line);
        else {
          if (current.data.length) yield { ...current, data: current.data.join("\n") };
          current = blank();
        }
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

const blank = () => ({ id: "", event: "message", data: /** @type {string[]} */ ([]) });

/**
 * @param {ReturnType<typeof blank>} event
 * @param {string} line
 */
function take(event, line) {
  const at = line.indexOf(":");
  const value = line.slice(at + 1).replace(/^ /, "");
  if (line.startsWith("id:")) event.id = value;
  else if (line.startsWith("event:")) event.event = value;
  else if (line.startsWith("data:")) event.data.push(value);
}
