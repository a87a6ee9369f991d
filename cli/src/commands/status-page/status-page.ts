import { CommandError, messageOf } from "../../errors.ts";
import { EXIT } from "../../exit-codes.ts";
import { CONNECTION_OPTIONS } from "../../options/shared-options.ts";
import { startForwarder } from "./forwarder.ts";
import { readPage } from "../../client/read-page.ts";
import { PATHS } from "@cloudwire/operator-api";
import type { Command } from "../command.ts";
import { noOperands } from "../operands.ts";

export const statusPage: Command = {
  name: "status-page",
  summary: "Serve the controller's status page on a local address",
  operands: "",
  about: [
    "Serve the status page of the leader on a loopback address and print its URL: open it in a browser. The command uses your credentials, so anyone with the URL can read what you can read. Other users of this machine have no access without the URL. The page is read-only.",
    "The command runs until interrupted. After a change of leader, it connects to the new leader.",
  ],
  options: {
    "local-port": {
      type: "number",
      max: 65_535,
      valueName: "number",
      help: "Local port. Default: a free port.",
    },
    ...CONNECTION_OPTIONS,
  },
  examples: [["status-page", "print a URL such as http://127.0.0.1:40123/?secret=..."]],
  run: async (call) => {
    noOperands(call);
    // Reports problems here instead of in the browser.
    await readPage(await call.controller(), PATHS.overview);
    const { program, terminal, values, signal } = call;
    const forwarder = await startForwarder({
      connect: call.controller,
      forget: call.forgetController,
      port: Number(values.text("local-port") ?? 0),
      onError: (message) => {
        terminal.err(`${program}: ${message}\n`);
        void call.forgetController();
      },
    }).catch((error: unknown) => {
      throw new CommandError(
        "ADDRESS_UNAVAILABLE",
        `cannot listen on a loopback address: ${messageOf(error)}; choose another port with --local-port`,
      );
    });
    terminal.out(`${forwarder.url}\n`);
    terminal.err(
      `${program}: serving the status page of ${(await call.controller()).description}; press Ctrl-C to stop\n`,
    );
    const { promise, resolve } = Promise.withResolvers<void>();
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
    await promise;
    await forwarder.close();
    return EXIT.ok;
  },
};
