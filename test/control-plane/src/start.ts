import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { ApiClient } from "./api-client.ts";
import { ApiServer } from "./components/api-server.ts";
import { auditPolicy } from "./audit.ts";
import { buildControlPlane } from "./build/build.ts";
import {
  apiServerArgs,
  controllerManagerArgs,
  etcdArgs,
  type Layout,
  layoutIn,
  schedulerArgs,
} from "./components/arguments.ts";
import { ControlPlane } from "./control-plane.ts";
import { ControlPlaneError } from "./errors.ts";
import { createIdentities, type Identities, writeKubeconfig } from "./credentials/identities.ts";
import { type ControlPlaneOptions, controllerManagerOptions } from "./options.ts";
import { Programs } from "./components/programs.ts";
import { type ServerContext, startOnFreePort } from "./components/servers.ts";

const defaultStartTimeoutMs = 60_000;

/** Starts a control plane in a temporary directory; builds its programs before that when they are not up to date. */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  if (options.serviceAccountTokens === true && controllerManagerOptions(options) === undefined) {
    throw new ControlPlaneError(
      "BAD_OPTIONS",
      "serviceAccountTokens needs controllerManager, which makes the service accounts",
    );
  }
  const { minor, signal, onProgress } = options;
  const binaries = await buildControlPlane({ minor, signal, onProgress });
  const layout = await createDirectories(options);
  const programs = new Programs(binaries.dir, layout);
  try {
    const identities = await createIdentities(binaries.dir, layout);
    return await startPrograms({ binDir: binaries.dir, options, layout, programs, identities });
  } catch (error) {
    await programs.stop();
    if (programs.all.length === 0 || signal?.aborted === true) await rm(layout.dir, { recursive: true });
    else console.error(`control plane: it did not start; logs are kept in ${layout.logs}`);
    throw error;
  }
}

async function createDirectories(options: ControlPlaneOptions): Promise<Layout> {
  const layout = layoutIn(await mkdtemp(path.join(options.tmpDir ?? tmpdir(), "cloudwire-cp-")));
  for (const dir of [layout.logs, layout.scratch, layout.pki, layout.kubeconfigs]) await mkdir(dir);
  if (options.audit !== undefined) await writeFile(layout.auditPolicy, auditPolicy(options.audit));
  return layout;
}

interface Site {
  readonly binDir: string;
  readonly options: ControlPlaneOptions;
  readonly layout: Layout;
  readonly programs: Programs;
  readonly identities: Identities;
}

async function startPrograms(site: Site): Promise<ControlPlane> {
  const { options, layout, programs, identities } = site;
  const context: ServerContext = {
    launch: (program, args) => programs.launch(program, args),
    caPem: identities.authority.certificate,
    client: identities.admin,
    timeoutMs: options.startTimeoutMs ?? defaultStartTimeoutMs,
    signal: options.signal,
  };
  // No wait in between: kube-apiserver waits for etcd, and is ready only when it has it.
  await programs.launch("etcd", etcdArgs(layout));
  const apiServer = await ApiServer.start((port) => apiServerArgs(layout, port, options), context);
  const { admin } = apiServer;
  await Promise.all([startScheduler(site, admin, context), startControllerManager(site, admin, context)]);
  const adminKubeconfig = await writeKubeconfig(layout, "admin", admin, identities.admin);
  return new ControlPlane({ ...site, apiServer, adminKubeconfig, timeoutMs: context.timeoutMs });
}

async function startScheduler(site: Site, api: ApiClient, context: ServerContext): Promise<void> {
  const { options, layout, identities } = site;
  if (options.scheduler !== true) return;
  await writeKubeconfig(layout, "kube-scheduler", api, identities.scheduler);
  const args = (port: number) => schedulerArgs(layout, port);
  await startOnFreePort({ program: "kube-scheduler", args, readyPath: "/readyz" }, context);
}

async function startControllerManager(site: Site, api: ApiClient, context: ServerContext): Promise<void> {
  const { layout, identities } = site;
  const options = controllerManagerOptions(site.options);
  if (options === undefined) return;
  await writeKubeconfig(layout, "kube-controller-manager", api, identities.controllerManager);
  const args = (port: number) => controllerManagerArgs(layout, port, options);
  // It is healthy before it has built its controllers, and ends when kube-apiserver is away while it builds them. The
  // check of each controller appears when all are built.
  const ready = { readyPath: "/healthz?verbose", readyText: "-controller ok" };
  await startOnFreePort({ program: "kube-controller-manager", args, ...ready }, context);
}
