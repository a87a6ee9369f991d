import { Type } from "typebox";
import { Value } from "typebox/value";
import { UsageError, errorText } from "../errors.ts";
import { type ProfileName, levels, profiles } from "../suite/check.ts";
import type { Report, SkipReason } from "./report.ts";

/** Version of the report's form; a change that breaks readers makes it one more. */
const schemaVersion = 2;

const text = Type.String();
const count = Type.Integer({ minimum: 0 });
const ms = Type.Number({ minimum: 0 });
const texts = Type.Record(Type.String(), Type.String());

const profileNames: ProfileName[] = [];
let profileName: ProfileName;
for (profileName in profiles) profileNames.push(profileName);

const level = Type.Enum([...levels]);
const profile = Type.Enum(profileNames);
const reasons: readonly SkipReason[] = [
  "capability",
  "level",
  "fixture",
  "hook",
  "transport",
  "mode",
  "limit",
  "user",
  "stopped",
];

const exchange = Type.Object({
  path: text,
  request: Type.Optional(Type.Unknown({ description: "As JSON; absent where the bytes were no message." })),
  requestBytes: count,
  headers: texts,
  deadlineMs: Type.Optional(ms),
  elapsedMs: ms,
  response: text,
});
const finding = Type.Object({
  message: text,
  expected: Type.Optional(text),
  got: Type.Optional(text),
  exchange: Type.Optional(exchange),
});

const checkOutcome = Type.Union([
  Type.Object({ kind: Type.Literal("pass") }),
  Type.Object({ kind: Type.Literal("fail"), finding }),
  Type.Object({ kind: Type.Literal("blocked"), by: text }),
  Type.Object({ kind: Type.Literal("skip"), reason: Type.Enum([...reasons]), detail: text }),
  Type.Object({ kind: Type.Literal("known-fail"), finding }),
  Type.Object({ kind: Type.Literal("flaky"), finding }),
  Type.Object({ kind: Type.Literal("advisory"), finding }),
  Type.Object({ kind: Type.Literal("error"), message: text }),
]);

/** The form of a report in JSON: what `report verify` checks, and what the published JSON Schema is made of. */
export const reportSchema = Type.Object(
  {
    schemaVersion: Type.Literal(schemaVersion),
    kit: Type.Object({ version: text, contractMajor: count }),
    runId: Type.String({
      description: "The ownership tag of what the run created is the cluster `conformance-` and this.",
    }),
    startTime: Type.String({ description: "ISO 8601, UTC." }),
    elapsedMs: ms,
    target: Type.Object({ endpoint: text, command: Type.Optional(Type.Array(text)) }),
    provider: Type.Object({
      name: text,
      version: text,
      contractMajor: count,
      contractMinor: count,
      bootId: text,
      capabilities: Type.Array(text),
      build: texts,
    }),
    level,
    seed: Type.Number(),
    slowFactor: Type.Number({ exclusiveMinimum: 0 }),
    profiles: Type.Array(
      Type.Object({
        name: profile,
        result: Type.Enum(["conformant", "partial", "failed"]),
        passed: count,
        failed: count,
        blocked: count,
        skipped: count,
        knownFailures: count,
      }),
    ),
    results: Type.Array(
      Type.Object({
        id: text,
        level,
        profile,
        title: text,
        rules: Type.Array(text),
        result: checkOutcome,
        elapsedMs: ms,
        repeat: Type.Optional(Type.String({ description: "The command that repeats the call which failed." })),
      }),
    ),
  },
  { title: "Report of cloudwire-conformance", $schema: "https://json-schema.org/draft/2020-12/schema" },
);

// That the two are the same type is for the compiler to see: what the schema lets through is a Report.
void ((checked: Type.Static<typeof reportSchema>): Report => checked);

/** Limit of reported problems; one wrong word can cause many. */
const maxProblems = 5;

/** Reads a report in JSON. Throws a UsageError for what is none. */
export const parseReport = (text: string, path: string): Report => {
  const value = jsonOf(text, path);
  if (Value.Check(reportSchema, value)) return value;
  const problems = Value.Errors(reportSchema, value)
    .slice(0, maxProblems)
    .map(({ instancePath, message }) => `${instancePath || "the file"} ${message}`);
  throw new UsageError(`${path} is no report of this kit: ${problems.join("; ")}`);
};

const jsonOf = (text: string, path: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${path} is no JSON: ${errorText(error)}; give the file that --format json wrote`);
  }
};
