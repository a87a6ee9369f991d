import { expect, test } from "vitest";
import { isControllerEnabled } from "../api/controller-names.ts";
import { REFUSING_CLIENT, controllerContext } from "../../test/support/controller-context.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { CONTROLLER_NAMES, CONTROLLERS, prepareControllers } from "./controllers.ts";
import { TABLE } from "./options.ts";

const enabled = (...names: readonly string[]) =>
  [...CONTROLLER_NAMES].filter((name) => isControllerEnabled(name, names));

const UPSTREAMS = [
  "cloud-node-controller",
  "cloud-node-lifecycle-controller",
  "service-lb-controller",
  "node-route-controller",
];

test("--controllers=* runs upstream's controllers and none that needs more permissions", () => {
  expect(enabled("*")).toEqual(UPSTREAMS);
});

test("the others run when they are named", () => {
  const others = ["nodeipam", "kubelet-serving-csr-approver", "persistent-volume-label"];
  expect(enabled("*", ...others)).toEqual([...CONTROLLER_NAMES]);
});

test("a disabled controller's Lease annotations are still maintained", () => {
  const options = { ...TABLE.defaults, controllers: ["cloud-node"] };
  const context = controllerContext({ options, clock: new FakeClock(), client: REFUSING_CLIENT });
  const { all, leaseAnnotations } = prepareControllers(context, CONTROLLERS);
  expect(all.map(({ name }) => name)).toEqual(["cloud-node-controller"]);
  expect(leaseAnnotations.get("cloud-node-lifecycle-controller")).toHaveLength(1);
});
