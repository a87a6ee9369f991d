import { describe, expect, test } from "vitest";
import { answerOf, foundOf, questionOf } from "./answers.ts";
import type { Server } from "./server.ts";

const id = "8f1d2c3b-0a1b-4c2d-9e3f-0123456789ab";
const otherId = "9f1d2c3b-0a1b-4c2d-9e3f-0123456789ab";
const observeTime = new Date(0);

const server = (more: Partial<Server> = {}): Server => ({ id, name: "web-1", status: "ACTIVE", ...more });
const unknownCell: Server = { id: otherId, status: "UNKNOWN" };

const ask = (
  node: { readonly id?: string; readonly name: string },
  servers: readonly Server[],
  rest: Parameters<typeof foundOf>[1] = {},
) => answerOf(questionOf(node, "one"), foundOf(servers, rest), ({ name }) => ({ id, name }), observeTime);

const byId = { id: `/${id}`, name: "x" };
const byName = { name: "web-1" };
const missing = new Set([id]);

describe("answerOf()", () => {
  test.each([
    ["a server by id", byId, [server()], {}, { name: "web-1" }],
    ["a server by name", byName, [server()], {}, { name: "web-1" }],
    ["a server by the name that a host makes of it", byName, [server({ name: "Web-1" })], {}, { name: "Web-1" }],
    ["a server that was read twice", byName, [server(), server()], {}, { name: "web-1" }],
    [
      "one that Nova says is deleted",
      byId,
      [server({ status: "DELETED" })],
      {},
      { kind: "absent", basis: "TERMINATED" },
    ],
    [
      "one that Nova was asked for and does not have",
      byId,
      [],
      { missing },
      { kind: "absent", basis: "LOOKUP_MISS", stronglyConsistent: true },
    ],
    [
      "one that a complete list lacks, which is no proof",
      byId,
      [],
      { isComplete: true },
      { reason: "INCOMPLETE_ANSWER" },
    ],
    ["one in a cell that does not answer", byId, [{ id, status: "UNKNOWN" }], {}, { reason: "INCOMPLETE_ANSWER" }],
    [
      "a name that a complete list lacks",
      byName,
      [],
      { isComplete: true },
      { kind: "absent", basis: "COMPLETE_LIST_MISS" },
    ],
    ["a name that a part of the list lacks", byName, [], {}, { reason: "INCOMPLETE_ANSWER" }],
    [
      "a name, while a cell does not answer",
      byName,
      [unknownCell],
      { isComplete: true },
      { reason: "INCOMPLETE_ANSWER" },
    ],
    ["a server of another region", { id: `two/${id}`, name: "x" }, [], {}, { kind: "notOwned" }],
    ["a malformed id", { id: "/x", name: "x" }, [], {}, { reason: "PROVIDER_ID_MALFORMED" }],
  ])("returns %s", (_what, node, servers, rest, expected) => {
    expect(ask(node, servers, rest)).toMatchObject(expected);
  });

  test("prefers the living server to the deleted one that had its name", () => {
    expect(ask(byName, [server({ id: otherId, status: "DELETED" }), server()])).toMatchObject({ id });
  });

  test("never guesses between servers of one name", () => {
    expect(ask(byName, [server(), server({ id: otherId })])).toMatchObject({
      reason: "AMBIGUOUS_NAME",
      metadata: { matches: `${id},${otherId}` },
    });
  });
});
