import { once } from "node:events";
import { createServer, type IncomingMessage, request as httpRequest, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { getCACertificates, setDefaultCACertificates, TLSSocket } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { eventually } from "../../test/support/poll.ts";
import { selfSignedCertificate } from "../server/self-signed.ts";
import { systemClock } from "../util/clock.ts";
import type { TlsOptions } from "./access.ts";
import { Transport } from "./transport.ts";

const cleanUps: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const authority = selfSignedCertificate({
  commonName: "test",
  hosts: ["127.0.0.1", "api.example"],
  nowMs: systemClock().nowMs(),
  validMs: 3_600_000,
});
const identity = { cert: authority.certificate, key: authority.key };

async function listening<S extends Server>(server: S): Promise<S> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUps.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return server;
}

function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === "string") throw new Error("not listening");
  return address.port;
}

interface Seen {
  readonly line: string;
  readonly authorization: string | undefined;
}

type Proxy = Server & { readonly seen: readonly Seen[] };

/** Does as it is asked: a tunnel for CONNECT, the request itself for anything else. */
async function startProxy(secure = false): Promise<Proxy> {
  const seen: Seen[] = [];
  const note = ({ method, url, headers }: IncomingMessage): void =>
    void seen.push({ line: `${method} ${url}`, authorization: headers["proxy-authorization"] });
  const server = secure ? createTlsServer(identity) : createServer();
  server.on("connect", (request: IncomingMessage, client: Socket) => {
    note(request);
    const { hostname, port } = new URL(`http://${request.url}`);
    const target = connect(Number(port), hostname, () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      target.pipe(client).pipe(target);
    });
    target.on("error", () => client.destroy());
    client.once("close", () => target.destroy());
  });
  server.on("request", (request, response) => {
    note(request);
    const { url = "", method, headers } = request;
    httpRequest(url, { method, headers: { host: headers.host } }, (answer) => answer.pipe(response)).end();
  });
  return Object.assign(await listening(server), { seen });
}

const tlsTarget = () =>
  listening(
    createTlsServer({ ...identity, requestCert: true, rejectUnauthorized: false }, ({ socket }, response) => {
      const name = socket instanceof TLSSocket ? socket.getPeerCertificate().subject?.CN : undefined;
      response.end(`hello ${String(name)}`);
    }),
  );

function transportTo(server: string, proxyUrl: string, tls: TlsOptions = {}, clock = systemClock()): Transport {
  const credentials = async () => ({ headers: {}, tls });
  const access = { server, description: "test", proxyUrl, credentials };
  const transport = new Transport({ access, clock, metrics: undefined, limiter: undefined });
  cleanUps.push(() => transport.close());
  return transport;
}

async function get(transport: Transport): Promise<string> {
  const { signal } = new AbortController();
  const request = { method: "GET", path: "/version", headers: {}, body: undefined, signal } as const;
  return Buffer.from(await (await transport.send(request)).bytes()).toString();
}

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

const ADMITTED = `Basic ${Buffer.from("user:p@ss").toString("base64")}`;

test.each([{ secure: false }, { secure: true }])(
  "createConnections() goes through a proxy's tunnel to a server with TLS (proxy with TLS: $secure)",
  async ({ secure }) => {
    const before = getCACertificates("default");
    setDefaultCACertificates([...before, authority.certificate]);
    cleanUps.push(() => setDefaultCACertificates(before));
    const proxy = await startProxy(secure);
    const target = await tlsTarget();
    const { certificate: cert, key } = selfSignedCertificate({
      commonName: "the-client",
      hosts: [],
      nowMs: systemClock().nowMs(),
      validMs: 3_600_000,
    });
    const tls = { ca: authority.certificate, cert, key, servername: "api.example" };
    const scheme = secure ? "https" : "http";
    const proxyUrl = `${scheme}://user:p%40ss@127.0.0.1:${portOf(proxy)}`;
    const transport = transportTo(`https://127.0.0.1:${portOf(target)}`, proxyUrl, tls);
    expect([await get(transport), await get(transport)]).toEqual(["hello the-client", "hello the-client"]);
    // The second used the tunnel of the first.
    expect(proxy.seen).toEqual([{ line: `CONNECT 127.0.0.1:${portOf(target)}`, authorization: ADMITTED }]);
  },
);

test("createConnections() asks a proxy for what a server without TLS has", async () => {
  const proxy = await startProxy();
  const target = await listening(createServer((_, response) => response.end("plain")));
  const server = `http://127.0.0.1:${portOf(target)}`;
  expect(await get(transportTo(server, `http://user:p%40ss@127.0.0.1:${portOf(proxy)}`))).toBe("plain");
  expect(proxy.seen).toEqual([{ line: `GET ${server}/version`, authorization: ADMITTED }]);
});

test("createConnections() trusts no server because a proxy leads to it", async () => {
  const proxy = await startProxy();
  const target = await tlsTarget();
  const transport = transportTo(`https://127.0.0.1:${portOf(target)}`, `http://127.0.0.1:${portOf(proxy)}`);
  expect(await failure(get(transport))).toMatchObject({ code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
});

test("createConnections() says when a proxy refuses, without the proxy's password", async () => {
  const proxy = await listening(createServer());
  proxy.on("connect", (_: IncomingMessage, client: Socket) => client.end("HTTP/1.1 403 No\r\n\r\n"));
  const error = await failure(get(transportTo("https://10.0.0.1", `http://user:p%40ss@127.0.0.1:${portOf(proxy)}`)));
  expect(String(error)).toMatch(/tunnel to 10\.0\.0\.1:443 via http:\/\/127\.0\.0\.1:\d+\/: HTTP\/1\.1 403 No/);
});

test.each(["socks5://user:secret@127.0.0.1:1", "http://user:secret@:1", "ftp://secret@127.0.0.1"])(
  "createConnections() refuses proxy %s, without showing its password",
  async (proxyUrl) => {
    const error = await failure(get(transportTo("https://127.0.0.1:1", proxyUrl)));
    expect(error).toMatchObject({
      code: "KUBE_ACCESS",
      message: expect.stringMatching(/^proxy-url "[a-z0-9]+:\/\/\*\*\*@.*only http:\/\/ and https:\/\/ proxies are$/),
    });
  },
);

test.each([
  { what: "a proxy that does not answer", said: "" },
  { what: "a server behind a tunnel that does not answer", said: "HTTP/1.1 200 OK\r\n\r\n" },
])("createConnections() gives up on $what after 10 s", async ({ said }) => {
  const proxy = await listening(createServer());
  const tunnels: Socket[] = [];
  proxy.on("connect", (_: IncomingMessage, client: Socket) => {
    tunnels.push(client);
    // A server's connections may stay half open.
    client.once("end", () => client.end());
    if (said !== "") client.write(said);
    client.resume();
  });
  const clock = new FakeClock();
  const call = failure(get(transportTo("https://10.0.0.1", `http://127.0.0.1:${portOf(proxy)}`, {}, clock)));
  await eventually("asked for a tunnel", () => tunnels.length === 1);
  await clock.advance(10_000);
  expect(await call).toMatchObject({ code: "CONNECT_TIMEOUT", message: "no connection to 10.0.0.1 within 10000 ms" });
  await eventually("closed", () => tunnels.every(({ closed }) => closed));
  expect(clock.timers).toBe(0);
});
