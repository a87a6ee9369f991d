import type { KubeApi } from "../client/kube-api.ts";

/** Lifts the brake for one Node (docs/explanation/deletion-guard.md, Releasing). */
const ANNOTATION = "cloudwire.dev/release-deletion";

/** Annotates the Node; `gone`: there is none any more, for those before it were enough to make the brake let go. Rejects with a CommandError. */
export async function releaseNode(kube: KubeApi, name: string): Promise<"released" | "gone"> {
  const body = { metadata: { annotations: { [ANNOTATION]: "true" } } };
  const right = { apiGroup: "", resource: "nodes", verbs: ["patch"] };
  const node = await kube.patch(`/api/v1/nodes/${encodeURIComponent(name)}`, body, right);
  return node === undefined ? "gone" : "released";
}
