/** A kind of secret and how it looks in a text. */
interface Pattern {
  readonly kind: string;
  readonly pattern: RegExp;
  /** What stands in its place; groups of the pattern may be kept. */
  readonly replacement: string;
}

const HIDDEN = "[redacted]";

/** Names whose value is a secret, wherever they stand: in JSON, YAML, flags, variables, headers. */
const SECRET_NAME =
  "(?:[\\w.-]{0,128}[_.-])?(?:password|passwd|passphrase|pass|pwd|secret|token|api[_-]?key|access[_-]?key(?:[_-]?id)?|account[_-]?key|secret[_-]?key|private[_-]?key|client[_-]key(?:-data)?|client-certificate-data|credentials?|cookie|set-cookie|bearer|signature|sig)|[a-z]\\w{0,128}(?:Password|Passphrase|Secret|ApiKey|AccessKey|AccountKey|PrivateKey|ClientKey|Credential|Credentials|(?<!page|resume|continue)Token)";

/** Order matters: what is longer first, so that no rest of it stays. What may repeat has a bound, or a long line would take hours. */
const PATTERNS: readonly Pattern[] = [
  {
    kind: "private key",
    pattern: /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)/g,
    replacement: HIDDEN,
  },
  {
    kind: "authorization header",
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
    kind: "secret by its name",
    // A text in quotes, as JSON has it, also one that is escaped within another text.
    pattern: new RegExp(
      `((?<![\\w.-])(?:${SECRET_NAME})\\\\*["']?\\s*[:=]\\s*\\\\*)(["'])(?!\\[redacted\\])((?:(?!\\2)[^\\\\\\r\\n]|\\\\.)+?)(?=\\\\*\\2)`,
      "gi",
    ),
    replacement: `$1$2${HIDDEN}`,
  },
  {
    kind: "secret by its name",
    // The next argument.
    pattern: new RegExp(
      `(?<![\\w.-])(--(?:${SECRET_NAME})(?:["']\\s*,\\s*["']|[^\\S\\r\\n]+["']?))(?!\\[redacted\\]|[-\\]}])[^\\s"',;&\\\\]+`,
      "gi",
    ),
    replacement: `$1${HIDDEN}`,
  },
  {
    kind: "secret by its name",
    // A block of YAML: its first line, and those that stand as far in.
    pattern: new RegExp(
      `((?<![\\w.-])(?:${SECRET_NAME})["']?[^\\S\\r\\n]*:[^\\S\\r\\n]*[|>][-+\\d]{0,2}[^\\S\\r\\n]*\\r?\\n)([^\\S\\r\\n]+)(?![^\\S\\r\\n]|\\[redacted\\])[^\\r\\n]*(?:\\r?\\n\\2[^\\r\\n]*)*`,
      "gi",
    ),
    replacement: `$1$2${HIDDEN}`,
  },
  {
    kind: "secret by its name",
    // A bare word, as YAML, flags and variables have it.
    pattern: new RegExp(
      `((?<![\\w.-])(?:${SECRET_NAME})[^\\S\\r\\n]*[:=][^\\S\\r\\n]*)(?!\\[redacted\\])(?!true\\b|false\\b|null\\b|[|][-+\\d]{0,2}[^\\S\\r\\n]*[\\r\\n])[^\\s"'{}\\[\\],;&<>()][^\\s"',;&]*`,
      "gi",
    ),
    replacement: `$1${HIDDEN}`,
  },
];

/** A text without what looks like a secret, and how often each kind was found. */
export interface Redacted {
  readonly text: string;
  readonly found: Readonly<Record<string, number>>;
}

/** Takes out what looks like a secret; what is left is as it was. JSON stays JSON, but for a text in it that itself ends in the name of a secret. */
export function redact(text: string): Redacted {
  const found: Record<string, number> = {};
  let left = text;
  for (const { kind, pattern, replacement } of PATTERNS) {
    const count = left.match(pattern)?.length ?? 0;
    if (count === 0) continue;
    found[kind] = (found[kind] ?? 0) + count;
    left = left.replace(pattern, replacement);
  }
  return { text: left, found };
}

/** Kinds of secrets that a text still has. */
export function secretsIn(text: string): readonly string[] {
  return [...new Set(PATTERNS.filter(({ pattern }) => text.search(pattern) !== -1).map(({ kind }) => kind))];
}
