import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import type { Socket } from "node:net";

/** How long a server may take to show that it speaks HTTP/2; a gRPC server does at once. */
const HTTP2_TIMEOUT_MS = 1000;

/** Whether the other end of a connected socket speaks HTTP/2; the socket is closed after. */
export function speaksHttp2(socket: Socket, timeoutMs = HTTP2_TIMEOUT_MS): Promise<boolean> {
  return new Promise((resolve) => {
    const session: ClientHttp2Session = connectHttp2("http://localhost", { createConnection: () => socket });
    const finish = (speaks: boolean): void => {
      clearTimeout(timer);
      session.destroy();
      socket.destroy();
      resolve(speaks);
    };
    const timer = setTimeout(() => finish(false), timeoutMs);
    session.once("remoteSettings", () => finish(true));
    session.on("error", () => finish(false));
    session.once("close", () => finish(false));
  });
}
