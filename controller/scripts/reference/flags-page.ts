import { commandFlags, type Row } from "../../src/options/table.ts";
import { defaultText } from "../../src/options/flag.ts";
import { TABLE } from "../../src/app/options.ts";
import type { FlagSupport } from "../../src/options/upstream-flags.ts";
import { capitalized, cell, code, GENERATED, table } from "../markdown.ts";
import {
  NODE_IPAM_SECTION,
  ourDefault,
  standings,
  type UpstreamFlag,
  upstream,
  upstreamDefault,
} from "../upstream-flags.ts";

/** docs/reference/flags.md */
export function flagsPage(): string {
  const own = [...TABLE.byName.values()];
  const sections = [...new Set(own.map(({ flag }) => flag.group))].map((group) => {
    const lines = own.filter(({ flag }) => flag.group === group).map(flagRow);
    return `### ${capitalized(group)}\n\n${table(["flag", "value", "default", "meaning"], lines)}`;
  });
  const others = [...commandFlags].map(([name, { help, letter }]) => [
    `${code(`--${name}`)}${letter === undefined ? "" : `, ${code(`-${letter}`)}`}`,
    help,
  ]);
  return `${GENERATED}

# Flags of cloudwire-controller-manager

Write \`--name=value\` or \`--name value\`. The value of a boolean needs \`=\`; without a value it is true. \`_\` in names is the same as \`-\`. Durations use Go's format:
\`300ms\`, \`15s\`, \`1m30s\`. Numbers are decimal. Flags that are not on this page are rejected. All problems are reported together, and the process exits with
code 64.

Settings can also come from a file or the environment: [configuration.md](configuration.md). Changes of *reloadable* settings in the file
take effect [without a restart](../explanation/process-lifecycle.md#reload). \`source <(cloudwire-controller-manager completion bash)\`
enables completion of flags and values in bash.

- [Flags](#flags)
- [Flags of upstream's cloud-controller-manager](#flags-of-upstreams-cloud-controller-manager)

## Flags

${sections.join("\n")}
### Other

${table(["flag", "meaning"], others)}
${upstreamSection()}`;
}

function flagRow({ name, flag }: Row): readonly string[] {
  const shown = defaultText(flag);
  return [
    code(`--${name}`),
    flag.valueName === undefined ? "true, false" : cell(flag.valueName),
    shown === "" ? "none" : code(shown),
    cell(flag.reloadable === true ? `${flag.help}; reloadable` : flag.help),
  ];
}

function upstreamSection(): string {
  const all = standings(upstream);
  const beside = all.filter(({ flag }) => flag.section === NODE_IPAM_SECTION);
  const theirs = all.filter((entry) => !beside.includes(entry));
  const count = (kind: FlagSupport["kind"]): number => theirs.filter(({ support }) => support.kind === kind).length;
  const head = ["flag", "type", "default upstream", "here", "default here", "reason or replacement"];
  return `## Flags of upstream's cloud-controller-manager

All ${theirs.length} flags of Kubernetes ${upstream.version}, including those of its webhook server and the two that its \`--help\` hides. They are read from its binary, and a
test compares them with it.

- *same* (${count("same")}): same default, same meaning
- *mapped* (${count("mapped")}): same name, different default or meaning
- *warned* (${count("warned")}): accepted with the values that upstream accepts, so that manifests need not change, but ignored: a warning in the log has the reason, or
  the replacement

${table(
  head,
  theirs.map(({ flag, support }) => upstreamRow(flag, support)),
)}
In addition, the flags of upstream's \`node-ipam-controller\`, which a vendor must link into the binary:

${table(
  head,
  beside.map(({ flag, support }) => upstreamRow(flag, support)),
)}`;
}

function upstreamRow(flag: UpstreamFlag, support: FlagSupport): readonly string[] {
  return [
    code(`--${flag.name}`),
    cell(flag.type),
    code(upstreamDefault(flag)),
    support.kind,
    code(ourDefault(flag.name) ?? ""),
    cell(words(support)),
  ];
}

function words(support: FlagSupport): string {
  switch (support.kind) {
    case "same":
      return "";
    case "mapped":
      return support.how;
    case "warned":
      return support.instead;
    default:
      return support satisfies never;
  }
}
