import { Agent } from "node:http";
import { Duplex } from "node:stream";
import { connect, type TLSSocket } from "node:tls";
import { CommandError, messageOf } from "../errors.ts";
import { type Connection, type RequestChoice, headersOf, signalOf } from "./connection.ts";
import type { Credentials, KubeApi, PodPort } from "./kube-api.ts";
import { send } from "./send.ts";

export interface PodDependencies extends RequestChoice {
  readonly kube: KubeApi;
  readonly pod: PodPort;
  readonly credentials: Credentials;
}

/** Name in self-signed certificates of controllers. */
const OWN_NAME = "localhost";

const CLOSED = "the connection was closed immediately";

/**
 * Connects to a controller in a pod through the API server. API server and kubelet authenticate the pod, so the controller's self-signed
 * certificate is verified only against CAs that the user specifies (docs/decisions/0025).
 */
export function podConnection({
  kube,
  pod,
  credentials,
  ca,
  servername,
  timeoutMs,
  ending,
}: PodDependencies): Connection {
  const closing = new AbortController();
  const secure = async (): Promise<TLSSocket> => {
    const { certificate, key } = credentials;
    const stream = await kube.portForward(pod, closing.signal);
    // If it has ended already, the TLS handshake would wait forever.
    if (stream.destroyed) throw stream.errored ?? new Error(CLOSED);
    const socket = connect({
      socket: stream,
      servername: servername ?? OWN_NAME,
      rejectUnauthorized: ca !== undefined,
      ...(ca === undefined ? {} : { ca }),
      ...(certificate === undefined || key === undefined ? {} : { cert: certificate, key }),
    });
    const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
    // Without a listener a kubelet may only close the stream, which TLS does not report. Errors of TLS itself take precedence.
    const closed = (): void => void socket.destroy(new Error(CLOSED));
    for (const event of ["end", "close"]) stream.once(event, closed);
    // Several errors may come; later users of the connection have their own listener.
    socket.on("error", reject);
    socket.once("secureConnect", () => {
      for (const event of ["end", "close"]) stream.off(event, closed);
      resolve(socket);
    });
    return promise;
  };
  const agent = new ForwardingAgent(secure);
  const name = `pod ${pod.namespace}/${pod.name}`;
  return {
    description: `${name} through ${kube.server}`,
    timeoutMs,
    get: async (path, { headers = {}, signal: own, timeoutMs: ownMs = timeoutMs } = {}) => {
      const url = new URL(path, `http://${OWN_NAME}:${pod.port}`);
      const all = { ...headersOf(credentials), ...headers };
      const signal = signalOf({ ending }, own);
      try {
        return await send({ url, method: "GET", headers: all, options: {}, agent, signal, timeoutMs: ownMs });
      } catch (error) {
        if (error instanceof CommandError) throw error;
        throw new CommandError(
          "CONTROLLER_UNREACHABLE",
          `the controller in ${name} does not respond on port ${pod.port}: ${messageOf(error)}`,
          { cause: error },
        );
      }
    },
    close: async () => {
      agent.destroy();
      closing.abort();
    },
  };
}

/** An HTTP agent whose connections come from `open` and are reused. */
class ForwardingAgent extends Agent {
  readonly #open: () => Promise<Duplex>;

  constructor(open: () => Promise<Duplex>) {
    super({ keepAlive: true });
    this.#open = open;
  }

  override createConnection(
    _options: object,
    done: (error: Error | null, stream: Duplex) => void = () => undefined,
  ): undefined {
    void this.#connect(done);
  }

  async #connect(done: (error: Error | null, stream: Duplex) => void): Promise<void> {
    let stream: Duplex;
    try {
      stream = await this.#open();
    } catch (error) {
      // The types of Node require a stream; with an error, it is ignored.
      done(error instanceof Error ? error : new Error(String(error)), new Duplex());
      return;
    }
    done(null, stream);
  }
}
