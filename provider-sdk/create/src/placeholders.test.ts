import { expect, it } from "vitest";
import { replaceAll, replacementsOf } from "./placeholders.ts";

it("replaceAll() replaces no word that it has put in", () => {
  const choices = {
    name: "acme-provider-acme.example.com",
    language: "go" as const,
    domain: "acme-provider.example.com",
    idPrefix: "x",
    dir: "",
    sdk: undefined,
  };
  expect(replaceAll("acme.example.com/acme-provider acme://i-1 acmexexample.com", replacementsOf(choices))).toBe(
    "acme-provider.example.com/acme-provider-acme.example.com x://i-1 acmexexample.com",
  );
});
