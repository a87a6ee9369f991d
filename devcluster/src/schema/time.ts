const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:[.,](\d+))?(Z|[+-]\d{2}:\d{2})$/;

/** Whole seconds in UTC, the form of metav1.Time; undefined when the text is no RFC 3339 time. */
export function canonicalTime(text: string): string | undefined {
  const milliseconds = parseRfc3339(text);
  return milliseconds === undefined ? undefined : formatTime(milliseconds);
}

/**
 * Microseconds in UTC, the form of metav1.MicroTime; undefined unless the text has exactly six digits of them, which the real server demands.
 */
export function canonicalMicroTime(text: string): string | undefined {
  const milliseconds = parseRfc3339(text);
  const fraction = rfc3339.exec(text)?.[1] ?? "";
  if (milliseconds === undefined || fraction.length !== 6) return undefined;
  return `${formatTime(milliseconds).slice(0, -1)}.${fraction}Z`;
}

/** A moment (milliseconds since 1970) as metav1.Time writes it. */
export function formatTime(milliseconds: number): string {
  return `${new Date(Math.floor(milliseconds / 1000) * 1000).toISOString().slice(0, 19)}Z`;
}

function parseRfc3339(text: string): number | undefined {
  if (!rfc3339.test(text)) return undefined;
  const milliseconds = Date.parse(text.replace(",", "."));
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}
