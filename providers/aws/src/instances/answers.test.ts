import { describe, expect, test } from "vitest";
import { answerOf, foundOf, questionOf } from "./answers.ts";
import type { KnownMachine } from "./to-instance.ts";

const byDns = { kind: "privateDnsName" } as const;
const place = { nodeNames: byDns, vpcId: "vpc-1" };
const id = "i-0123456789abcdef0";
const observeTime = new Date(0);

const machine = (more: Partial<KnownMachine> = {}): KnownMachine => ({
  InstanceId: id,
  zone: "us-east-1a",
  VpcId: "vpc-1",
  PrivateDnsName: "node-1",
  State: { Name: "running" },
  ...more,
});
const terminated = machine({ State: { Name: "terminated" } });

const terminatedAt = (time: string): KnownMachine => ({
  ...terminated,
  StateTransitionReason: `User initiated (2026-11-21 ${time} GMT)`,
});
const noon = new Date("2026-11-21T12:00:00Z");

const ask = (
  node: { readonly id?: string; readonly name: string; readonly createTime?: Date },
  machines: readonly KnownMachine[],
  vanished: readonly string[] = [],
) =>
  answerOf(
    questionOf(node, byDns),
    foundOf(machines, place, new Set(vanished)),
    ({ InstanceId }) => ({ id: InstanceId, name: "shown" }),
    observeTime,
  );

describe("answerOf()", () => {
  test.each([
    ["a machine by id", { id: `/us-east-1a/${id}`, name: "x" }, [machine()], { name: "shown" }],
    ["a machine by name", { name: "node-1" }, [machine()], { name: "shown" }],
    ["a machine by the id in its name", { name: `${id}.us-east-1.compute.internal` }, [machine()], { name: "shown" }],
    ["a machine that was read twice", { name: "node-1" }, [machine(), machine()], { name: "shown" }],
    [
      "a terminated one",
      { id: `/us-east-1a/${id}`, name: "x" },
      [terminated],
      { kind: "absent", basis: "TERMINATED", stronglyConsistent: true },
    ],
    ["a terminated one by name", { name: "node-1" }, [terminated], { kind: "absent", basis: "TERMINATED" }],
    ["one that is not there", { id: `/us-east-1a/${id}`, name: "x" }, [], { kind: "absent", basis: "LOOKUP_MISS" }],
    ["a name that is not there", { name: "node-1" }, [], { kind: "absent", basis: "LOOKUP_MISS" }],
    [
      "a name of another VPC",
      { name: "node-1" },
      [machine({ VpcId: "vpc-2" })],
      { kind: "absent", basis: "LOOKUP_MISS" },
    ],
    ["a malformed id", { id: "/x", name: "x" }, [], { reason: "PROVIDER_ID_MALFORMED" }],
    ["a pod of Fargate", { id: "/us-east-1a/1/fargate-ip-10-0-0-1", name: "x" }, [], { kind: "notOwned" }],
  ])("returns %s", (_what, node, machines, expected) => {
    expect(ask(node, machines)).toMatchObject(expected);
  });

  test("prefers the living machine to the terminated one that had its name", () => {
    const terminated = machine({ InstanceId: "i-01234567", State: { Name: "terminated" } });
    expect(ask({ name: "node-1" }, [terminated, machine()])).toMatchObject({ id });
  });

  test.each([
    ["before the Node was created", [terminatedAt("11:59:59")], "LOOKUP_MISS"],
    ["at a time that EC2 does not report", [terminated], "LOOKUP_MISS"],
    ["while the Node existed", [terminatedAt("12:00:30")], "TERMINATED"],
    ["while it existed, and an earlier one", [terminatedAt("11:00:00"), terminatedAt("12:00:30")], "TERMINATED"],
  ])("takes a terminated machine for that of a Node by its name: one %s (case N-1)", (_when, machines, basis) => {
    const named = machines.map((one, index) => ({ ...one, InstanceId: `i-0123456${index}` }));
    expect(ask({ name: "node-1", createTime: noon }, named)).toMatchObject({ kind: "absent", basis });
    const node = { id: "/us-east-1a/i-01234560", name: "x", createTime: noon };
    expect(ask(node, named)).toMatchObject({ kind: "absent", basis: "TERMINATED" });
  });

  test("never guesses between machines of one name", () => {
    expect(ask({ name: "node-1" }, [machine(), machine({ InstanceId: "i-01234567" })])).toMatchObject({
      reason: "AMBIGUOUS_NAME",
      metadata: { matches: `${id},i-01234567` },
    });
  });

  test("does not support a read that lags for the end of a machine that was just seen", () => {
    expect(ask({ id: `/us-east-1a/${id}`, name: "x" }, [], [id])).toMatchObject({ reason: "INCOMPLETE_ANSWER" });
  });
});
