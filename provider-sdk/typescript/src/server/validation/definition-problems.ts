import type { GetProviderInfoResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import { quotaClasses } from "../convert/capabilities.ts";
import type { ProviderDefinition } from "../../definition/provider.ts";
import type { LoadBalancerHandlers } from "../../definition/load-balancers.ts";
import type { RouteHandlers } from "../../definition/routes.ts";
import type { VolumeHandlers } from "../../definition/volumes.ts";
import type { RuleChecker } from "@cloudwire/proto/rule-checker";

type Shape = Readonly<Record<string, "function" | "other">>;

const functionsOf = (...names: readonly string[]): Shape => Object.fromEntries(names.map((name) => [name, "function"]));

/** Properties of each group; another property is a typo, and its capability would be missing silently. */
const groupShapes: Readonly<Record<string, Shape>> = {
  instances: { features: "other", ...functionsOf("get", "getMany", "list", "watch") },
  loadBalancers: { features: "other", ...functionsOf("ensure", "delete", "get", "list", "updateNodes", "watch") },
  routes: { features: "other", ...functionsOf("list", "ensure", "ensureMany", "delete", "deleteMany") },
  volumes: { features: "other", ...functionsOf("get", "getMany") },
};

const topLevel = new Set([
  ...Object.keys(groupShapes),
  "name",
  "version",
  "scope",
  "check",
  "limits",
  "annotations",
  "annotationPrefixes",
  "nodeLabelKeys",
  "nodeAnnotationKeys",
  "diagnostics",
  "build",
  "homeUrl",
  "idPrefix",
  "idPrefixes",
]);

/** Problems with the shape of a definition, all together, for vendors without a type checker. */
export const shapeProblems = (definition: ProviderDefinition): readonly string[] => [
  ...unknownProperties("", definition, topLevel),
  ...(typeof definition.check === "function" ? [] : ["check must be a function that asks the cloud something cheap"]),
  ...scopeProblems(definition.scope),
  ...prefixProblems(definition),
  ...Object.entries(groupShapes).flatMap(([group, shape]) =>
    groupProblems(group, Reflect.get(definition, group), shape),
  ),
  ...choiceProblems(definition),
  ...callRateProblems(definition.limits?.callRates),
];

const unknownProperties = (path: string, value: object, known: ReadonlySet<string>): readonly string[] =>
  Object.keys(value)
    .filter((key) => !known.has(key))
    .map((key) => `${path}${key} is not known; known are ${[...known].toSorted().join(", ")}`);

const scopeProblems = (scope: unknown): readonly string[] => {
  if (typeof scope === "function") return [];
  if (typeof scope === "string" && scope !== "" && Buffer.byteLength(scope) <= 253) return [];
  return ["scope must name what the credentials reach, in 1 to 253 bytes, or be a function that does"];
};

const prefixProblems = ({ idPrefix, idPrefixes }: ProviderDefinition): readonly string[] => {
  if (idPrefix !== undefined && idPrefixes !== undefined) return ["give idPrefix or idPrefixes, not both"];
  const prefixes: unknown = idPrefixes ?? (idPrefix === undefined ? [] : [idPrefix]);
  if (!Array.isArray(prefixes) || prefixes.length === 0) return ["idPrefix is required, for example acme://"];
  const wrong = prefixes
    .filter((prefix) => typeof prefix !== "string" || !/^[a-z][a-z0-9+.-]*:\/\/$/.test(prefix))
    .map(
      (prefix) =>
        `idPrefix ${JSON.stringify(prefix)} must be a scheme in lower case with :// at its end, for example acme://`,
    );
  return new Set(prefixes).size < prefixes.length ? [...wrong, "idPrefixes holds one prefix twice"] : wrong;
};

const groupProblems = (group: string, value: unknown, shape: Shape): readonly string[] => {
  if (value === undefined) return [];
  if (typeof value !== "object" || value === null) return [`${group} must be an object with methods`];
  const wrongTypes = Object.entries(shape)
    .filter(([key, type]) => type === "function" && !["function", "undefined"].includes(typeof Reflect.get(value, key)))
    .map(([key]) => `${group}.${key} must be a function`);
  return [...unknownProperties(`${group}.`, value, new Set(Object.keys(shape))), ...wrongTypes];
};

const choiceProblems = (definition: ProviderDefinition): readonly string[] => {
  const { instances, loadBalancers, routes, volumes } = definition;
  if (!instances && !loadBalancers && !routes && !volumes)
    return ["nothing is served: give at least one of instances, loadBalancers, routes, volumes"];
  return [
    ...(instances ? exactlyOne("instances", instances, "get", "getMany") : []),
    ...(loadBalancers ? loadBalancerChoices(loadBalancers) : []),
    ...(routes ? routeChoices(routes) : []),
    ...(volumes ? volumeChoices(volumes) : []),
  ];
};

const loadBalancerChoices = (handlers: LoadBalancerHandlers): readonly string[] => [
  ...required("loadBalancers", handlers, "ensure", "delete"),
  ...(["get", "list"].some((name) => Reflect.get(handlers, name) !== undefined)
    ? []
    : ["loadBalancers needs get, or list to find one in"]),
];

const routeChoices = (handlers: RouteHandlers): readonly string[] => [
  ...required("routes", handlers, "list"),
  ...exactlyOne("routes", handlers, "ensure", "ensureMany"),
  ...exactlyOne("routes", handlers, "delete", "deleteMany"),
];

const volumeChoices = (handlers: VolumeHandlers): readonly string[] => [
  ...exactlyOne("volumes", handlers, "get", "getMany"),
  ...(handlers.features?.csiDrivers?.length || handlers.features?.inTreePlugins?.length
    ? []
    : ["volumes.features needs csiDrivers or inTreePlugins: volumes of others are not looked up"]),
];

const required = (group: string, handlers: object, ...names: readonly string[]): readonly string[] =>
  names.filter((name) => Reflect.get(handlers, name) === undefined).map((name) => `${group}.${name} is required`);

const exactlyOne = (group: string, handlers: object, one: string, many: string): readonly string[] => {
  const given = [one, many].filter((name) => Reflect.get(handlers, name) !== undefined).length;
  return given === 1 ? [] : [`${group} needs ${one} or ${many}, and not both`];
};

const quotaWords: readonly unknown[] = Object.keys(quotaClasses);

const callRateProblems = (rates: unknown): readonly string[] => {
  if (rates === undefined) return [];
  if (!Array.isArray(rates)) return ["limits.callRates must be a list, such as [{ cloudCallsPerSecond: 10 }]"];
  const classes = rates.flatMap((rate: unknown): readonly unknown[] => {
    const named = property(rate, "classes");
    return Array.isArray(named) && named.length > 0 ? named : ["all others"];
  });
  const twice = new Set(classes.filter((one, index) => classes.indexOf(one) < index));
  return [
    ...rates.flatMap((rate: unknown, index) => callRateProblem(`limits.callRates[${index}]`, rate)),
    ...[...twice].map((one) => `limits.callRates gives ${String(one)} two rates; give one`),
  ];
};

const callRateProblem = (path: string, rate: unknown): readonly string[] => {
  const [classes, perSecond, burst] = ["classes", "cloudCallsPerSecond", "burst"].map((key) => property(rate, key));
  const named: readonly unknown[] = Array.isArray(classes) ? classes : [];
  const isList = classes === undefined || Array.isArray(classes);
  return [
    ...(isList ? [] : [`${path}.classes must be a list of ${quotaWords.join(", ")}`]),
    ...named
      .filter((one) => !quotaWords.includes(one))
      .map((one) => `${path}.classes names ${String(one)}; there are ${quotaWords.join(", ")}`),
    ...(typeof perSecond === "number" && perSecond > 0 && Number.isFinite(perSecond)
      ? []
      : [`${path}.cloudCallsPerSecond must be a number above 0`]),
    ...(burst === undefined || (Number.isInteger(burst) && Number(burst) >= 1)
      ? []
      : [`${path}.burst must be a whole number, 1 or more`]),
  ];
};

const property = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;

/** Violations of the contract's rules in the handshake of a definition. */
export const factProblems = (info: GetProviderInfoResponse, rules: RuleChecker): readonly string[] => [
  ...rules
    .check("cloudprovider.v1.GetProviderInfoResponse", info)
    .map(({ field, description }) => `${friendlyPath(field)} ${description}`),
  ...info.annotationPrefixes
    .filter((prefix) => !/^[a-z0-9.-]+\.[a-z]+\/?/.test(prefix))
    .map(
      (prefix) =>
        `annotation prefix ${JSON.stringify(prefix)} must begin with a DNS name, for example acme.example.com/`,
    ),
  ...info.annotations
    .filter(({ type, allowedValues }) => type === enumType && allowedValues.length === 0)
    .map(({ key }) => `annotation ${key} is an enum without allowedValues`),
];

/** AnnotationType.ENUM. */
const enumType = 5;

/** The property that a vendor wrote, for a path of the handshake. */
const friendlyPath = (field: string): string =>
  field
    .replace(/^capabilities\.(\w+)\./, (_match, group: string) => `${group}.features.`)
    .replace(/^provider_id_prefixes/, "idPrefixes")
    .replace(/^scope_id/, "scope")
    .replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
