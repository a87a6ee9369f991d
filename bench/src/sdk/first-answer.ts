import http2 from "node:http2";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** Interval of the tries, and so the resolution of the measurement. */
const everyMs = 2;

/** Waits until the provider on this socket responds to a gRPC health check; rejects when the signal is aborted. */
export async function firstAnswer(socketPath: string, signal: AbortSignal): Promise<void> {
  while (!(await answersHealth(socketPath))) await sleep(everyMs, undefined, { signal });
}

/** grpc.health.v1.Health/Check of "", in the fewest bytes: an empty message behind its five bytes of length. */
const answersHealth = (socketPath: string): Promise<boolean> =>
  new Promise((resolve) => {
    const session = http2.connect("http://localhost", { createConnection: () => connect({ path: socketPath }) });
    const settle = (answered: boolean) => {
      session.destroy();
      resolve(answered);
    };
    session.on("error", () => settle(false));
    session.on("connect", () => {
      const call = session.request({
        ":method": "POST",
        ":path": "/grpc.health.v1.Health/Check",
        "content-type": "application/grpc",
        te: "trailers",
      });
      call.on("error", () => settle(false));
      call.on("trailers", (trailers) => settle(trailers["grpc-status"] === "0"));
      call.on("end", () => settle(false));
      call.resume();
      call.end(Buffer.alloc(5));
    });
  });
