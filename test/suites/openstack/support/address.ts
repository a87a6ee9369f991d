import { at } from "../../../support/kube.ts";
import type { ServiceName } from "./caller.ts";

/** The address of a running cloud: plain values, which can be passed to another process. */
export interface CloudAddress {
  readonly authUrl: string;
  readonly region: string;
  /** Availability zone of machines and volumes. */
  readonly zone: string;
  readonly urls: Readonly<Record<ServiceName, string>>;
  readonly adminPassword: string;
  /** Has the logs of all services. */
  readonly directory: string;
}

/** Of what the cloud says when it is ready. */
export function toAddress(about: unknown, directory: string): CloudAddress {
  const of = (...keys: readonly string[]) => String(at(about, ...keys));
  const url = (service: ServiceName) => of("urls", service);
  return {
    authUrl: of("authUrl"),
    region: of("region"),
    zone: of("zone"),
    adminPassword: of("adminPassword"),
    directory,
    urls: {
      keystone: url("keystone"),
      glance: url("glance"),
      nova: url("nova"),
      neutron: url("neutron"),
      octavia: url("octavia"),
      cinder: url("cinder"),
    },
  };
}
