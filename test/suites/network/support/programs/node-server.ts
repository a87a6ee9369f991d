// What answers on a node's ports: HTTP and UDP, each with the node's name and the address of the caller. Arguments: name, TCP ports, UDP ports.
import { createSocket } from "node:dgram";
import { createServer } from "node:http";
import { argv, stdin, stdout } from "node:process";

const [, , name = "", tcpPorts = "", udpPorts = ""] = argv;
const ports = (list: string): readonly number[] => (list === "" ? [] : list.split(",").map(Number));
const clientOf = (address = ""): string => address.replace(/^::ffff:/, "");

for (const port of ports(tcpPorts)) {
  const server = createServer((incoming, outgoing) => {
    outgoing.setHeader("connection", "close").end(`${name} ${clientOf(incoming.socket.remoteAddress)}`);
  });
  await new Promise<void>((resolve) => {
    server.listen(port, "::", resolve);
  });
}
for (const port of ports(udpPorts)) {
  const socket = createSocket("udp6");
  socket.on("message", (_message, from) => {
    socket.send(`${name} ${clientOf(from.address)}`, from.port, from.address);
  });
  await new Promise<void>((resolve) => {
    socket.bind(port, "::", resolve);
  });
}
// Ends with the test that started it.
stdin.resume().once("end", () => process.exit());
stdout.write("serving\n");
