import { lstat } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { speaksHttp2 } from "./http2-probe.ts";

/** What is wrong with a socket that no gRPC connection comes about with. */
export interface SocketFinding {
  readonly reason: "SocketMissing" | "SocketRefused" | "SocketForbidden" | "NotASocket" | "NotGrpc";
  /** What is wrong, where, and what to do; one line. */
  readonly message: string;
}

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
