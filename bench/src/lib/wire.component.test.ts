import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Wire } from "./wire.ts";

let directory: string;
let stack: AsyncDisposableStack;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  directory = await mkdtemp(join(tmpdir(), "wire-"));
  stack.defer(() => rm(directory, { recursive: true }));
});
afterEach(() => stack.disposeAsync());

/** A server with a given response, and the wire to it. */
async function echoOverWire(): Promise<{ readonly wire: Wire; readonly path: string }> {
  const target = { path: join(directory, "server.sock") };
  const server = createServer((socket) => socket.pipe(socket).on("error", () => undefined));
  server.listen(target);
  await once(server, "listening");
  stack.defer(() => void server.close());
  const path = join(directory, "wire.sock");
  return { path, wire: stack.use(await Wire.start({ path }, target)) };
}

async function ask(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  const [answer] = await once(socket, "data");
  return String(answer);
}

describe("Wire", () => {
  test("carries both ways, cuts what is open, and carries again", async () => {
    const { wire, path } = await echoOverWire();
    const first = connect(path);
    expect(await ask(first, "one")).toBe("one");
    const closed = once(first, "close");
    wire.cut();
    await closed;
    const second = connect(path);
    expect(await ask(second, "two")).toBe("two");
    second.destroy();
  });

  test("closes a connection whose server is not there, and stays", async () => {
    const wire = stack.use(await Wire.start({ host: "127.0.0.1", port: 0 }, { path: join(directory, "none.sock") }));
    const ends = [1, 2].map(() => once(connect(wire.port, "127.0.0.1"), "close"));
    expect(await Promise.all(ends)).toEqual([[false], [false]]);
  });
});
