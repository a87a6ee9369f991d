/** Compares the contract with every released minor of it, kept as descriptor sets in released/. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const released = `${root}released`;
const images = existsSync(released) ? readdirSync(released).filter((name) => name.endsWith(".binpb")) : [];

for (const image of images) {
  execFileSync("buf", ["breaking", "--against", `released/${image}`], { cwd: root, stdio: "inherit" });
}
console.log(
  images.length === 0
    ? "No minor of the contract has been released yet: nothing to compare with."
    : `The contract breaks none of ${images.length} released minors.`,
);
