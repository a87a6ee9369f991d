import type { ReadmeTables } from "@cloudwire/provider-sdk/program";
import { annotationSchemas } from "../load-balancers/annotations.ts";
import { flags } from "../options/flags.ts";

export const tables: ReadmeTables = {
  options: flags,
  annotations: annotationSchemas,
  annotationPrefix: "service.beta.kubernetes.io/aws-load-balancer-",
};
