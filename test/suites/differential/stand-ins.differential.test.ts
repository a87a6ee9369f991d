import { compareAll } from "./differential.ts";
import { controllerScenarios } from "./scenarios/controllers.ts";

await compareAll("devcluster's stand-ins and kube-controller-manager", controllerScenarios, {
  controllers: ["node-lifecycle-controller", "namespace-controller"],
});
