import type { GetProviderInfoResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import { annotationPrefixes, toWireAnnotationSchema } from "./convert/capabilities.ts";
import { toWireDiagnostic } from "./convert/common.ts";
import type { ProviderRuntime } from "./runtime.ts";

/** Facts of the handshake that do not come from the provider. */
export interface HandshakeFacts {
  /** Full names of all services on the socket. */
  readonly services: readonly string[];
  readonly sdkVersion: string;
  /** `node 24.1.0`. */
  readonly runtimeVersion: string;
}

const contractMajor = 1;
const contractMinor = 0;

/** Serves GetProviderInfo from memory. */
export const createGetProviderInfo =
  (runtime: ProviderRuntime, facts: HandshakeFacts) => (): GetProviderInfoResponse => {
    const { definition } = runtime;
    return {
      name: definition.name,
      version: definition.version,
      contractMajor,
      contractMinor,
      services: [...facts.services],
      bootId: runtime.bootId,
      providerIdPrefixes: [...runtime.ids.prefixes],
      // Empty until the cloud has been reached: the caller waits for the status to name it. Contract: INF-8.
      scopeId: runtime.scopeId() ?? "",
      capabilities: runtime.capabilities,
      limits: runtime.limits,
      annotationPrefixes: [...annotationPrefixes(definition)],
      annotations: (definition.annotations ?? []).map(toWireAnnotationSchema),
      nodeLabelKeys: [...(definition.nodeLabelKeys ?? [])],
      nodeAnnotationKeys: [...(definition.nodeAnnotationKeys ?? [])],
      diagnostics: (definition.diagnostics ?? []).map(toWireDiagnostic),
      build: { sdk: `@cloudwire/provider-sdk ${facts.sdkVersion}`, runtime: facts.runtimeVersion, ...definition.build },
      homeUrl: definition.homeUrl ?? "",
    };
  };
