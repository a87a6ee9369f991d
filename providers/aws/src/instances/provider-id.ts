/** Provider IDs are `aws:///<zone>/<instance id>`: `aws:///us-east-1a/i-0123456789abcdef0`. */
export const providerIdPrefix = "aws://";

/** Which machine a provider ID names. */
export type ParsedId =
  | { readonly kind: "instance"; readonly instanceId: string }
  /** A pod of Fargate, which is no machine of EC2. */
  | { readonly kind: "foreign" }
  | { readonly kind: "malformed"; readonly problem: string };

const instanceIdForm = /^i-(?:[0-9a-f]{8}|[0-9a-f]{17})$/;

/** The part of a provider ID after the prefix. */
export function formatId(zone: string, instanceId: string): string {
  return `/${zone}/${instanceId}`;
}

/**
 * Reads the part of a provider ID after the prefix as AWS' own controller does: its last segment alone names the machine, so that every form that
 * this controller or a kubelet has ever written is understood.
 */
export function parseId(id: string): ParsedId {
  const last = id.toLowerCase().split("/").at(-1) ?? "";
  if (instanceIdForm.test(last)) return { kind: "instance", instanceId: last };
  if (last.startsWith("fargate-")) return { kind: "foreign" };
  return {
    kind: "malformed",
    problem: `provider ID ${providerIdPrefix}${id} is not of the form ${providerIdPrefix}/<zone>/i-<8 or 17 hex digits>`,
  };
}

/** The machine in a Node's name, if EC2 names the subnet's machines by their ids: `i-0123456789abcdef0.us-east-1.compute.internal`. */
export function instanceIdInName(nodeName: string): string | undefined {
  const [first = ""] = nodeName.split(".");
  return instanceIdForm.test(first) ? first : undefined;
}
