// Those that are compared, as they are called on the command line and in the tables.
export const CLOUDWIRE = "cloudwire";
export const UPSTREAM = "upstream";
export const UPSTREAM_TUNED = "upstream-tuned";
export const RAW_WRITER = "raw-writer";
