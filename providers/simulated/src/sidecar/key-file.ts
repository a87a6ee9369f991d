import { readFileSync } from "node:fs";

/** How long a key read from a file is used before the file is looked at again. */
const rereadMs = 5000;

/** The key file cannot be used; the message is for the user. */
export class KeyFileError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "KeyFileError";
  }
}

/**
 * A key that follows its file. The file must be readable at the start; later, when it is being replaced, the last key
 * stays in force.
 * @throws KeyFileError
 */
export function keyFromFile(path: string, nowMs: () => number): () => string {
  let key = readKey(path);
  let readAtMs = nowMs();
  return () => {
    if (nowMs() - readAtMs < rereadMs) return key;
    readAtMs = nowMs();
    try {
      key = readKey(path);
    } catch (error) {
      if (!(error instanceof KeyFileError)) throw error;
    }
    return key;
  };
}

function readKey(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, "utf8").trim();
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    throw new KeyFileError(`cannot read the API key from ${path} (${reason}): check --api-key-file`, { cause: error });
  }
  if (text === "" || /\s/.test(text)) throw new KeyFileError(`${path} must contain only the API key`);
  return text;
}
