import type { Endpoint } from "./endpoint.ts";
import { openSocket, readyEvent, socketProblem } from "./socket.ts";

/** What listens at an endpoint, as far as its first bytes tell. */
export type Probe =
  | { readonly kind: "http2" }
  /** Nobody listens (yet). */
  | { readonly kind: "refused"; readonly detail: string }
  /** Took the connection and said nothing, or not all that a TLS handshake needs. */
  | { readonly kind: "silent"; readonly during: "TLS handshake" | "HTTP/2" }
  /** Took the connection and closed it. */
  | { readonly kind: "closed" }
  /** Somebody listens, and there is no TLS between the two. */
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

/** A record of TLS that tells of an error (RFC 8446, section 5.1): what a server says to plaintext. */
const tlsAlert = Buffer.from([0x15, 0x03]);

/** Asks an endpoint whether it speaks HTTP/2, as every gRPC server does at once. */
export const probe = (endpoint: Endpoint, timeoutMs: number): Promise<Probe> =>
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
