import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { ControlPlane } from "@cloudwire/control-plane";
import { at, type Json, listOf } from "../../../support/kube.ts";
import { Program } from "../../../support/program.ts";
import { containersOf } from "./pods.ts";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));

/** Entry points of images, by their names. */
const PROGRAMS: Readonly<Record<string, string>> = {
  "cloudwire-controller-manager": "controller/src/main.ts",
  "cloudwire-provider-simulated": "providers/simulated/src/sidecar/main.ts",
};

/** In a mount namespace of its own: further directories may be made in /run and /etc, and no one else sees them. */
const IN_OWN_MOUNTS = `
mount -t tmpfs tmpfs /run
mkdir /run/.upper /run/.work
mount -t overlay overlay -o lowerdir=/etc,upperdir=/run/.upper,workdir=/run/.work /etc
while [ "$1" != -- ]; do mkdir -p "$2"; mount --bind "$1" "$2"; shift 2; done
shift
exec "$@"`;

interface PodPlace {
  readonly controlPlane: ControlPlane;
  readonly namespace: string;
  /** For its volumes. */
  readonly directory: string;
}

/** Starts the containers of a pod as processes of the sources, in order, with the mounts, arguments and environment that a kubelet gives them. */
export async function startPodProcesses(pod: unknown, place: PodPlace): Promise<readonly Program[]> {
  const directories = new Map<string, string>();
  for (const volume of listOf(at(pod, "volumes")))
    directories.set(String(volume["name"]), await makeVolume(volume, pod, place));
  return containersOf(pod).map((container) => startContainer(container, directories, place));
}

function startContainer(
  container: Json,
  directories: ReadonlyMap<string, string>,
  { controlPlane }: PodPlace,
): Program {
  const [, image = ""] = /([^/:]+)(?::[^/]*)?$/.exec(String(container["image"])) ?? [];
  const source = PROGRAMS[image];
  if (source === undefined) throw new Error(`no program is known for image ${String(container["image"])}`);
  const mounts = listOf(container["volumeMounts"]).flatMap(({ name, mountPath }) => [
    directories.get(String(name)) ?? `no volume ${String(name)}`,
    String(mountPath),
  ]);
  const args = Array.isArray(container["args"]) ? container["args"].map(String) : [];
  const program = [process.execPath, "--conditions=development", join(ROOT, source), ...args];
  const server = new URL(controlPlane.server);
  return new Program({
    command: "unshare",
    args: ["--mount", "sh", "-ec", IN_OWN_MOUNTS, "pod", ...mounts, "--", ...program],
    env: {
      KUBERNETES_SERVICE_HOST: server.hostname,
      KUBERNETES_SERVICE_PORT: server.port,
      ...Object.fromEntries(listOf(container["env"]).map(({ name, value }) => [String(name), String(value)])),
    },
  });
}

/** A directory with what the volume has. */
async function makeVolume(volume: Json, pod: unknown, place: PodPlace): Promise<string> {
  const directory = join(place.directory, String(volume["name"]));
  await mkdir(directory, { recursive: true });
  for (const [name, content] of await contentOf(volume, pod, place)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), content);
  }
  return directory;
}

type Files = readonly (readonly [name: string, content: string | Buffer])[];

async function contentOf(volume: Json, pod: unknown, { controlPlane, namespace }: PodPlace): Promise<Files> {
  const dataOf = async (kind: string, name: unknown): Promise<readonly [string, string][]> => {
    const found: unknown = JSON.parse(
      await controlPlane.kubectl(["-n", namespace, "get", kind, String(name), "-o", "json"]),
    );
    return Object.entries(Object(at(found, "data"))).map(([key, value]) => [key, String(value)]);
  };
  if ("emptyDir" in volume) return [];
  if ("configMap" in volume) return dataOf("configmap", at(volume, "configMap", "name"));
  if ("secret" in volume) {
    const entries = await dataOf("secret", at(volume, "secret", "secretName"));
    return entries.map(([key, value]) => [key, Buffer.from(value, "base64")]);
  }
  const account = String(at(pod, "serviceAccountName"));
  const token = await controlPlane.kubectl(["-n", namespace, "create", "token", account]);
  return [
    ["token", token.trim()],
    ["ca.crt", controlPlane.caPem],
    ["namespace", namespace],
  ];
}
