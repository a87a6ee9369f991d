import { readFileSync } from "node:fs";
import { ProviderError } from "@cloudwire/provider-sdk";

/** What the environment says about the cloud. Variables that begin with CLOUD_PROVIDER_ are the SDK's. */
export interface Settings {
  /** `CLOUD_API_URL`. */
  readonly url: string;
  /** What is in the file `CLOUD_API_TOKEN_FILE`, now: a Secret that is changed is in force with the next request. */
  readonly token: () => string;
}

/** Reads the settings, or returns every problem with them. */
export const readSettings = (env: NodeJS.ProcessEnv): { settings?: Settings; problems: readonly string[] } => {
  const url = env.CLOUD_API_URL ?? "";
  const tokenFile = env.CLOUD_API_TOKEN_FILE ?? "";
  const problems = [];
  if (!URL.canParse(url)) problems.push(`CLOUD_API_URL "${url}": has to be a URL, such as https://api.example.com`);
  if (tokenFile === "") problems.push("CLOUD_API_TOKEN_FILE: has to name the file with the token");
  if (problems.length > 0) return { problems };
  return { settings: { url: url.replace(/\/$/, ""), token: () => readToken(tokenFile) }, problems };
};

const readToken = (file: string): string => {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (cause) {
    const message = `the token cannot be read from ${file}; is its Secret there, and mounted`;
    throw new ProviderError("CLOUD_CREDENTIALS_INVALID", message, { cause });
  }
};
