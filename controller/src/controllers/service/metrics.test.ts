import { expect, test } from "vitest";
import { service } from "../../../test/support/builders.ts";
import { capabilities, idleProvider, info } from "../../../test/support/provider/provider-builders.ts";
import type { Service } from "../../api/service.ts";
import { providerSet } from "../../provider/ownership/provider-set.ts";
import { Metrics } from "../../telemetry/metrics.ts";
import { exposeConditionReasons } from "./metrics.ts";

const loadBalancers = capabilities({ classes: ["example.com/lb"] });
const east = idleProvider("east", info({ capabilities: { loadBalancers } }));

function saying(reason: string | undefined, spec: Partial<Service["spec"]> = {}): Service {
  const condition = {
    type: "cloudwire.dev/LoadBalancerReady",
    status: "False",
    lastTransitionTimeMs: 0,
    observedGeneration: 0,
  } as const;
  const conditions = reason === undefined ? [] : [{ ...condition, reason, message: "" }];
  return service("web", { spec, status: { conditions } });
}

function shown(services: readonly Service[]): Promise<string> {
  const metrics = new Metrics();
  exposeConditionReasons(metrics, () => services, providerSet([east]));
  return metrics.text();
}

const series = (text: string): readonly string[] =>
  text.split("\n").filter((line) => line.startsWith("cloudwire_services{"));

const NONE_READY = 'cloudwire_services{provider="east",reason="Ready"} 0';

test.each([
  { when: "there is none", services: [], wanted: [NONE_READY] },
  {
    when: "some are ready and some wait",
    services: [saying("Ready"), saying("Ready"), saying("Rejected")],
    wanted: [
      'cloudwire_services{provider="east",reason="Ready"} 2',
      'cloudwire_services{provider="east",reason="Rejected"} 1',
    ],
  },
  {
    when: "one says nothing yet",
    services: [saying(undefined)],
    wanted: [NONE_READY, 'cloudwire_services{provider="east",reason="Unknown"} 1'],
  },
  { when: "one wants no load balancer", services: [saying(undefined, { type: "ClusterIP" })], wanted: [NONE_READY] },
  {
    when: "another controller serves the class of one",
    services: [saying(undefined, { loadBalancerClass: "other.example/lb" })],
    wanted: [NONE_READY],
  },
  {
    when: "no provider serves one",
    services: [saying("NoLoadBalancerProvider", { loadBalancerClass: "other.example/lb" })],
    wanted: [NONE_READY, 'cloudwire_services{provider="",reason="NoLoadBalancerProvider"} 1'],
  },
])("exposeConditionReasons() counts Services by provider and reason when $when", async ({ services, wanted }) => {
  expect(series(await shown(services))).toEqual(wanted);
});
