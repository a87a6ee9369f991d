/** How grave a line is. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** Facts of a line. Errors are written with their stack and their causes. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Writes lines with a constant message and facts beside it. */
export interface Logger {
  /** What only somebody who looks for a fault wants to read. */
  readonly debug: (message: string, fields?: LogFields) => void;
  /** What an operator may want to know. */
  readonly info: (message: string, fields?: LogFields) => void;
  /** What may become a fault. */
  readonly warn: (message: string, fields?: LogFields) => void;
  /** What somebody should look at. */
  readonly error: (message: string, fields?: LogFields) => void;
  /** A logger whose lines all carry these facts too. */
  readonly child: (fields: LogFields) => Logger;
}

/** What a logger needs. */
export interface LoggerOptions {
  /** Lines below it are dropped. A function is asked at each line, so that the level can change. */
  readonly level: LogLevel | (() => LogLevel);
  /** Names of more fields whose values are never written, at whatever depth; `-`, `_` and case do not matter. */
  readonly secretFields?: readonly string[] | undefined;
  /** Takes one line, newline included. */
  readonly write: (line: string) => void;
  /** Time of the lines. */
  readonly now: () => Date;
}

const severity = { debug: 10, info: 20, warn: 30, error: 40 } as const;

/** Reads a level as an operator writes it; undefined if it is none. */
export const parseLogLevel = (text: string): LogLevel | undefined =>
  text === "debug" || text === "info" || text === "warn" || text === "error" ? text : undefined;

/**
 * Makes a logger of JSON lines: `time`, `level`, `message`, then the facts. `***` takes the place of what looks like a secret: the value of
 * a field called `password`, `token`, `authorization` and the like, and private keys, bearer tokens, web tokens, access keys of the large
 * clouds and passwords in URLs wherever they stand.
 */
export const createLogger = (options: LoggerOptions, bound: LogFields = {}): Logger =>
  loggerWith({ ...options, isSecret: secretFieldTest(options.secretFields ?? []) }, bound);

interface ReadyOptions extends LoggerOptions {
  readonly isSecret: (name: string) => boolean;
}

const loggerWith = (options: ReadyOptions, bound: LogFields): Logger => {
  const line = (level: LogLevel) => (message: string, fields?: LogFields) => {
    const least = typeof options.level === "function" ? options.level() : options.level;
    if (severity[level] < severity[least]) return;
    const record = { time: options.now().toISOString(), level, message, ...bound, ...fields };
    options.write(`${stringify(record, options.isSecret)}\n`);
  };
  return {
    debug: line("debug"),
    info: line("info"),
    warn: line("warn"),
    error: line("error"),
    child: (fields) => loggerWith(options, { ...bound, ...fields }),
  };
};

/** A log line must never fail a call: what cannot be written is said to be so. */
const stringify = (record: Record<string, unknown>, isSecret: ReadyOptions["isSecret"]): string => {
  const plain = (key: string, value: unknown): unknown => (isSecret(key) ? hide(value) : writable(value));
  try {
    return JSON.stringify(record, plain);
  } catch (error) {
    const { time, level, message } = record;
    return JSON.stringify({ time, level, message, unloggable: String(error) }, plain);
  }
};

/** Whether there was a value may be told. */
const hide = (value: unknown): unknown => (value === undefined || value === null ? value : redacted);

const writable = (value: unknown): unknown => {
  if (typeof value === "string") return redactText(value);
  if (value instanceof Error) return describeError(value);
  if (typeof value === "bigint") return value.toString();
  return value;
};

const describeError = (error: Error): Record<string, unknown> => ({
  ...Object.fromEntries(Object.entries(error)),
  name: error.name,
  message: error.message,
  stack: error.stack,
  ...(error.cause === undefined ? {} : { cause: error.cause }),
});

/** What stands where a secret was. */
const redacted = "***";

/** Ends of field names, without `-`, `_` and case, whose values are secrets. */
const secretNames = [
  "authorization",
  "password",
  "passwd",
  "passphrase",
  "secret",
  "token",
  "apikey",
  "accesskey",
  "secretkey",
  "privatekey",
  "clientsecret",
  "credentials",
  "cookie",
];

/** The contract's own, which are none. */
const harmlessNames = new Set(["pagetoken", "nextpagetoken", "resumetoken"]);

const normalized = (name: string): string => name.replaceAll(/[-_]/g, "").toLowerCase();

/** Makes the test of field names: the usual ones, and these. */
const secretFieldTest = (more: readonly string[]): ((name: string) => boolean) => {
  const given = new Set(more.map(normalized));
  return (name) => {
    const key = normalized(name);
    return given.has(key) || (!harmlessNames.has(key) && secretNames.some((ending) => key.endsWith(ending)));
  };
};

/** Longest text looked through and written; what is longer is cut. */
const maxTextLength = 32_768;

/**
 * Marks by which secrets are known wherever they stand: in the text of an error, a URL, a stack. Each takes no longer than the text is
 * long.
 */
const marks: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----[^-]*(?:-----END [A-Z0-9 ]{0,40}-----)?/g, redacted],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${redacted}`],
  // JSON web tokens, Kubernetes' service account tokens among them.
  [/\beyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?/g, redacted],
  // Access keys of AWS, Google, GitHub, GitLab, Slack, DigitalOcean, Stripe and OpenStack's application credentials.
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, redacted],
  [/\bAIza[\w-]{30,}|\bya29\.[\w-]{10,}/g, redacted],
  [/\b(?:gh[opusr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,})/g, redacted],
  [/\b(?:do[oprt]_v1_[0-9a-f]{32,}|[rs]k_(?:live|test)_\w{16,}|gAAAAA[\w-]{40,})/g, redacted],
  // Users in URLs.
  [/(\b[a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/?#@]{1,1024}@/gi, `$1${redacted}@`],
  // name=value, "name": "value".
  [
    /((?:password|passwd|passphrase|secret|api[-_]?key|access[-_]?key|private[-_]?key|access[-_]?token|auth[-_]?token|x-amz-signature|\bsig(?:nature)?)["']?\s{0,4}[:=]\s{0,4}["']?)[^\s"',;&}]{3,}/gi,
    `$1${redacted}`,
  ],
];

/** The text without what looks like a secret. */
export const redactText = (text: string): string => {
  const bounded = text.length > maxTextLength ? `${text.slice(0, maxTextLength)}…` : text;
  return marks.reduce((rest, [mark, replacement]) => rest.replaceAll(mark, replacement), bounded);
};
