import type { Level } from "@cloudwire/conformance";
import type { Program, ProgramOptions } from "../../support/program.ts";

/** What a provider is started with. */
export interface Started {
  readonly command: readonly [string, ...string[]];
  /** Of the kit, its hooks and the provider. */
  readonly env?: Readonly<Record<string, string>>;
  /** The kit's configuration, in YAML. */
  readonly config: string;
  /** Longest time of a run. Default: 10 min. */
  readonly runMs?: number;
}

/** Where the clouds of providers run; it ends with the run. */
export interface Host {
  readonly directory: string;
  run(options: ProgramOptions): Program;
  /** Ends with the host. */
  readonly defer: (end: () => Promise<void>) => void;
}

/** A provider that this repository ships, and what its published report says. */
export interface Subject {
  /** Of its files in docs/conformance. */
  readonly name: string;
  readonly title: string;
  /** What stands behind it, in a sentence. */
  readonly cloud: string;
  /** How far the run goes. */
  readonly level: Level;
  /** Ids of the checks that it is known to fail, with the reason. */
  readonly knownFailing: Readonly<Record<string, string>>;
  readonly start: (host: Host) => Promise<Started>;
}
