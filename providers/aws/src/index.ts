export { createAwsProvider, type AwsProviderOptions } from "./provider.ts";
