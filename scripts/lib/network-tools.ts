import process from "node:process";
import { run } from "./run.ts";

/** Programs of the network suite, and Debian's packages that have them. */
const PROGRAMS: Readonly<Record<string, string>> = {
  haproxy: "haproxy",
  nft: "nftables",
  birdc: "bird2",
  ip: "iproute2",
  conntrack: "conntrack",
  arping: "iputils-arping",
  sysctl: "procps",
};

/** Makes ready what forwards packets. Answers why the suite cannot run here: it makes network namespaces, which only root may. */
export async function prepareNetwork(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "needs root, for network namespaces";
  const missing = await missingPackages();
  if (missing.length > 0) {
    console.log(`\nInstalling ${missing.join(", ")} …`);
    const env = { DEBIAN_FRONTEND: "noninteractive" };
    const install = ["install", "-qq", "-y", "--no-install-recommends", ...missing];
    for (const args of [["update", "-qq"], install]) {
      const { code } = await run("apt-get", args, { output: "show", env }).catch(() => ({ code: 127 }));
      if (code !== 0) return `${missing.join(", ")} cannot be installed with apt-get (exit ${code})`;
    }
  }
  const { code, output } = await run("unshare", ["--net", "true"], { output: "keep" }).catch(() => noProgram);
  return code === 0 ? undefined : `network namespaces cannot be made here: ${output.trim()}`;
}

const noProgram = { code: 127, output: "there is no program unshare" };

async function missingPackages(): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const [program, name] of Object.entries(PROGRAMS)) {
    const { code } = await run("sh", ["-c", `command -v ${program}`], { output: "keep" });
    if (code !== 0) missing.push(name);
  }
  return missing;
}
