import { buildUpstream } from "../parity/upstream/module.ts";
import { Program } from "../../support/program.ts";

/** One flag of upstream's, as its binary describes it. */
export interface UpstreamFlag {
  /** Without dashes. */
  readonly name: string;
  /** As `--help` has it; a boolean is "bool". */
  readonly type: string;
  /** As Go prints it: `[a,b]`, `5m0s`. */
  readonly default: string;
  /** Heading in `--help`, without " flags". */
  readonly section: string;
}

/** Every flag of upstream's cloud-controller-manager with node-ipam-controller, sorted. */
export interface UpstreamFlags {
  /** Of Kubernetes: `v1.36.3`. */
  readonly version: string;
  readonly flags: readonly UpstreamFlag[];
}

/** Section of those that `--help` does not show. */
const HIDDEN = "Hidden";

const END_MS = 60_000;

/** Asks upstream's binary, which is built where it is not up to date. */
export async function readUpstreamFlags(): Promise<UpstreamFlags> {
  const command = await buildUpstream();
  const described = sectionsOf(await outputOf(command, "--help"));
  // At this level it prints each flag with its value before it reads any; no other flag is given.
  const printed = [...(await outputOf(command, "--v=1")).matchAll(/ FLAG: --([a-z0-9-]+)=(".*")$/gm)];
  const flags = printed.map(([, name = "", quoted = ""]): UpstreamFlag => {
    const text = name === "v" ? "0" : String(JSON.parse(quoted));
    const { type, section } = described.get(name) ?? { type: typeOf(text), section: HIDDEN };
    return { name, type, default: text, section };
  });
  const missing = [...described.keys()].filter((name) => !flags.some((flag) => flag.name === name));
  if (missing.length > 0) throw new Error(`${command} --v=1 does not print ${missing.join(", ")}`);
  return { version: (await outputOf(command, "--version")).replace(/^Kubernetes\s+|\s+$/g, ""), flags };
}

interface Described {
  readonly type: string;
  readonly section: string;
}

/** Flags by name among what cobra prints: headings, and below them `      --name type   words`. */
function sectionsOf(help: string): ReadonlyMap<string, Described> {
  const found = new Map<string, Described>();
  let section = "";
  for (const line of help.split("\n")) {
    section = /^(\S.*) flags:$/.exec(line)?.[1] ?? section;
    const [, name, type = "bool"] = /^ +(?:-\w, )?--([a-z0-9-]+)(?: (\S+))? {2,}\S/.exec(line) ?? [];
    if (name !== undefined) found.set(name, { type, section });
  }
  return found;
}

/** Go's type of a flag that `--help` does not show, by how its default is printed. */
function typeOf(text: string): string {
  if (text === "false" || text === "true") return "bool";
  return text.endsWith("s") ? "duration" : "unknown";
}

async function outputOf(command: string, ...args: readonly string[]): Promise<string> {
  await using program = new Program({ command, args });
  await program.exit(END_MS);
  return program.output;
}
