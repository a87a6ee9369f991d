import { describe, expect, test } from "vitest";
import { formatHelp, parseFlags } from "../options/flags.ts";
import { cloudEnvPrefix, cloudFlags, toCloudOptions } from "./cloud-flags.ts";

function parse(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const parsed = parseFlags(cloudFlags, { argv, env, envPrefix: cloudEnvPrefix });
  return parsed.kind === "values" ? toCloudOptions(parsed.values) : parsed;
}

const defaults = {
  host: "127.0.0.1",
  port: 7070,
  statePath: "simcloud.db",
  listenPortOffset: "auto",
  seed: 1,
  logLevel: "info",
};

describe("toCloudOptions()", () => {
  test("has a default for everything", () => {
    expect(parse([])).toEqual({ kind: "options", options: defaults });
  });

  test("takes the command line before the environment", () => {
    const env = { SIMCLOUD_SEED: "5", SIMCLOUD_STATE: "env.db", SIMCLOUD_ACCOUNT: "a=1 b=2=viewer" };
    expect(parse(["--seed=7", "--listen", "[::1]:0", "--region", "r=z1,z2"], env)).toEqual({
      kind: "options",
      options: {
        ...defaults,
        host: "::1",
        port: 0,
        seed: 7,
        statePath: "env.db",
        accounts: [
          { id: "a", key: "1", role: "editor" },
          { id: "b", key: "2", role: "viewer" },
        ],
        geography: [{ name: "r", zones: ["z1", "z2"] }],
      },
    });
  });

  test("collects all problems and reveals no key", () => {
    const argv = [
      "--listen=7070",
      "--account=A=secret",
      "--region=r",
      "--seed=-",
      "--listen-port-offset=x",
      "--log-level=loud",
    ];
    expect(parse(argv)).toEqual({
      kind: "problems",
      problems: [
        "--listen 7070: must be host:port, such as 127.0.0.1:7070",
        "--account A=…: must be id=key or id=key=viewer, the id of lower case letters, digits and dashes",
        "--region r: must be name=zone,zone, all of lower case letters, digits and dashes",
        "--seed -: must be a whole number, not negative",
        "--listen-port-offset x: must be a whole number, not negative",
        "--log-level loud: must be one of trace, debug, info, warn, error, silent",
      ],
    });
  });
});

test("parseFlags() refuses what it does not know", () => {
  expect(parse(["--prot=1"])).toMatchObject({ kind: "problem", problem: expect.stringContaining("'--prot'") });
});

test("formatHelp() lists every flag with its environment variable", () => {
  const help = formatHelp(cloudFlags, cloudEnvPrefix, "usage");
  for (const name of Object.keys(cloudFlags)) expect(help).toContain(`--${name}`);
  expect(help).toContain("[SIMCLOUD_LISTEN_PORT_OFFSET]");
});
