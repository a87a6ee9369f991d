import type { CheckContext, OwnProvider } from "../../suite/check.ts";
import { Connection } from "../../endpoint/connection.ts";
import { start } from "./lifecycle.ts";

/** A process that a check has started, and the context with which it is called. */
export interface Life {
  readonly own: OwnProvider;
  readonly context: CheckContext;
}

/** Starts the provider once more, lets `use` call it, and hangs up. */
export const withLife = async <Result>(
  context: CheckContext,
  socketPath: string | undefined,
  use: (life: Life) => Promise<Result>,
): Promise<Result> => {
  const own = await start(context, socketPath);
  await context.ready(own);
  const connection = new Connection(own.endpoint);
  try {
    return await use({ own, context: { ...context, caller: context.caller.over(connection) } });
  } finally {
    connection.close();
  }
};
