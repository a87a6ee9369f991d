// Sends HTTP requests without pause, each over a connection of its own, until its input ends; then prints what came of them as JSON. Arguments: address, port.
import { request } from "node:http";
import { argv, stdin, stdout } from "node:process";

const [, , host = "", portText = ""] = argv;
const atOnce = 4;
const allowedMs = 10_000;
const failures: string[] = [];
const answers = new Map<string, number>();
const over = new AbortController();

const ask = (): Promise<void> =>
  new Promise((resolve) => {
    const fail = ({ message }: Error): void => {
      failures.push(message);
      resolve();
    };
    const outgoing = request({ host, port: Number(portText), agent: false, timeout: allowedMs }, (incoming) => {
      let text = "";
      incoming.on("data", (chunk) => {
        text += String(chunk);
      });
      incoming.once("error", fail);
      incoming.once("end", () => {
        const name = text.split(" ")[0] ?? "";
        const count = (answers.get(name) ?? 0) + 1;
        answers.set(name, count);
        if (count % 50 === 1) stdout.write(`answered ${name} ${count}\n`);
        resolve();
      });
    });
    outgoing.once("timeout", () => outgoing.destroy(new Error(`no answer within ${allowedMs} ms`)));
    outgoing.once("error", fail);
    outgoing.end();
  });

const worker = async (): Promise<void> => {
  while (!over.signal.aborted) await ask();
};

stdin.resume().once("end", () => {
  over.abort();
});
await Promise.all(Array.from({ length: atOnce }, worker));
stdout.write(`result ${JSON.stringify({ answers: Object.fromEntries(answers), failures })}\n`);
