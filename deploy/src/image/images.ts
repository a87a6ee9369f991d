import type { GroupName } from "./groups.ts";

export interface ImageSource {
  /** Of the image, of its program, and of the folder that `npm run build` makes for it. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Of the user and the group that the program runs as. */
  readonly userId: number;
  /** What its program runs beside itself. */
  readonly needs?: GroupName;
  readonly ports?: readonly string[];
}

/** Nobody's: outside of what systems give to people and services. */
export const NON_ROOT = 65_532;

export const IMAGES: readonly ImageSource[] = [
  {
    name: "cloudwire-controller-manager",
    title: "Cloudwire controller manager",
    description: "A cloud-controller-manager that asks a provider sidecar for everything about the cloud",
    userId: NON_ROOT,
    ports: ["10258/tcp"],
  },
  {
    name: "cloudwire-provider-aws",
    title: "Cloudwire provider for AWS",
    description: "The provider sidecar for Amazon Web Services",
    userId: NON_ROOT,
  },
  {
    name: "cloudwire-provider-openstack",
    title: "Cloudwire provider for OpenStack",
    description: "The provider sidecar for OpenStack",
    userId: NON_ROOT,
  },
  {
    name: "cloudwire-provider-baremetal",
    title: "Cloudwire provider for bare metal",
    description: "The provider sidecar for machines of one's own, with HAProxy, nftables and kernel routes",
    // Kubernetes gives added capabilities to the superuser alone.
    userId: 0,
    needs: "gateway",
  },
  {
    name: "cloudwire-provider-simulated",
    title: "Cloudwire provider for a simulated cloud",
    description: "The provider sidecar for the simulated cloud of demonstrations and tests",
    userId: NON_ROOT,
  },
];
