import { describe, expect, test } from "vitest";
import { parseCommand, TABLE } from "../app/options.ts";
import { unusedFlags } from "./upstream-flags.ts";

const parse = (...args: readonly string[]) =>
  parseCommand(
    { args: ["--provider=acme=unix:///run/acme.sock", ...args], environment: {}, readText: () => "" },
    new Set(),
  );

/** A value that upstream takes, for each kind of flag. */
const SAMPLES = ["true", "0", "1m", "leases", "Some=true", "main=2", "a.crt,a.key"];

describe("unused flags of upstream", () => {
  test.each([...unusedFlags])("--%s is accepted with a value and a warning", (name, { flag, instead }) => {
    const sample = SAMPLES.find((text) => flag.parse(text, undefined).kind === "value") ?? "";
    expect(parse(`--${name}=${sample}`)).toMatchObject({
      kind: "run",
      warnings: [{ where: `--${name}`, what: instead }],
    });
  });

  test.each([
    ["--contention-profiling=maybe", '"maybe" is neither true nor false'],
    ["--log-flush-frequency=5", '"5" is not a duration; write it like 300ms, 15s or 1m30s'],
    ["--leader-elect-resource-lock=endpoints", '"endpoints" is not one of leases'],
    ["--feature-gates=Some=true,Other", '"Other" is not written like SomeFeature=true'],
    ["--http2-max-streams-per-connection=many", '"many" is not a whole number from -2147483648 to 2147483647'],
    ["--vmodule=main", '"main" is not written like main=2,cache*=4'],
    ["--log-text-info-buffer-size=lots", '"lots" is not written like 64Ki'],
    ["--tls-sni-cert-key=server.crt", '"server.crt" is not written like server.crt,server.key'],
    ["--tls-curve-preferences=x25519", '"x25519" is not written like 29,23'],
    ["--cloud-config", "needs a value: file"],
  ])("%s is rejected as in upstream", (argument, what) => {
    expect(parse(argument)).toMatchObject({ kind: "invalid", problems: [{ what }] });
  });

  test("a value after a space belongs to the flag", () => {
    expect(parse("--cloud-provider", "external", "--cluster-name", "blue")).toMatchObject({
      kind: "run",
      options: { clusterName: "blue" },
      warnings: [{ where: "--cloud-provider" }],
    });
  });

  test("are in no other table", () => {
    expect([...unusedFlags.keys()].filter((name) => TABLE.byName.has(name))).toEqual([]);
  });
});
