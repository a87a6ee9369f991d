import { readFile } from "node:fs/promises";

/** A process and all that it has started and that still run, such as those behind a launcher. */
export async function processTree(pid: number): Promise<readonly number[]> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => ""))
    .split(" ")
    .filter((text) => text !== "")
    .map(Number);
  const below = await Promise.all(children.map(processTree));
  return [pid, ...below.flat()];
}
