import { mkdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { writeAtomically } from "../util/atomic-file.ts";
import { coalesced } from "../util/coalesce.ts";
import { emptyState, parseState, type State } from "./state.ts";

/** The state, in memory and on the disk. */
export interface Store {
  readonly state: () => State;
  /**
   * Reads what another process has written: during a replacement, two providers run for a moment. A caller that decides
   * by the state calls it first.
   */
  readonly refresh: () => Promise<void>;
  /** Changes the state immediately and returns when the change is on disk. */
  readonly update: (change: (state: State) => State) => Promise<void>;
}

/** The state file is unusable; the message has the fix. */
export class StateError extends Error {
  readonly code = "STATE_UNUSABLE";

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "StateError";
  }
}

const fileName = "state.json";

/**
 * Opens the state of a directory. Rejects with {@link StateError} if it exists and cannot be read, because an empty state would move every address.
 * @returns whether there was one, too
 */
export async function openStore(directory: string): Promise<{ readonly store: Store; readonly isNew: boolean }> {
  const path = join(directory, fileName);
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new StateError(`the state directory ${directory} cannot be created: ${messageOf(error)}`, error);
  }
  const found = await readState(path);
  let state = found ?? emptyState;
  /** Of the file as it was read last; undefined after our own write, because another process can have written since. */
  let seen: string | undefined;
  let unwritten = 0;
  const flush = coalesced(() => writeAtomically(path, JSON.stringify(state)));
  const update = async (change: (state: State) => State): Promise<void> => {
    state = change(state);
    unwritten += 1;
    try {
      await flush();
    } finally {
      unwritten -= 1;
      seen = undefined;
    }
  };
  const refresh = async (): Promise<void> => {
    const now = await identityOf(path);
    if (now === undefined || now === seen || unwritten > 0) return;
    // An unreadable file is ignored: the next change writes it again.
    const news = await readState(path).catch(() => undefined);
    if (news === undefined || unwritten > 0) return;
    state = news;
    seen = now;
  };
  return { store: { state: () => state, refresh, update }, isNew: found === undefined };
}

/** Another one after each change of the file, which is always replaced as a whole. */
async function identityOf(path: string): Promise<string | undefined> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found && `${found.ino}:${found.mtimeNs}:${found.size}`;
}

async function readState(path: string): Promise<State | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new StateError(`${path} cannot be read: ${messageOf(error)}`, error);
  }
  const parsed = parseState(text);
  if (parsed.kind === "value") return parsed.value;
  const why = parsed.problems.slice(0, 5).join("; ");
  throw new StateError(
    `${path} is not usable (${why}); restore it from a copy, because all addresses would change without it`,
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
