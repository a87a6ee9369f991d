/** Provider IDs are `openstack:///<uuid>` and `openstack://<region>/<uuid>`, as OpenStack's own controller writes them. */
export const providerIdPrefix = "openstack://";

/** Which server a provider ID names. */
export type ParsedId =
  | { readonly kind: "server"; readonly serverId: string }
  /** A server of another region, which these endpoints do not know. */
  | { readonly kind: "foreign"; readonly region: string }
  | { readonly kind: "malformed"; readonly problem: string };

const form = /^([^/]*)\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/** The part of a provider ID after the prefix. */
export function formatId(serverId: string, region: string | undefined): string {
  return `${region ?? ""}/${serverId}`;
}

/** Reads the part of a provider ID after the prefix. */
export function parseId(id: string, ownRegion: string): ParsedId {
  const [, region, serverId] = form.exec(id) ?? [];
  if (region === undefined || serverId === undefined) {
    const problem = `provider ID ${providerIdPrefix}${id} is not of the form ${providerIdPrefix}/<uuid> or ${providerIdPrefix}<region>/<uuid>`;
    return { kind: "malformed", problem };
  }
  if (region !== "" && region.toLowerCase() !== ownRegion.toLowerCase()) return { kind: "foreign", region };
  return { kind: "server", serverId: serverId.toLowerCase() };
}
