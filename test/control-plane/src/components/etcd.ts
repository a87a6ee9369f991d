import { Agent, request } from "node:http";
import { text } from "node:stream/consumers";
import { ControlPlaneError } from "../errors.ts";

/** The backlog of the socket is too small for thousands of connections. */
const maxConnections = 8;

/** etcd's HTTP gateway, to write objects that kube-apiserver rejects. */
export class Etcd {
  readonly #socketPath: string;
  readonly #agent = new Agent({ maxSockets: maxConnections });

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  async put(key: string, value: string): Promise<void> {
    const body = JSON.stringify({ key: base64(key), value: base64(value) });
    const [status, responseText] = await new Promise<readonly [number, string]>((resolve, reject) => {
      request({ socketPath: this.#socketPath, agent: this.#agent, path: "/v3/kv/put", method: "POST" }, (response) => {
        text(response).then((received) => resolve([response.statusCode ?? 0, received]), reject);
      })
        .on("error", reject)
        .end(body);
    });
    if (status !== 200)
      throw new ControlPlaneError("UNEXPECTED_CONTENT", `put ${key} into etcd: HTTP ${status} ${responseText}`);
  }
}

function base64(value: string): string {
  return Buffer.from(value).toString("base64");
}
