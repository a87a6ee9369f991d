import type { Answers } from "./answers.ts";
import { type Language, languages, parseLanguage } from "./language.ts";

/** Everything a project is made from, checked. */
export interface Choices {
  readonly name: string;
  readonly language: Language;
  /** Name of the provider in the contract's handshake, and first part of the Go module's path. */
  readonly domain: string;
  /** Scheme of the provider IDs, without `://`. */
  readonly idPrefix: string;
  /** As it was written; relative to where the program was started. */
  readonly dir: string;
  /** As it was written. */
  readonly sdk: string | undefined;
}

/** Choices, or every problem with the answers. */
export type Checked =
  | { readonly kind: "fine"; readonly choices: Choices }
  | { readonly kind: "wrong"; readonly problems: readonly string[] };

/** Checks the answers and fills in what was left out. */
export function checkAnswers(answers: Answers): Checked {
  const name = answers.name ?? "";
  const language = parseLanguage(answers.language ?? "");
  const idPrefix = withoutSeparator(answers.idPrefix ?? defaultIdPrefix(name));
  const domain = answers.domain ?? defaultDomain(idPrefix);
  const problems = [
    ...nameProblem(answers.name),
    ...languageProblem(answers.language),
    // What is made from a wrong answer would be wrong too: one problem, not two.
    ...(answers.idPrefix === undefined ? [] : idPrefixProblem(answers.idPrefix)),
    ...(answers.domain === undefined ? [] : domainProblem(answers.domain)),
  ];
  if (problems.length > 0 || language === undefined) return { kind: "wrong", problems };
  return { kind: "fine", choices: { name, language, domain, idPrefix, dir: answers.dir ?? name, sdk: answers.sdk } };
}

/** `acme` of `acme-provider`. */
export function defaultIdPrefix(name: string): string {
  return name.replace(/-provider$/, "");
}

/** A domain that no one owns: example.com is reserved (RFC 2606). */
export function defaultDomain(idPrefix: string): string {
  return `${idPrefix
    .slice(0, 50)
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replace(/-$/, "")}.example.com`;
}

/** The Python package: its suffix keeps it apart from the modules that Python brings. */
export function pythonPackage(name: string): string {
  return `${name.replace(/-provider$/, "").replaceAll("-", "_")}_provider`;
}

/** A container's name is a DNS label of 63; the domain made from it has to stay under the contract's 63 too. */
const NAME = /^[a-z](?:[a-z0-9-]{0,38}[a-z0-9])?$/;

/** The problem with a name, if any; likewise for the other answers. */
export function nameProblem(name: string | undefined): readonly string[] {
  if (name === undefined) return ["a name is missing: npm create @cloudwire/provider my-provider -- --language go"];
  if (!NAME.test(name) || name.includes("--"))
    return [`name "${name}": has to be lower-case letters, digits and single -, a letter first, at most 40 characters`];
  if (pythonPackage(name) === "cloudwire_provider") return [`name "${name}": is the SDK's own`];
  return [];
}

export function languageProblem(language: string | undefined): readonly string[] {
  const choice = languages.join(", ");
  if (language === undefined) return [`--language is missing: one of ${choice}`];
  return parseLanguage(language) === undefined ? [`--language "${language}": has to be one of ${choice}`] : [];
}

/** What the contract allows: 63 bytes with the `://`. */
const ID_PREFIX = /^[a-z](?:[a-z0-9+.-]{0,58}[a-z0-9])?$/;

export function idPrefixProblem(idPrefix: string): readonly string[] {
  if (ID_PREFIX.test(withoutSeparator(idPrefix))) return [];
  return [
    `--id-prefix "${idPrefix}": has to be a scheme as in acme://: lower-case letters, digits, +, . and -, at most 60`,
  ];
}

/** Of a DNS name, which the contract limits to 63 bytes. */
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

export function domainProblem(domain: string): readonly string[] {
  const labels = domain.split(".");
  const isName = domain.length <= 63 && labels.length >= 2 && labels.every((label) => LABEL.test(label));
  return isName
    ? []
    : [`--domain "${domain}": has to be a DNS name in lower case, such as acme.example.com, at most 63 characters`];
}

function withoutSeparator(idPrefix: string): string {
  return idPrefix.replace(/:\/\/$/, "");
}
