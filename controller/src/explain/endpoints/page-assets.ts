import { PATHS } from "@cloudwire/operator-api";
import type { PageAssets } from "../../server/assets.ts";

/** The files of the status page (status-page/scripts/build.ts). The bundle of this program has them beside it, for they are named here. */
export const STATUS_PAGE: PageAssets = {
  path: PATHS.page,
  assets: [
    {
      name: "",
      file: new URL("../../../../status-page/dist/page/index.html", import.meta.url),
      type: "text/html; charset=utf-8",
    },
    {
      name: "app.js",
      file: new URL("../../../../status-page/dist/page/app.js", import.meta.url),
      type: "text/javascript; charset=utf-8",
    },
    {
      name: "app.css",
      file: new URL("../../../../status-page/dist/page/app.css", import.meta.url),
      type: "text/css; charset=utf-8",
    },
    {
      name: "icon.svg",
      file: new URL("../../../../status-page/dist/page/icon.svg", import.meta.url),
      type: "image/svg+xml",
    },
  ],
  missing:
    "The status page is not built here. In a checkout `npm run build -w @cloudwire/status-page` builds it, and it is served from then on; `npm run build` makes programs that have it.",
};
