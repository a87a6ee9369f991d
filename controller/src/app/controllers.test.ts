import { expect, test } from "vitest";
import { isControllerEnabled } from "../api/controller-names.ts";
import { CONTROLLER_NAMES } from "./controllers.ts";

const enabled = (...wishes: readonly string[]) =>
  [...CONTROLLER_NAMES].filter((name) => isControllerEnabled(name, wishes));

const UPSTREAMS = [
  "cloud-node-controller",
  "cloud-node-lifecycle-controller",
  "service-lb-controller",
  "node-route-controller",
];

test("--controllers=* runs what upstream runs and nothing that needs more rights", () => {
  expect(enabled("*")).toEqual(UPSTREAMS);
});

test("the others run when they are named", () => {
  const others = ["nodeipam", "kubelet-serving-csr-approver", "persistent-volume-label"];
  expect(enabled("*", ...others)).toEqual([...CONTROLLER_NAMES]);
});
