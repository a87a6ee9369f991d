import fc from "fast-check";
import { expect, test } from "vitest";
import { type GroupIdentity, groupName, groupPrefix, securityGroupName } from "./names.ts";

const identity: GroupIdentity = {
  listenerPort: 80,
  protocol: "TCP",
  nodePort: 30080,
  healthCheckProtocol: "TCP",
  healthCheckIntervalSeconds: 10,
  ipFamily: "ipv4",
};

test("groupName() fits the rules of AWS for any key", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z][a-z0-9-]{0,31}$/), (key) => {
      const name = groupName(key, identity);
      expect(name).toMatch(/^(?!.*--)[A-Za-z0-9][A-Za-z0-9-]{0,30}[A-Za-z0-9]$/);
      expect(name.startsWith(groupPrefix(key))).toBe(true);
    }),
  );
});

test.each([
  [{ listenerPort: 81 }],
  [{ protocol: "UDP" }],
  [{ nodePort: 30081 }],
  [{ healthCheckProtocol: "HTTP" }],
  [{ healthCheckIntervalSeconds: 30 }],
  [{ ipFamily: "ipv6" }],
] as const)("groupName() is another with %j, which a group cannot become", (change) => {
  expect(groupName("k8s-1", { ...identity, ...change })).not.toBe(groupName("k8s-1", identity));
});

test("groupName() of two Services differ, and stay", () => {
  expect(groupName("k8s-1", identity)).toBe("cw-789bc73304107b91-5ffaf075");
  expect(groupName("k8s-2", identity)).not.toBe(groupName("k8s-1", identity));
  expect(securityGroupName("k8s-1")).toBe("cloudwire-k8s-1");
});
