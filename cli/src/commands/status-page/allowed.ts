import { PATHS } from "@cloudwire/operator-api";

/** Pages with more below them. */
const FOLDERS: readonly string[] = [PATHS.page, PATHS.controllers];

/** Whether the browser may have a path: what the status page is made of, and nothing else of the controller, whose heap can be read, too. */
export function isAllowed(path: string): boolean {
  // Of what is not written plainly nobody knows what the controller makes of it.
  if (!/^[\w./-]+$/.test(path) || path.split("/").includes("..")) return false;
  return Object.values<string>(PATHS).includes(path) || FOLDERS.some((folder) => path.startsWith(`${folder}/`));
}

/** Whether the browser was sent to this address by name: another name that leads here is another site's (DNS rebinding). */
export function isOwnHost(host: string | undefined, port: number): boolean {
  return host === `127.0.0.1:${port}` || host === `localhost:${port}`;
}
