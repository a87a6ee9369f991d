import { connect, type Socket } from "node:net";
import type { Endpoint } from "../wire/endpoint.ts";

/** What listens at an endpoint, as far as its first bytes tell. */
export type Probe =
  | { readonly kind: "http2" }
  /** Nobody listens (yet). */
  | { readonly kind: "refused"; readonly detail: string }
  /** Took the connection and said nothing. */
  | { readonly kind: "silent" }
  /** Took the connection and closed it. */
  | { readonly kind: "closed" }
  /** Speaks, but not HTTP/2. */
  | { readonly kind: "stranger"; readonly said: string };

/** RFC 9113, section 3.4: what a client says first, and an empty SETTINGS frame. */
const preface = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);
const frameHeaderBytes = 9;
const settingsFrame = 4;

/** Asks an endpoint whether it speaks HTTP/2, as every gRPC server does at once. */
export const probe = (endpoint: Endpoint, timeoutMs: number): Promise<Probe> =>
  new Promise((resolve) => {
    const socket: Socket = endpoint.kind === "unix" ? connect(endpoint.path) : connect(endpoint.port, endpoint.host);
    let said = Buffer.alloc(0);
    let taken = false;
    const finish = (result: Probe): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => finish(said.length === 0 ? { kind: "silent" } : stranger(said)), timeoutMs);
    socket.once("connect", () => {
      taken = true;
      socket.write(preface);
    });
    socket.on("data", (chunk: Buffer) => {
      said = Buffer.concat([said, chunk]);
      if (said.length < frameHeaderBytes) return;
      finish(said[3] === settingsFrame && said.readUIntBE(0, 3) < 1_000 ? { kind: "http2" } : stranger(said));
    });
    socket.once("error", ({ message }) => {
      if (said.length > 0) finish(stranger(said));
      else finish(taken ? { kind: "closed" } : { kind: "refused", detail: message });
    });
    socket.once("close", () => finish(said.length === 0 ? { kind: "closed" } : stranger(said)));
  });

const stranger = (said: Buffer): Probe => ({
  kind: "stranger",
  said: JSON.stringify(said.subarray(0, 40).toString("latin1")),
});
