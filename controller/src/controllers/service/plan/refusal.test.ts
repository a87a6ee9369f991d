import { describe, expect, test } from "vitest";
import { refusalOf } from "./refusal.ts";

describe("plan() asks the cloud for nothing", () => {
  test("when the Service asks for what must not be left out", () => {
    const refused = {
      feature: "SourceRanges",
      field: "spec.loadBalancerSourceRanges",
      message: "open to all",
      effect: "refused",
    } as const;
    const ignored = { feature: "RequestedIp", field: "spec.loadBalancerIP", message: "m", effect: "ignored" } as const;
    const other = {
      feature: "Protocols",
      field: "spec.ports[0].protocol",
      message: "no SCTP",
      effect: "refused",
    } as const;
    expect(refusalOf([refused, ignored, other])).toEqual({
      message: "spec.loadBalancerSourceRanges: open to all; spec.ports[0].protocol: no SCTP",
      retryAfterMs: undefined,
      nextTry: "tried again when the Service or the provider changes",
    });
    expect(refusalOf([ignored])).toBeUndefined();
  });
});
