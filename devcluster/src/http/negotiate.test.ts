import { describe, expect, test } from "vitest";
import { negotiate, wantsAggregatedDiscovery } from "./negotiate.ts";

const table = "application/json;as=Table;v=v1;g=meta.k8s.io";

describe("negotiate()", () => {
  test.each<[string | undefined, object]>([
    [undefined, { kind: "object" }],
    ["", { kind: "object" }],
    ["*/*", { kind: "object" }],
    ["application/json", { kind: "object" }],
    ["application/vnd.kubernetes.protobuf,application/json", { kind: "object" }],
    ["text/html, application/json;q=0.1", { kind: "object" }],
    [`${table},application/json`, { kind: "table", version: "v1" }],
    [`application/json,${table}`, { kind: "object" }],
    ["application/json;as=Table;v=v1beta1;g=meta.k8s.io", { kind: "table", version: "v1beta1" }],
    ["application/json;as=Table;v=v9;g=meta.k8s.io,application/json", { kind: "object" }],
    ["application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", { kind: "metadata", version: "v1" }],
  ])("%s", (accept, expected) => {
    expect(negotiate(accept)).toEqual(expected);
  });

  test.each(["application/vnd.kubernetes.protobuf", "text/html", "application/json;as=Table;v=v9;g=meta.k8s.io"])(
    "answers 406 to %s",
    (accept) => {
      expect(() => negotiate(accept)).toThrow(expect.objectContaining({ code: 406 }));
    },
  );
});

test("wantsAggregatedDiscovery() takes version v2 only", () => {
  const accept = (version: string): string =>
    `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
  expect([
    wantsAggregatedDiscovery(accept("v2")),
    wantsAggregatedDiscovery(accept("v2beta1")),
    wantsAggregatedDiscovery("application/json"),
  ]).toEqual(["v2", undefined, undefined]);
});
