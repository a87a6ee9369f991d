import { HealthCheckResponse_ServingStatus, HealthDefinition } from "@cloudwire/proto/grpc/health/v1/health";
import { methods, serviceName } from "../../contract/methods.ts";
import type { Check, CheckContext } from "../../suite/check.ts";
import { expectError, expectNone, expectOk, fail, show } from "../../suite/expect.ts";
import { ruleProblems } from "../../contract/field-rules.ts";
import { fastest } from "../calls/measure.ts";

const base = { level: "S", profile: "core" } as const;

const check = ({ caller }: CheckContext, service: string) =>
  caller.call(HealthDefinition.methods.check, { service }, { service: HealthDefinition.fullName });

const serving = async (context: CheckContext, service: string): Promise<void> => {
  const called = await check(context, service);
  const { response } = expectOk(called, `health of "${service}" is not answered`);
  if (response.status !== HealthCheckResponse_ServingStatus.SERVING)
    fail({
      message: `health of "${service}" is not SERVING`,
      expected: "SERVING",
      got: `status ${response.status}`,
      exchange: called.exchange,
    });
};

const status = async ({ caller, callContext }: CheckContext) => {
  const called = await caller.call(methods.getProviderStatus, { context: callContext });
  return { status: expectOk(called, "the status is not answered").response, exchange: called.exchange };
};

/** Health, as kubelets and meshes ask for it, and the provider's status, as the controller does. */
export const healthChecks: readonly Check[] = [
  {
    ...base,
    id: "health.overall",
    title: 'health of "" is SERVING',
    rules: ["TRN-10"],
    why: "Kubernetes' own gRPC probes ask for it.",
    run: (context) => serving(context, ""),
  },
  {
    ...base,
    id: "health.service",
    title: "health of the contract's service is SERVING",
    rules: ["TRN-10"],
    why: "The controller asks for it. Usually only the empty name was registered.",
    run: (context) => serving(context, serviceName),
  },
  {
    ...base,
    id: "health.unknown",
    title: "health of a service that is not there is NOT_FOUND",
    rules: ["TRN-10"],
    why: "A health service that says SERVING to everything proves nothing.",
    run: async (context) => {
      expectError(await check(context, "conformance.NoSuchService"), { codes: [5] }, "an unknown service has a health");
    },
  },
  {
    ...base,
    id: "status.shape",
    title: "the status has the conditions CloudReachable and CredentialsValid, each type once",
    rules: ["STA-1", "STA-2"],
    why: "The controller removes no Node while the cloud is away; it learns that here.",
    run: async (context) => {
      const { status: found, exchange } = await status(context);
      const types = found.conditions.map(({ type }) => type);
      const problems = [
        ...ruleProblems("cloudprovider.v1.GetProviderStatusResponse", found),
        ...["CloudReachable", "CredentialsValid"]
          .filter((type) => !types.includes(type))
          .map((type) => `no condition ${type}`),
        ...types.filter((type, index) => types.indexOf(type) < index).map((type) => `condition ${type} is there twice`),
      ];
      expectNone(problems, "the status is not whole", { exchange, expected: "ready and both conditions" });
    },
  },
  {
    ...base,
    id: "status.boot-match",
    title: "boot_id and scope_id of the status are those of the handshake",
    rules: ["INF-2", "STA-1"],
    why: "Another value makes the controller shake hands again, at every poll.",
    run: async (context) => {
      const { status: found, exchange } = await status(context);
      const { info } = context;
      const expected = show([info.bootId, info.scopeId]);
      const got = show([found.bootId, found.scopeId]);
      if (got !== expected) fail({ message: "the status names another process or scope", expected, got, exchange });
    },
  },
  {
    ...base,
    id: "status.no-context",
    title: "the status is answered to a caller that does not know its cluster yet",
    rules: ["STA-1"],
    why: "The controller asks before it has read the namespace kube-system.",
    run: async ({ caller }) => {
      expectOk(await caller.call(methods.getProviderStatus, {}), "a status call without context is refused");
    },
  },
  {
    ...base,
    id: "status.cheap",
    title: "the status takes less than 250 ms, 99 times of 100",
    rules: ["STA-1"],
    why: "It is polled for ever: one that asks the cloud costs quota, and is late when it matters.",
    exclusive: true,
    run: (context) => fastest(context, { calls: 50, thresholdMs: 250 }, async () => void (await status(context))),
  },
];
