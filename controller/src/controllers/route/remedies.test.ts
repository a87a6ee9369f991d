import { expect, test } from "vitest";
import { contractError } from "../../provider/model/errors.ts";
import type { RangeFailure } from "./failure.ts";
import { failureText } from "./remedies.ts";

const failure = (parts: Partial<RangeFailure>): RangeFailure => {
  const base = { cidr: "10.120.1.0/24", nameHint: "hint", message: "why", isTargetGone: false } as const;
  return { ...base, refusal: undefined, error: undefined, ...parts };
};

test.each([
  { of: failure({ refusal: "taken" }), want: /within 5 minutes; to do: delete the Node/ },
  { of: failure({ refusal: "family" }), want: /within 5 minutes; to do: give Nodes ranges/ },
  {
    of: failure({ error: contractError("QUOTA_EXCEEDED", "x") }),
    want: /1 to 15 .* room; to do: have the limit raised/,
  },
  { of: failure({ error: contractError("CIDR_CONFLICT", "x") }), want: /the range is free; to do: remove/ },
  { of: failure({ error: contractError("CLOUD_PERMISSION_DENIED", "x") }), want: /to do: mend the provider's cred/ },
  { of: failure({ error: contractError("FIELD_INVALID", "x") }), want: /30 minutes.*; to do: change what the message/ },
  {
    of: failure({ error: contractError("CLOUD_UNAVAILABLE", "x") }),
    want: /growing waits; to do: see that the provider/,
  },
  {
    of: failure({ error: contractError("DEADLINE_PASSED", "x") }),
    want: /\(asked again after 1 second to 5 minutes\)$/,
  },
])("failureText() says when a route is tried again and what to do: $want", ({ of, want }) => {
  expect(failureText(of)).toMatch(want);
});
