import { html } from "./html.ts";
import { junit } from "./junit.ts";
import { markdown } from "./markdown.ts";
import { colored, pretty } from "./pretty.ts";
import type { Report } from "./report.ts";
import { tap } from "./tap.ts";

/** How a report is written. */
export const formats = {
  pretty: (report: Report, color: boolean): string => (color ? pretty(report, colored) : pretty(report)),
  tap,
  junit,
  json: (report: Report): string => `${JSON.stringify(report, undefined, 2)}\n`,
  markdown,
  html,
} as const satisfies Readonly<Record<string, (report: Report, color: boolean) => string>>;

/** A format's name. */
export type FormatName = keyof typeof formats;
