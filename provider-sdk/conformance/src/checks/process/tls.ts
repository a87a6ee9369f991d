import { setTimeout as wait } from "node:timers/promises";
import { type Check, type CheckContext, CheckSkipped } from "../../suite/check.ts";
import { fail } from "../../suite/expect.ts";
import type { Called } from "../../endpoint/caller.ts";
import { outcomeLine } from "../../endpoint/exchange.ts";
import { methods } from "../../contract/methods.ts";
import { Authority, issuerName } from "../../endpoint/authority.ts";
import { client } from "../../endpoint/reach.ts";
import { Connection } from "../../endpoint/connection.ts";
import { type Endpoint, isLoopback } from "../../endpoint/endpoint.ts";
import { shakeTls } from "../../endpoint/socket.ts";
import type { TlsClient } from "../../endpoint/tls.ts";

const base = { level: "S", profile: "core", transport: "tls", rules: ["TRN-9"] } as const;

/** How long a server may take to reject a client, or to say nothing. */
const patienceMs = 5_000;
/** The contract's limit for certificates that were replaced, and what a poll may be late. */
const reloadMs = 60_000;
const lateMs = 5_000;
const pollMs = 250;

/** The handshake over a connection of its own. */
const shake = async ({ caller }: CheckContext, endpoint: Endpoint): Promise<Called<unknown>> => {
  const connection = new Connection(endpoint);
  try {
    return await caller.call(methods.getProviderInfo, { client }, { connection, patienceMs });
  } finally {
    connection.close();
  }
};

/** The endpoint of a TCP run with other files of TLS, or none. */
const over = ({ endpoint }: CheckContext, change: (tls: TlsClient) => TlsClient | undefined): Endpoint => {
  if (endpoint.kind === "unix" || endpoint.tls === undefined) throw new TypeError("the run is not over TLS");
  const { host, port } = endpoint;
  const tls = change(endpoint.tls);
  return { kind: "tcp", host, port, ...(tls !== undefined && { tls }) };
};

const refusedReason = "PEER_REFUSED";

/** No answer, or the one that the contract has for callers whose identity is refused. */
const isRefused = (called: Called<unknown>): boolean =>
  called.kind === "broken" || (called.kind === "error" && called.error.infos[0]?.reason === refusedReason);

const expectRefused = (called: Called<unknown>, message: string): void => {
  if (isRefused(called)) return;
  const { exchange } = called;
  fail({ message, expected: `no connection, or ${refusedReason}`, got: outcomeLine(called), exchange });
};

/** A certificate for the kit from an authority that has the name of the real one. */
const foreign = ({ cert }: TlsClient) => {
  const authority = new Authority(cert === undefined ? "conformance stranger" : issuerName(cert));
  const pair = authority.issue({ commonName: "conformance kit", use: "client" });
  return { cert: Buffer.from(pair.cert), key: Buffer.from(pair.key) };
};

/** What a provider on TCP lets in. */
export const tlsChecks: readonly Check[] = [
  {
    ...base,
    transport: "tcp",
    id: "sec.tls.plaintext",
    title: "plaintext is refused on TCP",
    why: "The calls change a cloud: an attacker on the network could read and modify them.",
    run: async (context) => {
      const { endpoint } = context;
      if (endpoint.kind === "tcp" && endpoint.tls === undefined) {
        if (isLoopback(endpoint.host)) throw new CheckSkipped("plaintext on loopback is allowed if it was requested");
        fail({ message: "plaintext is served beyond loopback", expected: "TLS", got: "the handshake in plaintext" });
      }
      const called = await shake(
        context,
        over(context, () => undefined),
      );
      if (called.kind !== "broken")
        fail({
          message: "a call in plaintext is answered at the port that serves TLS",
          expected: "no answer",
          got: outcomeLine(called),
          exchange: called.exchange,
        });
    },
  },
  {
    ...base,
    id: "sec.tls.client-cert",
    title: "callers without certificate, and with one of another authority, are refused",
    why: "Without it any client that reaches the port controls the cloud account. Usually client certificates are asked for and not verified, or by the name of their authority alone.",
    run: async (context) => {
      const none = over(context, ({ files, ca, serverName }) => ({ files, ca, serverName }));
      expectRefused(await shake(context, none), "a caller without certificate is served");
      const stranger = over(context, (tls) => ({ ...tls, ...foreign(tls) }));
      expectRefused(await shake(context, stranger), "a caller with a certificate of another authority is served");
    },
  },
  {
    ...base,
    id: "sec.tls.version",
    title: "TLS older than 1.2 is refused",
    why: "Its ciphers are broken, and auditors close what still speaks it.",
    run: async (context) => {
      const old = over(context, (tls) => ({ ...tls, versions: { min: "TLSv1", max: "TLSv1.1" } }));
      const handshake = await shakeTls(old, patienceMs);
      if (handshake.kind === "unable") throw new TypeError(`the kit cannot speak TLS 1.1 itself: ${handshake.why}`);
      if (handshake.kind === "done")
        fail({ message: "an old version is spoken", expected: "TLSv1.2 or newer", got: handshake.version });
    },
  },
  {
    ...base,
    level: "D",
    id: "sec.tls.reload",
    title: "a certificate that is replaced on disk is served within 60 s, by the same process",
    why: "Certificates live for weeks and are renewed by others: one that is read once ends all connections on the day it expires.",
    starts: true,
    timeoutMs: 120_000,
    run: async (context) => {
      const own = (await context.startTls?.()) ?? fail({ message: "the kit was given no command" });
      const { bootId } = await context.ready(own);
      const shown = async (): Promise<string> => {
        const handshake = await shakeTls(own.endpoint, patienceMs);
        return handshake.kind === "done"
          ? handshake.fingerprint
          : fail({ message: "no connection is established while certificates change", got: handshake.why });
      };
      const first = await shown();
      await own.renew();
      const endMs = performance.now() + (reloadMs + lateMs) * context.slowFactor;
      while ((await shown()) === first) {
        if (performance.now() >= endMs)
          fail({
            message: "the certificate from before is still served",
            expected: "the new one within 60 s",
            got: first,
          });
        await wait(pollMs, undefined, { signal: context.signal });
      }
      const { bootId: got } = await context.ready(own);
      if (got !== bootId) fail({ message: "it is another process", expected: bootId, got });
    },
  },
];
