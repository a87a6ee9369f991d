import { Agent, request } from "node:http";
import { text } from "node:stream/consumers";
import { ControlPlaneError } from "../errors.ts";

/** Thousands of connections at once are more than the socket's queue takes. */
const maxConnections = 8;

/** etcd's own HTTP gateway, for what kube-apiserver does not let be written. */
export class Etcd {
  readonly #socketPath: string;
  readonly #agent = new Agent({ maxSockets: maxConnections });

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  async put(key: string, value: string): Promise<void> {
    const body = JSON.stringify({ key: base64(key), value: base64(value) });
    const [status, answer] = await new Promise<readonly [number, string]>((resolve, reject) => {
      request({ socketPath: this.#socketPath, agent: this.#agent, path: "/v3/kv/put", method: "POST" }, (response) => {
        text(response).then((answer) => resolve([response.statusCode ?? 0, answer]), reject);
      })
        .on("error", reject)
        .end(body);
    });
    if (status !== 200)
      throw new ControlPlaneError("UNEXPECTED_CONTENT", `put ${key} into etcd: HTTP ${status} ${answer}`);
  }
}

function base64(value: string): string {
  return Buffer.from(value).toString("base64");
}
