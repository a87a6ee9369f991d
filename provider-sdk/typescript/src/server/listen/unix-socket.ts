import { randomUUID } from "node:crypto";
import { chmod, chown, link, lstat, readFile, rename, stat, unlink } from "node:fs/promises";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { isMainThread } from "node:worker_threads";
import { ProviderStartError } from "../start-error.ts";

/** Read and write for owner and group: connecting needs write. */
const socketMode = 0o660;
/** Leaves exactly {@link socketMode} of the 0777 with which sockets are made. */
const socketUmask = 0o117;

/** Longest time to find out whether a process listens. */
const probeTimeoutMs = 2_000;

/** A rival that starts at the same moment can win at most this often. */
const maxAttempts = 5;

/** A thousand times the longest time between another process's bind and listen. */
const secondLookMs = 50;

/** Identifies a socket file; the inode alone does not, because the next file may reuse it. */
export interface SocketIdentity {
  readonly inode: bigint;
  readonly madeNs: bigint;
}

/**
 * Makes room for a socket: nothing there is fine, a socket without a listener is removed, a live one or another kind of
 * file is refused. Removal is by renaming first, and looks at what was renamed: of two providers that start at once, none
 * removes the other's fresh socket.
 */
export const clearSocketPath = async (path: string): Promise<void> => {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const found = await identify(path);
    if (!found) return;
    // Twice: a process that is between bind and listen refuses too.
    if ((await isLive(path)) || (await isLiveLater(path))) throw inUse(path);
    if (await removeStale(path, found)) return;
  }
  throw inUse(path);
};

const isLiveLater = async (path: string): Promise<boolean> => {
  await sleep(secondLookMs);
  return isLive(path);
};

/** Which socket is there; undefined if none. Refuses another kind of file. */
export const identify = async (path: string): Promise<SocketIdentity | undefined> => {
  const found = await statOrUndefined(path);
  if (!found) return undefined;
  if (!found.isSocket()) throw unavailable(`${path} exists and is no socket; remove it or give another endpoint`);
  // A socket is never written to: its time of change of contents is that of its making.
  return { inode: found.ino, madeNs: found.mtimeNs };
};

const isSame = (left: SocketIdentity | undefined, right: SocketIdentity | undefined): boolean =>
  left !== undefined && left.inode === right?.inode && left.madeNs === right.madeNs;

/** Says early, and as what it is, that the directory is missing. */
export const requireDirectory = async (directory: string): Promise<void> => {
  const found = await stat(directory).catch(() => undefined);
  if (!found?.isDirectory())
    throw unavailable(`the directory ${directory} does not exist; make it, or mount the volume there`);
};

const unavailable = (problem: string, cause?: unknown) =>
  new ProviderStartError("ENDPOINT_UNAVAILABLE", [problem], cause);

/** The error for a socket on which another process listens. */
export const inUse = (path: string, cause?: unknown) =>
  unavailable(`another process listens on ${path}; stop it or give another endpoint`, cause);

const statOrUndefined = async (path: string) => {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw unavailable(
      `${path} cannot be looked at (${codeOf(error)}); the directory must exist and be readable`,
      error,
    );
  }
};

/** True if a process listens. */
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
export const removeStale = async (path: string, dead: SocketIdentity): Promise<boolean> => {
  const aside = `${path}.${randomUUID().slice(0, 8)}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return true;
    throw unavailable(`the stale socket ${path} cannot be removed (${codeOf(error)})`, error);
  }
  const isDead = isSame(await identify(aside), dead);
  // A link fails where a rename would replace the socket of a third process.
  if (!isDead) await tryLink(aside, path);
  await unlink(aside);
  return isDead;
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

/** True while the socket at this path is the one that this process made. */
export const isOwn = async (path: string, own: SocketIdentity | undefined): Promise<boolean> =>
  isSame(await identify(path).catch(() => undefined), own);

/**
 * Closes a listening server. That removes the file at its path, even if another process created it (libuv, uv__pipe_close);
 * such a file is kept under a second name and restored.
 */
export const keepingForeignSocket = async (
  path: string,
  own: SocketIdentity | undefined,
  closeServer: () => Promise<void>,
): Promise<void> => {
  const kept = `${path}.${randomUUID().slice(0, 8)}`;
  const isForeign = !(await isOwn(path, own)) && (await tryLink(path, kept));
  // The file goes as the closing begins; calls under way may take much longer to end.
  const closed = closeServer();
  if (isForeign) {
    await tryLink(kept, path);
    await unlink(kept);
  }
  await closed;
};

/** False when there is nothing to link, or something is at the other name already. */
const tryLink = async (from: string, to: string): Promise<boolean> =>
  link(from, to).then(
    () => true,
    () => false,
  );

/** Removes a socket that is still the one made by this process. */
export const removeOwnSocket = async (path: string, own: SocketIdentity | undefined): Promise<void> => {
  if (await isOwn(path, own)) await unlink(path);
};

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : "unknown";
