/** What the controller knows of upstream's flags: UpstreamFlags, written by `npm run flags -w @cloudwire/test`. */
export const KNOWN_FLAGS: URL = new URL("../../../controller/test/fixtures/upstream-flags.json", import.meta.url);
