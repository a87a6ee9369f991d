import { expect, test } from "vitest";
import { CallBudget } from "./call-budget.ts";

test("CallBudget reports a full budget until a call was one too many", () => {
  expect(new CallBudget("ec2").toRateLimit(0, 50)).toEqual({ name: "ec2", limit: 50, remaining: 50 });
});

test("CallBudget reports an empty budget for the time that AWS returns, or five seconds", () => {
  const budget = new CallBudget("ec2");
  budget.throttled(1_000);
  expect(budget.toRateLimit(5_999, 50)).toEqual({ name: "ec2", limit: 50, remaining: 0, resetTime: new Date(6_000) });
  expect(budget.toRateLimit(6_000, 50).remaining).toBe(50);
  budget.throttled(6_000, 20_000);
  budget.throttled(7_000, 1_000);
  expect(budget.toRateLimit(25_999, 50).remaining).toBe(0);
});
