export { buildUpstream } from "./suites/parity/upstream/module.ts";
export { eventually } from "./support/eventually.ts";
export { freePort } from "./support/secure-page.ts";
export { at, type Json, Kube, type KubeAnswer, listOf } from "./support/kube.ts";
export { type Exit, Program, type ProgramOptions } from "./support/program.ts";
export { inParallel, numbered, ReadyMachines } from "./suites/system/support/ready-machines.ts";
