import { isIPv6 } from "node:net";
import { isAddress } from "../../validation/addresses.ts";
import { type FieldError, duplicate, invalidValue, notSupported, required } from "../../validation/field-error.ts";
import { type Service, isExternalName, isHeadless, noClusterIp } from "./service.ts";

const ipsField = "spec.clusterIPs";
const familiesField = "spec.ipFamilies";
const families = ["IPv4", "IPv6"];
const policies = ["PreferDualStack", "RequireDualStack", "SingleStack"];

/** Rules among clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy (upstream ValidateServiceClusterIPsRelatedFields). */
export function validateClusterIps(service: Service): readonly FieldError[] {
  if (isExternalName(service)) return [];
  const addresses = service.spec.clusterIPs ?? [];
  const addressErrors = validateAddresses(addresses);
  const errors = [...validateInSync(service), ...validateFamilies(service), ...addressErrors];
  if (addressErrors.length > 0) return errors;
  return [...errors, ...validateStack(addresses), ...validateMatch(service)];
}

function validateInSync({ spec }: Service): readonly FieldError[] {
  const addresses = spec.clusterIPs ?? [];
  if (spec.clusterIP === undefined) {
    return addresses.length === 0
      ? []
      : [invalidValue(ipsField, addresses, "must be empty when `clusterIP` is not specified")];
  }
  if (addresses.length === 0) return [required(ipsField)];
  return addresses[0] === spec.clusterIP
    ? []
    : [invalidValue(ipsField, addresses, "first value must match `clusterIP`")];
}

function validateFamilies({ spec }: Service): readonly FieldError[] {
  const errors = (spec.ipFamilies ?? []).flatMap((family, index, all) => [
    ...(families.includes(family) ? [] : [notSupported(`${familiesField}[${index}]`, family, families)]),
    ...(all.indexOf(family) < index ? [duplicate(`${familiesField}[${index}]`, family)] : []),
  ]);
  const policy = spec.ipFamilyPolicy;
  if (policy === undefined || policies.includes(policy)) return errors;
  return [...errors, notSupported("spec.ipFamilyPolicy", policy, policies)];
}

function validateAddresses(addresses: readonly string[]): readonly FieldError[] {
  const errors = addresses.flatMap((address, index) => {
    if (index > 0 || address !== noClusterIp) return isAddress(`${ipsField}[${index}]`, address);
    return addresses.length > 1 ? [invalidValue(ipsField, addresses, "'None' must be the first and only value")] : [];
  });
  return addresses.length > 2 ? [...errors, invalidValue(ipsField, addresses, "may only hold up to 2 values")] : errors;
}

function validateStack(addresses: readonly string[]): readonly FieldError[] {
  const dual = new Set(addresses.map((address) => isIPv6(address))).size === 2;
  if (addresses.length < 2 || dual) return [];
  return [invalidValue(ipsField, addresses, "may specify no more than one IP for each IP family")];
}

function validateMatch(service: Service): readonly FieldError[] {
  if (isHeadless(service)) return [];
  return (service.spec.clusterIPs ?? []).flatMap((address, index) => {
    const family = service.spec.ipFamilies?.[index];
    if (family === undefined || address === "" || (family === "IPv6") === isIPv6(address)) return [];
    const detail = `expected an ${family} value as indicated by \`ipFamilies[${index}]\``;
    return [invalidValue(`${ipsField}[${index}]`, address, detail)];
  });
}
