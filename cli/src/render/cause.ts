import type { Cause } from "@cloudwire/operator-api";
import { hanging } from "../terminal/wrap.ts";
import type { Style } from "./style.ts";

/** What stands in the way, what to do about it, and where more is said. */
export function causeLines(
  { reason, message, remedy, see }: Cause,
  { paint, columns }: Style,
  about = "",
): readonly string[] {
  return [
    hanging("  ", `${about === "" ? "" : `${about}: `}${reason}: ${message}`, columns).replace(
      `${reason}:`,
      () => `${paint.yellow(reason)}:`,
    ),
    ...(remedy === undefined ? [] : [hanging("    Do:  ", remedy, columns).replace("Do:", () => paint.bold("Do:"))]),
    ...(see === undefined ? [] : [paint.dim(`    See: ${see}`)]),
  ];
}
