/**
 * Paths of the pages below; all of the secure port, behind authentication and authorization. All but orphans also of
 * --status-page-bind-address, on loopback and without either.
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
  /** {@link OrphansPage} as JSON. Asks the clouds. */
  orphans: "/debug/orphans",
  /** What would be written and is not, because it is observed. */
  plans: "/debug/plans",
  providers: "/debug/providers",
  controllers: "/debug/controllers",
  /** The status page and what belongs to it. */
  page: "/status",
} as const;
