import { TLSSocket } from "node:tls";
import { errorText } from "../error-text.ts";
import type { Endpoint } from "./endpoint.ts";
import { openSocket, socketProblem } from "./socket.ts";

/** How a TLS handshake ended. */
export type Handshake =
  | { readonly kind: "done"; readonly version: string; readonly fingerprint: string }
  | { readonly kind: "refused"; readonly why: string }
  /** Not sent at all: this machine cannot speak what is asked for. */
  | { readonly kind: "unable"; readonly why: string };

/** Shakes hands, and hangs up. */
export const shakeTls = (endpoint: Endpoint, timeoutMs: number): Promise<Handshake> =>
  new Promise((resolve) => {
    const socket = openSocket(endpoint);
    const finish = (handshake: Handshake): void => {
      clearTimeout(timer);
      resolve(handshake);
      socket.destroy();
    };
    const timer = setTimeout(
      () => finish({ kind: "refused", why: `TLS handshake: it is not finished within ${timeoutMs} ms` }),
      timeoutMs,
    );
    socket.once("secureConnect", () => {
      if (!(socket instanceof TLSSocket)) return;
      const { fingerprint256 } = socket.getPeerCertificate();
      finish({ kind: "done", version: socket.getProtocol() ?? "an unknown version", fingerprint: fingerprint256 });
    });
    socket.once("error", (error) => {
      const why = socketProblem(endpoint, error)?.text ?? errorText(error);
      finish(/NO_PROTOCOLS_AVAILABLE|NO_CIPHERS/.test(why) ? { kind: "unable", why } : { kind: "refused", why });
    });
    socket.once("close", () => finish({ kind: "refused", why: "TLS handshake: the connection was closed" }));
  });
