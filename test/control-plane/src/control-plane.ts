import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import path from "node:path";
import type { ApiServer } from "./components/api-server.ts";
import { type AuditEvent, readAuditLog } from "./audit.ts";
import { makeCertificates } from "./credentials/certificates.ts";
import { etcdSocket, type Layout } from "./components/arguments.ts";
import { ControlPlaneError } from "./errors.ts";
import { Etcd } from "./components/etcd.ts";
import { HollowNodes } from "./components/hollow-nodes.ts";
import { type Identities, writeKubeconfig } from "./credentials/identities.ts";
import type { Kubeconfig } from "./credentials/kubeconfig.ts";
import { type KubectlOptions, runKubectl } from "./kubectl.ts";
import type { ControlPlaneOptions, HollowNodeOptions } from "./options.ts";
import type { Programs } from "./components/programs.ts";

/** One program of the control plane, for tests that disturb it (kill, pause). */
export interface ProcessInfo {
  readonly program: string;
  readonly pid: number;
  readonly running: boolean;
  readonly logPath: string;
}

export interface ControlPlaneParts {
  readonly binDir: string;
  readonly options: ControlPlaneOptions;
  readonly layout: Layout;
  readonly programs: Programs;
  readonly identities: Identities;
  readonly apiServer: ApiServer;
  readonly adminKubeconfig: Kubeconfig;
  /** Bound for a hollow node to become ready. */
  readonly timeoutMs: number;
}

/** A running control plane. Its programs end with this process, at the latest. */
export class ControlPlane implements AsyncDisposable {
  /** The administrator's (group system:masters). */
  readonly adminKubeconfig: Kubeconfig;
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfigPath: string;
  /** URL of kube-apiserver; the same after a restart. */
  readonly server: string;
  /** The authority that signed kube-apiserver's certificate and every client's. */
  readonly caPem: string;
  /** Directory with the log of each program, and the audit log. */
  readonly logDir: string;
  readonly #parts: ControlPlaneParts;
  readonly #hollowNodes: HollowNodes;
  readonly #etcd: Etcd;
  #kubeconfigs = 0;
  #keepsFiles = false;
  #stopping: Promise<void> | undefined;

  /** For startControlPlane. */
  constructor(parts: ControlPlaneParts) {
    const { layout, programs, apiServer, timeoutMs, adminKubeconfig } = parts;
    const { admin } = apiServer;
    this.adminKubeconfig = adminKubeconfig;
    this.kubeconfigPath = adminKubeconfig.path;
    this.server = admin.server;
    this.caPem = admin.caPem;
    this.logDir = layout.logs;
    this.#parts = parts;
    this.#etcd = new Etcd(etcdSocket(layout));
    this.#hollowNodes = new HollowNodes({
      layout,
      admin,
      timeoutMs,
      launch: (program, args) => programs.launch(program, args),
      kubeconfigFor: (user, groups) => this.kubeconfigFor(user, groups),
    });
  }

  /** A kubeconfig with a client certificate for `user`; RBAC decides what it may do. `lifetimeSeconds`: for tests of what expires. */
  async kubeconfigFor(user: string, groups: readonly string[] = [], lifetimeSeconds?: number): Promise<Kubeconfig> {
    this.#requireNotStopped(`make a kubeconfig for ${user}`);
    const { binDir, identities, layout, apiServer } = this.#parts;
    this.#kubeconfigs += 1;
    const name = `${this.#kubeconfigs}-${encodeURIComponent(user)}`;
    const subjects = { client: { commonName: user, organizations: groups, lifetimeSeconds } };
    const made = await makeCertificates(binDir, subjects, identities.authority);
    return await writeKubeconfig(layout, name, apiServer.admin, made.certificateOf("client"));
  }

  /**
   * Creates a Node that was registered so many milliseconds ago. It is written to etcd, because kube-apiserver dates what it creates itself.
   * Watches report it like any other Node.
   */
  async addNode(
    node: {
      readonly metadata: { readonly name: string; readonly [key: string]: unknown };
      readonly [key: string]: unknown;
    },
    ageMs: number,
  ): Promise<void> {
    this.#requireNotStopped(`add node ${node.metadata.name}`);
    // Kubernetes knows no parts of seconds.
    const creationTimestamp = new Date(Date.now() - ageMs).toISOString().replace(/\.\d+/, "");
    const metadata = { ...node.metadata, uid: randomUUID(), creationTimestamp };
    const stored = { apiVersion: "v1", kind: "Node", ...node, metadata };
    await this.#etcd.put(`/registry/minions/${node.metadata.name}`, JSON.stringify(stored));
  }

  /** Starts a kubelet without containers; returns when its Node is registered and ready. */
  async startHollowNode(name: string, options: HollowNodeOptions = {}): Promise<void> {
    this.#requireNotStopped(`start hollow node ${name}`);
    await this.#hollowNodes.start(name, options);
  }

  /** Ends the kubelet at once. Its Node stays, until someone deletes it. */
  async stopHollowNode(name: string): Promise<void> {
    await this.#hollowNodes.stop(name);
  }

  /** Runs kubectl as the administrator; answers its standard output, throws when it fails. */
  async kubectl(args: readonly string[], options: KubectlOptions = {}): Promise<string> {
    this.#requireNotStopped("run kubectl");
    const { binDir, programs, layout } = this.#parts;
    const cacheDir = path.join(layout.dir, "kubectl-cache");
    return await runKubectl({ binDir, kubeconfig: this.kubeconfigPath, env: programs.env, cacheDir }, args, options);
  }

  /** What the audit log has so far; needs the option audit. */
  async auditEvents(): Promise<readonly AuditEvent[]> {
    const { options, layout } = this.#parts;
    if (options.audit === undefined) {
      throw new ControlPlaneError("BAD_OPTIONS", "read audit events: start the control plane with the option audit");
    }
    return await readAuditLog(layout.auditLog);
  }

  async restartApiServer(): Promise<void> {
    await this.stopApiServer();
    await this.startApiServer();
  }

  /** SIGTERM (default) lets it end requests in flight for some seconds; SIGKILL cuts them off. */
  async stopApiServer(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
    await this.#parts.apiServer.stop(signal);
  }

  /** Starts it again, on the same port and data; returns when it is ready. */
  async startApiServer(): Promise<void> {
    await this.#parts.apiServer.startAgain();
  }

  /** Every program ever started, in that order. */
  processes(): readonly ProcessInfo[] {
    const { programs } = this.#parts;
    return programs.all.map(({ program, pid, exit, logPath }) => ({
      program,
      pid,
      running: exit === undefined,
      logPath,
    }));
  }

  /** Lets stop() leave the logs and say where; for tests that failed. */
  keepFiles(): void {
    this.#keepsFiles = true;
  }

  /** Ends every program and removes the files. May be called again. */
  async stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    await this.#stopping;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #requireNotStopped(intent: string): void {
    if (this.#stopping !== undefined)
      throw new ControlPlaneError("BAD_OPTIONS", `${intent}: the control plane is stopped`);
  }

  async #stop(): Promise<void> {
    const { programs, layout } = this.#parts;
    await programs.stop();
    if (this.#keepsFiles) console.error(`control plane: logs are kept in ${layout.logs}`);
    else await rm(layout.dir, { recursive: true, force: true });
  }
}
