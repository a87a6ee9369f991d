#!/usr/bin/env node
import { type DevCluster, startDevCluster } from "./dev-cluster.ts";
import { type Command, parseCommand } from "./options.ts";

/** Exit code for a command line that makes no sense. */
const usageError = 2;

process.exitCode = await main(parseCommand(process.argv.slice(2)));

async function main(command: Command): Promise<number> {
  switch (command.kind) {
    case "help":
      process.stdout.write(command.text);
      return 0;
    case "invalid":
      for (const problem of command.problems) console.error(`devcluster: ${problem}`);
      return usageError;
    case "run":
      return run(command);
    default:
      return command satisfies never;
  }
}

async function run({ host, port, kubeconfigPath }: Extract<Command, { kind: "run" }>): Promise<number> {
  let cluster: DevCluster;
  try {
    cluster = await startDevCluster({ host, port, recordsRequests: false });
  } catch (error) {
    console.error(`devcluster: cannot listen on ${host}:${port}: ${reasonOf(error)}; choose another --port or --host`);
    return 1;
  }
  try {
    if (kubeconfigPath !== undefined) await cluster.writeKubeconfig(kubeconfigPath);
  } catch (error) {
    console.error(`devcluster: cannot write ${kubeconfigPath}: ${reasonOf(error)}; choose another --kubeconfig-out`);
    await cluster.close();
    return 1;
  }
  console.log(`devcluster: serving the Kubernetes API at ${cluster.url}`);
  await new Promise<void>((resolve) => {
    process.once("SIGINT", resolve);
    process.once("SIGTERM", resolve);
  });
  await cluster.close();
  return 0;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
