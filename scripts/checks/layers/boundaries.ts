/** Where what is foreign enters the controller; it is wrapped there for all others. */
import { controllerPath, type Finding, type SourceFile } from "./file.ts";

/** Values of a library are imported below these paths only; its types may go further. */
const LIBRARIES: readonly { readonly library: string; readonly paths: readonly string[] }[] = [
  { library: "@kubernetes/client-node", paths: ["kube/connection/"] },
  { library: "undici", paths: ["kube/connection/"] },
  { library: "@grpc/grpc-js", paths: ["provider/connection/"] },
  { library: "fastify", paths: ["server/"] },
  { library: "pino", paths: ["telemetry/"] },
  { library: "prom-client", paths: ["telemetry/"] },
  { library: "@opentelemetry", paths: ["telemetry/"] },
  { library: "yaml", paths: ["options/"] },
];

/** Parts of the contract, types included: its messages are the business of one directory, its tables of names of some more. */
const WIRE: readonly { readonly specifier: RegExp; readonly what: string; readonly paths: readonly string[] }[] = [
  {
    specifier: /^@cloudwire\/proto\/(?:cloudprovider|google)\//,
    what: "messages",
    paths: ["provider/convert/"],
  },
  // The one rule about provider IDs, for pure files too.
  {
    specifier: /^@cloudwire\/proto\/provider-ids$/,
    what: "the rule about provider IDs",
    paths: ["util/values/provider-id.ts"],
  },
  {
    specifier: /^@cloudwire\/proto\//,
    what: "names",
    paths: ["provider/convert/", "provider/model/", "provider/observers/"],
  },
];

export function libraryFindings(file: SourceFile): readonly Finding[] {
  const path = controllerPath(file);
  if (path === undefined) return [];
  return file.imports.flatMap(({ specifier, kind, line }) => {
    const rule = LIBRARIES.find(({ library }) => specifier === library || specifier.startsWith(`${library}/`));
    if (rule === undefined || kind === "type" || rule.paths.some((allowed) => path.startsWith(allowed))) return [];
    const message = `imports ${specifier}: only ${rule.paths.join(", ")} may, which wraps it for the others`;
    return [{ rule: "libraries", path: file.path, line, message }];
  });
}

export function wireFindings(file: SourceFile): readonly Finding[] {
  const path = controllerPath(file);
  if (path === undefined) return [];
  return file.imports.flatMap(({ specifier, line }) => {
    const rule = WIRE.find((part) => part.specifier.test(specifier));
    if (rule === undefined || rule.paths.some((allowed) => path.startsWith(allowed))) return [];
    const message = `imports ${rule.what} of the contract from ${specifier}: only ${rule.paths.join(", ")} may`;
    return [{ rule: "wire", path: file.path, line, message }];
  });
}
