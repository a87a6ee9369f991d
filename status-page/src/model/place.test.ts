import { describe, expect, test } from "vitest";
import { formatPlace, parsePlace, type Place, wholeList } from "./place.ts";

const list = (change: object): Place => ({
  view: "list",
  selection: { kind: "node", search: "", state: undefined, provider: undefined, ...change },
});

describe("parsePlace() and formatPlace()", () => {
  test.each<{ hash: string; place: Place }>([
    { hash: "#/", place: { view: "overview" } },
    { hash: "#/calls", place: { view: "calls" } },
    { hash: "#/controllers", place: { view: "controllers" } },
    { hash: "#/nodes", place: list({}) },
    { hash: "#/routes?state=blocked", place: list({ kind: "route", state: "blocked" }) },
    { hash: "#/nodes?provider=", place: list({ provider: "" }) },
    {
      hash: "#/services?state=waiting&provider=aws&search=shop+web%26more",
      place: list({ kind: "service", state: "waiting", provider: "aws", search: "shop web&more" }),
    },
    { hash: "#/all?search=worker", place: list({ kind: "all", search: "worker" }) },
    { hash: "#/node/worker-1", place: { view: "object", object: { kind: "node", name: "worker-1" } } },
    { hash: "#/service/shop/web", place: { view: "object", object: { kind: "service", name: "shop/web" } } },
    { hash: "#/provider/a%20b%3Fc", place: { view: "object", object: { kind: "provider", name: "a b?c" } } },
    { hash: "#/pods", place: { view: "unknown", path: "pods" } },
  ])("go with $hash both ways", ({ hash, place }) => {
    expect(parsePlace(hash)).toEqual(place);
    expect(formatPlace(place)).toBe(hash);
  });

  test.each<{ hash: string; place: Place }>([
    { hash: "", place: { view: "overview" } },
    { hash: "#", place: { view: "overview" } },
    { hash: "#nodes", place: list({}) },
    { hash: "#/nodes?state=gone&color=red", place: list({}) },
    { hash: "#/node/", place: { view: "unknown", path: "node/" } },
    { hash: "#/node/100%", place: { view: "object", object: { kind: "node", name: "100%" } } },
  ])("take $hash as it is meant", ({ hash, place }) => {
    expect(parsePlace(hash)).toEqual(place);
  });
});

test("wholeList() leads to all of a kind, or to all in a state", () => {
  expect(formatPlace(wholeList("service"))).toBe("#/services");
  expect(formatPlace(wholeList("service", "blocked"))).toBe("#/services?state=blocked");
});
