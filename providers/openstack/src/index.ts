export { createOpenStackProvider, type OpenStackProviderOptions } from "./provider.ts";
