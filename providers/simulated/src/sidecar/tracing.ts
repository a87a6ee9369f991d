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
 * Exports traces where OpenTelemetry's variables ask for them: the spans are the SDK's, one a call. All that a vendor has to do. undefined: nobody
 * asks, and the library is not even loaded. Rejects with {@link TracingError}.
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
  // Unless told otherwise an SDK takes what the caller takes, so the controller decides about both.
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
      "no exporter of traces can be made from the variables OTEL_EXPORTER_OTLP_*; look at the headers in them first",
    );
  }
};
