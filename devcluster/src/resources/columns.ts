import type { KubeObject } from "../object.ts";
import type { Column } from "./resource.ts";

export const nameColumn: Column = { name: "Name", format: "name" };
export const ageColumn: Column = { name: "Age" };

const secondsPerMinute = 60;
const minutesPerHour = 60;
const hoursPerDay = 24;
const daysPerYear = 365;

/** The object's age as kubectl shows it. */
export function age(object: KubeObject, nowMs: number): string {
  return since(object.metadata.creationTimestamp, nowMs);
}

/** Time since a moment, `<unknown>` without one. */
export function since(time: string | undefined | null, nowMs: number): string {
  if (time === undefined || time === null) return "<unknown>";
  return humanDuration((nowMs - Date.parse(time)) / 1000);
}

/** A duration in the two largest units that matter (upstream k8s.io/apimachinery/pkg/util/duration HumanDuration). */
export function humanDuration(durationSeconds: number): string {
  const seconds = Math.trunc(durationSeconds);
  if (seconds < -1) return "<invalid>";
  if (seconds < 2 * secondsPerMinute) return `${Math.max(seconds, 0)}s`;
  const minutes = Math.floor(seconds / secondsPerMinute);
  if (minutes < 10) return pair(minutes, "m", seconds % secondsPerMinute, "s");
  if (minutes < 3 * minutesPerHour) return `${minutes}m`;
  const hours = Math.floor(minutes / minutesPerHour);
  if (hours < 8) return pair(hours, "h", minutes % minutesPerHour, "m");
  if (hours < 2 * hoursPerDay) return `${hours}h`;
  const days = Math.floor(hours / hoursPerDay);
  if (days < 8) return pair(days, "d", hours % hoursPerDay, "h");
  if (days < 2 * daysPerYear) return `${days}d`;
  const years = Math.floor(days / daysPerYear);
  return years < 8 ? pair(years, "y", days % daysPerYear, "d") : `${years}y`;
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}
