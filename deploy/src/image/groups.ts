/** What images take from Debian. */
export interface PackageGroup {
  /** Their dependencies are looked through, too; nothing comes along that no program loads. */
  readonly packages: readonly string[];
  /** Paths in an image. */
  readonly programs: readonly string[];
  /** Further files, by the beginning of their paths. */
  readonly files: readonly string[];
}

export const NODE = "usr/local/bin/node";

export const GROUPS = {
  // In every image: the libraries of Node, the CA certificates, and the files by which scanners identify the system.
  base: {
    packages: ["libc6", "libgcc-s1", "libstdc++6", "ca-certificates", "base-files"],
    programs: [NODE],
    files: ["etc/os-release", "usr/lib/os-release", "etc/debian_version", "usr/share/common-licenses/"],
  },
  // What providers/baremetal runs, as its README says.
  gateway: {
    packages: ["haproxy", "nftables", "bird2", "iproute2", "conntrack", "iputils-arping", "libvirt-clients"],
    programs: [
      "usr/sbin/haproxy",
      "usr/sbin/nft",
      "usr/sbin/birdc",
      "usr/bin/ip",
      "usr/bin/ss",
      "usr/sbin/conntrack",
      "usr/bin/arping",
      "usr/bin/virsh",
    ],
    files: ["etc/iproute2/"],
  },
} as const satisfies Readonly<Record<string, PackageGroup>>;

export type GroupName = keyof typeof GROUPS;
