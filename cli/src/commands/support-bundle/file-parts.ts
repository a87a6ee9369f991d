import { open } from "node:fs/promises";
import { messageOf } from "../../errors.ts";
import type { Part } from "./parts.ts";

/** Of a log as much as its end has. */
const TAIL_BYTES = 4 * 1024 * 1024;
/** A recording is of no use without its beginning. */
const WHOLE_BYTES = 512 * 1024 * 1024;

/** The last lines of a file. */
export function tailPart(name: string, path: string): Promise<Part> {
  return filePart(name, path, async (file, size) => {
    const start = Math.max(0, size - TAIL_BYTES);
    const text = await read(file, start, size - start);
    // The first line is cut, unless it is the file's.
    return start === 0 ? text : text.slice(text.indexOf("\n") + 1);
  });
}

/** All of a file. */
export function wholePart(name: string, path: string): Promise<Part> {
  return filePart(name, path, async (file, size) => {
    if (size > WHOLE_BYTES) throw new Error(`it has ${size} bytes, more than a bundle takes; send it apart`);
    return read(file, 0, size);
  });
}

type Opened = Awaited<ReturnType<typeof open>>;

async function filePart(
  name: string,
  path: string,
  take: (file: Opened, size: number) => Promise<string>,
): Promise<Part> {
  try {
    await using file = await open(path, "r");
    const stats = await file.stat();
    if (!stats.isFile()) throw new Error("it is no file");
    return { kind: "file", name, text: await take(file, stats.size) };
  } catch (error) {
    return { kind: "missing", name, why: `${path}: ${messageOf(error)}` };
  }
}

async function read(file: Opened, position: number, length: number): Promise<string> {
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(length), position, length });
  return buffer.subarray(0, bytesRead).toString("utf8");
}
