import { posix } from "node:path";
import type { Page } from "./markdown.ts";

/** Links to a place outside the tree: nothing is fetched to check them. */
const OUTSIDE = /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i;

/**
 * Links that lead nowhere, one sentence each.
 * @param pages path to page, every Markdown page of the tree
 * @param exists whether a path below the top is a file or directory
 */
export function brokenLinks(pages: ReadonlyMap<string, Page>, exists: (path: string) => boolean): readonly string[] {
  const broken: string[] = [];
  for (const [path, page] of pages) {
    for (const { target, line } of page.links) {
      if (OUTSIDE.test(target)) continue;
      const [file = "", anchor] = decodeURI(target).split("#");
      const to = file === "" ? path : posix.normalize(posix.join(posix.dirname(path), file));
      const where = `${path}:${line} links to ${target}`;
      if (file.startsWith("/")) broken.push(`${where}: write it relative to the page`);
      else if (to.startsWith("../") || !exists(to)) broken.push(`${where}: there is no ${to}`);
      else if (anchor !== undefined && pages.get(to)?.anchors.has(anchor) === false) {
        broken.push(`${where}: ${to} has no heading "#${anchor}"`);
      }
    }
  }
  return broken;
}
