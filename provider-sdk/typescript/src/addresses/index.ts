export {
  type AddressRange,
  bitsOf,
  canonicalAddress,
  canonicalCidr,
  canonicalRanges,
  type Cidr,
  contains,
  type Family,
  familyOf,
  formatAddress,
  overlap,
  parseCidr,
  parseRange,
  positionOf,
  withPort,
} from "./ip.ts";
export { PodCidrs } from "./pod-cidrs.ts";
