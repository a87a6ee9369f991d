import { describe, expect, test } from "vitest";
import { oidText, readDer } from "./der.ts";

const bytes = (hex: string): Uint8Array => Buffer.from(hex, "hex");
const hex = (part: Uint8Array): string => Buffer.from(part).toString("hex");

describe("readDer()", () => {
  test("reads elements that follow each other, without looking into them", () => {
    const elements = readDer(bytes("30030201000500"));
    expect(elements.map(({ tag, content, raw }) => [tag, hex(content), hex(raw)])).toEqual([
      [0x30, "020100", "3003020100"],
      [0x05, "", "0500"],
    ]);
  });

  test("reads no elements from no bytes", () => {
    expect(readDer(bytes(""))).toEqual([]);
  });

  test.each([
    { length: 127, header: "047f" },
    { length: 128, header: "048180" },
    { length: 255, header: "0481ff" },
    { length: 256, header: "04820100" },
    { length: 65_535, header: "0482ffff" },
  ])("reads an element of $length bytes", ({ length, header }) => {
    const [element] = readDer(Buffer.concat([bytes(header), Buffer.alloc(length)]));
    expect(element?.content).toHaveLength(length);
  });

  test.each([
    { it: "a tag alone", encoding: "04" },
    { it: "a length that is not all there", encoding: "0481" },
    { it: "less content than said", encoding: "040201" },
    { it: "less content than said behind another element", encoding: "0500040201" },
    { it: "a short length in the long form", encoding: "04817f" + "00".repeat(127) },
    { it: "a length with a leading zero", encoding: "048200ff" + "00".repeat(255) },
    { it: "a length of three bytes", encoding: "0483010000" + "00".repeat(65_536) },
    { it: "an indefinite length", encoding: "30800000" },
    { it: "the reserved length", encoding: "04ff" },
    { it: "an indefinite length before much", encoding: `3080${"00".repeat(130)}` },
    { it: "a tag of several bytes", encoding: "1f0100" },
    { it: "a tag of several bytes with a class", encoding: "bf0100" },
  ])("refuses $it", ({ encoding }) => {
    expect(() => readDer(bytes(encoding))).toThrow(expect.objectContaining({ code: "DER" }));
  });
});

describe("oidText()", () => {
  test.each([
    { content: "550403", text: "2.5.4.3" },
    { content: "2a864886f70d01090e", text: "1.2.840.113549.1.9.14" },
    { content: "00", text: "0.0" },
    { content: "27", text: "0.39" },
    { content: "28", text: "1.0" },
    { content: "4f", text: "1.39" },
    { content: "883703", text: "2.999.3" },
    { content: "55868000", text: "2.5.98304" },
  ])("writes $text", ({ content, text }) => {
    expect(oidText(bytes(content))).toBe(text);
  });

  test.each(["", "80", "5584", "558680", "55800403", "ffffffffffffffff7f", "55ffffffffffffffff7f"])(
    "gives the hex of %j, which is no identifier",
    (content) => {
      expect(oidText(bytes(content))).toBe(content);
    },
  );
});
