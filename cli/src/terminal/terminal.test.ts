import { expect, test } from "vitest";
import { printable, printableLines } from "./terminal.ts";

test("printable() leaves out what moves a terminal or turns its direction", () => {
  expect(printable("a\u001B]0;x\u0007b\nc\u009B2Jd\u202Ee f–ü")).toBe("a ]0;x b c 2Jd e f–ü");
});

test("printableLines() leaves lines", () => {
  expect(printableLines("a\u001B[2J\r\n\tb\n")).toBe("a [2J \n b\n");
});
