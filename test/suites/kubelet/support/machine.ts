import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, rmdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ControlPlane } from "@cloudwire/control-plane";
import { eventually } from "../../../support/eventually.ts";
import { Program } from "../../../support/program.ts";
import { freePort } from "../../../support/secure-page.ts";

const exec = promisify(execFile);
const START_MS = 120_000;

/** The image of what holds a pod's namespaces. */
export const PAUSE_IMAGE = "localhost/pause:1";

/**
 * The init process of the machine, in separate process and mount namespaces: everything below it ends with it, and it ends with its input,
 * whatever happens to the process that started it. It has its own copies of the directories that a kubelet and containerd always use.
 */
const INIT = `
directory=$1 kubelet=$2
shift 2
for own in /run /var/lib; do mount -t tmpfs tmpfs $own; done
mount --bind "$directory/log" /var/log
mkdir -p /var/lib/kubelet
containerd --config "$directory/containerd.toml" >"$directory/containerd.log" 2>&1 &
until [ -S "$directory/containerd.sock" ]; do sleep 0.1; done
echo containerd is there
until [ -e "$directory/start" ]; do sleep 0.1; done
"$kubelet" "$@" >"$directory/kubelet.log" 2>&1 &
exec cat >/dev/null`;

export interface MachineOptions {
  readonly controlPlane: ControlPlane;
  /** Of the machine, and of its Node. */
  readonly name: string;
  /** The program. */
  readonly kubelet: string;
}

/** A machine with a real kubelet and containerd, which run in this one's network. Pods use that one, too, or none. */
export class Machine implements AsyncDisposable {
  readonly #options: MachineOptions;
  readonly #directory: string;
  readonly #init: Program;

  private constructor(options: MachineOptions, directory: string, init: Program) {
    this.#options = options;
    this.#directory = directory;
    this.#init = init;
  }

  /** containerd runs; the kubelet is started by itself. */
  static async start(options: MachineOptions): Promise<Machine> {
    const directory = await mkdtemp(join(tmpdir(), "machine-"));
    await writeContainerdConfig(directory);
    for (const name of ["log", "manifests", "etc"]) await mkdir(join(directory, name));
    const kubelet = await kubeletArgs(options, directory);
    const namespaces = ["--pid", "--mount", "--fork", "--kill-child", "--mount-proc"];
    const args = [...namespaces, "sh", "-ec", INIT, "init", directory, options.kubelet, ...kubelet];
    const init = new Program({ command: "unshare", args });
    const machine = new Machine(options, directory, init);
    await init.said(/containerd is there/, START_MS);
    return machine;
  }

  /** Files of the machine that are put there by hand, such as a kubeconfig: their path. */
  async putFile(name: string, content: string, mode = 0o644): Promise<string> {
    const path = join(this.#directory, "etc", name);
    await writeFile(path, content, { mode });
    return path;
  }

  /** Takes an archive of an image, as docker and skopeo write it. */
  async importImage(archive: string): Promise<void> {
    const socket = join(this.#directory, "containerd.sock");
    await exec("ctr", ["--address", socket, "--namespace", "k8s.io", "images", "import", "--no-unpack", archive]);
  }

  /** The kubelet, which registers the Node. */
  async startKubelet(): Promise<void> {
    await writeFile(join(this.#directory, "start"), "");
  }

  /** Into the kubelet's directory of manifests. */
  async runStaticPod(name: string, manifest: object): Promise<void> {
    await writeFile(join(this.#directory, "manifests", `${name}.json`), JSON.stringify(manifest));
  }

  async endStaticPod(name: string): Promise<void> {
    await rm(join(this.#directory, "manifests", `${name}.json`));
  }

  /** Ids, outside of the machine, of its processes whose command line has this text. Others on this one may run the same programs. */
  async processes(text: string): Promise<readonly number[]> {
    const found: number[] = [];
    for (const id of await processesOf(text)) if (await this.#holds(id)) found.push(id);
    return found;
  }

  /** What a container wrote. */
  async logOf(container: string): Promise<string> {
    const pods = join(this.#directory, "log", "pods");
    const files = await readdir(pods, { recursive: true }).catch(() => []);
    const own = files.filter((file) => file.includes(`/${container}/`) && file.endsWith(".log")).toSorted();
    const texts = await Promise.all(own.map((file) => readFile(join(pods, file), "utf8")));
    return texts.join("");
  }

  /** What its programs wrote, for the message of a test that fails. */
  async logs(): Promise<string> {
    const tails = ["kubelet.log", "containerd.log"].map(async (file) => {
      const text = await readFile(join(this.#directory, file), "utf8").catch(() => "");
      return `---- ${file}\n${text.split("\n").slice(-60).join("\n")}`;
    });
    return [this.#init.output, ...(await Promise.all(tails))].join("\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { name } = this.#options;
    await this.#init[Symbol.asyncDispose]();
    await eventually(`the processes of ${name} to end`, 30_000, async () =>
      (await processesOf(this.#directory)).length === 0 ? true : undefined,
    );
    await rm(this.#directory, { recursive: true, force: true });
    await removeControlGroups();
  }

  /** Whether init has started the process, or what has started it. */
  async #holds(id: number): Promise<boolean> {
    for (let above = await parentOf(id); above > 0; above = await parentOf(above))
      if (above === this.#init.pid) return true;
    return false;
  }
}

/** Ids of all processes whose command line has this text. */
async function processesOf(text: string): Promise<readonly number[]> {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found: number[] = [];
  for (const id of ids) {
    const commandLine = await readFile(`/proc/${id}/cmdline`, "utf8").catch(() => "");
    if (commandLine.includes(text)) found.push(Number(id));
  }
  return found;
}

/** 0: it has none, or has ended. */
async function parentOf(id: number): Promise<number> {
  const status = await readFile(`/proc/${id}/status`, "utf8").catch(() => "");
  return Number(/^PPid:\s+(\d+)/m.exec(status)?.[1] ?? 0);
}

/** Overlay filesystems, runc, and everything in the directory. */
async function writeContainerdConfig(directory: string): Promise<void> {
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  const lines = [
    "version = 2",
    `root = "${directory}/containerd"`,
    `state = "${directory}/state"`,
    "[grpc]",
    `address = "${directory}/containerd.sock"`,
    `[${cri}]`,
    `sandbox_image = "${PAUSE_IMAGE}"`,
    // As this machine may be a container itself, which cannot lower it.
    "restrict_oom_score_adj = true",
    `[${cri}.cni]`,
    `conf_dir = "${directory}/network"`,
    `bin_dir = "${directory}/network"`,
    "",
  ];
  await writeFile(join(directory, "containerd.toml"), lines.join("\n"));
  await writeNetwork(join(directory, "network"));
}

/** A pod's own network is its loopback and nothing else: no packet gets in or out, but what the runtime carries. */
const LOOPBACK_ONLY = `#!/bin/sh -e
version=$(sed -n 's/.*"cniVersion": *"\\([^"]*\\)".*/\\1/p')
case $CNI_COMMAND in
ADD)
  nsenter --net="$CNI_NETNS" ip link set lo up
  interface='{"name": "'$CNI_IFNAME'", "sandbox": "'$CNI_NETNS'"}'
  echo '{"cniVersion": "'$version'", "interfaces": ['$interface'], "ips": [{"version": "4", "interface": 0, "address": "192.0.2.1/32"}]}' ;;
VERSION) echo '{"cniVersion": "'$version'", "supportedVersions": ["0.3.1", "0.4.0", "1.0.0"]}' ;;
esac
`;

async function writeNetwork(directory: string): Promise<void> {
  await mkdir(directory);
  const network = { cniVersion: "0.4.0", name: "none", plugins: [{ type: "none" }] };
  await writeFile(join(directory, "none.conflist"), JSON.stringify(network));
  for (const plugin of ["none", "loopback"]) await writeFile(join(directory, plugin), LOOPBACK_ONLY, { mode: 0o755 });
}

async function kubeletArgs({ controlPlane, name }: MachineOptions, directory: string): Promise<readonly string[]> {
  const { path: kubeconfig } = await controlPlane.kubeconfigFor(`system:node:${name}`, ["system:nodes"]);
  const authority = join(directory, "ca.crt");
  await writeFile(authority, controlPlane.caPem);
  const none = { "memory.available": "0%", "nodefs.available": "0%", "imagefs.available": "0%" };
  const config = {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    address: "127.0.0.1",
    port: await freePort(),
    healthzPort: 0,
    authentication: { anonymous: { enabled: false }, x509: { clientCAFile: authority }, webhook: { enabled: false } },
    authorization: { mode: "AlwaysAllow" },
    staticPodPath: join(directory, "manifests"),
    containerRuntimeEndpoint: `unix://${directory}/containerd.sock`,
    resolvConf: "",
    syncFrequency: "1s",
    fileCheckFrequency: "1s",
    nodeStatusUpdateFrequency: "2s",
    // The rest is what a machine that is a container itself, or does other work besides, cannot give.
    failCgroupV1: false,
    cgroupDriver: "cgroupfs",
    cgroupsPerQOS: false,
    enforceNodeAllocatable: [],
    localStorageCapacityIsolation: false,
    makeIPTablesUtilChains: false,
    failSwapOn: false,
    evictionHard: none,
    imageGCHighThresholdPercent: 100,
  };
  const file = join(directory, "kubelet.json");
  await writeFile(file, JSON.stringify(config));
  return [`--config=${file}`, `--kubeconfig=${kubeconfig}`, `--hostname-override=${name}`, "--cloud-provider=external"];
}

/** The group above those of the containers, one a controller of version 1, which containerd leaves. */
async function removeControlGroups(): Promise<void> {
  const root = "/sys/fs/cgroup";
  const groups = [root, ...(await readdir(root)).map((name) => join(root, name))].map((dir) => join(dir, "k8s.io"));
  await Promise.all(groups.map((group) => rmdir(group).catch(() => undefined)));
}
