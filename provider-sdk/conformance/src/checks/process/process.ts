import { stat } from "node:fs/promises";
import type { Check, CheckContext } from "../../suite/check.ts";
import { expectNone, expectOk, fail } from "../../suite/expect.ts";
import type { CallOptions } from "../../endpoint/caller.ts";
import { methods, methodsByName } from "../../contract/methods.ts";
import { sampleRequest } from "../../contract/samples.ts";
import { frame } from "../../endpoint/frames.ts";
import { client } from "../../endpoint/reach.ts";
import { provokeAll, provocableMethods } from "../calls/provoked.ts";

const base = { level: "S", profile: "core" } as const;

const shake = async ({ caller }: CheckContext, message: string, options: CallOptions = {}) =>
  expectOk(await caller.call(methods.getProviderInfo, { client }, options), message).response;

const othersMayUse = 0o007;
const groupMayWrite = 0o020;

/** The process and how it is reached. */
export const procChecks: readonly Check[] = [
  {
    ...base,
    id: "proc.socket.mode",
    title: "the socket is writable for its group and closed to others",
    rules: ["TRN-2"],
    why: "Any process that can open the socket controls the cloud account; a controller with another user needs the group.",
    transport: "unix",
    run: async ({ endpoint }) => {
      if (endpoint.kind !== "unix") return;
      const { mode } = await stat(endpoint.path);
      const got = (mode & 0o777).toString(8).padStart(4, "0");
      if ((mode & othersMayUse) !== 0) fail({ message: "every user may use the socket", expected: "0660", got });
      if ((mode & groupMayWrite) === 0) fail({ message: "the group may not use the socket", expected: "0660", got });
    },
  },
  {
    ...base,
    id: "proc.authority.any",
    title: "any :authority is accepted",
    rules: ["TRN-4"],
    why: "Clients of different languages send different ones for a Unix socket: localhost, the path, the path escaped.",
    run: async (context) => {
      for (const authority of ["localhost", "%2Frun%2Fcloud-provider%2Fprovider.sock", "provider.example.com:1234"]) {
        const connection = context.connect();
        await shake(context, `:authority ${authority} is refused`, { authority, connection });
      }
    },
  },
  {
    ...base,
    id: "proc.conn.reuse",
    title: "a thousand calls one after the other are served on one connection",
    rules: ["TRN-6", "TRN-5"],
    why: "The controller keeps one connection for the life of both processes.",
    exclusive: true,
    timeoutMs: 60_000,
    run: async (context) => {
      const connection = context.connect();
      for (let call = 1; call <= 1_000; call++) await shake(context, `call ${call} fails`, { connection });
    },
  },
  {
    ...base,
    id: "proc.conn.churn",
    title: "two hundred connections that come and go are all served",
    rules: ["TRN-6"],
    why: "Probes and restarts open connections all the time; a leaked descriptor each ends the process in a week.",
    exclusive: true,
    timeoutMs: 60_000,
    run: async (context) => {
      for (let round = 1; round <= 200; round++) {
        const connection = context.connect();
        await shake(context, `connection ${round} is not served`, { connection });
        connection.close();
      }
    },
  },
  {
    ...base,
    id: "proc.streams.parallel",
    title: "a hundred calls at once are served on one connection",
    rules: ["TRN-6"],
    why: "The controller has up to 256 calls outstanding.",
    exclusive: true,
    run: async (context) => {
      const connection = context.connect();
      await Promise.all(
        Array.from({ length: 100 }, (_, index) => shake(context, `call ${index + 1} of 100 fails`, { connection })),
      );
    },
  },
  {
    ...base,
    id: "proc.panic.isolated",
    title: "after all refusals of this run the process is still the same",
    rules: ["TRN-8"],
    why: "One invalid request must not stop all controllers. Usually an uncaught exception.",
    run: async (context) => {
      const broken = (await provokeAll(context)).filter(({ called }) => called.kind === "broken");
      expectNone(
        broken.map(
          ({ method, violation, called }) =>
            `${method} with ${violation.path} ${violation.what}: ${called.exchange.response}`,
        ),
        "requests were not answered at all",
      );
      const garbage = frame(Buffer.from([0xff, 0xff, 0xff, 0xff]));
      for (const name of provocableMethods(context))
        await context.caller.call(methodsByName[name], sampleRequest(name, context), { body: garbage });
      const { bootId } = await shake(context, "the provider no longer answers");
      if (bootId !== context.info.bootId)
        fail({ message: "the process is another", expected: context.info.bootId, got: bootId });
    },
  },
];
