import { Type, type Static } from "typebox";

/** Services of OpenStack that the provider calls. */
export type ServiceName = "compute" | "network" | "load-balancer" | "block-storage";

/** Which of a service's endpoints are used. */
export type EndpointInterface = "public" | "internal" | "admin";

export const catalogSchema = Type.Array(
  Type.Object({
    type: Type.String(),
    endpoints: Type.Array(
      Type.Object({
        interface: Type.String(),
        region_id: Type.Optional(Type.Union([Type.String(), Type.Null()])),
        url: Type.String(),
      }),
    ),
  }),
);

export type Catalog = Static<typeof catalogSchema>;

/** Types under which services are listed, the official one first, and the version of the API that is called. */
const services: Readonly<Record<ServiceName, { readonly types: readonly string[]; readonly version: string }>> = {
  compute: { types: ["compute"], version: "v2.1" },
  network: { types: ["network"], version: "v2.0" },
  "load-balancer": { types: ["load-balancer"], version: "v2.0" },
  "block-storage": { types: ["block-storage", "volumev3", "block-store", "volume"], version: "v3" },
};

/** The base of a service's requests, version included and without a slash at its end; undefined: the catalog has none. */
export function endpointOf(
  catalog: Catalog,
  service: ServiceName,
  region: string,
  wanted: EndpointInterface,
): string | undefined {
  const { types, version } = services[service];
  const [endpoint] = types.flatMap((type) =>
    catalog
      .filter((entry) => entry.type === type)
      .flatMap(({ endpoints }) => endpoints)
      .filter((each) => each.interface === wanted && each.region_id === region),
  );
  if (endpoint === undefined) return undefined;
  const base = endpoint.url.replace(/\/+$/, "");
  // Some clouds list the service alone, others with a version, block storage with the project behind it.
  return /\/v\d+(?:\.\d+)?(?:\/|$)/.test(base) ? base : `${base}/${version}`;
}

/** Regions that the catalog knows, for people. */
export function regionsOf(catalog: Catalog): readonly string[] {
  const regions = catalog.flatMap(({ endpoints }) => endpoints.flatMap(({ region_id: region }) => region ?? []));
  return [...new Set(regions)].toSorted();
}
