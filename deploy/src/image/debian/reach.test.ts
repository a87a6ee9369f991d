import { describe, expect, test } from "vitest";
import { loadsOf } from "./elf.ts";
import { type Entry, textFile } from "../entry.ts";
import { reachable } from "./reach.ts";

/** An ELF file that says nothing but what it loads: a header, three segments, the dynamic entries, their texts. */
function elf(libraries: readonly string[], interpreter?: string): Buffer {
  const texts = Buffer.from(`\0${[...libraries, interpreter ?? ""].map((text) => `${text}\0`).join("")}`);
  const [dynamicAt, textsAt] = [256, 512];
  const file = Buffer.alloc(textsAt + texts.length);
  file.write("\x7fELF", 0, "latin1");
  file.writeBigUInt64LE(64n, 0x20);
  file.writeUInt16LE(56, 0x36);
  file.writeUInt16LE(3, 0x38);
  const segment = (index: number, type: number, offset: number, address: number, size: number): void => {
    const at = 64 + index * 56;
    file.writeUInt32LE(type, at);
    file.writeBigUInt64LE(BigInt(offset), at + 0x08);
    file.writeBigUInt64LE(BigInt(address), at + 0x10);
    file.writeBigUInt64LE(BigInt(size), at + 0x20);
  };
  const offsetOf = (text: string): number => texts.indexOf(`\0${text}\0`) + 1;
  const base = 0x40_0000;
  segment(0, 1, 0, base, file.length);
  segment(1, 2, dynamicAt, base + dynamicAt, (libraries.length + 1) * 16);
  if (interpreter !== undefined) segment(2, 3, textsAt + offsetOf(interpreter), base, interpreter.length);
  const dynamic = [...libraries.map((name) => [1, offsetOf(name)]), [5, base + textsAt]];
  for (const [index, [tag = 0, value = 0]] of dynamic.entries()) {
    file.writeBigUInt64LE(BigInt(tag), dynamicAt + index * 16);
    file.writeBigUInt64LE(BigInt(value), dynamicAt + index * 16 + 8);
  }
  texts.copy(file, textsAt);
  return file;
}

describe("loadsOf()", () => {
  test("reads libraries and interpreter", () => {
    expect(loadsOf(elf(["libc.so.6", "libm.so.6"], "/lib64/ld.so.2"))).toEqual({
      libraries: ["libc.so.6", "libm.so.6"],
      interpreter: "/lib64/ld.so.2",
    });
  });

  test.each([
    ["text", Buffer.from("#!/bin/sh\n".repeat(20))],
    ["nothing", Buffer.alloc(0)],
  ])("answers nothing for %s", (_what, file) => {
    expect(loadsOf(file)).toBeUndefined();
  });
});

describe("reachable()", () => {
  const binary = (path: string, content: Buffer): Entry => ({ kind: "file", path, content, mode: 0o755 });
  const entries: readonly Entry[] = [
    binary("usr/bin/tool", elf(["libone.so.1"], "/lib64/ld.so.2")),
    { kind: "link", path: "usr/lib/x86_64-linux-gnu/libone.so.1", target: "libone.so.1.5" },
    binary("usr/lib/x86_64-linux-gnu/libone.so.1.5", elf(["libtwo.so"])),
    binary("usr/lib/x86_64-linux-gnu/libtwo.so", elf([])),
    binary("usr/lib/x86_64-linux-gnu/libother.so", elf([])),
    { kind: "link", path: "usr/lib64/ld.so.2", target: "/lib/x86_64-linux-gnu/ld.so.2" },
    binary("usr/lib/x86_64-linux-gnu/ld.so.2", elf([])),
    textFile("usr/share/doc/tool/README", ""),
  ];

  test("follows libraries, links and the loader, and nothing else", () => {
    expect([...reachable(["usr/bin/tool"], entries)].toSorted()).toEqual([
      "usr/bin/tool",
      "usr/lib/x86_64-linux-gnu/ld.so.2",
      "usr/lib/x86_64-linux-gnu/libone.so.1",
      "usr/lib/x86_64-linux-gnu/libone.so.1.5",
      "usr/lib/x86_64-linux-gnu/libtwo.so",
      "usr/lib64/ld.so.2",
    ]);
  });

  test("refuses a program that would not start", () => {
    const without = entries.filter(({ path }) => !path.endsWith("libtwo.so"));
    expect(() => reachable(["usr/bin/tool"], without)).toThrow(
      "usr/lib/x86_64-linux-gnu/libone.so.1.5 needs libtwo.so, which is in none of the packages",
    );
    expect(() => reachable(["usr/bin/absent"], entries)).toThrow("usr/bin/absent is in none of the packages");
  });
});
