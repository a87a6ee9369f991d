import { expect, test } from "vitest";
import { readEndpoint } from "./tracing-options.ts";

test.each([
  ["collector:4317", "http://collector:4317"],
  ["127.0.0.1:4317", "http://127.0.0.1:4317"],
  ["[::1]:4317", "http://[::1]:4317"],
  ["dns:///collector.observability:4317", "http://collector.observability:4317"],
  ["http://collector:80/", "http://collector:80"],
  ["https://collector.example.com:443", "https://collector.example.com:443"],
])("readEndpoint() takes %s", (text, url) => {
  expect(readEndpoint(text)).toEqual({ kind: "endpoint", url });
});

test.each([
  ["", "not a host and a port"],
  ["collector", "names no port"],
  ["https://collector.example.com", "names no port"],
  ["http://collector:4318/v1/traces", "not a host and a port"],
  ["http://user:secret@collector:4317", '"http://***@collector:4317" is not a host and a port'],
  ["ftp://user:secret@collector", '"ftp://***@collector" begins with ftp://'],
  ["http://collector:4317?x=y", "not a host and a port"],
  ["unix:///run/collector.sock", "begins with unix://"],
  ["ftp://collector:4317", "begins with ftp://"],
  ["collector:port", "not a host and a port"],
])("readEndpoint() refuses %s", (text, why) => {
  expect(readEndpoint(text)).toEqual({ kind: "problem", what: expect.stringContaining(why) });
});
