import { describe, expect, test } from "vitest";
import { checkAnnotations } from "./load-balancer.ts";
import { formatProblem, isCidr } from "@cloudwire/proto/formats";
import { isNetwork } from "./requests.ts";

describe("isCidr()", () => {
  test.each(["10.0.0.0/8", "10.0.0.1/8", "0.0.0.0/0", "fd00::/64", "::/0", "::ffff:10.0.0.0/104"])(
    "takes %s",
    (text) => {
      expect(isCidr(text)).toBe(true);
    },
  );

  test.each([
    "10.0.0.0",
    "10.0.0.0/33",
    "fd00::/129",
    "10.0.0.0/08",
    "10.0.0/8",
    "/8",
    "10.0.0.0/",
    "10.0.0.0/8/8",
    "x/8",
  ])("refuses %s", (text) => {
    expect(isCidr(text)).toBe(false);
  });
});

describe("isNetwork()", () => {
  test.each([
    ["10.0.0.0/24", true],
    ["10.0.0.1/24", false],
    ["10.0.0.1/32", true],
    ["0.0.0.0/0", true],
    ["128.0.0.0/0", false],
    ["fd00:1:2:3::/64", true],
    ["fd00:1:2:3::1/64", false],
    ["::ffff:10.0.0.0/104", true],
    ["::ffff:10.0.0.1/104", false],
    ["::1/128", true],
  ])("answers %s: %j", (cidr, network) => {
    expect(isNetwork(cidr)).toBe(network);
  });
});

describe("formatProblem()", () => {
  test.each([
    ["IP", "10.0.0.1"],
    ["IP", "fd00::1"],
    ["DNS_NAME", "acme.example.com"],
    ["DNS_NAME", "a-1"],
    ["PROVIDER_ID", "acme://i-1"],
    ["PROVIDER_ID", "aws:///zone-a/i-1"],
  ] as const)("takes %s %s", (format, text) => {
    expect(formatProblem(format, text)).toBeUndefined();
  });

  test.each([
    ["IP", "fe80::1%eth0"],
    ["IP", "10.0.0.1/24"],
    ["DNS_NAME", "Acme.example.com"],
    ["DNS_NAME", "-a"],
    ["DNS_NAME", "a..b"],
    ["PROVIDER_ID", "i-1"],
    ["PROVIDER_ID", "acme://"],
    ["PROVIDER_ID", "://i-1"],
  ] as const)("refuses %s %s and says what is wanted", (format, text) => {
    expect(formatProblem(format, text)).toMatch(/ is not an? /);
  });
});

describe("checkAnnotations()", () => {
  const schema = (type: Parameters<typeof checkAnnotations>[1][number]["type"]) => [
    { key: "acme.example.com/x", type, allowedValues: ["small", "large"], description: "A thing" },
  ];

  test.each([
    ["bool", "true"],
    ["integer", "-12"],
    ["duration", "1h30m"],
    ["duration", "250ms"],
    ["enum", "large"],
    ["cidrList", "10.0.0.0/8, fd00::/64"],
    ["map", "a=b,c=d"],
    ["string", ""],
    ["stringList", "a,b"],
  ] as const)("takes %s %j", (type, value) => {
    expect(checkAnnotations({ "acme.example.com/x": value }, schema(type))).toEqual([]);
  });

  test.each([
    ["bool", "yes"],
    ["integer", "1.5"],
    ["duration", "5"],
    ["enum", "huge"],
    ["cidrList", "10.0.0.0/8,"],
    ["map", "a"],
  ] as const)("refuses %s %j with its path", (type, value) => {
    expect(checkAnnotations({ "acme.example.com/x": value }, schema(type))).toMatchObject([
      { reason: "ANNOTATION_INVALID", field: 'spec.annotations["acme.example.com/x"]' },
    ]);
  });

  test("ignores annotations without a schema", () => {
    expect(checkAnnotations({ other: "x" }, schema("bool"))).toEqual([]);
  });
});
