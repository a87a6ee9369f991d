import { ProviderError } from "@cloudwire/provider-sdk";

/** Provider IDs are `sim://<zone>/<instance id>`: `sim://north-a/i-253d950f11eb`. */
export const providerIdPrefix = "sim://";

export interface InstancePlace {
  readonly zone: string;
  readonly instanceId: string;
}

/** The part of a provider ID after the prefix. */
export function formatId({ zone, instanceId }: InstancePlace): string {
  return `${zone}/${instanceId}`;
}

/** Reads the part of a provider ID after the prefix. An error is a value: it concerns one Node of many. */
export function parseId(id: string): InstancePlace | ProviderError {
  const [, zone, instanceId] = /^([a-z0-9-]{1,63})\/(i-[0-9a-f]{12})$/.exec(id.toLowerCase()) ?? [];
  if (zone !== undefined && instanceId !== undefined) return { zone, instanceId };
  const message = `provider ID ${providerIdPrefix}${id} is not of the form ${providerIdPrefix}<zone>/i-<12 hex digits>`;
  return new ProviderError("PROVIDER_ID_MALFORMED", message);
}
