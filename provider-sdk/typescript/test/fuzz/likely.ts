import type { Likely } from "./message-arbitrary.ts";

/** What requests to {@link everythingProvider} must mostly say to get as far as its handlers, and to meet each other there. */
export const likely: Likely = {
  "cloudprovider.v1.CallContext.scope_id": ["acct-1"],
  "cloudprovider.v1.ClusterRef.id": ["cluster-1", "cluster-2"],
  "cloudprovider.v1.ChangeContext.request_id": ["r-1", "r-2", "r-3", "r-4"],
  "cloudprovider.v1.ChangeContext.sequence": ["0", "5"],
  "cloudprovider.v1.NodeSelection.fingerprint": ["f-1", "f-2"],
  "cloudprovider.v1.NodeSelection.count": ["0", "1", "2"],
  "cloudprovider.v1.NodeSelection.node_set_id": ["set-1", "set-2"],
  "cloudprovider.v1.ApplyNodeSetRequest.node_set_id": ["set-1", "set-2"],
  "cloudprovider.v1.ApplyNodeSetRequest.target_fingerprint": ["f-1", "f-2"],
  "cloudprovider.v1.ApplyNodeSetRequest.base_fingerprint": ["", "f-1", "f-2"],
  "cloudprovider.v1.ApplyNodeSetRequest.chunk_index": ["0", "1"],
  "cloudprovider.v1.ApplyNodeSetRequest.chunk_count": ["1", "2"],
  "cloudprovider.v1.ApplyNodeSetRequest.target_count": ["0", "1", "2"],
  "cloudprovider.v1.LoadBalancerSpec.class": ["acme", "web"],
  "cloudprovider.v1.Route.target_provider_id": ["acme://i-1", "acme://i-2"],
  "google.protobuf.Timestamp.seconds": ["0", "1700000000"],
  "google.protobuf.Timestamp.nanos": ["0", "999999999"],
  "google.protobuf.Duration.seconds": ["0", "30", "-1"],
  "google.protobuf.Duration.nanos": ["0", "500000000"],
};
