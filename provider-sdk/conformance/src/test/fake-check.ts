import { GetProviderInfoResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import type { Check, CheckContext } from "../suite/check.ts";
import { noFixtures } from "../suite/fixtures.ts";
import { Caller } from "../endpoint/caller.ts";
import { CreatedResources } from "../suite/created-resources.ts";
import { HookSession } from "../suite/hook-session.ts";
import { Connection } from "../endpoint/connection.ts";

/** A check that does nothing unless a test overrides a field. */
export const fakeCheck = (id: string, more: Partial<Check> = {}): Check => ({
  id,
  level: "S",
  profile: "core",
  title: id,
  rules: ["INF-1"],
  why: "It is a test.",
  run: async () => undefined,
  ...more,
});

/** A context whose connection is closed. */
export const fakeContext = (signal: AbortSignal): CheckContext => {
  const endpoint = { kind: "unix", path: "/nowhere.sock" } as const;
  const connection = new Connection(endpoint);
  connection.close();
  return {
    info: GetProviderInfoResponse.fromPartial({}),
    endpoint,
    fixtures: noFixtures,
    caller: new Caller({ connection }),
    callContext: { cluster: { id: "c", name: "c" }, scopeId: "s" },
    connect: () => connection,
    start: undefined,
    startTls: undefined,
    ready: () => Promise.reject(new Error("there is no provider")),
    hooks: new HookSession({ hooks: {}, resources: new CreatedResources("c", () => undefined), runId: "c" }).open(
      "c",
      signal,
    ).hooks,
    signal,
    random: () => 0,
    slowFactor: 1,
    long: false,
    run: {},
  };
};
