import { getEventListeners, once } from "node:events";
import { createServer, type Server } from "node:https";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { setImmediate } from "node:timers/promises";
import { TLSSocket } from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { eventually } from "../../test/support/poll.ts";
import { type Answer, beginWatch, ScriptedServer, sendJson } from "../../test/support/scripted-server.ts";
import { selfSignedCertificate } from "../server/self-signed.ts";
import { systemClock } from "../util/clock.ts";
import type { ApiAccess, TlsOptions } from "./access.ts";
import { type HttpRequest, Transport } from "./transport.ts";

const cleanUps: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

function transportTo(access: ApiAccess, clock = systemClock()): Transport {
  const transport = new Transport({ access, clock, metrics: undefined, limiter: undefined });
  cleanUps.push(() => transport.close());
  return transport;
}

async function start(answer: Answer) {
  const server = await ScriptedServer.start(answer);
  cleanUps.push(() => server[Symbol.asyncDispose]());
  return { server, transport: transportTo(server.access()) };
}

const get = (request: Partial<HttpRequest> = {}): HttpRequest => ({
  method: "GET",
  path: "/api/v1/nodes",
  headers: {},
  body: undefined,
  signal: new AbortController().signal,
  ...request,
});

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

async function read(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of chunks) text += Buffer.from(chunk).toString();
  return text;
}

describe("Transport.send() when its signal aborts", () => {
  test("gives up a request that waits for a connection, and does not send it when one is free", async () => {
    const held: (() => void)[] = [];
    const { server, transport } = await start((_, response) => held.push(() => sendJson(response, {})));
    const running = Array.from({ length: 32 }, () => transport.send(get()));
    await eventually("all connections busy", () => held.length === 32);
    const abort = new AbortController();
    const waiting = failure(transport.send(get({ path: "/given-up", signal: abort.signal })));
    const next = transport.send(get({ path: "/next" }));
    abort.abort(new Error("enough"));
    expect(await waiting).toEqual(new Error("enough"));
    server.answer = (_, response) => sendJson(response, {});
    for (const answer of held) answer();
    await Promise.all([...running, next]);
    expect(server.requests.slice(32).map(({ path }) => path)).toEqual(["/next"]);
    expect(server.connections).toBe(32);
  });

  test("gives up while the connection is being made", async () => {
    const silent = createTcpServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    const accepted = once(silent, "connection");
    const transport = transportTo({ ...accessTo(silent.address()), credentials: noCredentials });
    const abort = new AbortController();
    const call = failure(transport.send(get({ signal: abort.signal })));
    const [socket] = await accepted;
    cleanUps.push(() => silent.close());
    abort.abort(new Error("enough"));
    expect(await call).toEqual(new Error("enough"));
    socket.resume();
    await once(socket, "close");
  });

  test("sends nothing when it has aborted before", async () => {
    const { server, transport } = await start((_, response) => sendJson(response, {}));
    const error = await failure(transport.send(get({ signal: AbortSignal.abort(new Error("before")) })));
    expect([error, server.connections]).toEqual([new Error("before"), 0]);
  });

  test.each([{ streams: true }, { streams: false }])(
    "fails with its reason an answer being read, and closes its connection (streams: $streams)",
    async ({ streams }) => {
      const { server, transport } = await start((_, response) => {
        beginWatch(response);
        response.write("one");
      });
      const abort = new AbortController();
      const call = transport.send(get({ signal: abort.signal, streams })).then((answer) => read(answer.chunks()));
      await eventually("answer begun", () => server.requests.length === 1);
      abort.abort(new Error("enough"));
      expect(await failure(call)).toEqual(new Error("enough"));
      await eventually("connection closed", () => server.open === 0);
    },
  );

  test("closes the connection of an answer that nobody reads", async () => {
    const { server, transport } = await start((_, response) => beginWatch(response));
    const abort = new AbortController();
    await transport.send(get({ signal: abort.signal, streams: true }));
    expect(server.open).toBe(1);
    abort.abort(new Error("enough"));
    await eventually("connection closed", () => server.open === 0);
  });

  test("leaves no listener behind on it, however a call ends", async () => {
    const { server, transport } = await start(({ path }, response) => {
      if (path === "/broken") response.socket?.destroy();
      else sendJson(response, {});
    });
    const { signal } = new AbortController();
    await transport.send(get({ signal }));
    const answer = await transport.send(get({ signal, streams: true }));
    expect(await read(answer.chunks())).toBe("{}");
    await failure(transport.send(get({ signal, path: "/broken" })));
    const unread = await transport.send(get({ signal, streams: true }));
    for await (const _ of unread.chunks()) break;
    await server[Symbol.asyncDispose]();
    await failure(transport.send(get({ signal })));
    await eventually("no listener", () => getEventListeners(signal, "abort").length === 0);
  });
});

describe("Transport's connections", () => {
  test("closed by the server while idle, are no failure of the next request", async () => {
    const connections: { destroy(): unknown }[] = [];
    const { server, transport } = await start((_, response) => {
      if (response.socket !== null) connections.push(response.socket);
      sendJson(response, {});
    });
    await transport.send(get());
    for (const connection of connections) connection.destroy();
    await eventually("closed", () => server.open === 0);
    // Until the client has read it too.
    await setImmediate();
    const { status } = await transport.send(get({ method: "POST", body: "{}" }));
    expect([status, server.connections]).toEqual([200, 2]);
  });

  test("carry the length of what is sent, of a DELETE too, and stay", async () => {
    const { server, transport } = await start((_, response) => sendJson(response, {}));
    for (const method of ["POST", "PUT", "PATCH", "DELETE"] as const) {
      await transport.send(get({ method, body: '"é"' }));
    }
    expect(server.requests.map(({ headers, body }) => [headers["content-length"], body])).toEqual(
      Array.from({ length: 4 }, () => ["4", '"é"']),
    );
    expect(server.connections).toBe(1);
  });

  test("are closed when an answer is not read to its end", async () => {
    const { server, transport } = await start((_, response) => {
      beginWatch(response);
      response.write("one");
    });
    const answer = await transport.send(get({ streams: true }));
    for await (const chunk of answer.chunks()) {
      expect(Buffer.from(chunk).toString()).toBe("one");
      break;
    }
    await eventually("connection closed", () => server.open === 0);
  });

  test("that break in the middle of an answer fail it", async () => {
    const { transport } = await start((_, response) => {
      response.writeHead(200, { "content-length": "10" });
      response.write("one", () => response.socket?.destroy());
    });
    expect(await failure(transport.send(get()))).toMatchObject({ code: "ECONNRESET" });
    const answer = await transport.send(get({ streams: true }));
    expect(await failure(read(answer.chunks()))).toMatchObject({ code: "ECONNRESET" });
  });
});

describe("Transport.close()", () => {
  test("ends watches, requests that wait for an answer and those that wait for a connection", async () => {
    const { server, transport } = await start(({ path }, response) => {
      if (path === "/watch") beginWatch(response);
    });
    const answer = await transport.send(get({ path: "/watch", streams: true }));
    const watch = failure(read(answer.chunks()));
    const calls = Array.from({ length: 40 }, () => failure(transport.send(get())));
    await eventually("all connections busy", () => server.requests.length === 32);
    await transport.close();
    const errors = await Promise.all([watch, ...calls]);
    expect(new Set(errors.map(String))).toEqual(
      new Set([`Error: the connections to ${new URL(server.url).host} were closed`]),
    );
    await eventually("no connection", () => server.open === 0);
    expect(server.requests).toHaveLength(32);
  });
});

describe("Transport over TLS", () => {
  test("presents rotated certificates on new connections, and lets what runs on the old finish", async () => {
    const authority = pair("127.0.0.1");
    const held: (() => void)[] = [];
    const server = await tlsServer(authority, (name, answer) => {
      if (held.length === 0) held.push(() => answer(name));
      else answer(name);
    });
    let tls = clientTls(authority, "first");
    const transport = transportTo({ ...accessTo(server.address()), credentials: async () => ({ headers: {}, tls }) });
    const first = transport.send(get());
    await eventually("under way", () => held.length === 1);
    tls = { ...tls };
    expect(await bodyOf(transport.send(get()))).toBe("first");
    tls = clientTls(authority, "second");
    expect(await bodyOf(transport.send(get()))).toBe("second");
    await eventually("idle one closed", async () => (await openOf(server)) === 2);
    held[0]?.();
    expect(await bodyOf(first)).toBe("first");
    await eventually("old one closed", async () => (await openOf(server)) === 1);
    expect(await bodyOf(transport.send(get()))).toBe("second");
  });

  test("resumes a session for the next connection", async () => {
    const authority = pair("127.0.0.1");
    const held: (() => void)[] = [];
    const server = await tlsServer(authority, (_, answer) => {
      held.push(() => answer(""));
      // The second is answered with the third, which so needs a connection of its own.
      if (held.length !== 2) for (const end of held) end();
    });
    const resumed: boolean[] = [];
    server.on("secureConnection", (socket: TLSSocket) => resumed.push(socket.isSessionReused()));
    const credentials = async () => ({ headers: {}, tls: { ca: authority.certificate } });
    const transport = transportTo({ ...accessTo(server.address()), credentials });
    await transport.send(get());
    await Promise.all([transport.send(get()), transport.send(get())]);
    expect(resumed).toEqual([false, true]);
  });

  test("refuses a server that another authority has signed for, and one of another name", async () => {
    const server = await tlsServer(pair("127.0.0.1"), (_, answer) => answer(""));
    const strangers = { ...accessTo(server.address()), credentials: noCredentials };
    expect(await failure(transportTo(strangers).send(get()))).toMatchObject({ code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
    const named = pair("api.example");
    const other = await tlsServer(named, (_, answer) => answer("named"));
    const access = (tls: TlsOptions): ApiAccess => ({
      ...accessTo(other.address()),
      credentials: async () => ({ headers: {}, tls }),
    });
    const ca = named.certificate;
    const error = await failure(transportTo(access({ ca })).send(get()));
    expect(error).toMatchObject({ code: "ERR_TLS_CERT_ALTNAME_INVALID" });
    expect(await bodyOf(transportTo(access({ ca, servername: "api.example" })).send(get()))).toBe("named");
    expect(await bodyOf(transportTo(access({ rejectUnauthorized: false })).send(get()))).toBe("named");
  });

  test("gives up a connection that is not there after 10 s", async () => {
    const silent = createTcpServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    cleanUps.push(() => silent.close());
    const accepted = once(silent, "connection");
    const clock = new FakeClock();
    const access = { ...accessTo(silent.address()), credentials: noCredentials };
    const call = failure(transportTo(access, clock).send(get()));
    const [socket] = await accepted;
    socket.resume();
    await clock.advance(10_000);
    expect(await call).toMatchObject({
      code: "CONNECT_TIMEOUT",
      message: `no connection to ${new URL(access.server).host} within 10000 ms`,
    });
    await once(socket, "close");
    expect(clock.timers).toBe(0);
  });
});

const noCredentials = async () => ({ headers: {}, tls: {} });

function accessTo(address: AddressInfo | string | null): Omit<ApiAccess, "credentials"> {
  const port = typeof address === "object" ? address?.port : undefined;
  return { server: `https://127.0.0.1:${port}`, description: "test", proxyUrl: undefined };
}

const pair = (name: string) =>
  selfSignedCertificate({ commonName: name, hosts: [name], nowMs: Date.now(), validMs: 3_600_000 });

/** Answers with the common name of the client's certificate. */
async function tlsServer(
  { certificate, key }: { certificate: string; key: string },
  serve: (name: string, answer: (text: string) => void) => void,
): Promise<Server> {
  const options = { cert: certificate, key, requestCert: true, rejectUnauthorized: false };
  const server = createServer(options, (request, response) => {
    serve(nameOf(request.socket), (text) => response.end(text));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUps.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return server;
}

function nameOf(socket: unknown): string {
  return socket instanceof TLSSocket ? String(socket.getPeerCertificate().subject?.CN ?? "") : "";
}

function clientTls(authority: { certificate: string }, name: string): TlsOptions {
  const { certificate, key } = pair(name);
  return { ca: authority.certificate, cert: certificate, key };
}

const openOf = (server: Server): Promise<number> =>
  new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  );

const bodyOf = async (call: ReturnType<Transport["send"]>): Promise<string> =>
  Buffer.from(await (await call).bytes()).toString();
