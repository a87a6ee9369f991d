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

Written \`--name=value\` or \`--name value\`; a boolean's value only with \`=\`, and without one it is true. In names \`_\` may stand for \`-\`. Durations are
written as in Go: \`300ms\`, \`15s\`, \`1m30s\`; numbers are decimal. A flag that is not on this page is refused; all problems are reported together, and the process ends with
code 64.

Each setting may also come from a file or from the environment: [configuration.md](configuration.md). Where it says *reloadable*, a change of the file
takes effect [without a restart](../explanation/process-lifecycle.md#reload). \`source <(cloudwire-controller-manager completion bash)\`
makes bash complete flags and values.

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
  const head = ["flag", "type", "default upstream", "here", "default here", "why, or what to use"];
  return `## Flags of upstream's cloud-controller-manager

All ${theirs.length} of Kubernetes ${upstream.version}, those of its webhook server and the two that its \`--help\` hides included. They are read from its binary, and a
test compares them with it again.

- *same* (${count("same")}): same default, same meaning
- *mapped* (${count("mapped")}): same name, another default or meaning
- *warned* (${count("warned")}): taken with the values that upstream takes, so that a manifest need not change, but without effect: a warning in the log says why, and
  what to use

${table(
  head,
  theirs.map(({ flag, support }) => upstreamRow(flag, support)),
)}
Beside them, those of upstream's \`node-ipam-controller\`, which a vendor has to link into the binary:

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
