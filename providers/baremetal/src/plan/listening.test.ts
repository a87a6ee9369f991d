import { expect, test } from "vitest";
import { wildcardPorts } from "./listening.ts";

test("wildcardPorts() returns only listeners on all addresses", () => {
  const listing = `LISTEN 0      4096         0.0.0.0:22         0.0.0.0:*
LISTEN 0      511                *:8080             *:*
LISTEN 0      128             [::]:443           [::]:*
LISTEN 0      4096      192.0.2.10:80         0.0.0.0:*
LISTEN 0      4096   127.0.0.53%lo:53         0.0.0.0:*
`;
  expect(wildcardPorts(listing)).toEqual(new Set([22, 8080, 443]));
});
