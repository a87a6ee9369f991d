/** Level of a line. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** Fields of a line. Errors are written with their stack and their causes. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Writes lines with a constant message and fields. */
export interface Logger {
  /** Details for troubleshooting. */
  readonly debug: (message: string, fields?: LogFields) => void;
  /** Information for operators. */
  readonly info: (message: string, fields?: LogFields) => void;
  /** Possible problems. */
  readonly warn: (message: string, fields?: LogFields) => void;
  /** Problems that need attention. */
  readonly error: (message: string, fields?: LogFields) => void;
  /** Returns a logger that adds these fields to every line. */
  readonly child: (fields: LogFields) => Logger;
}

/** Options of {@link createLogger}. */
export interface LoggerOptions {
  /** Lines below it are dropped. A function is called for each line, so that the level can change. */
  readonly level: LogLevel | (() => LogLevel);
  /** Names of further fields whose values are redacted, at any depth; `-`, `_` and case do not matter. */
  readonly secretFields?: readonly string[] | undefined;
  /** Writes one line, newline included. */
  readonly write: (line: string) => void;
  /** Time of the lines. */
  readonly now: () => Date;
}

const severity = { debug: 10, info: 20, warn: 30, error: 40 } as const;

/** Parses a log level; undefined if invalid. */
export const parseLogLevel = (text: string): LogLevel | undefined =>
  text === "debug" || text === "info" || text === "warn" || text === "error" ? text : undefined;

/**
 * Makes a logger of JSON lines: `time`, `level`, `message`, then the fields. `***` replaces everything that looks like a secret: the
 * value of a field named `password`, `token`, `authorization` and similar, and private keys, bearer tokens, JSON web tokens, access keys
 * of the large clouds and passwords in URLs anywhere.
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

/** A log line must never fail a call: a field that cannot be written is replaced by a note. */
const stringify = (record: Record<string, unknown>, isSecret: ReadyOptions["isSecret"]): string => {
  const plain = (key: string, value: unknown): unknown => (isSecret(key) ? hide(value) : writable(value));
  try {
    return JSON.stringify(record, plain);
  } catch (error) {
    const { time, level, message } = record;
    return JSON.stringify({ time, level, message, unloggable: String(error) }, plain);
  }
};

/** The log may show whether there was a value. */
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

/** Placeholder of a redacted secret. */
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

/** Names in the contract that are not secrets. */
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

/** Maximum length of a text; longer ones are truncated. */
const maxTextLength = 32_768;

/** Patterns of secrets anywhere: in the text of an error, a URL, a stack. Each is linear in the length of the text. */
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

/** Returns the text with secrets redacted. */
export const redactText = (text: string): string => {
  const bounded = text.length > maxTextLength ? `${text.slice(0, maxTextLength)}…` : text;
  return marks.reduce((rest, [mark, replacement]) => rest.replaceAll(mark, replacement), bounded);
};
