// Sends datagrams from one socket again and again and prints whose answers come, until its input ends. Arguments: address, port.
import { createSocket } from "node:dgram";
import { argv, stdin, stdout } from "node:process";

const [, , host = "", portText = ""] = argv;
const intervalMs = 50;
const socket = createSocket("udp4");
socket.on("message", (message) => stdout.write(`answered ${message.toString()}\n`));
// While nothing forwards, the kernel says that no one is there.
socket.on("error", () => undefined);
socket.connect(Number(portText), host, () => {
  setInterval(() => socket.send("hello"), intervalMs);
});
stdin.resume().once("end", () => process.exit());
