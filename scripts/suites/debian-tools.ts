import process from "node:process";
import { run } from "../lib/run.ts";
import { prepareGoProgram, prepareVenv } from "./toolchains.ts";

/** Programs, and Debian's packages that have them. */
type Programs = Readonly<Record<string, string>>;

const OF_NETWORK: Programs = {
  haproxy: "haproxy",
  nft: "nftables",
  birdc: "bird2",
  ip: "iproute2",
  conntrack: "conntrack",
  arping: "iputils-arping",
  sysctl: "procps",
  libvirtd: "libvirt-daemon",
  virsh: "libvirt-clients",
};

/** What reads and runs what an operator gets: alert rules, images, pods. */
const OF_DEPLOY: Programs = {
  promtool: "prometheus",
  podman: "podman",
  runc: "runc",
  skopeo: "skopeo",
  "docker-registry": "docker-registry",
};

/** What shows a page. */
const OF_PAGE: Programs = { chromium: "chromium" };

/** What a kubelet runs containers by, and what operators have to look at them. */
const OF_KUBELET: Programs = {
  containerd: "containerd",
  ctr: "containerd",
  ip: "iproute2",
  certutil: "libnss3-tools",
  pk12util: "libnss3-tools",
  openssl: "openssl",
  curl: "curl",
};

/** What OpenStack's services store things in and talk to each other with. */
const OF_OPENSTACK: Programs = {
  mariadbd: "mariadb-server",
  "rabbitmq-server": "rabbitmq-server",
  epmd: "erlang-base",
  openssl: "openssl",
};

/** Makes ready what forwards packets. Answers why the suite cannot run here: it makes network namespaces, which only root may. */
export async function prepareNetwork(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "needs root, for network namespaces";
  const missing = await installMissing(OF_NETWORK);
  if (missing !== undefined) return missing;
  const { code, output } = await run("unshare", ["--net", "true"], { output: "keep" }).catch(() => noProgram);
  return code === 0 ? undefined : `network namespaces cannot be made here: ${output.trim()}`;
}

/** Makes ready what reads and runs what an operator gets. Answers why the suite cannot run here. */
export async function prepareDeploy(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "needs root, to run containers";
  return (await installMissing(OF_DEPLOY)) ?? (await prepareDeployPrograms());
}

/** Builds what there is no package of. */
export async function prepareDeployPrograms(): Promise<string | undefined> {
  return (await prepareGoProgram("test/suites/deploy/oci-check", "oci-check")) ?? (await prepareHelm());
}

/** Makes ready what shows the status page, where CHROMIUM names none. Answers why the suite cannot run here. */
export async function prepareBrowser(): Promise<string | undefined> {
  if (process.env["CHROMIUM"] !== undefined) return undefined;
  const missing = await missingPackages(OF_PAGE);
  if (missing.length > 0 && process.getuid?.() !== 0) return "needs Chromium, or root to install it";
  return installMissing(OF_PAGE);
}

/** Likewise what a machine of a cluster has, for the suite with a real kubelet. */
export async function prepareMachine(): Promise<string | undefined> {
  return (await prepareDeploy()) ?? (await installMissing(OF_KUBELET)) ?? (await prepareBrowser());
}

/** Builds Helm from its Go module, for which there is no package; takes minutes the first time. */
async function prepareHelm(): Promise<string | undefined> {
  console.log("\nMaking Helm ready (the first build takes some minutes) …");
  return prepareGoProgram("test/programs/helm", "helm", ["-ldflags=-s -w"], "helm.sh/helm/v4/cmd/helm");
}

/** Makes ready OpenStack's own services. Answers why they cannot run here. */
export async function prepareOpenStack(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "needs root, for MariaDB and RabbitMQ of its own";
  return (await installMissing(OF_OPENSTACK)) ?? (await prepareVenv("test/suites/openstack/services"));
}

const noProgram = { code: 127, output: "there is no program unshare" };

/** Answers what cannot be installed. */
async function installMissing(programs: Programs): Promise<string | undefined> {
  const missing = await missingPackages(programs);
  if (missing.length === 0) return undefined;
  console.log(`\nInstalling ${missing.join(", ")} …`);
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  const install = ["install", "-qq", "-y", "--no-install-recommends", ...missing];
  for (const args of [["update", "-qq"], install]) {
    const { code } = await run("apt-get", args, { output: "show", env }).catch(() => ({ code: 127 }));
    if (code !== 0) return `${missing.join(", ")} cannot be installed with apt-get (exit ${code})`;
  }
  return undefined;
}

async function missingPackages(programs: Programs): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const [program, name] of Object.entries(programs)) {
    const { code } = await run("sh", ["-c", `command -v ${program}`], { output: "keep" });
    if (code !== 0) missing.push(name);
  }
  return missing;
}
