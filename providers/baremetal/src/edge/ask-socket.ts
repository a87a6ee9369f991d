import { connect } from "node:net";

/** Sends a line to a Unix socket and answers all that comes until the other side closes. */
export type AskSocket = (path: string, line: string) => Promise<string>;

const timeoutMs = 5_000;
const maxChars = 64 * 1024 * 1024;

export const askSocket: AskSocket = (path, line) =>
  new Promise((resolve, reject) => {
    const socket = connect(path);
    let text = "";
    const deadline = setTimeout(() => {
      socket.destroy(new Error(`${path} did not respond within ${timeoutMs} ms`));
    }, timeoutMs);
    socket.setEncoding("utf8");
    socket.once("connect", () => socket.write(`${line}\n`));
    socket.on("data", (chunk) => {
      text += String(chunk);
      if (text.length > maxChars) socket.destroy(new Error(`${path} returned more than ${maxChars} characters`));
    });
    socket.once("error", (error) => {
      clearTimeout(deadline);
      reject(error);
    });
    socket.once("end", () => {
      clearTimeout(deadline);
      resolve(text);
    });
  });
