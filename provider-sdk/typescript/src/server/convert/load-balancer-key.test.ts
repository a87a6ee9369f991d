import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { loadBalancerRef } from "./load-balancer.ts";

interface Vector {
  readonly clusterId: string;
  readonly serviceUid: string;
  readonly key: string;
}

const file = new URL("../../../../../proto/vectors/load-balancer-keys.json", import.meta.url);
const { vectors }: { readonly vectors: readonly Vector[] } = JSON.parse(readFileSync(file, "utf8"));

test.each(vectors)("a load balancer has the key that all SDKs make: $key", ({ clusterId, serviceUid, key }) => {
  const service = { namespace: "default", name: "web", uid: serviceUid };
  expect(loadBalancerRef({ id: clusterId }, service).key).toBe(key);
});
