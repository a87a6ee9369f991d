import { STATUS_CODES } from "node:http";
import { CommandError, messageOf } from "../errors.ts";
import type { Connection, Sending } from "./connection.ts";
import { isRecord, textAt } from "./json.ts";
import { endpointRuleOf } from "./kube-api.ts";
import { textOf } from "./send.ts";

/** More than the largest response at 15,000 nodes. */
const MAX_BYTES = 256e6;

/** Requests an endpoint of the controller and returns its JSON. Rejects with a CommandError. */
export async function readPage(
  connection: Connection,
  path: string,
  query: Readonly<Record<string, string>> = {},
  sending: Sending = {},
): Promise<unknown> {
  const search = new URLSearchParams(query).toString();
  const response = await connection.get(`${path}${search === "" ? "" : `?${search}`}`, sending);
  const text = await textOf(response, MAX_BYTES, sending.timeoutMs ?? connection.timeoutMs).catch((error: unknown) => {
    throw new CommandError(
      "CONTROLLER_ERROR",
      `the response of ${connection.description} was cut off: ${messageOf(error)}`,
    );
  });
  const { statusCode = 0 } = response;
  const body = jsonOf(text);
  if (statusCode !== 200) throw errorOf(connection.description, path, statusCode, messageIn(body, text));
  if (body === undefined)
    throw new CommandError("VERSION_MISMATCH", `the response of ${connection.description} to ${path} is not JSON`);
  return body;
}

function errorOf(where: string, path: string, status: number, message: string): CommandError {
  switch (status) {
    case 400:
      return new CommandError(
        "CONTROLLER_ERROR",
        message === "" ? "the controller rejected the request (400)" : message,
      );
    case 401:
      return new CommandError(
        "CONTROLLER_UNAUTHORIZED",
        "the controller rejected your credentials (401): specify a token (--token-file, --service-account) or a client certificate (--client-certificate)",
      );
    case 403:
      return new CommandError(
        "CONTROLLER_FORBIDDEN",
        `you are not allowed to read ${path} of the controller (403): you need ${endpointRuleOf(path)}`,
      );
    case 404:
      return new CommandError(
        "VERSION_MISMATCH",
        `the controller at ${where} does not have ${path} (404): use the version of cloudwire that matches it, and its --secure-port in --server, not its --status-page-bind-address`,
      );
    default:
      return new CommandError(
        "CONTROLLER_ERROR",
        `the controller at ${where} responded to ${path} with ${status} ${STATUS_CODES[status] ?? ""}: ${message}`,
      );
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
