import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readTracing } from "./tracing.ts";
import { UsageError } from "./usage-error.ts";

const HEAD = "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n";
const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "https://variable:4317" };
const SAMPLER = { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.5" };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tracing-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The option that names a file with that text. */
async function fileOf(text: string | undefined): Promise<{ readonly tracingConfigFile: string }> {
  if (text === undefined) return { tracingConfigFile: "" };
  const tracingConfigFile = join(folder, "tracing.yaml");
  await writeFile(tracingConfigFile, HEAD + text);
  return { tracingConfigFile };
}

const always = { isParentBased: true, ratio: 1 };
const never = { isParentBased: true, ratio: 0 };

test.each([
  ["none without a word", undefined, {}, undefined],
  ["none by a sampler alone", undefined, SAMPLER, undefined],
  ["none, whatever protocol is set for all", undefined, { OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" }, undefined],
  ["all by the environment's endpoint", undefined, ENDPOINT, { endpoint: "https://variable:4317", sampling: always }],
  [
    "the environment's share",
    undefined,
    { ...ENDPOINT, ...SAMPLER },
    { endpoint: "https://variable:4317", sampling: { isParentBased: false, ratio: 0.5 } },
  ],
  ["none of its own by an empty file", "", {}, { endpoint: "http://localhost:4317", sampling: never }],
  [
    "what the file says, whatever the environment does",
    "endpoint: file:4317\nsamplingRatePerMillion: 250000\n",
    { ...ENDPOINT, ...SAMPLER },
    { endpoint: "http://file:4317", sampling: { isParentBased: true, ratio: 0.25 } },
  ],
  [
    "what the file leaves open as the environment says",
    "",
    { ...ENDPOINT, ...SAMPLER },
    { endpoint: "https://variable:4317", sampling: { isParentBased: false, ratio: 0.5 } },
  ],
  [
    "none by a file where OpenTelemetry is switched off",
    "samplingRatePerMillion: 1\n",
    { OTEL_SDK_DISABLED: "true" },
    undefined,
  ],
])("readTracing() asks for %s", async (_what, file, environment, wanted) => {
  expect(await readTracing(await fileOf(file), environment)).toEqual(wanted);
});

test("readTracing() refuses a file that is not there", async () => {
  const reading = readTracing({ tracingConfigFile: join(folder, "gone.yaml") }, {});
  await expect(reading).rejects.toThrow(UsageError);
  await expect(reading).rejects.toThrow(/^--tracing-config-file cannot be read: ENOENT/);
});

test("readTracing() refuses files of the exporter that cannot be read", async () => {
  const reading = readTracing(
    { tracingConfigFile: "" },
    { ...ENDPOINT, OTEL_EXPORTER_OTLP_CERTIFICATE: "/gone.pem", OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY: folder },
  );
  await expect(reading).rejects.toThrow(
    /^OTEL_EXPORTER_OTLP_CERTIFICATE: cannot be read: ENOENT.*; OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY: cannot be read: EISDIR/,
  );
});

test("readTracing() refuses a variable that it cannot follow", async () => {
  const reading = readTracing({ tracingConfigFile: "" }, { ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" });
  await expect(reading).rejects.toThrow(/^OTEL_EXPORTER_OTLP_PROTOCOL: is "http\/json"; only grpc is spoken/);
});
