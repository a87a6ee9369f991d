import { describe, expect, test } from "vitest";
import { linkedPath, storedPath, textFile, withDirectories } from "./entry.ts";

describe("storedPath()", () => {
  test.each([
    ["./lib/x86_64-linux-gnu/libc.so.6", "usr/lib/x86_64-linux-gnu/libc.so.6"],
    ["/lib64/ld-linux-x86-64.so.2", "usr/lib64/ld-linux-x86-64.so.2"],
    ["./sbin/ip", "usr/sbin/ip"],
    ["./usr/bin/virsh", "usr/bin/virsh"],
    ["./libexec/x", "libexec/x"],
    ["./etc/", "etc"],
  ])("%s is stored as %s", (path, expected) => {
    expect(storedPath(path)).toBe(expected);
  });
});

describe("linkedPath()", () => {
  test.each([
    ["usr/lib/a/libm.so", "libm.so.6", "usr/lib/a/libm.so.6"],
    ["usr/lib64/ld.so.2", "/lib/a/ld.so.2", "usr/lib/a/ld.so.2"],
    ["usr/sbin/ip", "../../bin/ip", "usr/bin/ip"],
  ])("%s -> %s leads to %s", (path, target, expected) => {
    expect(linkedPath({ path, target })).toBe(expected);
  });
});

test("withDirectories() puts each entry after its directories, in one order, and keeps the modes of directories that are given", () => {
  const home = { kind: "directory", path: "b/home", mode: 0o700 } as const;
  const paths = withDirectories([textFile("b/home/x", ""), home, textFile("a", "")]);
  expect(paths).toEqual([
    textFile("a", ""),
    { kind: "directory", path: "b", mode: 0o755 },
    home,
    textFile("b/home/x", ""),
  ]);
});
