import { variableName } from "../../src/options/parse.ts";
import { type Shape, formatDuration } from "../../src/options/flag.ts";
import { parseCommand, TABLE } from "../../src/app/options.ts";
import { unusedFlags } from "../../src/options/upstream-flags.ts";
import { code, GENERATED, table } from "../markdown.ts";

/** Next to the page. */
export const SCHEMA_FILE = "cloudcontrollermanagerconfiguration.schema.json";

/** A test reads it with the parser and the schema. */
export const SAMPLE = `# yaml-language-server: $schema=${SCHEMA_FILE}
apiVersion: cloudcontrollermanager.config.k8s.io/v1alpha1
kind: CloudControllerManagerConfiguration
Generic:
  Controllers: ["*", -node-route-controller]
  LeaderElection:
    LeaseDuration: 30s
    RenewDeadline: 20s
KubeCloudShared:
  ClusterName: blue
NodeStatusUpdateFrequency: 10m
Cloudwire:
  Provider:
    - acme=unix:///run/cloud-provider/acme.sock
  LoggingFormat: json
`;

/** A file, a variable and a flag with one mistake each. */
const MISTAKES = {
  text: SAMPLE.replace("30s", "30").replace("ClusterName", "ClusterNam"),
  environment: { CLOUDWIRE_CONFIG: "ccm.yaml", CLOUDWIRE_LEADER_ELECT: "maybe" },
  args: ["--v=many"],
} as const;

function problemsOfMistakes(): readonly string[] {
  const { args, environment, text } = MISTAKES;
  const command = parseCommand({ args, environment, readText: () => text }, new Set(["node-route-controller"]));
  if (command.kind !== "invalid") throw new Error("the mistakes of the page are not reported");
  return command.problems.map(({ where, what }) => `cloudwire-controller-manager: ${where}: ${what}`);
}

/** docs/reference/configuration.md */
export function configurationPage(): string {
  const settings = [...TABLE.byPath].map(([path, { name, flag }]) => [
    code(path),
    typeWords(flag.shape),
    code(`--${name}`),
    code(variableName(name)),
  ]);
  const previous = [...TABLE.byPreviousPath].map(([path, row]) => [code(path), code(row.path ?? "")]);
  const unused = [...unusedFlags].flatMap(([name, { path, instead }]) =>
    path === undefined ? [] : [[code(path), code(`--${name}`), instead]],
  );
  return `${GENERATED}

# Configuration of cloudwire-controller-manager

Every setting is a flag, an environment variable, and a path in a configuration file. For the meanings and defaults see [flags.md](flags.md).

## Precedence

1. the command line
2. the environment: \`CLOUDWIRE_\` and the flag's name in capitals, with \`_\` for \`-\`. Empty variables are ignored. For a list or a repeatable flag, write one item
   per line
3. the file in \`--config\` or \`CLOUDWIRE_CONFIG\`
4. the default

A setting comes from the first source that has it; lists of several sources are not merged. Flags and environment
are read at startup. The file is read again when it changes, for the settings that are reloadable in [flags.md](flags.md). \`/configz\` shows the current settings in the
format of the file, and \`/flagz\` as flags.

## The file

YAML or JSON in the format of upstream's configuration, which upstream shows at \`/configz\` but reads from flags only. Settings that upstream lacks
are below \`Cloudwire\`.

\`\`\`yaml
${SAMPLE}\`\`\`

Types are strict: quote a string that YAML reads as a number or a boolean, such as \`010\`. Durations use Go's format (\`300ms\`, \`15s\`,
\`1m30s\`). A list with one item can be a string, and \`[]\` clears a list that has a default.

[The JSON Schema](${SCHEMA_FILE}) of the file has every path with its type, limits, default and meaning. An editor with the YAML language server uses
the first line of the sample for completion and validation; the name after \`$schema=\` is a URL, or relative to the file.

The controller also checks the syntax of addresses, CIDRs and selectors, minimum durations, conflicts between settings, and names of
controllers and providers.

## Errors

All problems of all sources are reported together, one per line, before anything starts, and the process exits with code 64:

\`\`\`
${problemsOfMistakes().join("\n")}
\`\`\`

## Paths

${table(["path", "type", "flag", "variable"], settings)}
## Previous paths

Paths of earlier minors of upstream. They have the same effect. If the file has both paths, the new one takes precedence, and the log has a warning.

${table(["previous path", "path"], previous)}
## Ignored paths

Paths of upstream that are accepted and ignored with a warning in the log, as their flags are.

${table(["path", "flag", "reason or replacement"], unused)}`;
}

function typeWords(shape: Shape): string {
  switch (shape.kind) {
    case "text":
      return "string";
    case "boolean":
      return "true, false";
    case "number": {
      const kind = shape.whole ? "whole number" : "number";
      return shape.max === undefined ? `${kind}, at least ${shape.min}` : `${kind}, ${shape.min} to ${shape.max}`;
    }
    case "duration":
      return shape.minMs === 0 ? "duration" : `duration, at least ${formatDuration(shape.minMs)}`;
    case "choice":
      return shape.choices.map((choice) => code(choice)).join(", ");
    case "list":
      return "list";
    default:
      return shape satisfies never;
  }
}
