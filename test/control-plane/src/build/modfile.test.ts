import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { goBuildArgs } from "./build.ts";
import { objectAt, parseJson } from "../json.ts";
import { controlPlaneTarget, moduleFile } from "./modfile.ts";
import { minorVariable, moduleDir, parseVersion, readVersion } from "./versions.ts";

const version = { minor: "1.40", kubernetes: "1.40.2", etcd: "3.9.1", modfile: "go-1.40.mod" };
const upstream = `module k8s.io/kubernetes

go 1.29.0

require k8s.io/api v0.0.0

replace (
	k8s.io/api => ./staging/src/k8s.io/api
	k8s.io/client-go => ./staging/src/k8s.io/client-go
)
`;

describe("moduleFile()", () => {
  it("replaces each staging module of upstream by its published version", () => {
    expect(moduleFile(version, controlPlaneTarget(version), upstream)).toBe(`module cloudwire.dev/test/control-plane

go 1.29.0

require (
	go.etcd.io/etcd/server/v3 v3.9.1
	k8s.io/kubernetes v1.40.2
)

replace (
	k8s.io/api => k8s.io/api v0.40.2
	k8s.io/client-go => k8s.io/client-go v0.40.2
)
`);
  });

  it("refuses a go.mod without staging modules", () => {
    expect(() => moduleFile(version, controlPlaneTarget(version), "module k8s.io/kubernetes\n\ngo 1.29.0\n")).toThrow(
      "no staging modules",
    );
  });
});

describe("versions.json", async () => {
  const content = parseJson(await readFile(path.join(moduleDir, "versions.json"), "utf8"), "versions.json");
  const minors = Object.keys(objectAt(content, "minors"));

  it.each(minors)("has a module file of the same versions for %s", async (minor) => {
    const { modfile, kubernetes, etcd } = await readVersion(minor);
    const text = await readFile(path.join(moduleDir, modfile), "utf8");
    const staging = `v0.${kubernetes.split(".").slice(1).join(".")}`;
    expect(text).toContain(`\tgo.etcd.io/etcd/server/v3 v${etcd}\n`);
    expect(text).toContain(`\tk8s.io/kubernetes v${kubernetes}\n`);
    const replaced = [...text.matchAll(/ => (\S+) (\S+)$/gm)].map(([, , replacement]) => replacement);
    expect(new Set(replaced)).toEqual(new Set([staging]));
  });

  it("has one minor with the modfile go.mod, by which Go knows the directory as a module", async () => {
    const modfiles = await Promise.all(minors.map(async (minor) => (await readVersion(minor)).modfile));
    expect(modfiles.filter((modfile) => modfile === "go.mod")).toHaveLength(1);
  });
});

describe("readVersion()", () => {
  afterEach(() => vi.unstubAllEnvs());

  it.each([
    { it: "the one that is asked for", minor: "1.35", variable: "1.36", expected: "1.35" },
    { it: "that of the environment variable", minor: undefined, variable: "1.36", expected: "1.36" },
    { it: "the default where the variable is empty", minor: undefined, variable: "", expected: "1.37" },
  ])("reads $it (case V-4)", async ({ minor, variable, expected }) => {
    vi.stubEnv(minorVariable, variable);
    expect((await readVersion(minor)).minor).toBe(expected);
  });
});

describe("parseVersion()", () => {
  const content = {
    default: "1.40",
    minors: { "1.40": { kubernetes: "1.40.2", etcd: "3.9.1", modfile: "go-1.40.mod" } },
  };

  it("takes the default minor when none is named", () => {
    expect(parseVersion(content)).toEqual(version);
  });

  it("names the known minors when another one is wanted", () => {
    expect(() => parseVersion(content, "1.2")).toThrow("Kubernetes 1.2 is not in versions.json (there: 1.40)");
  });
});

describe("goBuildArgs()", () => {
  it("sets the version without which kube-apiserver does not start", () => {
    const at = "k8s.io/component-base/version";
    expect(goBuildArgs(version)).toEqual([
      "build",
      "-trimpath",
      "-buildvcs=false",
      "-modfile=go-1.40.mod",
      "-ldflags",
      `-s -w -X ${at}.gitVersion=v1.40.2 -X ${at}.gitMajor=1 -X ${at}.gitMinor=40`,
    ]);
  });
});
