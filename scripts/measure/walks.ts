/** The files on the path of an object; the page that lists them defines what counts. */
export type Walk = "node" | "service" | "guard";

/** Where the lists are. */
export const WALKS_PAGE = "docs/explanation/architecture.md";

/** Files of a walk that the page lists: the items of the numbered list between its markers; undefined where it has none. */
export function walkCount(page: string, walk: Walk): number | undefined {
  const list = new RegExp(`<!-- walk: ${walk} -->\n([^]*?)<!-- /walk -->`).exec(page)?.[1];
  return list?.match(/^\d+\. /gm)?.length;
}
