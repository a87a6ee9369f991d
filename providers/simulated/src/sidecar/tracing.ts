/** What is to be done with traces at the end. */
export interface Tracing {
  /** Sends off what waits. */
  readonly stop: () => Promise<void>;
}

/** Variables of OpenTelemetry's cannot be followed. */
export class TracingError extends Error {
  readonly code = "TRACING";

  constructor(message: string) {
    super(message);
    this.name = "TracingError";
  }
}

/**
 * Exports traces if OpenTelemetry's variables enable it. The SDK creates the spans, one per call. Returns undefined if it is
 * disabled, without loading the library. Rejects with {@link TracingError}.
 */
export const startTracing = async (
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Tracing | undefined> => {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint = "", OTEL_SDK_DISABLED: disabled = "" } = environment;
  if (endpoint === "" || disabled.toLowerCase() === "true") return undefined;
  const [{ trace }, { BatchSpanProcessor, TracerProvider }, { OTLPTraceExporter }, resources] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/exporter-trace-otlp-grpc"),
    import("@opentelemetry/resources"),
  ]);
  const exporter = made(() => new OTLPTraceExporter());
  const { defaultResource, detectResources, resourceAttributesEnvDetector, resourceFromAttributes } = resources;
  // By default the sampling decision of the caller applies, so the controller decides for both.
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ "service.name": "cloudwire-provider-simulated" }))
      .merge(detectResources({ detectors: [resourceAttributesEnvDetector, resources.serviceNameEnvDetector] })),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  trace.setGlobalTracerProvider(provider);
  return { stop: () => provider.shutdown() };
};

const made = <Exporter>(make: () => Exporter): Exporter => {
  try {
    return make();
  } catch {
    // Without the cause: its message may show a header, and so a token.
    throw new TracingError(
      "cannot create a trace exporter from the variables OTEL_EXPORTER_OTLP_*; check their headers first",
    );
  }
};
