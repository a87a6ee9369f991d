import { describe, expect, it } from "vitest";
import { apiServerArgs, layoutIn } from "./components/arguments.ts";
import { type ControllerManagerOptions, type ControlPlaneOptions, runsNodeLifecycle } from "./options.ts";

describe("runsNodeLifecycle()", () => {
  it.each<[string, ControllerManagerOptions | undefined, boolean]>([
    ["no kube-controller-manager", undefined, false],
    ["the default controllers", {}, true],
    ["all controllers but this one", { controllers: ["*", "-node-lifecycle-controller"] }, false],
    ["all controllers but this one, by its old name", { controllers: ["*", "-nodelifecycle"] }, false],
    ["this controller only", { controllers: ["node-lifecycle-controller"] }, true],
    ["other controllers only", { controllers: ["deployment-controller"] }, false],
  ])("is right about %s", (_, options, expected) => {
    expect(runsNodeLifecycle(options)).toBe(expected);
  });
});

describe("apiServerArgs()", () => {
  const disabledBy = (options: ControlPlaneOptions) =>
    apiServerArgs(layoutIn("/dir"), 20_000, options).filter((arg) => arg.startsWith("--disable-admission-plugins"));

  it.each<[string, ControlPlaneOptions, readonly string[]]>([
    [
      "neither tokens nor anyone who lifts not-ready",
      {},
      ["--disable-admission-plugins=ServiceAccount,TaintNodesByCondition"],
    ],
    ["node-lifecycle-controller", { controllerManager: true }, ["--disable-admission-plugins=ServiceAccount"]],
    ["tokens too", { controllerManager: true, serviceAccountTokens: true }, []],
  ])("turns off the admission plugins that would block, with %s", (_, options, expected) => {
    expect(disabledBy(options)).toEqual(expected);
  });

  it("puts the caller's arguments last, where they win", () => {
    expect(apiServerArgs(layoutIn("/dir"), 20_000, { apiServerArgs: ["--v=4"] }).at(-1)).toBe("--v=4");
  });
});
