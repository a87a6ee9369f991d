import { expect, test } from "vitest";
import { adoption, type AdoptionInput, NO_ADOPTION } from "./adoption.ts";

const possible: AdoptionInput = {
  loadBalancerId: "lb-1",
  existingId: undefined,
  isAllowed: true,
  isOffered: true,
  namespace: "shop",
  others: [],
};

test("adopts an unowned load balancer", () => {
  expect(adoption(possible)).toEqual({ desired: { adoptLoadBalancerId: "lb-1" }, problems: [] });
});

test.each([
  { it: "nothing is left to do", input: {} },
  { it: "it is not allowed any more", input: { isAllowed: false } },
  { it: "the provider no longer supports it", input: { isOffered: false } },
])("is done for a Service that has it, also if $it", ({ input }) => {
  expect(adoption({ ...possible, ...input, existingId: "lb-1" })).toEqual(NO_ADOPTION);
});

test.each([
  {
    it: "the Service has another one, which goes on serving",
    input: { existingId: "lb-2", isAllowed: false },
    effect: "ignored",
    message: "the Service has load balancer lb-2; to adopt another one, recreate the Service",
  },
  {
    it: "no operator has allowed it",
    input: { isAllowed: false },
    effect: "refused",
    message: "adoption is disabled; enable it with --allow-load-balancer-adoption",
  },
  {
    it: "the provider cannot, or cannot say whose it is",
    input: { isOffered: false },
    effect: "refused",
    message: "the provider does not support adoption",
  },
  {
    it: "others have it or want it",
    input: { others: ["shop/web", "shop/api"] },
    effect: "refused",
    message: "load balancer lb-1 is used or requested by Service shop/web, Service shop/api",
  },
  {
    it: "Services of other namespaces have it or want it, without their names (case A-7)",
    input: { others: ["bank/web", "shop/api", "shop-2/web"] },
    effect: "refused",
    message: "load balancer lb-1 is used or requested by Service shop/api, a Service of another namespace",
  },
])("takes over nothing where $it", ({ input, effect, message }) => {
  const field = "metadata.annotations[service.cloudwire.dev/adopt-load-balancer]";
  expect(adoption({ ...possible, ...input })).toEqual({
    desired: {},
    problems: [{ feature: "Adopt", field, message, effect }],
  });
});
