import { lstat } from "node:fs/promises";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";

/** What is wrong with a socket that no gRPC connection comes about with. */
export interface SocketFinding {
  readonly reason: "SocketMissing" | "SocketRefused" | "SocketForbidden" | "NotASocket" | "NotGrpc";
  /** What is wrong, where, and what to do; one line. */
  readonly message: string;
}

/** How long a server may take to show that it speaks HTTP/2; a gRPC server does at once. */
const HTTP2_TIMEOUT_MS = 1000;

/** Looks why nothing connects to the socket at `path`; undefined when a gRPC server could well be there. Never rejects. */
export async function probeSocket(path: string): Promise<SocketFinding | undefined> {
  const connected = await statProblem(path).then((problem) => problem ?? tryConnect(path));
  if (!("destroy" in connected)) return connected;
  if (await speaksHttp2(connected)) return undefined;
  const message = `${path} answers but is not a gRPC server; check that the address is the provider's socket`;
  return { reason: "NotGrpc", message };
}

async function statProblem(path: string): Promise<SocketFinding | undefined> {
  try {
    const stats = await lstat(path);
    if (stats.isSocket() || stats.isSymbolicLink()) return undefined;
    return { reason: "NotASocket", message: `${path} is not a socket; check the provider's address` };
  } catch (error) {
    return findingOf(error, path);
  }
}

function tryConnect(path: string): Promise<Socket | SocketFinding> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => resolve(socket));
    socket.once("error", (error) => resolve(findingOf(error, path)));
  });
}

function speaksHttp2(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    const session: ClientHttp2Session = connectHttp2("http://localhost", { createConnection: () => socket });
    const finish = (speaks: boolean): void => {
      clearTimeout(timer);
      session.destroy();
      socket.destroy();
      resolve(speaks);
    };
    const timer = setTimeout(() => finish(false), HTTP2_TIMEOUT_MS);
    session.once("remoteSettings", () => finish(true));
    session.on("error", () => finish(false));
    session.once("close", () => finish(false));
  });
}

function findingOf(error: unknown, path: string): SocketFinding {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      return {
        reason: "SocketMissing",
        message: `${path} does not exist; is the provider running, and do both containers mount the same folder?`,
      };
    case "EACCES":
    case "EPERM":
      return {
        reason: "SocketForbidden",
        message: `${path}: permission denied for user ${process.getuid?.()}; give the socket and its folder a group that this process has (fsGroup)`,
      };
    default:
      return {
        reason: "SocketRefused",
        message: `${path} exists but no process serves it (${String(code)}); is the provider running?`,
      };
  }
}
