import { describe, expect, test } from "vitest";
import { type Catalog, endpointOf, regionsOf } from "./catalog.ts";

const entry = (type: string, url: string, region_id = "one", wanted = "public"): Catalog[number] => ({
  type,
  endpoints: [{ interface: wanted, region_id, url }],
});

describe("endpointOf()", () => {
  test.each([
    ["compute", entry("compute", "http://nova:8774/v2.1"), "http://nova:8774/v2.1"],
    ["compute", entry("compute", "http://cloud/compute/v2.1/"), "http://cloud/compute/v2.1"],
    ["compute", entry("compute", "http://nova:8774/"), "http://nova:8774/v2.1"],
    ["network", entry("network", "http://neutron:9696"), "http://neutron:9696/v2.0"],
    ["load-balancer", entry("load-balancer", "http://octavia:9876"), "http://octavia:9876/v2.0"],
    ["block-storage", entry("volumev3", "http://cinder:8776/v3/abc"), "http://cinder:8776/v3/abc"],
    ["block-storage", entry("block-storage", "http://cinder:8776/v3"), "http://cinder:8776/v3"],
    ["compute", entry("compute", "http://nova", "two"), undefined],
    ["compute", entry("compute", "http://nova", "one", "internal"), undefined],
    ["compute", entry("network", "http://nova"), undefined],
  ] as const)("finds %s", (service, catalog, expected) => {
    expect(endpointOf([catalog], service, "one", "public")).toBe(expected);
  });

  test("prefers the official type of a service", () => {
    const both = [entry("volumev3", "http://old/v3"), entry("block-storage", "http://new/v3")];
    expect(endpointOf(both, "block-storage", "one", "public")).toBe("http://new/v3");
  });
});

test("regionsOf() names each region once", () => {
  const catalog = [entry("compute", "a", "two"), entry("network", "b", "one"), entry("image", "c", "two")];
  expect(regionsOf(catalog)).toEqual(["one", "two"]);
});
