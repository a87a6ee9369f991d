import { codeNames } from "@cloudwire/proto/codes";
import { errorDomain, errorReasons } from "@cloudwire/proto/reasons";
import { methodRules } from "@cloudwire/proto/methods";
import type { Check, CheckContext } from "../../suite/check.ts";
import { expectError, expectNone, expectOk, fail } from "../../suite/expect.ts";
import { methods, methodsByName } from "../../contract/methods.ts";
import { sampleRequest } from "../../contract/samples.ts";
import { client } from "../../endpoint/reach.ts";
import { frame } from "../../endpoint/frames.ts";
import { codeName, type WireError } from "../../endpoint/status.ts";
import { provocableMethods, provokedErrors, type Provoked } from "./provoked.ts";

/** The provoked errors are made within the first of these checks. */
const base = { level: "S", profile: "core", timeoutMs: 60_000 } as const;

interface Provocation {
  readonly what: string;
  readonly provoked: Provoked;
  readonly error: WireError;
}

/** A check that looks at every error the provider was brought to make. */
const ofEachError =
  (message: string, problem: (error: WireError, provoked: Provoked) => string | undefined) =>
  async (context: CheckContext): Promise<void> => {
    const errors: readonly Provocation[] = await provokedErrors(context);
    const found = errors.flatMap(({ what, provoked, error }) => {
      const text = problem(error, provoked);
      return text === undefined ? [] : [{ text: `${what}: ${text}`, exchange: provoked.called.exchange }];
    });
    const [first] = found;
    expectNone(
      found.map(({ text }) => text),
      message,
      first === undefined ? {} : { exchange: first.exchange },
    );
  };

const maxDetailsBytes = 4_096;
const maxMessageBytes = 1_024;
/** What stack traces of common languages look like, and paths of machines. */
const traces = [
  /\n\s+at .+:\d+/,
  /goroutine \d+ \[/,
  /Traceback \(most recent call last\)/,
  /\bpanic: /,
  /(?:^|[\s"'(])\/(?:usr|home|root|go|src|app|build|opt|var|tmp)\/\S+\.(?:go|py|ts|js|mjs|rs|java|c|cc)\b/,
];

const reachable = async (context: CheckContext, connection = context.caller.connection): Promise<void> => {
  const called = await context.caller.call(methods.getProviderInfo, { client }, { connection });
  expectOk(called, "the connection does not survive");
};

/** How errors look. */
export const errChecks: readonly Check[] = [
  {
    ...base,
    id: "err.method.unknown",
    title: "an unknown method answers UNIMPLEMENTED",
    rules: ["INF-6", "EVO-1"],
    why: "A controller finds out what an older provider does not have.",
    run: async ({ caller }) => {
      const unknown = { ...methods.getProviderInfo, name: "NoSuchMethod" };
      expectError(await caller.call(unknown, { client }), { codes: [12] }, "an unknown method is not refused");
      const other = await caller.call(
        methods.getProviderInfo,
        { client },
        { service: "cloudprovider.v999.CloudProvider" },
      );
      expectError(other, { codes: [12] }, "an unknown service is not refused");
    },
  },
  {
    ...base,
    id: "err.info.present",
    title: "every error of the provider has exactly one ErrorInfo",
    rules: ["ERR-1"],
    why: "Without it the controller takes an error for one of the transport, and acts by the code alone.",
    run: ofEachError("errors have no ErrorInfo, or several", ({ infos, detailsProblem }) => {
      if (detailsProblem !== undefined) return `the details cannot be read (${detailsProblem})`;
      return infos.length === 1 ? undefined : `${infos.length} ErrorInfo`;
    }),
  },
  {
    ...base,
    id: "err.info.format",
    title: "reasons are upper case, domains are not empty, the contract's domain has the contract's reasons only",
    rules: ["ERR-1", "ERR-6"],
    why: "The class of the reason decides what the controller does.",
    requires: ["err.info.present"],
    run: ofEachError("reasons or domains are wrong", ({ infos }) => {
      const [info] = infos;
      if (info === undefined) return undefined;
      if (!/^[A-Z][A-Z0-9_]{0,62}$/.test(info.reason)) return `the reason is ${JSON.stringify(info.reason)}`;
      if (info.domain === "") return "the domain is empty";
      return info.domain === errorDomain && !Object.hasOwn(errorReasons, info.reason)
        ? `the contract has no reason ${info.reason}`
        : undefined;
    }),
  },
  {
    ...base,
    id: "err.info.code",
    title: "the code is the one that belongs to the reason",
    rules: ["ERR-1"],
    why: "Callers that do not know a reason go by the code.",
    requires: ["err.info.present"],
    run: ofEachError("codes do not fit their reasons", ({ code, infos }) => {
      const [info] = infos;
      const rule = Object.entries(errorReasons).find(
        ([reason]) => info?.domain === errorDomain && reason === info.reason,
      );
      return rule === undefined || rule[1].code === code
        ? undefined
        : `${rule[0]} with ${codeName(code)} instead of ${codeName(rule[1].code)}`;
    }),
  },
  {
    ...base,
    id: "err.details.unique",
    title: "each type of detail is there at most once",
    rules: ["ERR-2"],
    why: "Libraries take the first or the last, and do not agree which.",
    run: ofEachError("details are there twice", ({ details }) => {
      const twice = details.find((name, index) => details.indexOf(name) < index);
      return twice === undefined ? undefined : `${twice} is there twice`;
    }),
  },
  {
    ...base,
    id: "err.details.budget",
    title: "details stay within 4 KiB and messages within 1 KiB, whatever was sent",
    rules: ["ERR-3"],
    why: "Longer trailers make clients hang or lose the code. Usually a message that repeats what it was given.",
    run: async (context) => {
      const tooLong = ({ detailsBytes, message }: WireError): string | undefined => {
        if (detailsBytes > maxDetailsBytes) return `details of ${detailsBytes} bytes`;
        const bytes = Buffer.byteLength(message);
        return bytes > maxMessageBytes ? `a message of ${bytes} bytes` : undefined;
      };
      await ofEachError("errors are too long", tooLong)(context);
      for (const called of await oversized(context)) {
        const problem = called.kind === "error" ? tooLong(called.error) : undefined;
        if (problem !== undefined)
          fail({ message: "an answer to 16 KiB of text is too long", got: problem, exchange: called.exchange });
      }
    },
  },
  {
    ...base,
    id: "err.message.human",
    title: "messages are printable text without stack traces and paths of source files",
    rules: ["ERR-4"],
    why: "They become events that users read.",
    run: ofEachError("messages are not for people", ({ message }) => {
      if (message === "") return "the message is empty";
      // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
      if (/[\u0000-\u0008\u000b-\u001f\u007f]/.test(message)) return "the message has control characters";
      return traces.some((pattern) => pattern.test(message)) ? `a trace: ${message.slice(0, 200)}` : undefined;
    }),
  },
  {
    ...base,
    id: "err.field.path",
    title: "INVALID_ARGUMENT names the field that is wrong",
    rules: ["ERR-5"],
    why: "The user sees which line of the manifest to change.",
    run: ofEachError("fields are not named", (error, { violation }) => {
      if (error.code !== 3) return undefined;
      if (error.fields.length === 0) return "no field is named";
      const names = error.fields.some((field) => field === violation.path || violation.path.startsWith(`${field}[`));
      return names ? undefined : `named are ${error.fields.join(", ")}`;
    }),
  },
  {
    ...base,
    id: "err.code.allowed",
    title: "no method fails with a reason that is not in its row of the specification",
    rules: ["RPC-2"],
    why: "The controller has an answer to each reason of the row, and to no other.",
    requires: ["err.info.present"],
    run: ofEachError("reasons are not in the row of the method", ({ infos, code }, { method }) => {
      const [info] = infos;
      if (info === undefined || info.domain !== errorDomain) return undefined;
      const allowed: readonly string[] = methodRules[method].reasons;
      return allowed.includes(info.reason) ? undefined : `${info.reason} (${codeName(code)})`;
    }),
  },
  {
    ...base,
    id: "err.no-unknown",
    title: "no refusal is UNKNOWN or INTERNAL",
    rules: ["ERR-1"],
    why: "Both mean that the outcome is unknown: the controller would retry forever. Usually an exception without mapping.",
    run: ofEachError("refusals are no refusals", ({ code, message }) =>
      code === 2 || code === 13 ? `${codeNames[code]}: ${message.slice(0, 200)}` : undefined,
    ),
  },
  {
    ...base,
    id: "err.frame.garbage",
    title: "bytes that are no message are refused, and the connection survives",
    rules: ["TRN-8", "ERR-1"],
    why: "A client with a fault must not cut the connection of one without.",
    run: async (context) => {
      const connection = context.connect();
      for (const name of provocableMethods(context)) {
        // Field 1 as a message of 127 bytes, which begins with a number of 8 bytes, and ends there.
        const body = frame(Buffer.from([0x0a, 0x7f, 0x41]));
        const called = await context.caller.call(methodsByName[name], sampleRequest(name, context), {
          body,
          connection,
        });
        expectError(called, { codes: [2, 3, 13] }, `${name} takes bytes that are no message`);
      }
      await reachable(context, connection);
    },
  },
  {
    ...base,
    id: "err.frame.cut",
    title: "a message that ends too early is refused, and the connection survives",
    rules: ["TRN-8"],
    why: "A client that dies while it sends must not leave a call that hangs.",
    run: async (context) => {
      const connection = context.connect();
      const body = Buffer.from([0, 0, 0, 0, 20, 0x0a]);
      const called = await context.caller.call(methods.getProviderInfo, { client }, { body, connection });
      if (called.kind === "ok") fail({ message: "half a message is served", exchange: called.exchange });
      await reachable(context, connection);
    },
  },
  {
    ...base,
    id: "err.frame.oversize",
    title: "a request above max_receive_bytes is refused, and the connection survives",
    rules: ["LIM-2", "TRN-8"],
    why: "A provider without size limits can run out of memory.",
    run: async (context) => {
      const limit = Number(context.info.limits?.maxReceiveBytes ?? 0n);
      const connection = context.connect();
      const body = frame(Buffer.alloc(limit + 1_024));
      // Megabytes take their time on their way.
      const options = { body, connection, deadlineMs: 20_000 * context.slowFactor };
      const called = await context.caller.call(methods.getProviderInfo, { client }, options);
      if (called.kind === "ok")
        fail({ message: `a request of ${limit + 1_024} bytes is served`, exchange: called.exchange });
      expectError(called, { codes: [3, 8] }, "a request that is too large is not refused");
      await reachable(context, connection);
    },
  },
];

/** Sixteen KiB of text in fields that a careless message repeats. */
const oversized = async ({ caller, callContext }: CheckContext) => {
  const text = "long".repeat(4_096);
  return [
    await caller.call(methods.getProviderInfo, { client: { ...client, name: text } }),
    await caller.call(methods.batchGetInstances, {
      context: { ...callContext, scopeId: text },
      nodes: [{ name: "n" }],
    }),
    await caller.call(methods.getLoadBalancer, {
      context: callContext,
      service: { namespace: text, name: text, uid: text },
    }),
    await caller.call(methods.listRoutes, { context: callContext, pageToken: text }),
  ];
};
