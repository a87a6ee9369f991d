import { stringify } from "yaml";

/** What JSON leaves as it is, and a terminal obeys or is turned by. It can only stand in texts. */
const ACTIVE = /[\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g;
/** Those for whose sake YAML puts a text into quotes. */
const CONTROLS = /[\u007F-\u009F]/g;

/** JSON that can be shown. */
export function jsonText(content: unknown, indent?: number): string {
  return JSON.stringify(content, undefined, indent).replaceAll(ACTIVE, escaped);
}

/** YAML that readers of 1.1, as most are, and of 1.2 take for the same: `off` is a text to both. */
export function yamlText(content: unknown): string {
  return stringify(content, { compat: "yaml-1.1", aliasDuplicateObjects: false }).replaceAll(CONTROLS, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
