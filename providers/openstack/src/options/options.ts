import { readFile } from "node:fs/promises";
import { ProviderError } from "@cloudwire/provider-sdk";
import {
  type OptionValues,
  type ProgramEnvironment,
  type ReadOptions,
  readOptions,
} from "@cloudwire/provider-sdk/program";
import type { EndpointInterface } from "../cloud/catalog.ts";
import type { OpenStackProviderOptions } from "../provider.ts";
import { type FlagName, flags, secretVariable } from "./flags.ts";

export interface ProgramSettings extends OpenStackProviderOptions {
  readonly endpoint: string | undefined;
}

/** Reads the command line and the environment; the command line counts before. */
export function parseOptions(argv: readonly string[], env: ProgramEnvironment): ReadOptions<ProgramSettings> {
  return readOptions(flags, { argv, env }, toSettings);
}

type Values = OptionValues<FlagName>;

const idForm = /^[0-9a-f]{32}$/i;
const nameForm = /^\S.*$/;

function toSettings(values: Values, env: ProgramEnvironment): ProgramSettings {
  return {
    endpoint: values.last("endpoint"),
    authUrl: values.required(
      "auth-url",
      /^https?:\/\/[^\s]+$/,
      "the URL of Keystone, such as https://cloud.example.com:5000",
    ),
    applicationCredentialId: values.required("application-credential-id", idForm, "its id, 32 hex digits"),
    readSecret: secretReader(values, env),
    region: values.required("region", nameForm, "a region such as RegionOne"),
    endpointInterface: endpointInterface(values),
    regionInIds: values.optional("region-in-provider-ids", /^(?:true|false)$/, "true or false") === "true",
    internalNetworks: values.list("node-network", nameForm, "the name of a network"),
    publicNetworks: values.list("public-network", nameForm, "the name of a network"),
    ipFamilies: values.ipFamilies("node-ip-family", ["IPv4"]),
    watchIntervalMs: values.integer("watch-interval", 10, 3600, 60) * 1000,
    loadBalancers: loadBalancers(values),
    routes: routes(values),
    callRate: values.rate("call-rate", { cloudCallsPerSecond: 10, burst: 50 }),
  };
}

function secretReader(values: Values, env: ProgramEnvironment): () => Promise<string> {
  const path = values.last("application-credential-secret-file");
  const secret = env[secretVariable]?.trim() ?? "";
  if (path === undefined && secret === "") {
    const wanted = `set ${secretVariable}, or give --application-credential-secret-file`;
    values.problems.push(`the secret of the application credential is missing: ${wanted}`);
  }
  return async () => {
    if (path === undefined) return secret;
    try {
      return (await readFile(path, "utf8")).trim();
    } catch (error) {
      const message = `the secret of the application credential cannot be read from ${path}`;
      throw new ProviderError("CLOUD_CREDENTIALS_INVALID", message, { cause: error });
    }
  };
}

const uuidForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function loadBalancers(values: Values): ProgramSettings["loadBalancers"] {
  const vipSubnetId = values.optional("load-balancer-subnet", uuidForm, "the id of a subnet");
  const rest = {
    memberSubnetId: values.optional("member-subnet", uuidForm, "the id of a subnet"),
    floatingNetworkId: values.optional("floating-network", uuidForm, "the id of a network"),
    octaviaProvider: values.optional("load-balancer-provider", nameForm, "the name of a provider of Octavia"),
  };
  if (vipSubnetId !== undefined) return { vipSubnetId, ...rest };
  if (Object.values(rest).some((value) => value !== undefined)) {
    values.problems.push(
      "--member-subnet, --floating-network and --load-balancer-provider need --load-balancer-subnet",
    );
  }
  return undefined;
}

function routes(values: Values): ProgramSettings["routes"] {
  const routerId = values.optional("router", uuidForm, "the id of a router");
  const podCidrs = values.ranges("pod-cidr");
  const quota = values.integer("route-quota", 1, 10_000, 30);
  if ((routerId === undefined) !== (podCidrs.length === 0)) {
    values.problems.push("--router and --pod-cidr must be set together");
  }
  return routerId === undefined ? undefined : { routerId, podCidrs, quota };
}

function endpointInterface(values: Values): EndpointInterface {
  // As command-line clients write it, too.
  const text = values.optional("interface", /^(?:public|internal|admin)(?:URL)?$/, "public, internal or admin") ?? "";
  if (text.startsWith("internal")) return "internal";
  return text.startsWith("admin") ? "admin" : "public";
}
