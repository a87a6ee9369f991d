/** A kind of secret and how it looks in a text. */
interface Pattern {
  readonly kind: string;
  readonly pattern: RegExp;
  /** What stands in its place; groups of the pattern may be kept. */
  readonly replacement: string;
}

/** What stands where a secret was. */
export const HIDDEN = "[redacted]";

/** Names with secret values, in JSON, YAML, flags, variables and headers. */
const SECRET_NAME =
  "(?:[\\w.-]{0,128}[_.-])?(?:password|passwd|passphrase|pass|pwd|secret|token|api[_-]?key|access[_-]?key(?:[_-]?id)?|account[_-]?key|secret[_-]?key|private[_-]?key|client[_-]key(?:-data)?|client-certificate-data|credentials?|cookie|set-cookie|bearer|signature|sig)|[a-z]\\w{0,128}(?:Password|Passphrase|Secret|ApiKey|AccessKey|AccountKey|PrivateKey|ClientKey|Credential|Credentials|(?<!page|resume|continue)Token)";

const BY_NAME = "secret by its name";
const AUTHORIZATION = "authorization header";
/** Keys of an object whose value is a secret. */
const AUTHORIZATION_KEY = /^(?:proxy-)?authorization$/i;
const SECRET_KEY = new RegExp(`(?<![\\w.-])(?:${SECRET_NAME})$`, "i");
/** An argument that the secret follows. */
const SECRET_FLAG = new RegExp(`^--(?:${SECRET_NAME})$`, "i");

/** Order matters: what is longer first, so that no rest of it stays. What may repeat has a bound, or a long line would take hours. */
const PATTERNS: readonly Pattern[] = [
  {
    kind: "private key",
    pattern: /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)/g,
    replacement: HIDDEN,
  },
  {
    kind: AUTHORIZATION,
    pattern: /\b((?:proxy-)?authorization["']?\s*[:=]\s*["']?)(?!\s*\[redacted\])[^"'\r\n,}]+/gi,
    replacement: `$1${HIDDEN}`,
  },
  { kind: "bearer token", pattern: /\b(bearer\s+)(?!\[redacted\])[\w.~+/=-]{8,}/gi, replacement: `$1${HIDDEN}` },
  { kind: "JSON web token", pattern: /\beyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*/g, replacement: HIDDEN },
  { kind: "AWS key", pattern: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, replacement: HIDDEN },
  { kind: "Google key", pattern: /\bAIza[\w-]{35}\b/g, replacement: HIDDEN },
  { kind: "GitHub token", pattern: /\b(?:gh[pousr]_\w{36,}|github_pat_\w{22,})/g, replacement: HIDDEN },
  { kind: "Slack token", pattern: /\bxox[abpr]-[\w-]{10,}/g, replacement: HIDDEN },
  { kind: "Keystone token", pattern: /\bgAAAA[\w-]{60,}={0,2}/g, replacement: HIDDEN },
  {
    kind: "bootstrap token",
    pattern: /\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g,
    replacement: HIDDEN,
  },
  {
    kind: "credentials in an address",
    pattern: /\b([a-z][a-z0-9+.-]{0,30}:\/\/)(?!\[redacted\])[^\s/@:"']{0,256}(?::[^\s/@"']{1,1024})?@/gi,
    replacement: `$1${HIDDEN}@`,
  },
  {
    kind: BY_NAME,
    // A text in quotes, as JSON has it, also one that is escaped within another text.
    pattern: new RegExp(
      `((?<![\\w.-])(?:${SECRET_NAME})\\\\*["']?\\s*[:=]\\s*\\\\*)(["'])(?!\\[redacted\\])((?:(?!\\2)[^\\\\\\r\\n]|\\\\.)+?)(?=\\\\*\\2)`,
      "gi",
    ),
    replacement: `$1$2${HIDDEN}`,
  },
  {
    kind: BY_NAME,
    // The next argument.
    pattern: new RegExp(
      `(?<![\\w.-])(--(?:${SECRET_NAME})(?:["']\\s*,\\s*["']|[^\\S\\r\\n]+["']?))(?!\\[redacted\\]|[-\\]}])[^\\s"',;&\\\\]+`,
      "gi",
    ),
    replacement: `$1${HIDDEN}`,
  },
  {
    kind: BY_NAME,
    // A block of YAML: its first line, and those that stand as far in.
    pattern: new RegExp(
      `((?<![\\w.-])(?:${SECRET_NAME})["']?[^\\S\\r\\n]*:[^\\S\\r\\n]*[|>][-+\\d]{0,2}[^\\S\\r\\n]*\\r?\\n)([^\\S\\r\\n]+)(?![^\\S\\r\\n]|\\[redacted\\])[^\\r\\n]*(?:\\r?\\n\\2[^\\r\\n]*)*`,
      "gi",
    ),
    replacement: `$1$2${HIDDEN}`,
  },
  {
    kind: BY_NAME,
    // A bare word, as YAML, flags and variables have it.
    pattern: new RegExp(
      `((?<![\\w.-])(?:${SECRET_NAME})[^\\S\\r\\n]*[:=][^\\S\\r\\n]*)(?!\\[redacted\\])(?!true\\b|false\\b|null\\b|[|][-+\\d]{0,2}[^\\S\\r\\n]*[\\r\\n])[^\\s"'{}\\[\\],;&<>()][^\\s"',;&]*`,
      "gi",
    ),
    replacement: `$1${HIDDEN}`,
  },
];

/** How often each kind of secret was found. */
export type Counts = Record<string, number>;

export function count(found: Counts, kind: string, times = 1): void {
  found[kind] = (found[kind] ?? 0) + times;
}

/** Takes what looks like a secret out of a text that is no JSON; what is left is as it was. */
export function hideInText(text: string, found: Counts): string {
  let left = text;
  for (const { kind, pattern, replacement } of PATTERNS) {
    const times = left.match(pattern)?.length ?? 0;
    if (times === 0) continue;
    count(found, kind, times);
    left = left.replace(pattern, replacement);
  }
  return left;
}

/** The kind of secret that a value under this key is, whatever it looks like; undefined: none. */
export function kindByKey(key: string): string | undefined {
  if (AUTHORIZATION_KEY.test(key)) return AUTHORIZATION;
  return SECRET_KEY.test(key) ? BY_NAME : undefined;
}

/** Likewise of the value that follows this one in a list of arguments. */
export function kindByFlag(before: unknown): string | undefined {
  return typeof before === "string" && SECRET_FLAG.test(before) ? BY_NAME : undefined;
}
