import type { IncomingMessage, RequestOptions } from "node:http";
import { Duplex } from "node:stream";
import { WebSocket } from "ws";
import { CommandError, messageOf } from "../errors.ts";
import { type PodPort, ruleOf } from "./kube-api.ts";
import { textAt } from "./json.ts";
import { textOf } from "./send.ts";

export interface PortForwardDependencies {
  readonly server: string;
  /** From a kubeconfig, by client-node. */
  readonly options: RequestOptions;
  readonly pod: PodPort;
  readonly signal: AbortSignal;
}

/** Kubernetes' byte channels over a WebSocket: the first byte of each message is the channel (cri-streaming, portforward/websocket.go v0.36.3). */
const PROTOCOL = "v4.channel.k8s.io";
const DATA = 0;
const ERROR = 1;
/** Each channel begins with the port number. */
const PREFIX_BYTES = 2;

const CONNECT_MS = 15_000;

/**
 * Connects to a port of a pod through API server and kubelet. client-node's PortForward reports neither the status of a rejection nor the
 * end of the connection.
 */
export async function openPortForward({ server, options, pod, signal }: PortForwardDependencies): Promise<Duplex> {
  const { namespace, name, port } = pod;
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}/portforward`;
  const url = `${server.replace(/^http/, "ws")}${path}?ports=${port}`;
  const socket = new WebSocket(url, [PROTOCOL], { ...options, handshakeTimeout: CONNECT_MS });
  const abort = (): void => socket.terminate();
  signal.addEventListener("abort", abort, { once: true });
  socket.once("close", () => signal.removeEventListener("abort", abort));
  // Before it is open: the first messages may arrive with the response.
  const stream = streamOf(socket, pod);
  await opened(socket, pod);
  return stream;
}

function opened(socket: WebSocket, pod: PodPort): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once("open", resolve);
  socket.once("unexpected-response", (_request: unknown, response: IncomingMessage) => {
    void rejection(response, pod)
      .then(reject, reject)
      .finally(() => socket.terminate());
  });
  socket.once("error", (error) => {
    reject(
      new CommandError(
        "CONTROLLER_UNREACHABLE",
        `cannot reach port ${pod.port} of ${nameOf(pod)}: ${messageOf(error)}`,
        { cause: error },
      ),
    );
  });
  return promise;
}

async function rejection(response: IncomingMessage, pod: PodPort): Promise<CommandError> {
  const { statusCode = 0 } = response;
  const text = await textOf(response, 1e6, CONNECT_MS);
  let message = text.slice(0, 300);
  try {
    message = textAt(JSON.parse(text), "message") || message;
  } catch {
    // The page of a proxy: its beginning is shown.
  }
  const permission = { apiGroup: "", resource: "pods/portforward", verbs: ["get", "create"], namespace: pod.namespace };
  if (statusCode === 403)
    return new CommandError(
      "API_SERVER_FORBIDDEN",
      `permission denied by the API server: ${message}; you need ${ruleOf(permission)}`,
    );
  const advice = statusCode === 404 ? "; check --namespace and --pod" : "";
  return new CommandError(
    "CONTROLLER_UNREACHABLE",
    `the API server rejected the connection to ${nameOf(pod)} (${statusCode}): ${message}${advice}`,
  );
}

function streamOf(socket: WebSocket, pod: PodPort): Duplex {
  const seen = new Map([
    [DATA, 0],
    [ERROR, 0],
  ]);
  let isOpen = false;
  const stream = new Duplex({
    read: () => {
      if (isOpen) socket.resume();
    },
    write: (chunk: Buffer, _encoding, done) => socket.send(Buffer.concat([Buffer.of(DATA), chunk]), done),
    final: (done) => {
      socket.close();
      done();
    },
    destroy: (error, done) => {
      socket.terminate();
      done(error);
    },
  });
  socket.once("open", () => {
    isOpen = true;
  });
  socket.on("message", (data) => {
    const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.isBuffer(data) ? data : Buffer.from(data);
    const channel = bytes[0] ?? DATA;
    const before = seen.get(channel) ?? 0;
    const payload = bytes.subarray(1);
    const rest = payload.subarray(Math.max(0, PREFIX_BYTES - before));
    seen.set(channel, before + payload.length);
    if (rest.length === 0) return;
    if (channel === ERROR) stream.destroy(new Error(`${nameOf(pod)}: ${rest.toString("utf8")}`));
    else if (!stream.push(rest)) socket.pause();
  });
  socket.on("close", () => stream.push(null));
  socket.on("error", (error) => stream.destroy(error));
  // Reaches the caller that waits for the connection; later users have their own listener.
  stream.on("error", () => undefined);
  return stream;
}

function nameOf({ namespace, name }: PodPort): string {
  return `pod ${namespace}/${name}`;
}
