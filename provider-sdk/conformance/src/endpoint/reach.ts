import { setTimeout as wait } from "node:timers/promises";
import type { GetProviderInfoResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import { methods } from "../contract/methods.ts";
import { Caller } from "./caller.ts";
import { Connection } from "./connection.ts";
import { type Endpoint, formatEndpoint } from "./endpoint.ts";
import { outcomeLine } from "./exchange.ts";
import { openSocket, readyEvent, socketProblem } from "./socket.ts";

/** The provider never got ready: exit code 3. */
export class NotReadyError extends Error {
  readonly code = "NOT_READY";
  override readonly name = "NotReadyError";
}

/** Who the kit says it is. */
export const client = { name: "cloudwire-conformance", version: "0.1.0", contractMajor: 1, contractMinor: 0 };

const pauseMs = 100;
const probeMs = 2_000;
const handshakeMs = 5_000;

/** One look at the endpoint. */
type Look =
  | { readonly kind: "ready"; readonly info: GetProviderInfoResponse }
  | { readonly kind: "notYet"; readonly why: string }
  | { readonly kind: "never"; readonly why: string };

/** Waits until a provider answers the handshake and knows its scope. Throws {@link NotReadyError} with what was there instead. */
export const reach = async (
  endpoint: Endpoint,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<GetProviderInfoResponse> => {
  const endMs = performance.now() + timeoutMs;
  let look: Exclude<Look, { readonly kind: "ready" }> | undefined;
  let givenMs = 0;
  do {
    signal.throwIfAborted();
    const leftMs = Math.max(pauseMs, endMs - performance.now());
    const next = await lookOnce(endpoint, leftMs, signal);
    if (next.kind === "ready") return next.info;
    // An attempt that ends soon after its start only shows that the time is up; the one before it shows the provider.
    const isCutOff = performance.now() >= endMs && leftMs * 2 < givenMs;
    if (look === undefined || !isCutOff) look = next;
    givenMs = leftMs;
    if (look.kind === "notYet") await pause(signal);
  } while (look.kind === "notYet" && performance.now() < endMs);
  const patience = look.kind === "never" ? "" : ` within ${Math.round(timeoutMs / 1_000)} s`;
  throw new NotReadyError(`no provider is ready at ${formatEndpoint(endpoint)}${patience}: ${look.why}`);
};

/** Ends early when the signal says so; the next look at it says why. */
const pause = (signal: AbortSignal): Promise<void> => wait(pauseMs, undefined, { signal }).catch(() => undefined);

const lookOnce = async (endpoint: Endpoint, leftMs: number, signal: AbortSignal): Promise<Look> => {
  const found = await probe(endpoint, Math.min(probeMs, leftMs));
  if (found.kind !== "http2") return strange(found, endpoint);
  const connection = new Connection(endpoint);
  try {
    const deadlineMs = Math.max(pauseMs, Math.min(handshakeMs, leftMs));
    const options = { deadlineMs, patienceMs: deadlineMs };
    const called = await new Caller({ connection, signal }).call(methods.getProviderInfo, { client }, options);
    if (called.kind === "ok") return scoped(called.response);
    const why = `GetProviderInfo ended with ${outcomeLine(called)}`;
    const unimplemented = called.kind === "error" && called.error.code === 12;
    return unimplemented
      ? { kind: "never", why: `${why}; a gRPC server, but not one of cloudprovider.v1` }
      : { kind: "notYet", why };
  } finally {
    connection.close();
  }
};

const scoped = (info: GetProviderInfoResponse): Look =>
  info.scopeId === ""
    ? { kind: "notYet", why: "the handshake has no scope_id: the provider has not reached its cloud" }
    : { kind: "ready", info };

const strange = (found: Exclude<Probe, { readonly kind: "http2" }>, endpoint: Endpoint): Look => {
  switch (found.kind) {
    case "refused":
      return { kind: "notYet", why: found.detail };
    case "silent":
      return {
        kind: "notYet",
        why:
          found.during === "HTTP/2"
            ? "it takes connections and says nothing; a gRPC server speaks first"
            : "TLS handshake: it takes connections and does not answer it",
      };
    case "noTls":
      return { kind: "never", why: found.detail };
    case "closed":
      return { kind: "notYet", why: `it takes connections and closes them at once${closedHint(endpoint)}` };
    case "stranger":
      return { kind: "never", why: `it is not gRPC: it answered ${found.said}` };
  }
  return found satisfies never;
};

/** Servers of TLS hang up on plaintext without a word, and OpenSSL on certificates that it does not know. */
const closedHint = (endpoint: Endpoint): string => {
  if (endpoint.kind === "unix") return "";
  return endpoint.tls === undefined
    ? "; if it speaks TLS, give --tls-ca, --tls-cert and --tls-key"
    : "; if it is for the certificate that the kit shows, see --tls-cert";
};

/** What listens at an endpoint, as far as its first bytes show. */
export type Probe =
  | { readonly kind: "http2" }
  /** Nothing listens (yet). */
  | { readonly kind: "refused"; readonly detail: string }
  /** Took the connection and said nothing, or not all that a TLS handshake needs. */
  | { readonly kind: "silent"; readonly during: "TLS handshake" | "HTTP/2" }
  /** Took the connection and closed it. */
  | { readonly kind: "closed" }
  /** A server listens, and there is no TLS between the two. */
  | { readonly kind: "noTls"; readonly detail: string }
  /** Speaks, but not HTTP/2. */
  | { readonly kind: "stranger"; readonly said: string };

/** RFC 9113, section 3.4: what a client says first, and an empty SETTINGS frame. */
const preface = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);
const frameHeaderBytes = 9;
const settingsFrame = 4;

/** A TLS record that reports an error (RFC 8446, section 5.1): what a server says to plaintext. */
const tlsAlert = Buffer.from([0x15, 0x03]);

/** Asks an endpoint whether it speaks HTTP/2, as every gRPC server does at once. */
const probe = (endpoint: Endpoint, timeoutMs: number): Promise<Probe> =>
  new Promise((resolve) => {
    const socket = openSocket(endpoint);
    const ready = readyEvent(endpoint);
    let said = Buffer.alloc(0);
    let taken = false;
    const finish = (result: Probe): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => {
      if (said.length > 0) finish(stranger(said));
      else if (socket.connecting && !taken)
        finish({ kind: "refused", detail: `connect: there is no answer within ${Math.round(timeoutMs)} ms` });
      else finish({ kind: "silent", during: taken ? "HTTP/2" : "TLS handshake" });
    }, timeoutMs);
    socket.once(ready, () => {
      taken = true;
      socket.write(preface);
    });
    socket.on("data", (chunk: Buffer) => {
      said = Buffer.concat([said, chunk]);
      if (said.length < frameHeaderBytes) return;
      finish(said[3] === settingsFrame && said.readUIntBE(0, 3) < 1_000 ? { kind: "http2" } : stranger(said));
    });
    socket.once("error", (error) => {
      const problem = socketProblem(endpoint, error);
      if (said.length > 0) finish(stranger(said));
      // Who hangs up may only be about to start.
      else if ((problem?.step === "TLS handshake" || problem?.step === "ALPN") && !isReset(error))
        finish({ kind: "noTls", detail: problem.text });
      else if (problem !== undefined) finish({ kind: "refused", detail: problem.text });
      else finish(taken ? { kind: "closed" } : { kind: "refused", detail: error.message });
    });
    socket.once("close", () => finish(said.length === 0 ? { kind: "closed" } : stranger(said)));
  });

const isReset = (error: Error): boolean => "code" in error && error.code === "ECONNRESET";

const stranger = (said: Buffer): Probe =>
  said.subarray(0, tlsAlert.length).equals(tlsAlert)
    ? {
        kind: "noTls",
        detail: "TLS handshake: it speaks TLS and was asked in plaintext; give --tls-ca, --tls-cert and --tls-key",
      }
    : { kind: "stranger", said: JSON.stringify(said.subarray(0, 40).toString("latin1")) };
