import { familyOf, bitsOf } from "@cloudwire/provider-sdk/addresses";

/** Routes to the announced addresses for BIRD to include: protocols `cloudwire4` and `cloudwire6`, which its own configuration exports. */
export function renderBird(addresses: readonly string[]): string {
  const families = [4, 6] as const;
  const protocols = families.map((family) => {
    const own = addresses.filter((address) => familyOf(address) === family).toSorted();
    const routes = own.map((address) => `  route ${address}/${bitsOf(family)} blackhole;`);
    return [`protocol static cloudwire${family} {`, `  ipv${family};`, ...routes, "}"].join("\n");
  });
  return `# Written by cloudwire-provider-baremetal. Do not edit.\n${protocols.join("\n")}\n`;
}
