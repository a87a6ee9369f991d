import { blockedNodes } from "../client/shapes/overview.ts";
import type { KubeApi } from "../client/kube-api.ts";
import { CommandError, UsageError, errorLine } from "../errors.ts";
import { EXIT } from "../exit-codes.ts";
import { CONNECTION_OPTIONS } from "../options/shared-options.ts";
import { renderBlocked } from "../render/lists.ts";
import { toAscii } from "../terminal/terminal.ts";
import type { Call, Command } from "./command.ts";

export const approveNodeDeletion: Command = {
  name: "approve node-deletion",
  summary: "Approve the deletion of Nodes that the circuit breaker blocks",
  operands: "NODE... | --all",
  about: [
    "If the cloud reports an unusually large number of instances as deleted, its data is probably wrong. The deletion circuit breaker then opens, and the controller deletes none of their Nodes. Check in the cloud whether the instances are deleted. If they are, approve the deletion of their Nodes. The command sets annotation cloudwire.dev/approve-deletion=true. Without names and --all, it lists the blocked Nodes.",
    "An approval exempts a Node only from the circuit breaker: all other conditions of the deletion guard still apply. The controller removes the annotation when it finds the instance or when the Node is Ready.",
    "The command uses the credentials of the kubeconfig to set annotations, even with --server.",
  ],
  options: {
    all: { type: "flag", help: "All Nodes currently blocked by the circuit breaker." },
    yes: { type: "flag", letter: "y", help: "Skip the confirmation prompt. Required without a terminal." },
    "dry-run": { type: "flag", help: "Print the Nodes without approving their deletion." },
    ...CONNECTION_OPTIONS,
  },
  examples: [
    ["approve node-deletion", "list the blocked Nodes"],
    ["approve node-deletion worker-17 worker-18", "approve the deletion of two Nodes after confirmation"],
    ["approve node-deletion --all --dry-run", "show the Nodes that --all selects"],
  ],
  complete: async (call, before) => {
    const names = (await blockedNodes(await call.controller())).map(({ name }) => name);
    return names.filter((name) => !before.includes(name));
  },
  run: async (call) => {
    const { values, terminal, operands } = call;
    const isAll = values.flag("all");
    if (isAll && operands.length > 0) throw new UsageError(["specify node names or --all, not both"]);
    const blocked = await blockedNodes(await call.controller());
    const say = (text: string): void => terminal.out(terminal.isUnicode ? text : toAscii(text));
    if (!isAll && operands.length === 0) {
      say(renderBlocked(blocked, "blocked", terminal));
      return EXIT.ok;
    }
    const named = new Set(operands);
    const others = [...named].filter((name) => blocked.every((node) => node.name !== name));
    if (others.length > 0)
      throw new CommandError(
        "NODE_NOT_BLOCKED",
        `${others.join(", ")} ${others.length === 1 ? "is" : "are"} not blocked by the circuit breaker; nothing to approve (see \`explain node/${others[0] ?? ""}\`)`,
      );
    const chosen = isAll ? blocked : blocked.filter(({ name }) => named.has(name));
    say(renderBlocked(chosen, "chosen", terminal));
    if (chosen.length === 0 || values.flag("dry-run")) return EXIT.ok;
    if (!(await isConfirmed(call, chosen.length))) return EXIT.failed;
    return approveAll(
      call,
      chosen.map(({ name }) => name),
    );
  },
};

async function isConfirmed(call: Call, count: number): Promise<boolean> {
  const { values, terminal, program, signal } = call;
  if (values.flag("yes")) return true;
  const nodes = count === 1 ? "this Node" : `these ${count} Nodes`;
  if (!terminal.canAsk)
    throw new CommandError("CONFIRMATION_REQUIRED", "cannot ask for confirmation without a terminal; pass --yes");
  // With --server, the API server may be that of another cluster.
  const { server } = await call.kube();
  const answer = await terminal.ask(
    `Are the instances of ${nodes} deleted in the cloud, and should the Nodes be deleted from ${server}? Type yes: `,
    signal,
  );
  if (answer?.trim().toLowerCase() === "yes") return true;
  terminal.err(`${program}: no deletion was approved\n`);
  return false;
}

async function approveAll(call: Call, names: readonly string[]): Promise<number> {
  const kube = await call.kube();
  let failures = 0;
  for (const [index, name] of names.entries()) {
    // An operator may interrupt on seeing an instance that still exists.
    if (call.signal.aborted) {
      call.terminal.err(`${call.program}: interrupted; not approved: ${names.slice(index).join(", ")}\n`);
      return EXIT.failed;
    }
    try {
      const result = await approve(kube, name);
      call.terminal.out(result === "absent" ? `${name} no longer exists\n` : `approved ${name}\n`);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      failures++;
      call.terminal.err(`${call.program}: could not approve ${name}: ${errorLine(error)}\n`);
    }
  }
  return failures === 0 ? EXIT.ok : EXIT.failed;
}

/** Exempts a Node from the circuit breaker (docs/explanation/deletion-guard.md). */
const ANNOTATION = "cloudwire.dev/approve-deletion";

/** `absent`: the Node no longer exists, because earlier approvals closed the circuit breaker. Rejects with a CommandError. */
async function approve(kube: KubeApi, name: string): Promise<"approved" | "absent"> {
  const body = { metadata: { annotations: { [ANNOTATION]: "true" } } };
  const permission = { apiGroup: "", resource: "nodes", verbs: ["patch"] };
  const node = await kube.patch(`/api/v1/nodes/${encodeURIComponent(name)}`, body, permission);
  return node === undefined ? "absent" : "approved";
}
