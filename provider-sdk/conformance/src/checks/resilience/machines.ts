import { InstanceState } from "@cloudwire/proto/cloudprovider/v1/instance";
import type { Check, CheckContext } from "../../suite/check.ts";
import { expectOk, fail, show } from "../../suite/expect.ts";
import type { HookMachine } from "../../suite/hooks.ts";
import { durationMs } from "../../contract/duration.ts";
import { methods } from "../../contract/methods.ts";
import { disruptive, lookUntil } from "./broken-cloud.ts";

const base = { ...disruptive, capability: "instances", timeoutMs: 900_000 } as const;

/** How long a machine may take to start or stop. */
const machineMs = 300_000;
/** How long a young machine may be hidden, where the provider does not say. */
const defaultYoungMs = 60_000;

/** What the provider says of a machine, read now. */
const outcomeOf = async ({ caller, callContext }: CheckContext, machine: HookMachine, createTime: Date | undefined) => {
  const nodes = [{ name: machine.nodeName, providerId: machine.providerId, createTime }];
  const called = await caller.call(methods.batchGetInstances, { context: callContext, nodes, maxDataAge: {} });
  const [result] = expectOk(called, "the batch is refused").response.results;
  return { outcome: result?.outcome, exchange: called.exchange };
};

/** Waits until an instance has the wanted state; an absence before that is the finding, unless it is the wanted state. */
const until = async (
  context: CheckContext,
  machine: HookMachine,
  desired: InstanceState | "absent",
  patienceMs: number,
): Promise<void> => {
  // Only of a machine that should be there is its age worth telling: it is why it may be hidden.
  const createTime = desired === "absent" ? undefined : new Date();
  const { done, value } = await lookUntil(
    context,
    async () => {
      const { outcome, exchange } = await outcomeOf(context, machine, createTime);
      if (outcome?.$case === "absent" && desired !== "absent")
        fail({ message: `${machine.providerId}, which is there, is absent`, got: show(outcome), exchange });
      const isState = outcome?.$case === "instance" && outcome.value.state === desired;
      const isFound = outcome?.$case === "instance" && desired === InstanceState.UNSPECIFIED;
      return { done: isState || isFound || outcome?.$case === desired, value: { outcome, exchange } };
    },
    patienceMs,
  );
  if (!done)
    fail({
      message: `${machine.providerId} is not as it should be within ${patienceMs / 1_000} s`,
      expected:
        typeof desired === "string" ? desired : desired === InstanceState.UNSPECIFIED ? "found" : `state ${desired}`,
      got: show(value.outcome),
      exchange: value.exchange,
    });
};

/** What the vendor's own actions do to machines that they have made. */
export const machineChecks: readonly Check[] = [
  {
    ...base,
    id: "inst.state.young",
    title: "a machine that was just made is found or NOT_YET_CONSISTENT, and never absent",
    rules: ["ABS-4"],
    why: "Its kubelet may register before the cloud's API shows it: a Node that is called absent is deleted as it joins.",
    hooks: ["instanceCreate"],
    run: async (context) => {
      const delay = durationMs(context.info.capabilities?.instances?.existenceConsistencyDelay) ?? defaultYoungMs;
      const machine = await context.hooks.createMachine();
      await until(context, machine, InstanceState.UNSPECIFIED, delay + 10_000);
    },
  },
  {
    ...base,
    id: "inst.state.follows",
    title: "a machine that is stopped is STOPPED, and one that is terminated is absent",
    rules: ["ABS-6"],
    why: "A stopped instance can start again, with its disks: a false absence deletes its Node and its pods.",
    capability: "instances.shutdown_state",
    requires: ["inst.state.young"],
    hooks: ["instanceCreate", "instanceStop"],
    run: async (context) => {
      const machine = await context.hooks.createMachine();
      await until(context, machine, InstanceState.RUNNING, machineMs);
      await context.hooks.stopMachine(machine);
      await until(context, machine, InstanceState.STOPPED, machineMs);
      await context.hooks.terminateMachine(machine);
      await until(context, machine, "absent", machineMs);
    },
  },
];
