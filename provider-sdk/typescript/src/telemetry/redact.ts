/** What stands where a secret was. */
export const redacted = "***";

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
export const secretFieldTest = (more: readonly string[]): ((name: string) => boolean) => {
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
