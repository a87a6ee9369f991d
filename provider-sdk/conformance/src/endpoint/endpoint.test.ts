import { describe, expect, test } from "vitest";
import { formatEndpoint, parseEndpoint } from "./endpoint.ts";

describe("parseEndpoint()", () => {
  test.each([
    ["unix:///run/p.sock", { kind: "unix", path: "/run/p.sock" }, "unix:///run/p.sock"],
    ["tcp://p.example.com:9443", { kind: "tcp", host: "p.example.com", port: 9443 }, "tcp://p.example.com:9443"],
    ["dns:///p.example.com:9443", { kind: "tcp", host: "p.example.com", port: 9443 }, "tcp://p.example.com:9443"],
    ["tcp://[2001:db8::1]:9443", { kind: "tcp", host: "2001:db8::1", port: 9443 }, "tcp://[2001:db8::1]:9443"],
  ])("reads %s, and formatEndpoint() writes it again", (text, endpoint, written) => {
    expect(parseEndpoint(text)).toEqual(endpoint);
    expect(formatEndpoint(parseEndpoint(text))).toBe(written);
  });

  test.each<[string, object | undefined, RegExp]>([
    ["unix://p.sock", undefined, /has no absolute path/],
    ["tcp://p.example.com", undefined, /is neither unix:\/\/\/absolute\/path\.sock nor tcp:\/\/host:port/],
    ["tcp://p.example.com:70000", undefined, /is neither/],
    ["dns://p.example.com:1", undefined, /is neither/],
    ["unix:///p.sock", {}, /is a Unix socket, and TLS is for TCP/],
    [
      "tcp://p:1",
      { ca: "/nowhere/ca.crt", cert: "/nowhere/c.crt" },
      /tls\.ca: ENOENT.*tls\.cert: ENOENT.*come together/,
    ],
    ["tcp://p:1", { ca: import.meta.filename }, /tls\.ca holds no PEM certificate/],
  ])("refuses %s with files %j", (text, tls, wanted) => {
    expect(() => parseEndpoint(text, tls)).toThrow(wanted);
  });
});
