import { type CertificateSigningRequest, KUBELET_SERVING_SIGNER } from "../api/certificate-signing-request.ts";
import { createInformer, type InformerDependencies } from "./cache/informer.ts";
import type { ListWatcher } from "./client.ts";
import { CERTIFICATE_SIGNING_REQUESTS } from "./resources/certificate-signing-request.ts";
import type { Informer } from "./cache/informer-interface.ts";

type InformerParts = Omit<InformerDependencies<CertificateSigningRequest>, "resource" | "indexes" | "listBy">;

/** The cache of kubelet-serving requests. */
export function kubeletServingRequests({ client, ...parts }: InformerParts): Informer<CertificateSigningRequest> {
  return createInformer({ ...parts, client: ofServingSigner(client), resource: CERTIFICATE_SIGNING_REQUESTS });
}

/** Requests of other signers are not even read. */
function ofServingSigner(client: ListWatcher): ListWatcher {
  const fieldSelector = `spec.signerName=${KUBELET_SERVING_SIGNER}`;
  return {
    list: (resource, options) => client.list(resource, { ...options, fieldSelector }),
    watch: (resource, options) => client.watch(resource, { ...options, fieldSelector }),
  };
}
