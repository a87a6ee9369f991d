import { CloudError } from "./errors.ts";

export interface Region {
  readonly name: string;
  readonly zones: readonly string[];
}

/** The regions and zones of the cloud. */
export type Geography = readonly Region[];

export const regionOfZone = (geography: Geography, zone: string): string => {
  const region = geography.find((candidate) => candidate.zones.includes(zone));
  if (region) return region.name;
  const known = geography.flatMap((candidate) => candidate.zones).join(", ");
  throw new CloudError("InvalidRequest", `no zone ${JSON.stringify(zone)}; the zones are ${known}`);
};

export const checkRegion = (geography: Geography, region: string | undefined): string => {
  const found = region === undefined ? geography[0] : geography.find((candidate) => candidate.name === region);
  if (found) return found.name;
  const known = geography.map((candidate) => candidate.name).join(", ");
  throw new CloudError("InvalidRequest", `no region ${JSON.stringify(region)}; the regions are ${known}`);
};
