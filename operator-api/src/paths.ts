/**
 * Endpoints of the secure port, with authentication and authorization. All but orphans are also served without them at the loopback
 * address --status-page-bind-address.
 */
export const PATHS = {
  /** `?object=node/NAME`: {@link Explanation} as JSON. */
  explain: "/debug/explain",
  /** {@link Overview} as JSON. */
  overview: "/debug/overview",
  /** `?kind=node&state=blocked&search=TEXT&limit=N`: {@link ObjectRow}s as JSON. */
  objects: "/debug/objects",
  /** Server-sent events: {@link StreamEvents}. */
  stream: "/debug/stream",
  /** {@link OrphansPage} as JSON. Sends requests to the clouds. */
  orphans: "/debug/orphans",
  /** {@link PlanReport} as JSON. */
  plans: "/debug/plans",
  providers: "/debug/providers",
  controllers: "/debug/controllers",
  /** The status page and its files. */
  page: "/status",
} as const;
