export * from "./explanation.ts";
export * from "./object-ref.ts";
export * from "./overview.ts";
export * from "./paths.ts";
export * from "./plans.ts";
export * from "./status.ts";
