import { lookup } from "node:dns/promises";
import { lstat } from "node:fs/promises";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { type Socket, connect, connect as connectTcp, isIP } from "node:net";
import { type TLSSocket, checkServerIdentity, connect as connectTls } from "node:tls";
import type { ProviderAddress, TlsMaterial } from "./address.ts";

/** What is wrong with a host that no gRPC connection comes about with. */
export interface RemoteFinding {
  readonly reason:
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
  /** What is wrong, where, and what to do; one line. */
  readonly message: string;
}

/** Whom to look at, and how we would speak with it. */
export interface RemoteProbe {
  readonly address: Extract<ProviderAddress, { readonly kind: "tcp" }>;
  /** As an operator wrote it, for messages. */
  readonly shown: string;
  /** undefined: plaintext. */
  readonly material: TlsMaterial | undefined;
  readonly serverName: string | undefined;
  readonly timeoutMs: number;
}

/** Alerts of OpenSSL that speak of a certificate which was shown, or was not: ours. */
const CLIENT_REFUSED = /^ERR_SSL_.*(?:CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE)/;

/** Looks why nothing connects to a host; undefined when a gRPC server could well be there. Never rejects. */
export async function probeRemote(probe: RemoteProbe): Promise<RemoteFinding | undefined> {
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
  // In TLS 1.3 a client is done before the server has looked at its certificate: a refusal is an end right after.
  return (await speaksHttp2(secure, timeoutMs)) ? undefined : clientRefused(shown);
}

/** A socket to that IP address of the host, or what is wrong. */
function connected(probe: RemoteProbe, host: string): Promise<Socket | RemoteFinding> {
  return new Promise((resolve) => {
    const socket = connectTcp({ host, port: probe.address.port });
    const finish = (result: Socket | RemoteFinding): void => {
      clearTimeout(timer);
      if (result !== socket) socket.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => finish(unreachable(probe, "ETIMEDOUT")), probe.timeoutMs);
    socket.once("connect", () => finish(socket));
    socket.once("error", (error) => finish(unreachable(probe, codeOf(error))));
  });
}

function secured(probe: RemoteProbe, material: TlsMaterial, socket: Socket): Promise<TLSSocket | RemoteFinding> {
  const { address, serverName, shown, timeoutMs } = probe;
  const name = serverName ?? address.host;
  return new Promise((resolve) => {
    const { ca, cert, key } = material;
    const sni = isIP(name) === 0 ? { servername: name } : {};
    const checked = (_host: string, certificate: Parameters<typeof checkServerIdentity>[1]): Error | undefined =>
      checkServerIdentity(name, certificate);
    const secure = connectTls({ socket, ca, cert, key, ...sni, checkServerIdentity: checked, ALPNProtocols: ["h2"] });
    const finish = (result: TLSSocket | RemoteFinding): void => {
      clearTimeout(timer);
      if (result !== secure) secure.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => finish(notTls(shown, "ETIMEDOUT")), timeoutMs);
    secure.once("secureConnect", () => finish(secure));
    secure.on("error", (error) => finish(tlsFinding(probe, name, error)));
    secure.once("close", () => finish(clientRefused(shown)));
  });
}

function tlsFinding({ shown }: RemoteProbe, name: string, error: Error): RemoteFinding {
  const code = codeOf(error);
  switch (code) {
    case "CERT_HAS_EXPIRED":
    case "CERT_NOT_YET_VALID":
      return {
        reason: "CertificateExpired",
        message: `${shown}: the provider's certificate, or its authority's, is not valid at this time (${code}); renew it, and compare the clocks of both machines`,
      };
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return {
        reason: "CertificateNameMismatch",
        message: `${shown}: the provider's certificate is not for "${name}"; give it that name, or say in server-name= which one it has`,
      };
    case "INVALID_PURPOSE":
      return {
        reason: "CertificateUsageMismatch",
        message: `${shown}: the provider's certificate, or its authority's, is not for this use (${code}); sign the provider's for server use (extended key usage serverAuth) by an authority that may sign`,
      };
    case "ECONNRESET":
    case "EPIPE":
      return clientRefused(shown);
  }
  if (CLIENT_REFUSED.test(code)) return clientRefused(shown);
  if (code === "EPROTO" || code.startsWith("ERR_SSL_")) return notTls(shown, code);
  return {
    reason: "CertificateUntrusted",
    message: `${shown}: the provider's certificate is signed by no authority of ca= (${code}); put the authority that signed it into that file`,
  };
}

function hostNotFound({ address, shown }: RemoteProbe, code: string): RemoteFinding {
  return {
    reason: "HostNotFound",
    message: `${shown}: no address is known for the name ${address.host} (${code}); check the name, and the DNS of this pod`,
  };
}

function unreachable({ shown }: RemoteProbe, code: string): RemoteFinding {
  if (code === "ECONNREFUSED") {
    return {
      reason: "ConnectionRefused",
      message: `${shown}: the host is there and nothing listens on that port; is the provider running, and is the port right?`,
    };
  }
  return {
    reason: "HostUnreachable",
    message: `${shown} cannot be reached (${code}); check routes, firewalls and network policies between this pod and the provider`,
  };
}

function clientRefused(shown: string): RemoteFinding {
  return {
    reason: "ClientCertificateRejected",
    message: `${shown} closed the connection once it had seen our certificate; it must be signed by an authority that the provider knows (CLOUD_PROVIDER_TLS_CLIENT_CA_FILE), for client use, and be valid`,
  };
}

function notTls(shown: string, code: string): RemoteFinding {
  return {
    reason: "NotTLS",
    message: `${shown} answers, but not with TLS 1.2 or newer (${code}); check the port, and that the provider serves with its certificate`,
  };
}

function notGrpc(shown: string): RemoteFinding {
  return {
    reason: "NotGRPC",
    message: `${shown} answers but is not a gRPC server; check that the address is the provider's`,
  };
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown";
}

/** What is wrong with a socket that no gRPC connection comes about with. */
export interface SocketFinding {
  readonly reason: "SocketMissing" | "SocketConnectionRefused" | "SocketPermissionDenied" | "NotASocket" | "NotGRPC";
  /** What is wrong, where, and what to do; one line. */
  readonly message: string;
}

/** Looks why nothing connects to the socket at `path`; undefined when a gRPC server could well be there. Never rejects. */
export async function probeSocket(path: string, userId: number | undefined): Promise<SocketFinding | undefined> {
  const connected = await statProblem(path, userId).then((problem) => problem ?? tryConnect(path, userId));
  if (!("destroy" in connected)) return connected;
  if (await speaksHttp2(connected)) return undefined;
  const message = `${path} answers but is not a gRPC server; check that the address is the provider's socket`;
  return { reason: "NotGRPC", message };
}

async function statProblem(path: string, userId: number | undefined): Promise<SocketFinding | undefined> {
  try {
    const stats = await lstat(path);
    if (stats.isSocket() || stats.isSymbolicLink()) return undefined;
    return { reason: "NotASocket", message: `${path} is not a socket; check the provider's address` };
  } catch (error) {
    return findingOf(error, path, userId);
  }
}

function tryConnect(path: string, userId: number | undefined): Promise<Socket | SocketFinding> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => resolve(socket));
    socket.once("error", (error) => resolve(findingOf(error, path, userId)));
  });
}

function findingOf(error: unknown, path: string, userId: number | undefined): SocketFinding {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      return {
        reason: "SocketMissing",
        message: `${path} does not exist; is the provider running, and do both containers mount the same directory?`,
      };
    case "EACCES":
    case "EPERM":
      return {
        reason: "SocketPermissionDenied",
        message: `${path}: permission denied for user ${userId}; give the socket and its directory a group that this process has (fsGroup)`,
      };
    default:
      return {
        reason: "SocketConnectionRefused",
        message: `${path} exists but no process serves it (${String(code)}); is the provider running?`,
      };
  }
}

/** How long a server may take to show that it speaks HTTP/2; a gRPC server does at once. */
const HTTP2_TIMEOUT_MS = 1000;

/** Whether the other end of a connected socket speaks HTTP/2; the socket is closed after. */
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
