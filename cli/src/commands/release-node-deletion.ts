import { heldNodes } from "../client/shapes/overview.ts";
import type { KubeApi } from "../client/kube-api.ts";
import { CommandError, UsageError } from "../errors.ts";
import { EXIT } from "../exit-codes.ts";
import { CONNECTION_OPTIONS } from "../options/shared-options.ts";
import { renderHeld } from "../render/lists.ts";
import { toAscii } from "../terminal/terminal.ts";
import type { Call, Command } from "./command.ts";

export const releaseNodeDeletion: Command = {
  name: "release node-deletion",
  summary: "lets Nodes go that the brake of the deletion guard holds",
  operands: "NODE... | --all",
  about: [
    "When more machines than usual are gone by the word of a cloud, the brake holds: none of their Nodes is deleted, for more likely the cloud is wrong. See at the cloud whether the machines are really gone; if they are, this releases their Nodes, by the annotation cloudwire.dev/approve-deletion=true. Without names and --all it lists what is held.",
    "A release lifts the brake for a Node and nothing else: its machine must still be absent by all other rules of the guard, and the annotation is taken off when the machine is seen.",
    "Annotations are written with the credentials of the kubeconfig, also with --server.",
  ],
  options: {
    all: { type: "flag", help: "All Nodes that are held at this moment." },
    yes: { type: "flag", letter: "y", help: "Does not ask back. Without it, a terminal is needed." },
    "dry-run": { type: "flag", help: "Says which Nodes would be released, and releases none." },
    ...CONNECTION_OPTIONS,
  },
  examples: [
    ["release node-deletion", "which Nodes are held"],
    ["release node-deletion worker-17 worker-18", "these two, after asking back"],
    ["release node-deletion --all --dry-run", "what --all would mean now"],
  ],
  complete: async (call, before) => {
    const names = (await heldNodes(await call.controller())).map(({ name }) => name);
    return names.filter((name) => !before.includes(name));
  },
  run: async (call) => {
    const { values, terminal, operands } = call;
    const isAll = values.flag("all");
    if (isAll && operands.length > 0) throw new UsageError(["name Nodes, or --all of them, and not both"]);
    const held = await heldNodes(await call.controller());
    const say = (text: string): void => terminal.out(terminal.isUnicode ? text : toAscii(text));
    if (!isAll && operands.length === 0) {
      say(renderHeld(held, "held", terminal));
      return EXIT.ok;
    }
    const named = new Set(operands);
    const unheld = [...named].filter((name) => held.every((node) => node.name !== name));
    if (unheld.length > 0)
      throw new CommandError(
        `the brake does not hold ${unheld.join(", ")}, so that there is nothing to release: \`explain node/${unheld[0] ?? ""}\` says how it stands. No Node was released`,
      );
    const chosen = isAll ? held : held.filter(({ name }) => named.has(name));
    say(renderHeld(chosen, "chosen", terminal));
    if (chosen.length === 0 || values.flag("dry-run")) return EXIT.ok;
    if (!(await isAgreed(call, chosen.length))) return EXIT.failed;
    return release(
      call,
      chosen.map(({ name }) => name),
    );
  },
};

async function isAgreed(call: Call, count: number): Promise<boolean> {
  const { values, terminal, program, signal } = call;
  if (values.flag("yes")) return true;
  const nodes = count === 1 ? "this Node" : `these ${count} Nodes`;
  if (!terminal.canAsk)
    throw new CommandError(`nobody can be asked whether ${nodes} may go: --yes says so. No Node was released`);
  // With --server it may be another cluster's than the controller.
  const { server } = await call.kube();
  const answer = await terminal.ask(
    `Are the machines of ${nodes} really gone, and may the Nodes be deleted at ${server}? Type yes: `,
    signal,
  );
  if (answer?.trim().toLowerCase() === "yes") return true;
  terminal.err(`${program}: no Node was released\n`);
  return false;
}

async function release(call: Call, names: readonly string[]): Promise<number> {
  const kube = await call.kube();
  let failures = 0;
  for (const [index, name] of names.entries()) {
    // Whoever ends it may have seen that these are not gone.
    if (call.signal.aborted) {
      call.terminal.err(`${call.program}: not released any more: ${names.slice(index).join(", ")}\n`);
      return EXIT.failed;
    }
    try {
      const became = await releaseNode(kube, name);
      call.terminal.out(became === "gone" ? `${name} is gone already\n` : `released ${name}\n`);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      failures++;
      call.terminal.err(`${call.program}: ${name} was not released: ${error.message}\n`);
    }
  }
  return failures === 0 ? EXIT.ok : EXIT.failed;
}

/** Lifts the brake for one Node (docs/explanation/deletion-guard.md, Releasing). */
const ANNOTATION = "cloudwire.dev/approve-deletion";

/** Annotates the Node; `gone`: there is none any more, for those before it were enough to make the brake let go. Rejects with a CommandError. */
async function releaseNode(kube: KubeApi, name: string): Promise<"released" | "gone"> {
  const body = { metadata: { annotations: { [ANNOTATION]: "true" } } };
  const right = { apiGroup: "", resource: "nodes", verbs: ["patch"] };
  const node = await kube.patch(`/api/v1/nodes/${encodeURIComponent(name)}`, body, right);
  return node === undefined ? "gone" : "released";
}
