import { setTimeout as wait } from "node:timers/promises";
import type { Check, CheckContext } from "../../suite/check.ts";
import { expectNone, fail } from "../../suite/expect.ts";
import type { Called } from "../../endpoint/caller.ts";
import { isClaimed } from "../../contract/capabilities.ts";
import { lifeMs, TestBalancer } from "../load-balancers/test-balancer.ts";
import { expectOne } from "../load-balancers/load-balancers.ts";
import { type Life, withLife } from "../process/lifecycle.ts";

const base = {
  level: "D",
  profile: "loadbalancer",
  rules: ["SHAPE-2"],
  requires: ["proc.kill.recover", "lb.ensure.active"],
  starts: true,
  exclusive: true,
  timeoutMs: lifeMs,
} as const;

/** When the process is killed, in parts of how long such a call took before. */
const moments = [0, 0.5, 1];

/** A call that is to be cut off by the end of the process, and what has to hold once another has taken its place. */
interface Interrupted {
  /** Makes the call whole: how long it takes is learned from it. */
  readonly whole: (context: CheckContext) => Promise<number>;
  /** What there must be before the call. */
  readonly prepare: (balancer: TestBalancer) => Promise<void>;
  readonly call: (balancer: TestBalancer) => Promise<Called<unknown>>;
  /** Called with the process that runs after the kill. */
  readonly settle: (context: CheckContext, balancer: TestBalancer) => Promise<void>;
}

/** Kills one process after the other in the middle of such a call; each next one settles what the one before left. */
const interrupt = async (context: CheckContext, { whole, prepare, call, settle }: Interrupted): Promise<void> => {
  const begin = async (life: Life, elapsedMs: number, part: number) => {
    const balancer = new TestBalancer(life.context);
    await prepare(balancer);
    const called = call(balancer);
    await Promise.race([called, wait(elapsedMs * part)]);
    life.own.process.signal("SIGKILL");
    await life.own.process.ended;
    await called;
    return { elapsedMs, socketPath: life.own.socketPath, uid: balancer.service.uid };
  };
  let left = await withLife(context, undefined, async (life) => begin(life, await whole(life.context), 0));
  for (const part of [...moments.slice(1), undefined])
    left = await withLife(context, left.socketPath, async (life) => {
      await settle(life.context, new TestBalancer(life.context, "", left.uid));
      return part === undefined ? left : begin(life, left.elapsedMs, part);
    });
};

/** Fails unless nothing of the Service is left. */
const expectGone = async ({ info }: CheckContext, balancer: TestBalancer): Promise<void> => {
  const found = await balancer.get();
  if (found !== undefined) fail({ message: "it is still there after its deletion", expected: "absent", got: found.id });
  if (!isClaimed(info.capabilities, "load_balancers.list")) return;
  expectNone(
    (await balancer.listed()).map(({ id }) => id),
    "load balancers of the Service are left",
  );
};

/** What becomes of changes that are under way when the process is killed. */
export const killChecks: readonly Check[] = [
  {
    ...base,
    id: "fault.kill.create",
    title: "after SIGKILL during Ensure the next process makes one load balancer of it",
    why: "Processes run out of memory and nodes fail: an unknown load balancer costs money until an operator finds it. Usually what was made is looked for in the memory of the process, or after it is made.",
    run: (context) =>
      interrupt(context, {
        whole: async (context_) => {
          const balancer = new TestBalancer(context_);
          const { exchange } = await balancer.ensure();
          await balancer.converge();
          await balancer.remove();
          return exchange.elapsedMs;
        },
        prepare: async () => undefined,
        call: (balancer) => balancer.ensure(),
        settle: async (after, balancer) => {
          const { id } = await balancer.converge();
          await expectOne(after, balancer, id);
          await balancer.remove();
          await expectGone(after, balancer);
        },
      }),
  },
  {
    ...base,
    id: "fault.kill.delete",
    title: "after SIGKILL during Delete the next process leaves no load balancer",
    why: "The controller takes away the finalizer when the deletion is said to be done; what is left then is left for ever. Usually the deletion was only in the memory of the process alone.",
    run: (context) =>
      interrupt(context, {
        whole: async (context_) => {
          const balancer = new TestBalancer(context_);
          await balancer.converge();
          const { exchange } = await balancer.deleteOnce();
          await balancer.remove();
          return exchange.elapsedMs;
        },
        prepare: async (balancer) => void (await balancer.converge()),
        call: (balancer) => balancer.deleteOnce(),
        settle: async (after, balancer) => {
          await balancer.remove();
          await expectGone(after, balancer);
        },
      }),
  },
];
