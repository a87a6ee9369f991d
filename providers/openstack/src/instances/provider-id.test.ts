import { expect, test } from "vitest";
import { formatId, parseId } from "./provider-id.ts";

const uuid = "8f1d2c3b-0a1b-4c2d-9e3f-0123456789ab";

test.each([
  [`/${uuid}`, { kind: "server", serverId: uuid }],
  [`/${uuid.toUpperCase()}`, { kind: "server", serverId: uuid }],
  [`one/${uuid}`, { kind: "server", serverId: uuid }],
  [`One/${uuid}`, { kind: "server", serverId: uuid }],
  [`two/${uuid}`, { kind: "foreign", region: "two" }],
  [uuid, { kind: "malformed" }],
  [`/${uuid}/more`, { kind: "malformed" }],
  ["/web-1", { kind: "malformed" }],
  ["", { kind: "malformed" }],
])("parseId() reads %s (case N-7)", (id, expected) => {
  expect(parseId(id, "one")).toMatchObject(expected);
});

test("parseId() says what a malformed id should be like", () => {
  const problem = "provider ID openstack://x is not of the form openstack:///<uuid> or openstack://<region>/<uuid>";
  expect(parseId("x", "one")).toEqual({ kind: "malformed", problem });
});

test.each([undefined, "one"])("formatId() makes what parseId() reads, with region %s", (region) => {
  expect(parseId(formatId(uuid, region), "one")).toEqual({ kind: "server", serverId: uuid });
});
