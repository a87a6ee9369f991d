import { Compile } from "typebox/compile";
import { InstanceRecord } from "../../api/instances.ts";
import { LoadBalancerRecord, OperationRecord } from "../../api/load-balancers.ts";
import { RouteRecord } from "../../api/routes.ts";
import { VolumeRecord } from "../../api/volumes.ts";
import type { Kind } from "../store/resource-store.ts";

const instanceCheck = Compile(InstanceRecord);
const loadBalancerCheck = Compile(LoadBalancerRecord);
const operationCheck = Compile(OperationRecord);
const routeCheck = Compile(RouteRecord);
const volumeCheck = Compile(VolumeRecord);

export const instanceKind: Kind<InstanceRecord> = {
  name: "instance",
  check: (value) => instanceCheck.Check(value),
};
export const loadBalancerKind: Kind<LoadBalancerRecord> = {
  name: "loadBalancer",
  check: (value) => loadBalancerCheck.Check(value),
};
export const operationKind: Kind<OperationRecord> = {
  name: "operation",
  check: (value) => operationCheck.Check(value),
};
export const routeKind: Kind<RouteRecord> = { name: "route", check: (value) => routeCheck.Check(value) };
export const volumeKind: Kind<VolumeRecord> = { name: "volume", check: (value) => volumeCheck.Check(value) };
