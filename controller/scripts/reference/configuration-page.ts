import { variableName } from "../../src/options/parse.ts";
import { type Shape, formatDuration } from "../../src/options/flag.ts";
import { parseCommand, TABLE } from "../../src/app/options.ts";
import { unusedFlags } from "../../src/options/upstream-flags.ts";
import { code, GENERATED, table } from "../markdown.ts";

/** Of the schema, beside the page. */
export const SCHEMA_FILE = "cloudcontrollermanagerconfiguration.schema.json";

/** The file that the page shows; a test reads it with the parser and the schema. */
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

/** A file, a variable and a flag with a mistake each, to show how they are reported. */
const MISTAKES = {
  text: SAMPLE.replace("30s", "30").replace("ClusterName", "ClusterNam"),
  environment: { CLOUDWIRE_CONFIG: "ccm.yaml", CLOUDWIRE_LEADER_ELECT: "maybe" },
  args: ["--v=many"],
} as const;

function problemsOfMistakes(): readonly string[] {
  const { args, environment, text } = MISTAKES;
  const command = parseCommand({ args, environment, readText: () => text }, new Set(["node-route-controller"]));
  if (command.kind !== "invalid") throw new Error("the mistakes of the page are none");
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
  const unused = [...unusedFlags].flatMap(([name, { path, instead }]) =>
    path === undefined ? [] : [[code(path), code(`--${name}`), instead]],
  );
  return `${GENERATED}

# Configuration of cloudwire-controller-manager

Every setting is a flag, a variable of the environment, and a path in a file. What each means, and its default: [flags.md](flags.md).

## Which one counts

1. the command line
2. the environment: \`CLOUDWIRE_\` and the flag's name in capitals, with \`_\` for \`-\`; an empty variable is as good as none. A flag that may be repeated, or takes a
   list, may have a line for each item
3. the file that \`--config\` or \`CLOUDWIRE_CONFIG\` names
4. the default

A setting comes from the first of these that says anything of it. Lists of two sources are not put together. Flags and environment
are read at the start, the file again when it changes, for the settings that [flags.md](flags.md) calls reloadable. \`/configz\` shows the settings in force in the
shape of the file, \`/flagz\` as flags.

## The file

YAML or JSON, in the shape of upstream's configuration (which upstream shows at \`/configz\`, but reads from flags only). Settings that upstream does not have
are below \`Cloudwire\`.

\`\`\`yaml
${SAMPLE}\`\`\`

Types are strict: a text that YAML would take for a number or a boolean, such as \`010\`, has to stand in quotes; a duration is written as in Go (\`300ms\`, \`15s\`,
\`1m30s\`); one text may stand for a list of one, and \`[]\` empties a list that has a default.

[The JSON Schema](${SCHEMA_FILE}) of the file has every path with its type, limits, default and meaning. An editor with the YAML language server completes and
checks by the first line of the sample; the name after \`$schema=\` is relative to the file, or an address.

The daemon looks closer than the schema: at the syntax of addresses, ranges and selectors, at least durations, at settings that do not fit each other, and at names of
controllers and providers.

## What is wrong

All problems of all sources are reported together, a line each, before anything starts, and the process ends with code 64:

\`\`\`
${problemsOfMistakes().join("\n")}
\`\`\`

## Every path

${table(["path", "type", "flag", "variable"], settings)}
## Taken without effect

Paths of upstream's that are answered with a warning in the log, as their flags are.

${table(["path", "flag", "why, or what to use"], unused)}`;
}

function typeWords(shape: Shape): string {
  switch (shape.kind) {
    case "text":
      return "text";
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
