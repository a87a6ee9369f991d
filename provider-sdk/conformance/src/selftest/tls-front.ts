import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type SecureVersion } from "node:tls";
import { tlsPlace } from "../endpoint/place.ts";
import type { TlsFiles } from "../endpoint/tls.ts";

/** What is wrong with how TLS is served; nothing: it is right. */
export interface TlsFault {
  /** Who speaks no TLS is served in plaintext. */
  readonly plaintextToo?: boolean;
  /** How callers are looked at. Default: their certificates are verified. */
  readonly callers?: "not at all" | "by any certificate" | "by the name of their authority";
  /** The oldest version that is spoken. Default: TLS 1.2. */
  readonly oldest?: SecureVersion;
}

/** A provider of a socket as it is reached over TLS. */
export interface TlsFront {
  readonly endpoint: string;
  /** With which it is reached. */
  readonly tls: TlsFiles;
  readonly close: () => Promise<void>;
}

/** First byte of a TLS record that begins a handshake (RFC 8446, section 5.1). */
const handshakeRecord = 0x16;

/** Serves what is at a socket at a port of loopback, over TLS with certificates of its own in the directory. */
export const startTlsFront = async (socketPath: string, directory: string, fault: TlsFault): Promise<TlsFront> => {
  const { endpoint, tls, environment } = await tlsPlace(directory);
  if (endpoint.kind === "unix") throw new TypeError("a place over TLS is no socket");
  const open = new Set<Socket>();
  const pass = (from: Socket): void => {
    const to = connect(socketPath);
    for (const [socket, other] of [[from, to] as const, [to, from] as const]) {
      open.add(socket);
      socket.on("error", () => other.destroy());
      socket.once("close", () => {
        open.delete(socket);
        other.destroy();
      });
    }
    from.pipe(to).pipe(from);
  };
  const secure = await secureServer(environment, fault, pass);
  // What HTTP/2 writes are small pieces that must not wait for each other.
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on("error", () => undefined);
    socket.once("readable", () => {
      const first: unknown = socket.read(1);
      if (!Buffer.isBuffer(first)) return void socket.destroy();
      socket.unshift(first);
      if (fault.plaintextToo === true && first[0] !== handshakeRecord) return pass(socket);
      secure.emit("connection", socket);
    });
  });
  await listen(server, endpoint.port, endpoint.host);
  return {
    endpoint: `tcp://${endpoint.host}:${endpoint.port}`,
    tls,
    close: async () => {
      for (const socket of open) socket.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
};

/** Takes connections from the other server, and reports those whose client is accepted. */
const secureServer = async (
  environment: Readonly<Record<string, string>>,
  { callers, oldest = "TLSv1.2" }: TlsFault,
  pass: (socket: Socket) => void,
) => {
  const read = (name: string): Promise<Buffer> => readFile(environment[`CLOUD_PROVIDER_TLS_${name}_FILE`] ?? "");
  const [cert, key, ca = Buffer.alloc(0)] = await Promise.all(["CERT", "KEY", "CLIENT_CA"].map(read));
  const authority = new X509Certificate(ca).subject;
  const secure = createTlsServer({
    cert,
    key,
    ca,
    minVersion: oldest,
    // What is older than TLS 1.2 is spoken at this level of OpenSSL's only.
    ...(oldest !== "TLSv1.2" && { ciphers: "ALL:@SECLEVEL=0" }),
    requestCert: callers !== "not at all",
    rejectUnauthorized: callers === undefined,
    ALPNProtocols: ["h2"],
  });
  secure.on("secureConnection", (socket) => {
    socket.on("error", () => undefined);
    const shown = socket.getPeerX509Certificate();
    const isRefused =
      (callers === "by any certificate" && shown === undefined) ||
      (callers === "by the name of their authority" && shown?.issuer !== authority);
    if (isRefused) socket.destroy();
    else pass(socket);
  });
  return secure;
};

const listen = (server: Server, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
