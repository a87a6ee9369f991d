// A scripted provider as a process of its own, to be killed: `node scripted-provider-process.ts <socket> <boot id>`.
import process from "node:process";
import { providerInfo, providerStatus, ScriptedProvider } from "./scripted-provider.ts";

const [path = "", bootId = ""] = process.argv.slice(2);
await ScriptedProvider.start(path, {
  getProviderInfo: () => providerInfo({ bootId }),
  getProviderStatus: () => providerStatus({ bootId }),
});
process.stdout.write("serving\n");
