/** A wire between browser and server that can be cut. */
import { once } from "node:events";
import { connect, createServer } from "node:net";

/** @param {number} port the server's */
export async function wireTo(port) {
  /** @type {Set<import("node:net").Socket>} */
  const open = new Set();
  const wire = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    for (const end of [near, far]) {
      open.add(end);
      end.on("error", () => {}).on("close", () => (open.delete(end), near.destroy(), far.destroy()));
    }
    near.pipe(far).pipe(near);
  }).listen(0, "127.0.0.1");
  await once(wire, "listening");
  const { port: own } = /** @type {import("node:net").AddressInfo} */ (wire.address());
  const cut = () => open.forEach((end) => end.destroy());
  return { url: `http://127.0.0.1:${own}`, cut, close: () => (cut(), wire.close()) };
}
