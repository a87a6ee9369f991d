import { X509Certificate } from "node:crypto";
import { Agent, request } from "node:https";
import { once } from "node:events";
import { connect, type TLSSocket } from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import { FakeLog } from "../../test/support/fake-log.ts";
import { opensslCiphers } from "./options.ts";
import { authenticate } from "./access/authenticator.ts";
import type { Attributes } from "./access/reviews.ts";
import type { ClientTrust } from "./access/client-trust.ts";
import { type RunningServer, serveText } from "./endpoints.ts";
import { startSecureServer } from "./secure-server.ts";
import { type KeyPair, selfSignedCertificate } from "./certificates/self-signed.ts";

const running: RunningServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

const pair = (commonName: string): KeyPair =>
  selfSignedCertificate({ commonName, hosts: ["127.0.0.1"], nowMs: Date.now(), validMs: 3_600_000 });

interface Harness {
  readonly port: number;
  /** The authorized requests, in order. */
  readonly asked: Attributes[];
  readonly serve: (certificate: KeyPair) => void;
}

async function start(
  trust: ClientTrust,
  isAllowed: () => Promise<boolean> = async () => true,
  ciphers?: string,
): Promise<Harness> {
  const asked: Attributes[] = [];
  const listeners = new Set<() => void>();
  let serving = pair("first");
  const server = await startSecureServer({
    address: { host: "127.0.0.1", port: 0 },
    context: {
      current: () => ({
        cert: serving.certificate,
        key: serving.key,
        ca: trust.clients.map((authority) => authority.toString()),
        ...(ciphers === undefined ? {} : { ciphers }),
      }),
      onChange: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    authenticate: (message) =>
      authenticate({ trust: () => trust, tokens: undefined, nowMs: () => Date.now() }, message),
    isAllowed: (attributes) => {
      asked.push(attributes);
      return isAllowed();
    },
    log: new FakeLog(),
    register: (pages) => serveText(pages, "/page", () => "text"),
  });
  running.push(server);
  return {
    port: Number(new URL(server.url).port),
    asked,
    serve: (certificate) => {
      serving = certificate;
      for (const listener of listeners) listener();
    },
  };
}

interface Answer {
  readonly status: number;
  /** Common name of the certificate the server showed. */
  readonly shown: string;
}

function ask(agent: Agent, port: number, path = "/page"): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const outgoing = request({ host: "127.0.0.1", port, path, agent, timeout: 10_000 }, (incoming) => {
    const socket = incoming.socket as TLSSocket; // oxlint-disable-line typescript/consistent-type-assertions -- node:https has no other sockets
    const shown = socket.getPeerX509Certificate()?.subject.replace("CN=", "") ?? "";
    incoming.resume().once("end", () => resolve({ status: incoming.statusCode ?? 0, shown }));
  });
  outgoing.once("error", reject);
  outgoing.end();
  return promise;
}

describe("startSecureServer()", () => {
  test("treats a client with a certificate of an untrusted CA as anonymous", async () => {
    const { port, asked } = await start({
      clients: [new X509Certificate(pair("authority").certificate)],
      proxies: undefined,
    });
    const forged = pair("root");
    const agent = new Agent({ cert: forged.certificate, key: forged.key, rejectUnauthorized: false });
    expect(await ask(agent, port)).toMatchObject({ status: 200 });
    expect(asked.map(({ user }) => user.name)).toEqual(["system:anonymous"]);
    agent.destroy();
  });

  test("responds 500 when authorization fails", async () => {
    const { port } = await start({ clients: [], proxies: undefined }, () => Promise.reject(new Error("gone")));
    const agent = new Agent({ rejectUnauthorized: false });
    expect(await ask(agent, port)).toMatchObject({ status: 500 });
    agent.destroy();
  });

  test("authorizes unknown paths too", async () => {
    const { port, asked } = await start({ clients: [], proxies: undefined }, async () => false);
    const agent = new Agent({ rejectUnauthorized: false });
    expect(await ask(agent, port, "/nowhere?x=1")).toMatchObject({ status: 403 });
    expect(asked.map(({ verb, path }) => [verb, path])).toEqual([["get", "/nowhere"]]);
    agent.destroy();
  });

  test("shows a new certificate to new connections and loses no request of any", async () => {
    const { port, serve } = await start({ clients: [], proxies: undefined });
    const kept = new Agent({ rejectUnauthorized: false, keepAlive: true, maxSockets: 4 });
    const fresh = new Agent({ rejectUnauthorized: false, maxCachedSessions: 100 });
    const answers: Answer[] = [];
    const load = async (agent: Agent, count: number): Promise<void> => {
      for (let i = 0; i < count; i++) answers.push(await ask(agent, port));
    };
    const under = Promise.all([load(kept, 100), load(kept, 100), load(fresh, 30), load(fresh, 30)]);
    const halfway = (async () => {
      await ask(fresh, port);
      serve(pair("second"));
    })();
    await Promise.all([under, halfway]);
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(answers).toHaveLength(260);
    expect(await ask(fresh, port)).toEqual({ status: 200, shown: "second" });
    kept.destroy();
    fresh.destroy();
  });

  test.each(["TLSv1.2", "TLSv1.3"] as const)("speaks %s with the cipher suites of an operator", async (version) => {
    const suites = opensslCiphers(["TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"]);
    const { port } = await start({ clients: [], proxies: undefined }, undefined, suites);
    const agent = new Agent({ rejectUnauthorized: false, maxVersion: version, minVersion: version });
    expect(await ask(agent, port)).toMatchObject({ status: 200 });
    agent.destroy();
  });

  test("rejects renegotiation, which could bring another identity", async () => {
    const { port } = await start({ clients: [], proxies: undefined });
    const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false, maxVersion: "TLSv1.2" });
    await once(socket, "secureConnect");
    const error = await new Promise<Error | null>((resolve) => {
      socket.once("error", resolve);
      socket.renegotiate({ rejectUnauthorized: false }, resolve);
    });
    expect(error).toMatchObject({ code: expect.stringContaining("RENEGOTIATION") });
    socket.destroy();
  });

  test.each(["/page#x", "http://elsewhere/page"])("refuses %s, behind which the router would look", async (target) => {
    const { port, asked } = await start({ clients: [], proxies: undefined });
    const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false });
    await once(socket, "secureConnect");
    socket.write(`GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    const [head] = await once(socket, "data");
    expect(String(head)).toMatch(/^HTTP\/1\.1 400 /);
    expect(asked).toEqual([]);
    socket.destroy();
  });
});
