// `helm test`: every replica behind the Service says that it can do its work, or why it cannot.
import { lookup } from "node:dns/promises";
import { get } from "node:https";
import process from "node:process";
import { setTimeout } from "node:timers/promises";

const PATIENCE_MS = Number(process.env.PATIENCE_MS ?? 60_000);
const EVERY_MS = 1000;
const { HOST = "", PORT = "" } = process.env;

/** What the replica at the address says; a certificate of its own making proves nothing, and nothing secret is asked. */
const ask = (address) =>
  new Promise((resolve, reject) => {
    const request = get(
      { host: address, port: PORT, path: "/readyz", rejectUnauthorized: false, timeout: 5000 },
      (answer) => {
        let text = "";
        answer.setEncoding("utf8");
        answer.on("data", (part) => (text += part));
        answer.once("end", () => resolve({ address, isReady: answer.statusCode === 200, text }));
      },
    );
    request.once("timeout", () => request.destroy(new Error(`${address} does not answer`)));
    request.once("error", reject);
  });

const look = async () => {
  const addresses = await lookup(HOST, { all: true });
  return Promise.all(addresses.map(({ address }) => ask(address)));
};

const deadlineMs = performance.now() + PATIENCE_MS;
let reason = "";
while (performance.now() < deadlineMs) {
  try {
    const replicas = await look();
    const waiting = replicas.filter(({ isReady }) => !isReady);
    if (replicas.length > 0 && waiting.length === 0) {
      console.log(`${replicas.length} of ${replicas.length} replicas are ready.`);
      process.exit(0);
    }
    reason = waiting.map(({ address, text }) => `${address} is not ready:\n${text}`).join("\n");
  } catch (error) {
    reason = `${HOST}:${PORT} does not answer: ${error.message}`;
  }
  await setTimeout(EVERY_MS);
}
console.error(reason);
process.exit(1);
