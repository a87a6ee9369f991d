import { STATUS_CODES } from "node:http";
import { CommandError, messageOf } from "../errors.ts";
import type { Connection, Sending } from "./connection.ts";
import { isRecord, textAt } from "./json.ts";
import { pageRuleOf } from "./kube-api.ts";
import { textOf } from "./send.ts";

/** Longer than any page at 15,000 nodes. */
const MOST_BYTES = 256e6;

/** A page of the controller as JSON, as it is. Rejects with a CommandError that says what to do. */
export async function readPage(
  connection: Connection,
  path: string,
  query: Readonly<Record<string, string>> = {},
  sending: Sending = {},
): Promise<unknown> {
  const search = new URLSearchParams(query).toString();
  const answer = await connection.get(`${path}${search === "" ? "" : `?${search}`}`, sending);
  const text = await textOf(answer, MOST_BYTES, sending.timeoutMs ?? connection.timeoutMs).catch((error: unknown) => {
    throw new CommandError(`the answer of ${connection.description} broke off: ${messageOf(error)}`);
  });
  const { statusCode = 0 } = answer;
  const body = jsonOf(text);
  if (statusCode !== 200)
    throw new CommandError(complaint(connection.description, path, statusCode, messageIn(body, text)));
  if (body === undefined)
    throw new CommandError(`${connection.description} answered ${path} with something that is no JSON`);
  return body;
}

function complaint(where: string, path: string, status: number, message: string): string {
  switch (status) {
    case 400:
      return message === "" ? `the controller refuses the question (400)` : message;
    case 401:
      return `the controller does not know who you are (401): show it a token (--token-file, --service-account) or a client certificate (--client-certificate)`;
    case 403:
      return `you may not read ${path} of the controller (403): it takes ${pageRuleOf(path)}`;
    case 404:
      return `the controller at ${where} has no ${path} (404): it is older than this program, and is to be asked with the cloudwire of its own version; or this is its --status-page-bind-address, which serves the status page alone: --server names its --secure-port`;
    default:
      return `the controller at ${where} answered ${path} with ${status} ${STATUS_CODES[status] ?? ""}: ${message}`;
  }
}

function messageIn(body: unknown, text: string): string {
  const message = isRecord(body) ? textAt(body, "message") : "";
  return message === "" ? text.trim().slice(0, 300) : message;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
