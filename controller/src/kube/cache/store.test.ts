import { expect, test } from "vitest";
import { node } from "../../../test/support/builders.ts";
import { OwnWrites } from "./store.ts";

const at = (resourceVersion: string, uid = "u") => node("a", { metadata: { resourceVersion, uid } });

test("latest() is what was written until the cache shows it, or something newer", () => {
  const writes = new OwnWrites();
  writes.note(at("1"), at("2"));
  writes.note(at("2"), at("3"));
  expect([writes.latest(at("1")), writes.latest(at("2"))]).toEqual([at("3"), at("3")]);
  expect(writes.latest(at("3"))).toEqual(at("3"));
  expect(writes.latest(at("1"))).toEqual(at("1"));
});

test("latest() skips what was written between, though both writes rest on one object", () => {
  const writes = new OwnWrites();
  writes.note(at("1"), at("2"));
  writes.note(at("1"), at("3"));
  expect([writes.latest(at("1")), writes.latest(at("2"))]).toEqual([at("3"), at("3")]);
});

test("latest() is the cached object when nothing was written, or nothing changed", () => {
  const writes = new OwnWrites();
  expect(writes.latest(at("1"))).toEqual(at("1"));
  writes.note(at("1"), at("1"));
  expect(writes.latest(at("1"))).toEqual(at("1"));
});

test("latest() is the object as its last finalizer left it, though the version is the same, until the cache lets go of it", () => {
  const writes = new OwnWrites();
  const held = node("a", { metadata: { resourceVersion: "1", uid: "u", finalizers: ["f"] } });
  writes.note(held, at("1"));
  expect([writes.latest(held), writes.latest(held)]).toEqual([at("1"), at("1")]);
});

test("newest() says the same of any state of the object, and lets the cache be behind as it was", () => {
  const writes = new OwnWrites();
  writes.note(at("1"), at("2"));
  expect([writes.newest(at("1")), writes.newest(at("2"))]).toEqual([at("2"), at("2")]);
  writes.note(at("2"), at("3"));
  expect([writes.newest(at("4")), writes.latest(at("1"))]).toEqual([at("4"), at("3")]);
});

test("a write that met another object of the name says nothing about this one", () => {
  const writes = new OwnWrites();
  writes.note(at("1"), at("2", "other"));
  expect(writes.latest(at("1"))).toEqual(at("1"));
});

test("forget() drops what was written", () => {
  const writes = new OwnWrites();
  writes.note(at("1"), at("2"));
  writes.forget("a");
  expect(writes.latest(at("1"))).toEqual(at("1"));
});
