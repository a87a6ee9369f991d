import { afterEach, expect, test, vi } from "vitest";
import { startTracing, TracingError } from "./tracing.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

test("startTracing() shows no header that the exporter does not take", async () => {
  vi.stubEnv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer hünter2");
  const starting = startTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4317" });
  await expect(starting).rejects.toThrow(TracingError);
  await expect(starting).rejects.not.toThrow(/nter2/);
});
