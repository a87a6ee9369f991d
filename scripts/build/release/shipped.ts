/** Packages for vendors' projects, by their folders. */
export const LIBRARIES = ["proto", "provider-sdk/typescript", "provider-sdk/create"] as const;

/** Packages that end in programs, by their folders. */
const PROGRAMS = [
  "controller",
  "cli",
  "status-page",
  "provider-sdk/conformance",
  "providers/aws",
  "providers/baremetal",
  "providers/openstack",
  "providers/simulated",
] as const;

/** All that leaves this repository for Node. */
export const SHIPPED: readonly string[] = [...LIBRARIES, ...PROGRAMS];
