import type { Connection } from "../client/connection.ts";
import type { KubeApi } from "../client/kube-api.ts";
import type { OptionTable, OptionValues } from "../options/option.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** A command: a row of the table in commands.ts. Help, completion and docs/reference/cli.md are made of it. */
export interface Command {
  /** Its words: `release node-deletion`. */
  readonly name: string;
  /** What it does, in a few words. */
  readonly summary: string;
  /** What stands behind the name, as in a usage line: `KIND/NAME`; "": nothing. */
  readonly operands: string;
  /** Paragraphs of its help. */
  readonly about: readonly string[];
  /** Without those that every command has. */
  readonly options: OptionTable;
  /** Lines to type, without the program's name, and what each does. */
  readonly examples: readonly (readonly [line: string, does: string])[];
  /** Exit codes besides those of all commands. */
  readonly exitCodes?: Readonly<Record<number, string>>;
  /** Not shown in help: for completion scripts. */
  readonly isHidden?: boolean;
  /** What a shell offers as its operand, `before` it those that are typed already, `current` the beginning of this one. */
  readonly complete?: (call: Call, before: readonly string[], current: string) => Promise<readonly string[]>;
  /** Answers the exit code. */
  readonly run: (call: Call) => Promise<number>;
}

/** One command line that was understood. */
export interface Call {
  /** `cloudwire`, or `kubectl cloudwire`. */
  readonly program: string;
  readonly operands: readonly string[];
  readonly values: OptionValues;
  readonly terminal: Terminal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Ends what goes on for long. */
  readonly signal: AbortSignal;
  /** The controller that the options name; made when first asked for, closed with the command. Needs CONNECTION_OPTIONS. */
  readonly controller: () => Promise<Connection>;
  /** Closes the way to the controller, so that the next question looks for one again. */
  readonly forgetController: () => Promise<void>;
  /** The API server that the options name. Needs KUBECONFIG_OPTIONS. */
  readonly kube: () => Promise<KubeApi>;
}
