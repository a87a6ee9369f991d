import { READY } from "../../src/api/node.ts";
import type { Absences } from "../../src/controllers/node-lifecycle/guard/absences.ts";
import type { GuardInput } from "../../src/controllers/node-lifecycle/guard/guard.ts";
import type { InstanceResult, InstanceState } from "../../src/provider/model/instance.ts";
import { CREATED_MS, type NodeParts, node } from "./builders.ts";

export const NOW = CREATED_MS + 3_600_000;
export const LOST = NOW - 120_000;
const witness = { provider: "acme", scopeId: "project-1", bootId: "boot-1", receivedAtMs: NOW };
const conditions = [{ type: READY, status: "Unknown", lastTransitionTimeMs: LOST, reason: "" }];
export const lost = (parts: NodeParts = {}) => node("a", { status: { conditions }, ...parts });

export const absent = (observeTimeMs = NOW): InstanceResult => ({
  kind: "absent",
  basis: "lookupMiss",
  observeTimeMs,
  strong: true,
  witness,
});

export const present = (state: InstanceState): InstanceResult => ({
  kind: "present",
  readTimeMs: NOW,
  witness,
  instance: {
    providerId: "acme://a",
    name: "a",
    instanceType: undefined,
    zone: undefined,
    region: undefined,
    addresses: [],
    state,
    stateReason: "",
    labels: {},
    podCidrs: undefined,
    createTimeMs: undefined,
    revision: "",
    warnings: [],
  },
});

export const twice: Absences = {
  witness: { provider: "acme", scopeId: "project-1", bootId: "boot-1" },
  count: 2,
  first: { observeTimeMs: NOW - 30_000, heardAtMs: 0 },
  last: { observeTimeMs: NOW, heardAtMs: 30_000 },
  conclusive: false,
};

export const facts = (parts: Partial<GuardInput> = {}): GuardInput => ({
  absences: twice,
  provider: {
    name: "acme",
    scopeId: "project-1",
    bootId: "boot-1",
    untrustedReason: undefined,
    existenceConsistencyDelayMs: 0,
    failedAtMs: undefined,
    contradictedAtMs: undefined,
  },
  circuitBreaker: { gone: 1, nodes: 100, isUnknown: false, maxPercent: 10, exempt: false },
  isProtected: false,
  rules: {
    confirmations: 2,
    spanMs: 30_000,
    minAgeMs: 60_000,
    settleMs: 5000,
    freezeMs: 60_000,
    deletesNothing: false,
  },
  createdMs: CREATED_MS,
  nowMs: NOW,
  monotonicMs: 30_000,
  ...parts,
});
