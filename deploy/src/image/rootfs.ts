import { type Entry, textFile } from "./entry.ts";
import { NON_ROOT } from "./images.ts";

const owner = { uid: NON_ROOT, gid: NON_ROOT };
const HOME = "home/cloudwire";

/** Where an image's program is. */
export const PROGRAM_DIRECTORY = "opt/cloudwire";
/** Where providers listen, by the chart and the guides. */
export const SOCKET_DIRECTORY = "run/cloud-provider";

/** What every root filesystem has beside programs. */
export const ROOT_FILES: readonly Entry[] = [
  // As Debian has them: each package's files are below usr.
  ...["bin", "sbin", "lib", "lib64"].map((name): Entry => ({ kind: "link", path: name, target: `usr/${name}` })),
  ...["proc", "sys", "dev", "usr/bin", "usr/sbin", "usr/lib", "usr/lib64"].map(
    (path): Entry => ({ kind: "directory", path, mode: 0o755 }),
  ),
  { kind: "directory", path: "tmp", mode: 0o1777 },
  { kind: "directory", path: "root", mode: 0o700 },
  { kind: "directory", path: HOME, mode: 0o700, owner },
  textFile(
    "etc/passwd",
    `root:x:0:0:root:/root:/sbin/nologin\ncloudwire:x:${NON_ROOT}:${NON_ROOT}:cloudwire:/${HOME}:/sbin/nologin\n`,
  ),
  textFile("etc/group", `root:x:0:\ncloudwire:x:${NON_ROOT}:\n`),
  textFile("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"),
];
