import { CommandError, messageOf } from "../../errors.ts";
import { EXIT } from "../../exit-codes.ts";
import { CONNECTION_OPTIONS } from "../../options/shared-options.ts";
import { startForwarder } from "./forwarder.ts";
import { readPage } from "../../client/read-page.ts";
import { PATHS } from "@cloudwire/operator-api";
import type { Command } from "../command.ts";
import { noOperands } from "../operands.ts";

export const page: Command = {
  name: "page",
  summary: "opens the controller's status page on an address of this machine",
  operands: "",
  about: [
    "Serves the status page of the controller that leads at an address of loopback, and prints it: open it in a browser. The pages are asked for with your credentials; who has the address reads what you may read, and nobody else on this machine does. Nothing is written, whatever a browser sends.",
    "It goes on until it is interrupted. When another controller leads, the next question goes there.",
  ],
  options: {
    "local-port": {
      type: "number",
      most: 65_535,
      valueName: "number",
      help: "Of loopback. Default: one that is free.",
    },
    ...CONNECTION_OPTIONS,
  },
  examples: [["page", "prints an address such as http://127.0.0.1:40123/?secret=..."]],
  run: async (call) => {
    noOperands(call);
    // First, so that what is wrong is told here and not in the browser.
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
      throw new CommandError(`cannot listen on loopback: ${messageOf(error)}; --local-port names another port`);
    });
    terminal.out(`${forwarder.url}\n`);
    terminal.err(`${program}: serves the status page of ${(await call.controller()).description}; Ctrl-C ends it\n`);
    const { promise, resolve } = Promise.withResolvers<void>();
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
    await promise;
    await forwarder.close();
    return EXIT.ok;
  },
};
