import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { type Browser, chromium, type Page } from "playwright-core";

const exec = promisify(execFile);
const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser"];

/** Chromium takes its administrator's rules from one directory: in a mount namespace of its own they are no other's. */
const WRAPPER = `#!/bin/sh
exec unshare --mount sh -ec '
mkdir -p /etc/chromium/policies
mount --bind "$POLICIES" /etc/chromium/policies
exec "$CHROMIUM" "$@"' chromium "$@"
`;

export interface BrowserOptions {
  /** For what it stores. */
  readonly directory: string;
  /** A file of PKCS #12. */
  readonly certificate: string;
  readonly password: string;
}

/** A real Chromium into which a client certificate has been imported, and which shows it to localhost without a question. */
export async function startBrowser({ directory, certificate, password }: BrowserOptions): Promise<Browser> {
  const database = join(directory, ".pki", "nssdb");
  await mkdir(database, { recursive: true });
  await exec("certutil", ["-N", "-d", `sql:${database}`, "--empty-password"]);
  await exec("pk12util", ["-i", certificate, "-d", `sql:${database}`, "-W", password, "-K", ""]);
  const policies = join(directory, "policies");
  await mkdir(join(policies, "managed"), { recursive: true });
  // What a person chooses in a dialogue.
  const rules = { AutoSelectCertificateForUrls: [JSON.stringify({ pattern: "https://localhost", filter: {} })] };
  await writeFile(join(policies, "managed", "certificate.json"), JSON.stringify(rules));
  const wrapper = join(directory, "chromium.sh");
  await writeFile(wrapper, WRAPPER, { mode: 0o755 });
  const program = process.env["CHROMIUM"] ?? PLACES.find((path) => existsSync(path)) ?? "chromium";
  const env = { PATH: process.env["PATH"] ?? "", HOME: directory, POLICIES: policies, CHROMIUM: program };
  return chromium.launch({ executablePath: wrapper, chromiumSandbox: false, env });
}

/** As a person does who is warned of a certificate that no one vouches for, and goes on. */
export async function passWarning(page: Page): Promise<void> {
  await page.locator("#details-button").click();
  await page.locator("#proceed-link").click();
}

/** What must not happen in a page: errors of its scripts, and what its rules (CSP) refuse. */
export function faultsOf(page: Page): readonly string[] {
  const faults: string[] = [];
  page.on("pageerror", ({ message }) => faults.push(message));
  page.on("console", (message) => {
    // The browser's own line about what it could not load: connections are broken on purpose.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      faults.push(message.text());
  });
  return faults;
}
