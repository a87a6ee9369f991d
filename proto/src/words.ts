import { IpFamily, NodeAddressType } from "../gen/cloudprovider/v1/common.ts";
import { Protocol, QuotaClass } from "../gen/cloudprovider/v1/identity.ts";

/** Kubernetes' names of node address types, in the order of Kubernetes' documentation. */
export const nodeAddressTypes = {
  InternalIP: NodeAddressType.INTERNAL_IP,
  ExternalIP: NodeAddressType.EXTERNAL_IP,
  Hostname: NodeAddressType.HOSTNAME,
  InternalDNS: NodeAddressType.INTERNAL_DNS,
  ExternalDNS: NodeAddressType.EXTERNAL_DNS,
} as const;

/** Kubernetes' names of port protocols. */
export const protocols = { TCP: Protocol.TCP, UDP: Protocol.UDP, SCTP: Protocol.SCTP } as const;

/** Kubernetes' names of address families. */
export const ipFamilies = { IPv4: IpFamily.IPV4, IPv6: IpFamily.IPV6 } as const;

/** The contract's names of quota classes. */
export const quotaClasses = {
  instances: QuotaClass.INSTANCES,
  load_balancers: QuotaClass.LOAD_BALANCERS,
  routes: QuotaClass.ROUTES,
  volumes: QuotaClass.VOLUMES,
} as const;

/** Returns all names of a table, in its order. */
export function wordsOf<Word extends string>(table: Readonly<Record<Word, number>>): readonly Word[] {
  const words: Word[] = [];
  for (const word in table) words.push(word);
  return words;
}

/** Returns the name for a number of the contract; undefined for one that is not in the table, such as UNSPECIFIED or a newer one. */
export function wordOf<Word extends string>(table: Readonly<Record<Word, number>>, value: number): Word | undefined {
  for (const word in table) if (table[word] === value) return word;
  return undefined;
}

/** Returns the number for a name; undefined for a name that is not in the table. */
export function valueOf<Value extends number>(table: Readonly<Record<string, Value>>, word: string): Value | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}
