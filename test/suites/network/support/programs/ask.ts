// Sends one request and prints the response: `tcp` by HTTP, `udp` by datagrams from one socket. Arguments: tcp or udp, address, port, times.
import { createSocket } from "node:dgram";
import { request } from "node:http";
import { isIPv6 } from "node:net";
import { argv, stdout } from "node:process";

const [, , kind = "tcp", host = "", portText = "", times = "1"] = argv;
const port = Number(portText);
const allowedMs = 3_000;

const byHttp = (): Promise<string> =>
  new Promise((resolve) => {
    const outgoing = request({ host, port, agent: false, timeout: allowedMs }, (incoming) => {
      let text = "";
      incoming.on("data", (chunk) => {
        text += String(chunk);
      });
      incoming.once("end", () => resolve(text));
    });
    outgoing.once("timeout", () => outgoing.destroy(new Error("timed out")));
    outgoing.once("error", ({ message }) => resolve(`failed: ${message}`));
    outgoing.end();
  });

const byUdp = (): Promise<string> =>
  new Promise((resolve) => {
    const socket = createSocket(isIPv6(host) ? "udp6" : "udp4");
    const done = (text: string): void => {
      clearTimeout(timer);
      socket.close();
      resolve(text);
    };
    const timer = setTimeout(() => done("failed: no answer"), allowedMs);
    socket.once("message", (message) => done(message.toString()));
    socket.once("error", ({ message }) => done(`failed: ${message}`));
    socket.connect(port, host, () => socket.send("hello"));
  });

for (let count = 0; count < Number(times); count += 1) {
  stdout.write(`${kind === "udp" ? await byUdp() : await byHttp()}\n`);
}
