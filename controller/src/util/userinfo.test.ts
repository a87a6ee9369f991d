import { expect, test } from "vitest";
import { withoutUserinfo } from "./userinfo.ts";

test.each([
  ["http://collector:4317", "http://collector:4317"],
  ["unix:///run/provider.sock", "unix:///run/provider.sock"],
  ["", ""],
  ["http://user:hunter2@collector:4317", "http://***@collector:4317"],
  ["tcp://user:hun@ter/2@host:1", "tcp://***@host:1"],
  ["user:hunter2@collector:4317", "***@collector:4317"],
  ["//user:hunter2@collector", "***@collector"],
  ["HTTPS://hunter2\n@host", "HTTPS://***@host"],
])("withoutUserinfo() shows %j as %j", (address, shown) => {
  expect(withoutUserinfo(address)).toBe(shown);
});
