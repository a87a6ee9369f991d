import { lookup } from "node:dns/promises";
import { lstat } from "node:fs/promises";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { type Socket, connect, connect as connectTcp, isIP } from "node:net";
import { type TLSSocket, checkServerIdentity, connect as connectTls } from "node:tls";
import type { ProviderAddress, TlsMaterial } from "./address.ts";

/** Why no gRPC connection is established. */
export interface Finding {
  readonly reason:
    | "SocketMissing"
    | "SocketConnectionRefused"
    | "SocketPermissionDenied"
    | "NotASocket"
    | "HostNotFound"
    | "ConnectionRefused"
    | "HostUnreachable"
    | "CertificateExpired"
    | "CertificateUntrusted"
    | "CertificateNameMismatch"
    | "CertificateUsageMismatch"
    | "ClientCertificateRejected"
    | "NotTLS"
    | "NotGRPC";
  /** One line: the problem, where, and how to fix it. */
  readonly message: string;
}

/** The host and our side of the connection. */
export interface RemoteProbe {
  readonly address: Extract<ProviderAddress, { readonly kind: "tcp" }>;
  /** The configured address, for messages. */
  readonly shown: string;
  /** undefined: plaintext. */
  readonly material: TlsMaterial | undefined;
  readonly serverName: string | undefined;
  readonly timeoutMs: number;
}

/** OpenSSL alerts that reject our certificate. */
const CLIENT_REJECTED = /^ERR_SSL_.*(?:CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE)/;

/** Diagnoses a host; undefined: a gRPC server may be there. Never rejects. */
export async function probeRemote(probe: RemoteProbe): Promise<Finding | undefined> {
  const { address, shown, material, timeoutMs } = probe;
  const found = await lookup(address.host).catch((error: unknown) => codeOf(error));
  if (typeof found === "string") return hostNotFound(probe, found);
  const socket = await connected(probe, found.address);
  if (!("destroy" in socket)) return socket;
  if (material === undefined) {
    return (await speaksHttp2(socket, timeoutMs)) ? undefined : notGrpc(shown);
  }
  const secure = await secured(probe, material, socket);
  if (!("destroy" in secure)) return secure;
  if (secure.alpnProtocol !== "h2") {
    secure.destroy();
    return notGrpc(shown);
  }
  // In TLS 1.3 the client finishes before the server checks its certificate: a rejection closes the connection afterwards.
  return (await speaksHttp2(secure, timeoutMs)) ? undefined : clientRejected(shown);
}

/** A socket to that IP address, or the problem. */
function connected(probe: RemoteProbe, host: string): Promise<Socket | Finding> {
  return new Promise((resolve) => {
    const socket = connectTcp({ host, port: probe.address.port });
    const finish = (result: Socket | Finding): void => {
      clearTimeout(timer);
      if (result !== socket) socket.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => finish(unreachable(probe, "ETIMEDOUT")), probe.timeoutMs);
    socket.once("connect", () => finish(socket));
    socket.once("error", (error) => finish(unreachable(probe, codeOf(error))));
  });
}

function secured(probe: RemoteProbe, material: TlsMaterial, socket: Socket): Promise<TLSSocket | Finding> {
  const { address, serverName, shown, timeoutMs } = probe;
  const name = serverName ?? address.host;
  return new Promise((resolve) => {
    const { ca, cert, key } = material;
    const sni = isIP(name) === 0 ? { servername: name } : {};
    const checked = (_host: string, certificate: Parameters<typeof checkServerIdentity>[1]): Error | undefined =>
      checkServerIdentity(name, certificate);
    const secure = connectTls({ socket, ca, cert, key, ...sni, checkServerIdentity: checked, ALPNProtocols: ["h2"] });
    const finish = (result: TLSSocket | Finding): void => {
      clearTimeout(timer);
      if (result !== secure) secure.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => finish(notTls(shown, "ETIMEDOUT")), timeoutMs);
    secure.once("secureConnect", () => finish(secure));
    secure.on("error", (error) => finish(tlsFinding(probe, name, error)));
    secure.once("close", () => finish(clientRejected(shown)));
  });
}

function tlsFinding({ shown }: RemoteProbe, name: string, error: Error): Finding {
  const code = codeOf(error);
  switch (code) {
    case "CERT_HAS_EXPIRED":
    case "CERT_NOT_YET_VALID": {
      const problem = `the certificate of the provider or its CA is not valid at this time (${code})`;
      return finding("CertificateExpired", `${shown}: ${problem}; renew it, and compare the clocks of both machines`);
    }
    case "ERR_TLS_CERT_ALTNAME_INVALID": {
      const problem = `the provider's certificate is not for "${name}"`;
      return finding("CertificateNameMismatch", `${shown}: ${problem}; add that name, or set server-name= to its name`);
    }
    case "INVALID_PURPOSE": {
      const problem = `the certificate of the provider or its CA does not allow this use (${code})`;
      const fix = "issue the provider's for server use (extended key usage serverAuth) by a CA that may sign";
      return finding("CertificateUsageMismatch", `${shown}: ${problem}; ${fix}`);
    }
    case "ECONNRESET":
    case "EPIPE":
      return clientRejected(shown);
  }
  if (CLIENT_REJECTED.test(code)) return clientRejected(shown);
  if (code === "EPROTO" || code.startsWith("ERR_SSL_")) return notTls(shown, code);
  const problem = `no CA certificate in ca= signed the provider's certificate (${code})`;
  return finding("CertificateUntrusted", `${shown}: ${problem}; add the CA certificate to that file`);
}

function finding(reason: Finding["reason"], message: string): Finding {
  return { reason, message };
}

function hostNotFound({ address, shown }: RemoteProbe, code: string): Finding {
  const message = `${shown}: the name ${address.host} does not resolve (${code}); check the name and the DNS of this pod`;
  return finding("HostNotFound", message);
}

function unreachable({ shown }: RemoteProbe, code: string): Finding {
  if (code === "ECONNREFUSED") {
    const problem = "the host is up, but nothing listens on that port";
    return finding("ConnectionRefused", `${shown}: ${problem}; is the provider running, and is the port right?`);
  }
  const fix = "check routes, firewalls and network policies between this pod and the provider";
  return finding("HostUnreachable", `${shown} cannot be reached (${code}); ${fix}`);
}

function clientRejected(shown: string): Finding {
  const need = "it must be valid, for client use, and signed by a CA that the provider trusts";
  const message = `${shown} closed the connection after it received our certificate; ${need} (CLOUD_PROVIDER_TLS_CLIENT_CA_FILE)`;
  return finding("ClientCertificateRejected", message);
}

function notTls(shown: string, code: string): Finding {
  const fix = "check the port, and that the provider serves with its certificate";
  return finding("NotTLS", `${shown} responds, but not with TLS 1.2 or newer (${code}); ${fix}`);
}

function notGrpc(shown: string): Finding {
  return finding("NotGRPC", `${shown} responds but is not a gRPC server; check that the address is the provider's`);
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown";
}

/** Diagnoses the socket at `path`; undefined: a gRPC server may be there. Never rejects. */
export async function probeSocket(path: string, userId: number | undefined): Promise<Finding | undefined> {
  const connected = await statProblem(path, userId).then((problem) => problem ?? tryConnect(path, userId));
  if (!("destroy" in connected)) return connected;
  if (await speaksHttp2(connected)) return undefined;
  return finding(
    "NotGRPC",
    `${path} responds but is not a gRPC server; check that the address is the provider's socket`,
  );
}

async function statProblem(path: string, userId: number | undefined): Promise<Finding | undefined> {
  try {
    const stats = await lstat(path);
    if (stats.isSocket() || stats.isSymbolicLink()) return undefined;
    return finding("NotASocket", `${path} is not a socket; check the provider's address`);
  } catch (error) {
    return findingOf(error, path, userId);
  }
}

function tryConnect(path: string, userId: number | undefined): Promise<Socket | Finding> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => resolve(socket));
    socket.once("error", (error) => resolve(findingOf(error, path, userId)));
  });
}

function findingOf(error: unknown, path: string, userId: number | undefined): Finding {
  const code = error instanceof Error && "code" in error ? String(error.code) : "undefined";
  if (code === "ENOENT" || code === "ENOTDIR") {
    const fix = "is the provider running, and do both containers mount the same directory?";
    return finding("SocketMissing", `${path} does not exist; ${fix}`);
  }
  if (code === "EACCES" || code === "EPERM") {
    const fix = "give the socket and its directory a group of this process (fsGroup)";
    return finding("SocketPermissionDenied", `${path}: permission denied for user ${userId}; ${fix}`);
  }
  const problem = `exists but no process serves it (${code})`;
  return finding("SocketConnectionRefused", `${path} ${problem}; is the provider running?`);
}

/** Time limit for the HTTP/2 settings; a gRPC server sends them immediately. */
const HTTP2_TIMEOUT_MS = 1000;

/** Whether the peer speaks HTTP/2; closes the socket. */
function speaksHttp2(socket: Socket, timeoutMs = HTTP2_TIMEOUT_MS): Promise<boolean> {
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
