import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import type { HaproxyConfig } from "../config/config.ts";
import type { AskSocket } from "../edge/ask-socket.ts";
import { output, type RunProgram } from "../edge/run-program.ts";
import {
  type HaproxyPlan,
  type HaproxyServer,
  haproxyFiles,
  parseServersState,
  planServers,
} from "../plan/haproxy-config.ts";
import { writeAtomically } from "../util/atomic-file.ts";

/** The HAProxy of this machine that forwards for us. */
export interface Haproxy {
  /** Makes it be as planned, without losing a connection. */
  readonly apply: (plan: HaproxyPlan) => Promise<"nothing" | "servers" | "reload" | "start">;
  /** Structure in force; undefined: it does not run. */
  readonly structure: () => Promise<string | undefined>;
}

export interface HaproxyEdges {
  readonly run: RunProgram;
  readonly ask: AskSocket;
}

interface Becoming {
  /** Whether it never will, for HAProxy has ended. */
  readonly hasEnded?: () => boolean;
  /** Checked again after a delay. */
  readonly again?: () => Promise<void>;
}

const readyMs = 15_000;
const stepMs = 50;
/** Longer than a reload takes. */
const reloadAgainMs = 3000;

export function haproxy(config: HaproxyConfig, { run, ask }: HaproxyEdges): Haproxy {
  const files = haproxyFiles(config.runDir);
  const structure = () => structureAt(ask, files.worker);
  const becomes = async (wanted: string, what: string, { hasEnded, again }: Becoming = {}): Promise<void> => {
    const startMs = performance.now();
    let askedMs = startMs;
    while ((await structure()) !== wanted) {
      const nowMs = performance.now();
      if (nowMs > startMs + readyMs || hasEnded?.() === true) throw new Error(`${what}${await lastAlert(files.log)}`);
      if (again !== undefined && nowMs > askedMs + reloadAgainMs) {
        askedMs = nowMs;
        await again();
      }
      await wait(stepMs);
    }
  };
  const writeChecked = async (text: string): Promise<void> => {
    const next = `${files.config}.next`;
    await writeFile(next, text, { mode: 0o600 });
    try {
      await output(run, config.program, ["-c", "-q", "-f", next]);
      await rename(next, files.config);
    } finally {
      await rm(next, { force: true });
    }
  };
  const start = async (plan: HaproxyPlan): Promise<void> => {
    await writeChecked(plan.text);
    const hasEnded = config.start ? startDetached(config) : undefined;
    const how = `${config.program} -W -S ${files.master} -f ${files.config}`;
    const advice = config.start ? "see its log" : `run it as a service of this machine: ${how}`;
    await becomes(plan.structure, `HAProxy does not run with ${files.config}; ${advice}`, hasEnded && { hasEnded });
  };
  return {
    structure,
    apply: async (plan) => {
      const running = await structure();
      if (running === undefined) {
        if (plan.isEmpty) return "nothing";
        await start(plan);
        return "start";
      }
      if (running === plan.structure) {
        const changed = await changeServers(ask, files.worker, plan.servers);
        if ((await readFile(files.config, "utf8").catch(() => "")) !== plan.text) {
          await writeAtomically(files.config, plan.text);
        }
        return changed ? "servers" : "nothing";
      }
      await writeChecked(plan.text);
      await reload(ask, files.master);
      const what = `HAProxy did not reload ${files.config} and continues with the previous configuration`;
      await becomes(plan.structure, what, { again: () => reload(ask, files.master) });
      return "reload";
    },
  };
}

/** Structure of the configuration in force; undefined: HAProxy does not run. */
async function structureAt(ask: AskSocket, worker: string): Promise<string | undefined> {
  const info = await ask(worker, "show info").catch(() => undefined);
  return info === undefined ? undefined : (/^description: cloudwire-(\w+)$/m.exec(info)?.[1] ?? "");
}

/** The connection is cut by the reload itself, or by an earlier one that was under way: then this one was not heard. */
async function reload(ask: AskSocket, master: string): Promise<void> {
  await ask(master, "reload").catch((error: unknown) => {
    if (!(error instanceof Error && "code" in error && error.code === "ECONNRESET")) throw error;
  });
}

/** Adds and removes servers by the runtime API: no reload, no process more. */
async function changeServers(ask: AskSocket, worker: string, wanted: readonly HaproxyServer[]): Promise<boolean> {
  const state = async () => parseServersState(await ask(worker, "show servers state"));
  const { commands, leaving } = planServers(wanted, await state());
  for (const command of commands) {
    const answer = (await ask(worker, command)).trim();
    if (!/^(?:New server registered\.)?$/.test(answer)) {
      throw new Error(`HAProxy rejected "${command}": ${answer.slice(0, 300)}`);
    }
  }
  // A server with connections stays, without new ones, until they end or the next reload.
  for (const server of leaving) await ask(worker, `del server ${server}`);
  return commands.length > 0;
}

/** HAProxy is detached, so that a restart of the provider does not affect load balancers. Returns a check whether it has exited. */
function startDetached(config: HaproxyConfig): () => boolean {
  const files = haproxyFiles(config.runDir);
  const log = openSync(files.log, "a", 0o600);
  try {
    const args = ["-W", "-db", "-S", `${files.master},mode,600`, "-p", files.pid, "-f", files.config];
    const child = spawn(config.program, args, { detached: true, stdio: ["ignore", log, log], cwd: "/" });
    let hasEnded = false;
    const end = (): void => {
      hasEnded = true;
    };
    child.once("error", end).once("exit", end).unref();
    return () => hasEnded;
  } finally {
    closeSync(log);
  }
}

async function lastAlert(log: string): Promise<string> {
  const text = await readFile(log, "utf8").catch(() => "");
  const alerts = text.split("\n").filter((line) => line.includes("[ALERT]"));
  return alerts.length === 0 ? "" : `: ${alerts.slice(-3).join(" ")}`;
}
