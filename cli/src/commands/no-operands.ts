import { UsageError } from "../errors.ts";
import type { Call } from "./command.ts";

/** @throws UsageError when there are any */
export function noOperands({ operands }: Pick<Call, "operands">): void {
  if (operands.length > 0) throw new UsageError([`the command takes no words, and got ${operands.join(" ")}`]);
}
