import { chmod, chown, lstat, readFile, rename, stat, unlink } from "node:fs/promises";
import { connect } from "node:net";
import { isMainThread } from "node:worker_threads";
import { ProviderStartError } from "./start-error.ts";

/** Read and write for owner and group: connecting needs write. */
const socketMode = 0o660;
/** Leaves exactly {@link socketMode} of the 0777 with which sockets are made. */
const socketUmask = 0o117;

/** Longest time to find out whether somebody listens. */
const probeTimeoutMs = 2_000;

/** A rival that starts at the same moment can win at most this often. */
const maxAttempts = 5;

/**
 * Makes room for a socket: nothing there is fine, a socket that nobody listens on is removed, a live one or another kind of
 * file is refused. Removal is by renaming first, and looks at what was renamed: of two providers that start at once, none
 * removes the other's fresh socket.
 */
export const clearSocketPath = async (path: string): Promise<void> => {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const found = await statOrUndefined(path);
    if (!found) return;
    if (!found.isSocket()) throw unavailable(`${path} exists and is no socket; remove it or give another endpoint`);
    if (await isLive(path)) throw inUse(path);
    if (await removeStale(path, found.ino)) return;
  }
  throw inUse(path);
};

/** Says early, and as what it is, that the folder is missing. */
export const requireFolder = async (folder: string): Promise<void> => {
  const found = await stat(folder).catch(() => undefined);
  if (!found?.isDirectory())
    throw unavailable(`the folder ${folder} does not exist; make it, or mount the volume there`);
};

const unavailable = (problem: string, cause?: unknown) =>
  new ProviderStartError("ENDPOINT_UNAVAILABLE", [problem], cause);

/** The refusal of a socket on which somebody answers. */
export const inUse = (path: string, cause?: unknown) =>
  unavailable(`another process listens on ${path}; stop it or give another endpoint`, cause);

const statOrUndefined = async (path: string) => {
  try {
    return await lstat(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw unavailable(`${path} cannot be looked at (${codeOf(error)}); the folder must exist and be readable`, error);
  }
};

/** True if somebody listens. */
export const isLive = (path: string): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const socket = connect({ path });
    const settle = (finish: () => void) => {
      clearTimeout(timer);
      socket.destroy();
      finish();
    };
    // A listener whose backlog is full neither accepts nor refuses: it lives.
    const timer = setTimeout(() => settle(() => resolve(true)), probeTimeoutMs);
    socket.once("connect", () => settle(() => resolve(true)));
    socket.once("error", (error) =>
      settle(() => {
        const code = codeOf(error);
        if (code === "ECONNREFUSED" || code === "ENOENT") resolve(false);
        else if (code === "EAGAIN") resolve(true);
        else reject(unavailable(`${path} cannot be probed (${code})`, error));
      }),
    );
  });

/** Removes a socket that was found dead. True: gone. False: another file was there by now; it is back in its place. */
export const removeStale = async (path: string, inode: number): Promise<boolean> => {
  const aside = `${path}.stale-${process.pid}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return true;
    throw unavailable(`the stale socket ${path} cannot be removed (${codeOf(error)})`, error);
  }
  const moved = await lstat(aside);
  if (moved.ino === inode) {
    await unlink(aside);
    return true;
  }
  await rename(aside, path);
  return false;
};

/** Runs a bind so that the socket has its mode from its first moment on. */
export const withSocketUmask = async <Result>(bind: () => Promise<Result>): Promise<Result> => {
  // Worker threads may not set it; there the mode is set after.
  if (!isMainThread) return bind();
  const before = process.umask(socketUmask);
  try {
    return await bind();
  } finally {
    process.umask(before);
  }
};

/** Sets mode and, if one is given, group of a bound socket. */
export const secureSocket = async (path: string, group: string | undefined): Promise<void> => {
  await chmod(path, socketMode);
  if (group === undefined) return;
  const gid = await groupId(group);
  try {
    await chown(path, process.getuid?.() ?? -1, gid);
  } catch (error) {
    throw new ProviderStartError(
      "CONFIG_INVALID",
      [`${path} cannot be given to group ${group} (${codeOf(error)})`],
      error,
    );
  }
};

const groupId = async (group: string): Promise<number> => {
  if (/^\d+$/.test(group)) return Number(group);
  const lines = (await readFile("/etc/group", "utf8").catch(() => "")).split("\n");
  const id = lines.map((line) => line.split(":")).find(([name]) => name === group)?.[2];
  if (id === undefined)
    throw new ProviderStartError("CONFIG_INVALID", [`socket group ${group} is not known on this system`]);
  return Number(id);
};

/** Removes a socket that is still the one made by this process. */
export const removeOwnSocket = async (path: string, inode: number): Promise<void> => {
  const found = await statOrUndefined(path);
  if (found?.ino === inode) await unlink(path);
};

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : "unknown";
