import { dirname, delimiter, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { readVersion } from "@cloudwire/control-plane";
import { type Block, readBlocks } from "../../guides/blocks.ts";
import { Program } from "../../../support/program.ts";

/** The top of the checkout. */
export const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const HELM = join(ROOT, "test/programs/helm/bin");

export interface Reader {
  readonly kubeconfig: string;
  /** Where they are. @default the top of the checkout */
  readonly directory?: string;
}

/** The one block of the page that has this word. */
export async function blockOf(page: string, word: string): Promise<Block> {
  const [block, ...others] = (await readBlocks(page)).filter(({ words }) => words.includes(word));
  if (block === undefined || others.length > 0) throw new Error(`${page} has not one block with the word ${word}`);
  return block;
}

/** What is typed of such a block, where it shows prompts. */
export async function promptedBlockOf(page: string, word: string): Promise<string> {
  return (await blockOf(page, word)).text.replaceAll(/^\$ /gm, "");
}

/** The shell of someone who follows a guide; all that it has started ends with it. */
export async function shell(commands: string, { kubeconfig, directory = ROOT }: Reader): Promise<Program> {
  const { minor } = await readVersion();
  const kubectl = join(ROOT, "test/control-plane/bin", minor);
  const path = [kubectl, HELM, dirname(process.execPath), process.env["PATH"]].join(delimiter);
  return new Program({
    command: "unshare",
    args: ["--pid", "--fork", "--kill-child", "bash", "-euo", "pipefail", "-c", `cd "$0"\n${commands}`, directory],
    env: { PATH: path, KUBECONFIG: kubeconfig },
  });
}

/** What the commands print; fails where they do. */
export async function outputOfShell(commands: string, reader: Reader): Promise<string> {
  await using program = await shell(commands, reader);
  const { code } = await program.exit(120_000);
  if (code !== 0) throw new Error(`the shell ended with ${code}:\n${program.output}`);
  return program.output;
}
