import { type ProfileName, profiles as capabilities } from "../suite/check.ts";
import type { Report } from "./report.ts";

/** What a badge says. */
export interface Badge {
  readonly label: string;
  readonly message: string;
  readonly color: "brightgreen" | "yellow" | "red";
}

/** Conformant only where core and every profile that the provider claims is, in this one report: nothing left out, nothing knownFailures. */
export const badgeOf = (report: Report): Badge => {
  const { provider, kit } = report;
  const outcomes = new Map(report.profiles.map(({ name, result }) => [name, result]));
  const claimed = ratedProfiles(report);
  const conformant = claimed.filter((name) => outcomes.get(name) === "conformant");
  const failed = claimed.filter((name) => outcomes.get(name) === "failed");
  const versions = `contract ${provider.contractMajor}.${provider.contractMinor} · kit ${kit.version} · level ${report.level}`;
  const label = "cloudprovider.v1";
  if (failed.length > 0) return { label, message: `failed ${failed.join(" + ")} · ${versions}`, color: "red" };
  if (conformant.length < claimed.length)
    return { label, message: `partial ${conformant.length}/${claimed.length} · ${versions}`, color: "yellow" };
  return { label, message: `conformant ${conformant.join(" + ")} · ${versions}`, color: "brightgreen" };
};

/** Core, claimed profiles, and those that need a vendor's hooks or size if they were tested whole, failed or have known failures. */
const ratedProfiles = ({ profiles, provider }: Report): readonly ProfileName[] => {
  const counting = new Set(
    profiles.filter(({ result, knownFailures }) => result !== "partial" || knownFailures > 0).map(({ name }) => name),
  );
  const names: ProfileName[] = [];
  let name: ProfileName;
  for (name in capabilities) {
    const claim = capabilities[name];
    if (name === "core" || (claim === "" ? counting.has(name) : provider.capabilities.includes(claim)))
      names.push(name);
  }
  return names;
};

/** For an endpoint badge of shields.io. */
export const badgeJson = (badge: Badge): string => `${JSON.stringify({ schemaVersion: 1, ...badge }, undefined, 2)}\n`;

const colors: Readonly<Record<Badge["color"], string>> = {
  brightgreen: "#2a7d3f",
  yellow: "#8a6100",
  red: "#a8161c",
};
/** Of a letter, about: in 11 pixels of any sans-serif font; textLength makes it exact. */
const charPixels = 6.3;
const padPixels = 10;

/** A picture that needs no service. */
export const badgeSvg = ({ label, message, color }: Badge): string => {
  const width = (text: string): number => Math.ceil(text.length * charPixels) + padPixels;
  const [left, right] = [width(label), width(message)];
  const word = (text: string, x: number, pixels: number): string =>
    `<text x="${x + padPixels / 2}" y="14" textLength="${pixels - padPixels}">${escape(text)}</text>`;
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${escape(`${label}: ${message}`)}">`,
    `<rect width="${left}" height="20" fill="#444"/><rect x="${left}" width="${right}" height="20" fill="${colors[color]}"/>`,
    `<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">${word(label, 0, left)}${word(message, left, right)}</g>`,
    "</svg>",
  ].join("\n")}\n`;
};

const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
