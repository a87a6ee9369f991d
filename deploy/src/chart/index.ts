/** The chart: what it renders, and Helm to install it with. */
export { plainManifests } from "./plain.ts";
export { CHART, helm, renderChart, type RenderOptions, valueArgs } from "./render.ts";
export type { KubernetesObject } from "../kubernetes-object.ts";
