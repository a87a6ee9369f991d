import path from "node:path";
import { ControlPlaneError } from "./errors.ts";
import { endWithParent } from "./components/managed-process.ts";
import { run } from "./run.ts";

export interface KubectlOptions {
  /** Standard input, for `-f -`. */
  readonly input?: string;
  /** Path of a kubeconfig; default: the administrator's. */
  readonly kubeconfig?: string;
  /** Default: 60,000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface KubectlContext {
  readonly binDir: string;
  readonly kubeconfig: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cacheDir: string;
}

const defaultTimeoutMs = 60_000;

/** Its standard output; throws with its standard error when it fails. */
export async function runKubectl(
  context: KubectlContext,
  args: readonly string[],
  options: KubectlOptions = {},
): Promise<string> {
  const { input = "", kubeconfig = context.kubeconfig, timeoutMs = defaultTimeoutMs, signal } = options;
  const env = {
    ...context.env,
    KUBECONFIG: kubeconfig,
    KUBECACHEDIR: context.cacheDir,
    // Its input may be a file of ours, so closing the input cannot end it.
    ...endWithParent("signal"),
  };
  const answer = await run(path.join(context.binDir, "kubectl"), args, { input, env, timeoutMs, signal });
  if (answer.exitCode === 0) return answer.stdout;
  const reason = answer.stderr.trim() || String(answer.error);
  throw new ControlPlaneError("COMMAND_FAILED", `kubectl ${args.join(" ")}: ${reason}`, { cause: answer.error });
}
