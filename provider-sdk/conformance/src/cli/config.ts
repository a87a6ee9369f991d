import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import {
  type Fixtures,
  type InstanceFixture,
  type LoadBalancerFixture,
  noFixtures,
  type RunLimits,
  type VolumeFixture,
} from "../suite/fixtures.ts";
import { UsageError, errorText } from "../errors.ts";
import { isLoopback } from "../endpoint/endpoint.ts";
import type { TlsFiles } from "../endpoint/tls.ts";
import { hooks, scale } from "./config-hooks.ts";
import { ConfigFile, type Section } from "./config-section.ts";

/** Reads what a vendor supplies. Throws a UsageError with everything that is wrong with the file. */
export const readConfig = async (path: string | undefined): Promise<Fixtures> => {
  if (path === undefined) return noFixtures;
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw new UsageError(`the configuration ${path} cannot be read: ${errorText(error)}`);
  });
  return parseConfig(text, path);
};

/** Reads the text of a configuration. `{uuid}` in an ID becomes what `uuid` answers. */
export const parseConfig = (text: string, path: string, uuid: () => string = randomUUID): Fixtures => {
  const file = new ConfigFile(text, path);
  const config = file.root();
  const machine = instance(config.section("instance"));
  const filled = (id: string): string => id.replaceAll("{uuid}", () => uuid());
  const { absentProviderId } = config.optional("absentProviderId");
  const { absentVolumeHandle } = config.optional("absentVolumeHandle");
  const fixtures: Fixtures = {
    ...(machine !== undefined && { instance: machine }),
    ...otherInstance(config.section("otherInstance")),
    ...config.optional("stoppedProviderId"),
    ...config.optional("terminatedProviderId"),
    ...(absentProviderId !== undefined && { absentProviderId: filled(absentProviderId) }),
    malformedIds: config.texts("malformedIds").map(filled),
    ...volume(config.section("volume")),
    ...(absentVolumeHandle !== undefined && { absentVolumeHandle: filled(absentVolumeHandle) }),
    ...config.optional("malformedVolumeHandle"),
    ...config.optional("canarySecret"),
    ...loadBalancer(config.section("loadBalancer")),
    ...routeCidrs(config),
    ...limits(config.section("limits")),
    ...testCloud(config),
    ...tls(config.section("tls")),
    ...scale(config.section("scale")),
    ...hooks(config.section("hooks"), path),
  };
  config.refuseOthers();
  file.throwIfWrong();
  return fixtures;
};

const instance = (section: Section | undefined): InstanceFixture | undefined => {
  if (section === undefined) return undefined;
  const addresses = section.texts("addresses");
  const fixture = {
    providerId: section.needed("providerId"),
    nodeName: section.needed("nodeName"),
    ...section.optional("type"),
    ...section.optional("zone"),
    ...section.optional("region"),
    ...(addresses.length > 0 && { addresses }),
  };
  section.refuseOthers();
  return fixture;
};

const otherInstance = (section: Section | undefined): Pick<Fixtures, "otherInstance"> => {
  if (section === undefined) return {};
  const fixture = { providerId: section.needed("providerId"), nodeName: section.needed("nodeName") };
  section.refuseOthers();
  return { otherInstance: fixture };
};

const volume = (section: Section | undefined): Pick<Fixtures, "volume"> => {
  if (section === undefined) return {};
  const zones = section.texts("zones");
  const fixture: VolumeFixture = {
    ...section.optional("driver"),
    handle: section.needed("handle"),
    ...(zones.length > 0 && { zones }),
    ...section.optional("region"),
  };
  section.refuseOthers();
  return { volume: fixture };
};

const loadBalancer = (section: Section | undefined): Pick<Fixtures, "loadBalancer"> => {
  if (section === undefined) return {};
  const timeoutSeconds = section.positive("timeoutSeconds");
  const fixture: LoadBalancerFixture = {
    ...section.optional("class"),
    ...section.textTable("annotations"),
    ...section.optional("requestedIp"),
    ...(section.flag("needsNodes") && { needsNodes: true }),
    ...(timeoutSeconds !== undefined && { timeoutMs: timeoutSeconds * 1_000 }),
  };
  section.refuseOthers();
  return { loadBalancer: fixture };
};

const routeCidrs = (config: Section): Pick<Fixtures, "routeCidrs"> => {
  const [first, second, ...others] = config.texts("routeCidrs");
  if (first === undefined) return {};
  if (second !== undefined && others.length === 0) return { routeCidrs: [first, second] };
  config.problem("routeCidrs", "has to be a list of two ranges");
  return {};
};

const tls = (section: Section | undefined): Pick<Fixtures, "tls"> => {
  if (section === undefined) return {};
  const files: TlsFiles = {
    ...section.optional("ca"),
    ...section.optional("cert"),
    ...section.optional("key"),
    ...section.optional("serverName"),
  };
  section.refuseOthers();
  return { tls: files };
};

const limits = (section: Section | undefined): Pick<Fixtures, "limits"> => {
  if (section === undefined) return {};
  const maxResources = section.positive("maxResources");
  const found: RunLimits = {
    ...(maxResources !== undefined && { maxResources }),
    ...section.optional("maxCostNote"),
  };
  section.refuseOthers();
  return { limits: found };
};

const testCloud = (config: Section): Pick<Fixtures, "testCloud"> => {
  const { testCloud: url } = config.optional("testCloud");
  if (url === undefined) return {};
  const { hostname = "" } = URL.parse(url) ?? {};
  if (!isLoopback(hostname))
    config.problem("testCloud", "has to be a URL on loopback, such as http://127.0.0.1:8080: no real cloud is there");
  return { testCloud: url };
};
