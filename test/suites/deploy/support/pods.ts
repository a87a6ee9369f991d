import type { KubernetesObject } from "@cloudwire/deploy/chart";
import { at, type Json, listOf } from "../../../support/kube.ts";

/** A pod that is rendered, or that a rendered object makes. */
export interface RenderedPod {
  /** `DaemonSet cloud-controller-manager`. */
  readonly of: string;
  readonly spec: unknown;
}

export const podsOf = (objects: readonly KubernetesObject[]): readonly RenderedPod[] =>
  objects.flatMap((object) => {
    const spec = object.kind === "Pod" ? at(object, "spec") : at(object, "spec", "template", "spec");
    return spec === undefined ? [] : [{ of: `${object.kind} ${object.metadata.name}`, spec }];
  });

/** Init containers first, as they are started. */
export const containersOf = (spec: unknown): readonly Json[] => [
  ...listOf(at(spec, "initContainers")),
  ...listOf(at(spec, "containers")),
];

/** Names of the containers that mount one of these volumes. */
export const mountersOf = (spec: unknown, isWanted: (volume: Json) => boolean): readonly string[] => {
  const wanted = new Set(
    listOf(at(spec, "volumes"))
      .filter((volume) => isWanted(volume))
      .map(({ name }) => name),
  );
  return containersOf(spec)
    .filter((container) => listOf(at(container, "volumeMounts")).some(({ name }) => wanted.has(name)))
    .map(({ name }) => String(name));
};

/** What is less strict in a pod than it could be, as `controller: runs as root`. */
export const laxities = (spec: unknown): readonly string[] => [
  ...[
    [at(spec, "hostPID") === true, "sees the host's processes"],
    [at(spec, "hostIPC") === true, "shares the host's memory"],
    [at(spec, "shareProcessNamespace") === true, "its containers see each other's processes"],
    [at(spec, "automountServiceAccountToken") !== false, "every container gets a token"],
    [at(spec, "securityContext", "seccompProfile", "type") !== "RuntimeDefault", "makes any system call"],
  ].flatMap(([isSo, what]) => (isSo === true ? [`pod: ${String(what)}`] : [])),
  ...listOf(at(spec, "volumes")).flatMap(({ name, hostPath }) =>
    hostPath === undefined ? [] : [`pod: mounts ${String(at(hostPath, "path"))} of the host as ${String(name)}`],
  ),
  ...containersOf(spec).flatMap((container) =>
    containerLaxities(container).map((what) => `${String(container["name"])}: ${what}`),
  ),
];

const containerLaxities = (container: Json): readonly string[] => {
  const of = (...keys: readonly (string | number)[]): unknown => at(container, "securityContext", ...keys);
  const resources = (...keys: readonly string[]): unknown => at(container, "resources", ...keys);
  const added = at(of("capabilities"), "add");
  return [
    [of("runAsNonRoot") !== true || Number(of("runAsUser")) === 0, "runs as root"],
    [of("allowPrivilegeEscalation") !== false, "may gain privileges"],
    [of("readOnlyRootFilesystem") !== true, "may write its root filesystem"],
    [at(of("capabilities"), "drop", 0) !== "ALL", "keeps capabilities"],
    [Array.isArray(added), `has capabilities ${String(added)}`],
    [of("privileged") === true, "is privileged"],
    [of("seccompProfile", "type") !== "RuntimeDefault", "makes any system call"],
    [resources("requests", "cpu") === undefined, "asks for no processor time"],
    [resources("requests", "memory") === undefined, "asks for no memory"],
    [resources("limits", "memory") === undefined, "takes any memory"],
  ].flatMap(([isSo, what]) => (isSo === true ? [String(what)] : []));
};
