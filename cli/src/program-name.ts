import { basename } from "node:path";
import { COMPLETE } from "./commands/completion/scripts.ts";

/** As whom the program was called, and what it is to do. */
export interface Calling {
  /** `cloudwire`, or `kubectl cloudwire`. */
  readonly program: string;
  readonly args: readonly string[];
}

/**
 * Links to the program mean something: kubectl runs `kubectl-cloudwire` of the path for `kubectl cloudwire`, and asks
 * `kubectl_complete-cloudwire` for candidates (KEP-2229).
 */
export function callingOf(path: string, args: readonly string[]): Calling {
  switch (basename(path).replace(/\.m?[jt]s$/, "")) {
    case "kubectl-cloudwire":
      return { program: "kubectl cloudwire", args };
    case "kubectl_complete-cloudwire":
      return { program: "kubectl cloudwire", args: [COMPLETE, "--", ...args] };
    default:
      return { program: "cloudwire", args };
  }
}
