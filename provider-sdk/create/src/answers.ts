import { parseArgs } from "node:util";

/** The answers as the user wrote them. */
export interface Answers {
  readonly name?: string | undefined;
  readonly language?: string | undefined;
  readonly domain?: string | undefined;
  readonly idPrefix?: string | undefined;
  readonly dir?: string | undefined;
  readonly sdk?: string | undefined;
}

/** A command line, read. */
export type CommandLine =
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  | { readonly kind: "create"; readonly answers: Answers; readonly problems: readonly string[] };

const options = {
  language: { type: "string" },
  domain: { type: "string" },
  "id-prefix": { type: "string" },
  dir: { type: "string" },
  sdk: { type: "string" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean" },
} as const;

export const USAGE = `Usage: npm create @cloudwire/provider NAME -- --language LANGUAGE [options]

Makes a provider sidecar of cloudprovider.v1 to start from. On a terminal it asks for what is missing.

  NAME                    name of the project, its image and its container: acme-provider
  --language LANGUAGE     typescript, go or python
  --domain DOMAIN         DNS name of the provider, unique among the providers of a cluster;
                          default <id prefix>.example.com
  --id-prefix PREFIX      what provider IDs begin with, acme for acme://; default: the name without -provider
  --dir DIRECTORY            where to put it: a directory that is empty or does not exist; default ./NAME
  --sdk CHECKOUT          take the SDK from a checkout of Cloudwire instead of the registry of the language
  --help, --version`;

/** Parses a command line and reports every syntax error. */
export function readCommandLine(args: readonly string[]): CommandLine {
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  if (values.help === true) return { kind: "help" };
  if (values.version === true) return { kind: "version" };
  const problems: string[] = [];
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const known = Object.entries(options).find(([name]) => name === token.name)?.[1];
    if (known === undefined) problems.push(`${token.rawName}: no such option; --help lists them`);
    else if (known.type === "string" && (!token.value || (!token.inlineValue && token.value.startsWith("-"))))
      problems.push(`${token.rawName}: needs a value`);
  }
  const [name, ...more] = positionals;
  if (more.length > 0) problems.push(`${more.join(" ")}: one name is enough; put -- before the options`);
  const text = (value: string | boolean | undefined) => (typeof value === "string" && value !== "" ? value : undefined);
  const answers: Answers = {
    name,
    language: text(values.language),
    domain: text(values.domain),
    idPrefix: text(values["id-prefix"]),
    dir: text(values.dir),
    sdk: text(values.sdk),
  };
  return { kind: "create", answers, problems };
}
