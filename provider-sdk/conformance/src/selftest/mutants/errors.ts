import { ErrorInfo } from "@cloudwire/proto/google/rpc/error_details";
import { headerText } from "../../endpoint/status.ts";
import {
  type ErrorParts,
  type Mutant,
  alterError,
  bareError,
  errorParts,
  fieldsOf,
  suppressErrors,
  isCall,
  okReply,
  requestOf,
  replyIf,
} from "../mutant.ts";
import { isStreamPath } from "../mutant-proxy.ts";
import { methods, methodsByName } from "../../contract/methods.ts";

type Detail = ErrorParts["details"][number];

const named = (detail: Detail, name: string): boolean => detail.typeUrl.endsWith(`.${name}`);

const without = (parts: ErrorParts, name: string): ErrorParts => ({
  ...parts,
  details: parts.details.filter((detail) => !named(detail, name)),
});

const twice = (parts: ErrorParts, name: string): ErrorParts => ({
  ...parts,
  details: [...parts.details, ...parts.details.filter((detail) => named(detail, name))],
});

const withReason = (parts: ErrorParts, reason: string, code = parts.code): ErrorParts => ({
  ...parts,
  code,
  details: parts.details.map((detail) =>
    named(detail, "ErrorInfo")
      ? { ...detail, value: Buffer.from(ErrorInfo.encode({ ...ErrorInfo.decode(detail.value), reason }).finish()) }
      : detail,
  ),
});

/** All these change one error, that about `client.version`: the checks of its fields see it, too. */
const field = "val.fields.get-provider-info";

const timeoutMs = (text: string | undefined): number => {
  const [, digits = "", unit = ""] = /^(\d+)([HMSmun])$/.exec(text ?? "") ?? [];
  const units: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 };
  return Number(digits) * (units[unit] ?? 0);
};

const batch = methods.batchGetInstances;

const nameRefused = (refused: (name: string) => boolean) =>
  replyIf(
    (request) => requestOf(request, batch)?.nodes.some(({ name }) => refused(name)) === true,
    bareError(3, "bad name"),
  );

/** Lets one kind of limit pass, in one method. */
const lenient: readonly Mutant[] = Object.keys(methodsByName)
  .filter((name) => !name.startsWith("Watch") && name !== "GetProviderStatus")
  .map((name) => ({
    name: `lenient-${name}`,
    fault: `${name} takes values that are too long`,
    fails: [fieldsOf(name), ...(name === "GetProviderInfo" ? ["err.field.all"] : [])],
    intercept: suppressErrors(name, ({ reason }) => reason === "FIELD_TOO_LARGE"),
  }));

/** Faults of refusals and of what is refused. */
export const errorMutants: readonly Mutant[] = [
  {
    name: "bare-status",
    fault: "an error has no ErrorInfo",
    fails: ["err.info.present", field],
    intercept: alterError((parts) => without(parts, "ErrorInfo")),
  },
  {
    name: "lower-reason",
    fault: "a reason is written in words",
    fails: ["err.code.allowed", "err.info.format", field],
    intercept: alterError((parts) => withReason(parts, "bad request")),
  },
  {
    name: "wrong-code",
    fault: "a missing field is FAILED_PRECONDITION",
    fails: ["err.info.code", field],
    intercept: alterError((parts) => ({ ...parts, code: 9 })),
  },
  {
    name: "double-errorinfo",
    fault: "an error has two ErrorInfo",
    fails: ["err.details.unique", "err.info.present"],
    intercept: alterError((parts) => twice(parts, "ErrorInfo")),
  },
  {
    name: "double-badrequest",
    fault: "an error has two BadRequest",
    fails: ["err.details.unique"],
    intercept: alterError((parts) => twice(parts, "BadRequest")),
  },
  {
    name: "echoes-input",
    fault: "a message has 2 KiB",
    fails: ["err.details.budget"],
    intercept: alterError((parts) => ({ ...parts, message: "long".repeat(512) })),
  },
  {
    name: "stack-in-message",
    fault: "a message has a stack trace",
    fails: ["err.message.human"],
    intercept: alterError((parts) => ({ ...parts, message: "Error: no\n    at serve (/srv/main.js:1:2)" })),
  },
  {
    name: "no-field-path",
    fault: "INVALID_ARGUMENT names no field",
    fails: ["err.field.all", "err.field.path"],
    intercept: alterError((parts) => without(parts, "BadRequest")),
  },
  {
    name: "other-rpc-reason",
    fault: "the handshake fails with a reason of load balancers",
    fails: ["err.code.allowed", field],
    intercept: alterError((parts) => withReason(parts, "ADDRESS_IN_USE", 6)),
  },
  {
    name: "everything-unknown",
    fault: "a refusal is UNKNOWN",
    fails: ["err.no-unknown", field],
    intercept: alterError((parts) => withReason(parts, "UNMAPPED_ERROR", 2)),
  },
  {
    name: "catch-all-ok",
    fault: "unknown methods answer OK",
    fails: ["err.method.unknown"],
    intercept: replyIf((request) => isCall(request, "NoSuchMethod"), okReply(Buffer.alloc(0))),
  },
  {
    name: "cuts-on-garbage",
    fault: "bytes that are no message end the connection",
    fails: ["err.frame.garbage"],
    intercept: replyIf((request) => request.body.equals(Buffer.from([0, 0, 0, 0, 3, 0x0a, 0x7f, 0x41])), "cut"),
  },
  {
    name: "takes-half",
    fault: "half a message is served",
    fails: ["err.frame.cut"],
    intercept: replyIf((request) => request.body.length === 6, okReply(Buffer.alloc(0))),
  },
  {
    name: "takes-any-size",
    fault: "a request of any size is served",
    fails: ["err.frame.oversize"],
    intercept: replyIf((request) => request.body.length > 4 * 2 ** 20, okReply(Buffer.alloc(0))),
  },
  {
    name: "panics",
    fault: "the process is another after a bad request",
    fails: ["proc.panic.isolated"],
    intercept: replyIf(
      (request) =>
        request.body.equals(Buffer.from([0, 0, 0, 0, 4, 0xff, 0xff, 0xff, 0xff])) && isCall(request, "GetProviderInfo"),
      "cut",
    ),
  },
  {
    name: "default-cluster",
    fault: "ListRoutes takes a missing cluster for a default one",
    fails: ["val.cluster.missing", "val.fields.list-routes"],
    intercept: suppressErrors("ListRoutes", ({ fields }) => fields.includes("context.cluster.id")),
  },
  {
    name: "scope-ignored",
    fault: "ListRoutes serves any scope",
    fails: ["val.scope.mismatch"],
    intercept: suppressErrors("ListRoutes", ({ reason }) => reason === "SCOPE_MISMATCH"),
  },
  ...lenient,
  {
    name: "short-names",
    fault: "names above 200 bytes are refused",
    fails: ["err.field.path", "err.info.present", "val.fields.batch-get-instances", "val.size.max-names"],
    intercept: nameRefused((name) => name.length > 200),
  },
  {
    name: "ascii-only",
    fault: "a name that is not ASCII is refused",
    fails: ["val.utf8"],
    intercept: replyIf(
      (request) => isCall(request, "BatchGetInstances") && request.body.includes(Buffer.from("節")),
      bareError(3, "not ASCII"),
    ),
  },
  {
    name: "path-join",
    fault: "a name becomes a path",
    fails: ["val.injection"],
    intercept: nameRefused((name) => name.includes("../")),
  },
  {
    name: "needs-deadline",
    fault: "calls without deadline are refused",
    fails: ["time.deadline.none"],
    intercept: replyIf(
      (request) => headerText(request.headers, "grpc-timeout") === undefined && !isStreamPath(request.path),
      bareError(3, "no deadline"),
    ),
  },
  {
    name: "int32-deadline",
    fault: "a deadline of 25 days has passed",
    fails: ["time.deadline.huge"],
    intercept: replyIf(
      (request) => timeoutMs(headerText(request.headers, "grpc-timeout")) > 2 ** 31,
      bareError(4, "deadline exceeded"),
    ),
  },
  {
    name: "late-cuts",
    fault: "a call that is late ends the connection",
    fails: ["time.cancel.adopts", "time.deadline.tiny"],
    level: "M",
    intercept: replyIf((request) => timeoutMs(headerText(request.headers, "grpc-timeout")) === 1, "cut"),
  },
  {
    name: "cancel-cuts",
    fault: "a call that is cancelled ends the connection",
    fails: ["time.cancel.next"],
    // Whatever shares the connection ends with it, if it was under way just then.
    only: ["time.cancel.next"],
    cutOnCancel: true,
  },
  {
    name: "no-request-id",
    fault: "x-request-id does not come back with errors",
    fails: ["obs.request-id"],
    intercept: async (request, next) => {
      const reply = await next(request);
      if (errorParts(reply) === undefined) return reply;
      const { "x-request-id": _dropped, ...trailers } = reply.trailers;
      return { ...reply, trailers };
    },
  },
  {
    name: "trace-strict",
    fault: "a malformed traceparent is refused",
    fails: ["obs.trace.accept"],
    intercept: replyIf((request) => request.headers["traceparent"] === "garbage", bareError(3, "bad traceparent")),
  },
  {
    name: "leaks-secret",
    fault: "the credentials are in the trailers of the status",
    fails: ["sec.secret.errors"],
    intercept: async (request, next) => {
      const reply = await next(request);
      const leak = { "x-debug": "token canary-secret-4711" };
      return isCall(request, "GetProviderStatus") ? { ...reply, trailers: { ...reply.trailers, ...leak } } : reply;
    },
  },
  {
    name: "strict-authority",
    fault: "only localhost is accepted as :authority",
    fails: ["proc.authority.any"],
    intercept: replyIf((request) => request.headers[":authority"] !== "localhost", bareError(12, "no host")),
  },
  {
    name: "connection-of-800",
    fault: "a connection ends after 800 calls",
    fails: ["proc.conn.reuse"],
    // All checks share a connection: which of them meets the fault the order decides.
    only: ["proc.conn.reuse"],
    intercept: replyIf((request) => request.earlier >= 800, "cut"),
  },
  {
    name: "connections-leak",
    fault: "the process has room for 150 connections",
    fails: ["proc.conn.churn"],
    // All checks share a connection: which of them meets the fault the order decides.
    only: ["proc.conn.churn"],
    maxConnections: 150,
  },
  {
    name: "few-streams",
    fault: "a connection has room for 50 calls at once",
    fails: ["conc.handshake", "conc.limit", "proc.streams.parallel"],
    intercept: replyIf((request) => request.open > 50, bareError(8, "too many streams")),
  },
  {
    name: "socket-0777",
    fault: "every user may use the socket",
    fails: ["proc.socket.mode"],
    socketMode: 0o777,
  },
];
