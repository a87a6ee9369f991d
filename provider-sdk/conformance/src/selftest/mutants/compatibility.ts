import { BadRequest } from "@cloudwire/proto/google/rpc/error_details";
import { ExternalTrafficPolicy } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { methods } from "../../contract/methods.ts";
import { frame } from "../../endpoint/frames.ts";
import { alterError, bareError, type Mutant, requestOf } from "../mutant.ts";
import { refused } from "./load-balancers.ts";

const batch = methods.batchGetInstances;

/** A number that the contract's enum does not have. */
const isUnknown = (type: number): boolean => type === 9_999;

/** Faults of how clients of other releases are served. */
export const compatibilityMutants: readonly Mutant[] = [
  {
    name: "renumbered",
    fault: "a field has another number than in the released contract",
    fails: [
      "compat.golden",
      "compat.v1-0-client",
      "conc.batch",
      "inst.absent.foreign",
      "inst.absent.malformed",
      "inst.get.id-wins",
      "inst.identity.own",
      "inst.state.stopped",
      "val.fields.batch-get-instances",
    ],
    intercept: async (request, next) => {
      const asked = requestOf(request, batch);
      if (asked === undefined) return next(request);
      const altered = { ...asked, nodes: asked.nodes.map((node) => ({ ...node, providerId: "" })) };
      return next({ ...request, body: frame(batch.requestType.encode(altered).finish()) });
    },
  },
  {
    name: "wants-optional",
    fault: "an optional field is wanted",
    fails: ["compat.v1-0-client"],
    intercept: async (request, next) =>
      requestOf(request, methods.deleteLoadBalancer)?.change?.trigger === ""
        ? bareError(3, "trigger is required")
        : next(request),
  },
  {
    name: "zero-enum-throws",
    fault: "a choice that is left open is refused",
    fails: ["compat.unspecified", "lb.ensure.dual-stack"],
    intercept: refused(
      ({ spec }) => spec?.externalTrafficPolicy === ExternalTrafficPolicy.UNSPECIFIED && spec.ipFamilies.length > 0,
    ),
  },
  {
    name: "enum-crash",
    fault: "an address of an unknown kind is the end of the call",
    fails: ["val.enum.fact"],
    intercept: async (request, next) =>
      requestOf(request, batch)?.nodes.some(({ addresses }) => addresses.some(({ type }) => isUnknown(type))) === true
        ? bareError(13, "unexpected enum")
        : next(request),
  },
  {
    name: "first-field-only",
    fault: "of the fields that are wrong one is named",
    fails: ["err.field.all"],
    intercept: alterError((parts) => ({
      ...parts,
      details: parts.details.map((detail) => {
        if (!detail.typeUrl.endsWith(".BadRequest")) return detail;
        const { fieldViolations } = BadRequest.decode(detail.value);
        const value = Buffer.from(BadRequest.encode({ fieldViolations: fieldViolations.slice(0, 1) }).finish());
        return { ...detail, value };
      }),
    })),
  },
];
