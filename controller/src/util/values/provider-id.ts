/**
 * Provider IDs are compared here and nowhere else: as texts, one instance has several (`aws:///zone/i-1`, `aws:///i-1`, `AWS:///I-1`).
 * The check of layers finds comparisons of texts.
 */
export { hasPrefix, InstanceMap, instanceKey, isOneProvider, isSameInstance } from "@cloudwire/proto/provider-ids";
