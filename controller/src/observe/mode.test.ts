import { describe, expect, test } from "vitest";
import { isObserved, type Mode, type Modes, observesAll, observesAny } from "./mode.ts";

type Said = Readonly<Record<string, Mode>>;

function modes(process: Mode, controllers: Said = {}, providers: Said = {}): Modes {
  return { process, controllers: new Map(Object.entries(controllers)), providers: new Map(Object.entries(providers)) };
}

describe("isObserved()", () => {
  test.each([
    ["an active process", modes("active"), "service", "acme", false],
    ["an observing process", modes("observe"), "service", "acme", true],
    ["an observed controller", modes("active", { service: "observe" }), "service", "acme", true],
    ["another controller than the observed one", modes("active", { service: "observe" }), "node", "acme", false],
    ["an observed provider", modes("active", {}, { acme: "observe" }), "service", "acme", true],
    ["another provider than the observed one", modes("active", {}, { acme: "observe" }), "service", "other", false],
    ["an active controller of an observing process", modes("observe", { service: "active" }), "service", "acme", false],
    ["an active provider of an observing process", modes("observe", {}, { acme: "active" }), "service", "acme", false],
    ["another one of these", modes("observe", {}, { acme: "active" }), "service", "other", true],
    [
      "an observed provider of an active controller",
      modes("active", { service: "active" }, { acme: "observe" }),
      "service",
      "acme",
      true,
    ],
    [
      "an observed controller with an active provider",
      modes("active", { service: "observe" }, { acme: "active" }),
      "service",
      "acme",
      true,
    ],
    ["unowned object in an active process", modes("active"), "service", "", false],
    ["unowned object while a provider is observed", modes("active", {}, { acme: "observe" }), "service", "", true],
    [
      "unowned object of an active controller while a provider is observed",
      modes("active", { service: "active" }, { acme: "observe" }),
      "service",
      "",
      false,
    ],
    ["unowned object in an observing process", modes("observe"), "service", "", true],
  ])("reports %s", (_what, said, controller, provider, wanted) => {
    expect(isObserved(said, controller, provider)).toBe(wanted);
  });
});

describe("observesAny() and observesAll()", () => {
  test.each([
    ["an active process", modes("active"), false, false],
    ["an observing process", modes("observe"), true, true],
    ["an observing process with an active controller", modes("observe", { service: "active" }), true, false],
    ["an observing process with an active provider", modes("observe", {}, { acme: "active" }), true, false],
    ["one observed controller", modes("active", { service: "observe" }), true, false],
    ["one observed provider", modes("active", {}, { acme: "observe" }), true, false],
    ["one that is reported to be active, as it is", modes("active", { service: "active" }), false, false],
  ])("report %s", (_what, said, any, all) => {
    expect([observesAny(said), observesAll(said)]).toEqual([any, all]);
  });
});
