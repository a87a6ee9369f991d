/**
 * Deep equality of JSON-like values. A property that is `undefined` equals one that is absent, as in JSON;
 * order of object keys does not matter, order of arrays does.
 */
export function deepEqual(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right)) return arraysEqual(left, right);
  return objectsEqual(left, right);
}

function arraysEqual(left: unknown, right: unknown): boolean {
  if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
  return left.every((item, index) => deepEqual(item, right[index]));
}

function objectsEqual(left: object, right: object): boolean {
  const leftMap = definedEntries(left);
  const rightMap = definedEntries(right);
  if (leftMap.size !== rightMap.size) return false;
  for (const [key, value] of leftMap) {
    if (!rightMap.has(key) || !deepEqual(value, rightMap.get(key))) return false;
  }
  return true;
}

function definedEntries(object: object): Map<string, unknown> {
  return new Map(Object.entries(object).filter(([, value]) => value !== undefined));
}
