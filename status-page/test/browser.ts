import { existsSync } from "node:fs";
import process from "node:process";
import { type Browser, chromium } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Starts this machine's Chromium: CHROMIUM names it, or it is where Debian puts it. */
export async function startBrowser(args: readonly string[] = []): Promise<Browser> {
  const executablePath = process.env["CHROMIUM"] ?? PLACES.find((path) => existsSync(path));
  if (executablePath === undefined) {
    throw new Error("there is no Chromium on this machine: install the package chromium, or name it in CHROMIUM");
  }
  return chromium.launch({ executablePath, args: [...args], chromiumSandbox: process.getuid?.() !== 0 });
}
