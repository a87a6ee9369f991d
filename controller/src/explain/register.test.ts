import type { Replica } from "@cloudwire/operator-api";
import { expect, test } from "vitest";
import { type ReplicaFacts, replicaOf } from "./register.ts";

const elector = (leading: boolean, leader: string) => ({ identity: "me", leading, leader });

test.each<[string, Omit<ReplicaFacts, "version" | "host">, Omit<Replica, "version">]>([
  ["leads", { elector: elector(true, "me"), isAlone: false }, { identity: "me", isLeader: true }],
  [
    "stands by",
    { elector: elector(false, "other"), isAlone: false },
    { identity: "me", isLeader: false, leaderIdentity: "other" },
  ],
  ["led before", { elector: elector(false, "me"), isAlone: false }, { identity: "me", isLeader: false }],
  ["finds no leader", { elector: elector(false, ""), isAlone: false }, { identity: "me", isLeader: false }],
  ["has not begun", { elector: undefined, isAlone: false }, { identity: "here", isLeader: false }],
  ["knows no election", { elector: undefined, isAlone: true }, { identity: "here", isLeader: true }],
])("a replica that %s says so", (_sentence, facts, expected) => {
  expect(replicaOf({ ...facts, version: "1.2.3", host: "here" })).toEqual({ ...expected, version: "1.2.3" });
});
