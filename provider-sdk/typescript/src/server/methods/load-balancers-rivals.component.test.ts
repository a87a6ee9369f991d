import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { status as grpc } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import type { ChangeContext } from "../../definition/call-context.ts";
import type { LoadBalancer } from "../../definition/load-balancers.ts";
import type { DesiredLoadBalancer } from "../../definition/requests.ts";
import { type Pending, pending } from "../../results/results.ts";
import { invoke, invokeOk } from "../../../test/support/invoke.ts";
import { eventually } from "../../../test/support/serve-for-test.ts";
import { active, change, ensureRequest, served, service } from "../../../test/support/serve-load-balancers.ts";

const { methods } = CloudProviderDefinition;

/** A handler that counts its runs and ends when the test releases it. */
const held = () => {
  const release = Promise.withResolvers<void>();
  const runs: string[] = [];
  const ensure = async (wanted: DesiredLoadBalancer, { changeId }: ChangeContext): Promise<LoadBalancer | Pending> => {
    runs.push(changeId);
    await release.promise;
    return active(wanted);
  };
  return { ensure, runs, release: () => release.resolve() };
};

describe("changes of one load balancer", () => {
  test("join the same change, let one wait and reject a third", async () => {
    const { ensure, runs, release } = held();
    const { client } = await served({ ensure });
    const ask = (requestId: string) =>
      invoke(client, methods.ensureLoadBalancer, { ...ensureRequest, change: { requestId } });
    const first = ask("a");
    await eventually(() => runs.length === 1);
    const again = ask("a");
    const waiting = ask("b");
    await eventually(async () => (await ask("c")).kind === "error");
    expect(await ask("c")).toMatchObject({ code: grpc.ABORTED, reason: "OPERATION_IN_PROGRESS", retryAfterMs: 2_000 });
    release();
    expect((await Promise.all([first, again, waiting])).map(({ kind }) => kind)).toEqual(["ok", "ok", "ok"]);
    expect(runs).toEqual(["a", "b"]);
  });

  test("do not hold up those of another", async () => {
    const { ensure, runs, release } = held();
    const { client } = await served({
      ensure: (wanted, ctx) => (wanted.service.uid === "uid-1" ? ensure(wanted, ctx) : active(wanted)),
    });
    const first = invoke(client, methods.ensureLoadBalancer, { ...ensureRequest, change: change() });
    await eventually(() => runs.length === 1);
    const other = { ...ensureRequest, change: change(), service: { ...service, uid: "uid-2" } };
    expect((await invoke(client, methods.ensureLoadBalancer, other)).kind).toBe("ok");
    release();
    expect((await first).kind).toBe("ok");
  });

  test("answer a repetition of a finished change from memory, and ask again for one that goes on", async () => {
    let runs = 0;
    const { client } = await served({
      ensure: (wanted) => {
        runs += 1;
        return runs === 1 ? pending("lb-1") : active(wanted);
      },
    });
    const ask = () => invokeOk(client, methods.ensureLoadBalancer, { ...ensureRequest, change: { requestId: "same" } });
    expect((await ask()).loadBalancer?.operation).toBeDefined();
    const second = await ask();
    expect(second.loadBalancer?.operation).toBeUndefined();
    expect(await ask()).toEqual(second);
    expect(runs).toBe(2);
  });

  test("keep the key while an abandoned handler still works", async () => {
    const { ensure, runs, release } = held();
    const { client } = await served({ ensure });
    const ask = (requestId: string, deadlineMs?: number) =>
      invoke(
        client,
        methods.ensureLoadBalancer,
        { ...ensureRequest, change: { requestId } },
        deadlineMs ? { deadlineMs } : {},
      );
    expect(await ask("a", 50)).toMatchObject({ code: grpc.DEADLINE_EXCEEDED });
    const second = ask("b");
    expect(runs).toEqual(["a"]);
    release();
    expect((await second).kind).toBe("ok");
    expect(runs).toEqual(["a", "b"]);
  });
});
