import type { Connection } from "../client/connection.ts";
import type { KubeApi } from "../client/kube-api.ts";
import type { OptionTable, OptionValues } from "../options/option.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** A command: a row of the table in commands.ts. Help, completion and docs/reference/cli.md are generated from it. */
export interface Command {
  /** `approve node-deletion`. */
  readonly name: string;
  /** Imperative, without a period. */
  readonly summary: string;
  /** Operands in the usage line: `KIND/NAME`; "": none. */
  readonly operands: string;
  /** Paragraphs of its help. */
  readonly about: readonly string[];
  /** Without the options of every command. */
  readonly options: OptionTable;
  /** Command lines without the program name, with a description. */
  readonly examples: readonly (readonly [line: string, does: string])[];
  /** In addition to those of all commands. */
  readonly exitCodes?: Readonly<Record<number, string>>;
  /** Not shown in help. */
  readonly isHidden?: boolean;
  /** Candidates for the next operand, after `before`, starting with `current`. */
  readonly complete?: (call: Call, before: readonly string[], current: string) => Promise<readonly string[]>;
  /** Returns the exit code. */
  readonly run: (call: Call) => Promise<number>;
}

/** A parsed command line. */
export interface Call {
  /** `cloudwire`, or `kubectl cloudwire`. */
  readonly program: string;
  readonly operands: readonly string[];
  readonly values: OptionValues;
  readonly terminal: Terminal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborted when the process is to exit. */
  readonly signal: AbortSignal;
  /** Connects on first use; closed with the command. Requires CONNECTION_OPTIONS. */
  readonly controller: () => Promise<Connection>;
  /** Closes the connection, so that the next request looks up the controller again. */
  readonly forgetController: () => Promise<void>;
  /** Requires KUBECONFIG_OPTIONS. */
  readonly kube: () => Promise<KubeApi>;
}
