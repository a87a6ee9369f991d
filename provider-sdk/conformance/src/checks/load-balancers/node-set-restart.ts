import type { Check } from "../../suite/check.ts";
import { errorProblem, fail, show } from "../../suite/expect.ts";
import { outcomeLine } from "../../endpoint/exchange.ts";
import { newSet } from "./node-sets.ts";
import { withLife } from "../process/own-provider.ts";

/** Sets of nodes and the end of the process that keeps them. */
export const nodeSetRestartChecks: readonly Check[] = [
  {
    level: "D",
    profile: "loadbalancer",
    capability: "load_balancers.node_sets",
    requires: ["nset.delta", "proc.kill.recover"],
    starts: true,
    exclusive: true,
    timeoutMs: 60_000,
    id: "nset.restart",
    title: "after a restart a set is not known, or is what it was, and never empty",
    rules: ["NST-4"],
    why: "A set that is taken for empty takes every node out of every load balancer.",
    run: async (context) => {
      const { id, socketPath } = await withLife(context, undefined, async ({ own, context: life }) => {
        const set = newSet(life);
        await set.expect({ target: "a", nodes: [1, 2, 3], count: 3 }, { fingerprint: "a", count: 3, committed: true });
        own.process.signal("SIGKILL");
        await own.process.ended;
        return { id: set.id, socketPath: own.socketPath };
      });
      await withLife(context, socketPath, async ({ context: life }) => {
        const called = await newSet(life, id).apply({ base: "a", target: "b", nodes: [4], count: 4 });
        const { exchange } = called;
        const wanted = { codes: [9], reasons: ["NODE_SET_BASE_MISMATCH"] };
        if (called.kind === "error" && errorProblem(called.error, wanted) === undefined) return;
        const kept = called.kind === "ok" && called.response.committed && called.response.count === 4;
        if (!kept)
          fail({
            message: "a difference against a set from before the restart is neither refused nor applied",
            expected: "NODE_SET_BASE_MISMATCH, or 4 nodes",
            got: called.kind === "ok" ? show(called.response) : outcomeLine(called),
            exchange,
          });
      });
    },
  },
];
