import type { EventInput } from "../../api/event.ts";
import { loadBalancerCalled, routeCalled } from "./events.ts";
import type { AuditLine } from "./audit.ts";
import type { ChangeAudit } from "./audited.ts";

/** Hands each line on, and has it told on the objects that it is about: a Service, or the Nodes of routes. What is only asked about is not told. */
export function auditEventSink(lines: ChangeAudit | undefined, record: (event: EventInput) => void): ChangeAudit {
  return {
    write: (line) => {
      lines?.write(line);
      for (const event of eventsOf(line)) record(event);
    },
    lose: (error) => lines?.lose(error),
  };
}

function eventsOf(line: AuditLine): readonly EventInput[] {
  const { planOnly, service, routes = [] } = line;
  if (planOnly) return [];
  const ofRoutes = routes.filter(({ node }) => node !== "").map((route) => routeCalled(line, route));
  return [...(service === undefined ? [] : [loadBalancerCalled(line, service)]), ...ofRoutes];
}
