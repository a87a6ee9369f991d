import { setTimeout as wait } from "node:timers/promises";
import { isSameInstance } from "@cloudwire/proto/provider-ids";
import { type Check, type CheckContext, CheckSkipped } from "../../suite/check.ts";
import { expectError, expectOk, fail } from "../../suite/expect.ts";
import { isClaimed } from "../../contract/capabilities.ts";
import { durationMs } from "../../contract/duration.ts";
import { methods, serviceName } from "../../contract/methods.ts";
import { client } from "../../endpoint/reach.ts";
import type { Connection } from "../../endpoint/connection.ts";
import { lifeMs, withBalancer } from "../load-balancers/test-balancer.ts";
import { ending, withLife } from "../process/lifecycle.ts";
import {
  balancerWatch,
  type Hint,
  hintMs,
  instanceWatch,
  lookMs,
  tokenOf,
  type WatchKind,
  watchKinds,
  withHealthWatch,
  withWatch,
} from "./watching.ts";

const core = { level: "S", profile: "core" } as const;
const own = { level: "D", transport: "unix", starts: true, exclusive: true, timeoutMs: 120_000 } as const;

/** How long health may take to be reported. */
const tellMs = 5_000;
/** TRN-5. */
const pingEveryMs = 330_000;

const claimedWatches = (context: CheckContext): readonly WatchKind[] =>
  watchKinds.filter(({ capability }) => isClaimed(context.info.capabilities, capability));

/** Opens a stream of each kind that is claimed, beside which the connection is otherwise idle. */
const beside = async (context: CheckContext, connection: Connection, use: () => Promise<void>): Promise<void> => {
  const [kind] = claimedWatches(context);
  if (kind === undefined) return use();
  await withWatch(kind, context, use, { connection });
};

const served = async ({ caller }: CheckContext, connection: Connection, what: string): Promise<void> => {
  expectOk(await caller.call(methods.getProviderInfo, { client }, { connection }), what);
};

const pinged = async (context: CheckContext, connection: Connection, what: string): Promise<void> => {
  const answered = await connection.ping(tellMs * context.slowFactor);
  const { lost } = connection;
  if (!answered || lost !== undefined)
    fail({ message: `${what} ends the connection`, expected: "an answer to PING", got: lost ?? "no answer" });
  await served(context, connection, `a call after ${what} fails`);
};

const health: readonly Check[] = [
  {
    ...core,
    id: "health.watch.serving",
    title: "Health.Watch says at once that the contract's service is SERVING, and goes on",
    rules: ["TRN-10"],
    why: "Load balancers and meshes watch health instead of asking; one that says nothing is never sent calls.",
    run: (context) =>
      withHealthWatch(context, serviceName, async (next, stream) => {
        const first = await next(tellMs * context.slowFactor);
        const after = await next(lookMs(context) * context.slowFactor);
        if (first !== "SERVING" || after !== "nothing")
          fail({
            message: "health is not watched",
            expected: "SERVING, then nothing until it changes",
            got: `${first}, then ${after}`,
            exchange: stream.exchange,
          });
      }),
  },
  {
    ...core,
    id: "health.watch.unknown",
    title: "Health.Watch of a service that is not there says SERVICE_UNKNOWN, and goes on",
    rules: ["TRN-10"],
    why: "The service may come later: that is how the protocol has it. A stream that says SERVING to everything proves nothing.",
    run: (context) =>
      withHealthWatch(context, "conformance.NoSuchService", async (next, stream) => {
        const got = await next(tellMs * context.slowFactor);
        if (got !== "SERVICE_UNKNOWN")
          fail({
            message: "an unknown service has a health",
            expected: "SERVICE_UNKNOWN",
            got,
            exchange: stream.exchange,
          });
      }),
  },
  {
    ...own,
    profile: "core",
    id: "health.watch.drain",
    title: "on SIGTERM Health.Watch says NOT_SERVING before the process ends",
    rules: ["TRN-7", "TRN-10"],
    why: "A client that watches health stops calling before calls fail. Usually the health service was not updated.",
    requires: ["health.watch.serving", "proc.term.drain"],
    run: async (context) => {
      await withLife(context, undefined, ({ own: provider, context: life }) =>
        withHealthWatch(life, "", async (next, stream) => {
          const before = await next(tellMs * context.slowFactor);
          provider.process.signal("SIGTERM");
          const got = await next(tellMs * context.slowFactor);
          if (before !== "SERVING" || got !== "NOT_SERVING")
            fail({
              message: "the end is not reported",
              expected: "SERVING, then NOT_SERVING",
              got: `${before}, then ${got}`,
              exchange: stream.exchange,
            });
        }),
      );
    },
  },
];

const processes: readonly Check[] = [
  {
    ...core,
    id: "proc.keepalive.tolerant",
    title: "a client may send PING, next to an open stream and on an idle connection",
    rules: ["TRN-5"],
    why: "A client finds out so that a peer has gone. Some servers end connections for it: the watch breaks again and again. --long sends a second PING after 330 s.",
    timeoutMs: 420_000,
    run: async (context) => {
      const [idle, busy] = [context.connect(), context.connect()];
      await served(context, idle, "the first call fails");
      await served(context, busy, "the first call fails");
      await beside(context, busy, async () => {
        for (let round = 0; round < (context.long ? 2 : 1); round++) {
          if (round > 0) await wait(pingEveryMs, undefined, { signal: context.signal });
          await pinged(context, idle, "a PING on an idle connection");
          await pinged(context, busy, "a PING beside a stream");
        }
      });
    },
  },
  {
    ...own,
    profile: "core",
    id: "proc.term.streams",
    title: "SIGTERM ends watches with UNAVAILABLE PROVIDER_DRAINING, and the process does not wait for their readers",
    rules: ["TRN-7", "WAT-5"],
    why: "A stream never ends of itself: a process that waits for one is killed, with the calls that it should have finished.",
    requires: ["proc.term.drain"],
    run: async (context) => {
      const kinds = claimedWatches(context);
      if (kinds.length === 0) throw new CheckSkipped("no watch is claimed");
      await withLife(context, undefined, async ({ own: provider, context: life }) => {
        const ready = kinds.map(() => Promise.withResolvers<void>());
        const ended = kinds.map((kind, index) =>
          withWatch(kind, life, async (watch) => {
            await watch.snapshot();
            ready[index]?.resolve();
            return watch.end(20_000);
          }),
        );
        // A snapshot that fails ends the check.
        await Promise.race([Promise.all(ready.map(({ promise }) => promise)), Promise.all(ended)]);
        provider.process.signal("SIGTERM");
        for (const called of await Promise.all(ended))
          expectError(called, { codes: [14], reasons: ["PROVIDER_DRAINING"] }, "a watch at SIGTERM");
        const how = await ending(provider, context);
        if (how !== "code 0")
          fail({ message: "the process does not end", expected: "code 0 within 15 s", got: how ?? "it runs" });
      });
    },
  },
];

/** Goes on after a token of a process that has ended. */
const goOnAfter = async (
  kind: WatchKind,
  context: CheckContext,
  resumeToken: string,
  change: { readonly what: string; readonly isIt: (hint: Hint) => boolean } | undefined,
): Promise<void> => {
  const keepsTokens = (durationMs(kind.claimOf(context)?.tokenRetention) ?? 0) > 0;
  await withWatch(
    kind,
    context,
    async (watch) => {
      if (!keepsTokens) {
        const refusal = await watch.end(tellMs * 2);
        expectError(
          refusal,
          { codes: [11], reasons: ["RESUME_TOKEN_EXPIRED"] },
          "a token of a process that has ended, from a provider without token_retention",
        );
        return;
      }
      const reported = (hint: Hint): boolean => hint.kind === "resync" || (change?.isIt(hint) ?? true);
      const hint = await watch.until(change === undefined ? 31_000 : hintMs(kind, context), reported);
      if (hint === undefined)
        fail({ message: `${change?.what ?? "anything"} is not reported after a restart`, exchange: watch.exchange });
    },
    { request: { resumeToken } },
  );
};

/** Watches in a first process, lets something change while there is none, and goes on in a second at the same socket. */
const acrossRestart = async (
  kind: WatchKind,
  context: CheckContext,
  change: () => Promise<{ readonly what: string; readonly isIt: (hint: Hint) => boolean } | undefined>,
): Promise<void> => {
  const { own: first, token } = await withLife(context, undefined, async ({ own, context: life }) => ({
    own,
    token: await tokenOf(kind, life),
  }));
  first.process.signal("SIGTERM");
  await ending(first, context);
  const changed = await change();
  await withLife(context, first.socketPath, ({ context: life }) => goOnAfter(kind, life, token, changed));
};

const restarts: readonly Check[] = [
  {
    ...own,
    profile: "instances-watch",
    id: "watch.token.restart",
    title: "after a restart WatchInstances goes on after a token without a gap, or refuses it, as token_retention says",
    rules: ["WAT-4"],
    why: "A token that means nothing to the new process, and is taken, hides what happened meanwhile. With hooks for machines one comes meanwhile.",
    requires: ["watch.initial.end", "watch.token.garbage", "proc.term.unlink"],
    timeoutMs: 600_000,
    run: (context) =>
      acrossRestart(instanceWatch, context, async () => {
        if (!context.hooks.has("instanceCreate") || !context.hooks.has("instanceTerminate")) return undefined;
        const { providerId } = await context.hooks.createMachine();
        return { what: `machine ${providerId}`, isIt: ({ key }) => isSameInstance(key, providerId) };
      }),
  },
  {
    ...own,
    profile: "lb-watch",
    id: "lb.watch.token.restart",
    title:
      "after a restart WatchLoadBalancers goes on after a token without a gap, or refuses it, as token_retention says",
    rules: ["WAT-4"],
    why: "A load balancer that became ACTIVE during the restart would wait for the next full list.",
    requires: ["lb.ensure.active", "lb.watch.owned", "lb.watch.token.garbage", "proc.term.unlink"],
    timeoutMs: lifeMs,
    run: (context) =>
      withBalancer(context, (balancer) =>
        acrossRestart(balancerWatch, context, async () => {
          // Another process of the provider makes it, at the same cloud.
          await balancer.converge();
          return { what: "a load balancer", isIt: ({ key }) => key === balancer.service.uid };
        }),
      ),
  },
];

/** Streams and the life of the process: health that is watched, pings, ends and restarts. */
export const watchLifeChecks: readonly Check[] = [...health, ...processes, ...restarts];
