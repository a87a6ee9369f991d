import { describe, expect, test } from "vitest";
import {
  DEFAULT_MIGRATION,
  type LeaderMigration,
  parseLeaderMigration,
  placementOf,
  readMigration,
} from "./migration.ts";

const HEAD = "apiVersion: controllermanager.config.k8s.io/v1\nkind: LeaderMigrationConfiguration\n";
const ALIASES = { route: "node-route-controller", "cloud-node": "cloud-node-controller" };

describe("parseLeaderMigration()", () => {
  test("reads Lease and leaders", () => {
    const text = `${HEAD}leaderName: migration\nresourceLock: leases\ncontrollerLeaders:
  - {name: route, component: kube-controller-manager}
  - {name: cloud-node, component: "*"}\n`;
    expect(parseLeaderMigration(text)).toEqual({
      value: {
        leaseName: "migration",
        leaders: new Map([
          ["route", "kube-controller-manager"],
          ["cloud-node", "*"],
        ]),
      },
      problems: [],
    });
  });

  test.each([
    ["", ["contains no LeaderMigrationConfiguration"]],
    ["a: [", [expect.stringContaining("Flow sequence")]],
    [HEAD, ["leaderName: is missing; name the second Lease"]],
    [
      "kind: Other\napiVersion: v1\nleaderName: ''\nresourceLock: endpoints\nleader: x\ncontrollerLeaders: {}\n",
      [
        "leader: is not a field of LeaderMigrationConfiguration",
        'kind: is "Other", not LeaderMigrationConfiguration',
        expect.stringMatching(/^apiVersion: is "v1", not one of controllermanager\.config\.k8s\.io\/v1, /),
        "leaderName: is missing; name the second Lease",
        'resourceLock: is "endpoints"; only leases are supported',
        "controllerLeaders: is not a list",
      ],
    ],
    [
      `${HEAD}leaderName: m\ncontrollerLeaders: [a, {name: b}, {component: "*"}, {name: c, component: "*", x: 1}, {name: c, component: d}]\n`,
      [
        "controllerLeaders[0]: is not an object with name and component",
        "controllerLeaders[1].component: is missing",
        "controllerLeaders[2].name: is missing",
        "controllerLeaders[3].x: is not a field of LeaderMigrationConfiguration",
        'controllerLeaders[4].name: "c" is given twice',
      ],
    ],
  ])("finds all that is wrong with %j", (text, problems) => {
    expect(parseLeaderMigration(text)).toEqual({ value: undefined, problems });
  });
});

describe("placementOf()", () => {
  const migration = (component: string): LeaderMigration => ({
    leaseName: "m",
    leaders: new Map([["route", component]]),
  });

  test.each([
    ["under the main Lease without migration", "node-route-controller", undefined, "main"],
    ["under the main Lease when it does not move", "cloud-node-controller", migration("*"), "main"],
    ["under the second when any program may run it", "node-route-controller", migration("*"), "migration"],
    [
      "under the second when it is this program's",
      "node-route-controller",
      migration("cloud-controller-manager"),
      "migration",
    ],
    ["elsewhere when it is another's", "node-route-controller", migration("kube-controller-manager"), "elsewhere"],
    ["under the second by the default's name for routes", "node-route-controller", DEFAULT_MIGRATION, "migration"],
    ["under the second by the default's name for Services", "service-lb-controller", DEFAULT_MIGRATION, "migration"],
    ["under the second by its own name", "cloud-node-lifecycle-controller", DEFAULT_MIGRATION, "migration"],
  ] as const)("is %s", (_sentence, controller, given, placement) => {
    expect(placementOf(controller, given, ALIASES)).toBe(placement);
  });
});

describe("readMigration()", () => {
  const OPTIONS = { enableLeaderMigration: true, leaderMigrationConfig: "", leaderElectResourceName: "first" };
  const readText = (path: string): string => {
    const texts: Readonly<Record<string, string>> = {
      "second.yaml": `${HEAD}leaderName: second\n`,
      "first.yaml": `${HEAD}leaderName: first\n`,
      "wrong.yaml": `${HEAD}leader: x\n`,
    };
    const text = texts[path];
    if (text === undefined) throw new Error(`ENOENT, open '${path}'`);
    return text;
  };

  test.each([
    ["nothing where nothing moves", { enableLeaderMigration: false }, undefined],
    ["what left kube-controller-manager where no file says otherwise", {}, DEFAULT_MIGRATION],
    ["the file", { leaderMigrationConfig: "second.yaml" }, { leaseName: "second", leaders: new Map() }],
  ])("answers %s", (_sentence, given, value) => {
    expect(readMigration({ ...OPTIONS, ...given }, readText)).toEqual({ value, problems: [] });
  });

  test.each([
    [
      "first.yaml",
      [
        {
          where: "--enable-leader-migration",
          what: "both Leases have the name first; give the second one a different name",
        },
      ],
    ],
    [
      "wrong.yaml",
      [
        {
          where: "--leader-migration-config",
          what: "wrong.yaml: leader: is not a field of LeaderMigrationConfiguration",
        },
        { where: "--leader-migration-config", what: "wrong.yaml: leaderName: is missing; name the second Lease" },
      ],
    ],
    [
      "gone.yaml",
      [{ where: "--leader-migration-config", what: "gone.yaml: cannot be read: ENOENT, open 'gone.yaml'" }],
    ],
  ])("refuses %s", (leaderMigrationConfig, problems) => {
    expect(readMigration({ ...OPTIONS, leaderMigrationConfig }, readText)).toEqual({ value: undefined, problems });
  });
});
