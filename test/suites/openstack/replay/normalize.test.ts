import { expect, test } from "vitest";
import { Normalizer } from "./normalize.ts";

const surroundings = {
  urls: new Map([["http://127.0.0.1:8774", "{replay:url}/compute"]]),
  secrets: new Set(["gAAAA-token"]),
  handedOut: ["203.0.113."],
};

const first = "8f1d2c3b-0a1b-4c2d-9e3f-0123456789ab";
const second = "9f1d2c3b-0a1b-4c2d-9e3f-0123456789ab";
const numbered = (number: number): string => `00000000-0000-4000-8000-00000000000${number}`;

test.each([
  ["numbers ids as they appear", [second, first, second], [numbered(1), numbered(2), numbered(1)]],
  ["leaves ids that scenarios have made up", numbered(7), numbered(7)],
  ["numbers ids of Keystone", `project-${"ab".repeat(16)}`, `project-${"0".repeat(31)}1`],
  ["numbers ids of hosts", "ab".repeat(28), `${"0".repeat(55)}1`],
  ["leaves the names of load balancers", `k8s-${"ab".repeat(14)}`, `k8s-${"ab".repeat(14)}`],
  [
    "makes all times one",
    ["2026-11-22T23:41:05Z", "2026-11-22 23:41:05.123456"],
    ["2026-01-02T03:04:05Z", "2026-01-02 03:04:05"],
  ],
  [
    "numbers addresses that are handed out",
    ["203.0.113.250", "203.0.113.7", "10.0.0.1"],
    ["203.0.113.101", "203.0.113.102", "10.0.0.1"],
  ],
  ["leaves ranges", "203.0.113.0/24", "203.0.113.0/24"],
  ["numbers addresses of network cards", "fa:16:3e:aa:bb:cc", "fa:16:3e:00:00:01"],
  ["names services", "http://127.0.0.1:8774/v2.1/servers", "{replay:url}/compute/v2.1/servers"],
  [
    "hides secrets by their keys",
    { auth: [{ secret: "s", password: "p" }] },
    { auth: [{ secret: "{hidden}", password: "{hidden}" }] },
  ],
  ["hides secrets within a text", { note: "with gAAAA-token" }, { note: "with {hidden}" }],
  ["lets tokens end later", { expires_at: "2026-11-23T00:00:00Z" }, { expires_at: "{replay:later}" }],
  ["leaves other values", [1, true, null], [1, true, null]],
])("Normalizer %s", (_what, value, expected) => {
  expect(new Normalizer(surroundings).value(value)).toEqual(expected);
});
