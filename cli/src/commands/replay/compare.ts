import { isRecord, type Json } from "../../client/json.ts";
import { RESPONSE_FIELDS, RESPONSE_MESSAGES } from "./field-treatments.ts";
import type { Names } from "./names.ts";
import { changed, fieldOf, type TreatmentTables } from "./walk.ts";

/** A difference between a response and the recorded one. */
export interface FieldDifference {
  /** Path in the response: `loadBalancer.ingress.items[0].ipMode`; "": the whole response. */
  readonly field: string;
  /** As recorded; undefined: it was not there. */
  readonly wanted: unknown;
  readonly got: unknown;
}

const ANSWER_TABLES: TreatmentTables = { messages: RESPONSE_MESSAGES, fields: RESPONSE_FIELDS };

/** Lists of responses without a defined order, with the key of their items. */
const UNORDERED: Readonly<Record<string, (item: Json) => string>> = {
  "ListInstancesResponse.instances": (item) => text(item["name"]),
  "ListLoadBalancersResponse.loadBalancers": (item) => text(isRecord(item["service"]) ? item["service"]["uid"] : ""),
  "ListRoutesResponse.routes": (item) => `${text(item["destinationCidr"])} ${text(item["targetNodeName"])}`,
};

/** Compares a response with the recorded one, in the order of the fields. Maps new names. */
export function compareResponses(type: string, wanted: Json, got: Json, names: Names): readonly FieldDifference[] {
  return compareMessages(type, wanted, got, { names, path: "" });
}

/** The response with recorded names, without fields that are not compared: equal for equal runs. */
export function normalized(type: string, answer: Json, names: Names): Json {
  const ordered = Object.fromEntries(
    Object.entries(answer).map(([key, value]) => [
      key,
      Array.isArray(value) ? sorted(value, orderOf(type, key)) : value,
    ]),
  );
  return changed(type, ordered, ANSWER_TABLES, (value, treatment) => {
    if (treatment.kind !== "name") return treatment.kind === "presence" ? true : undefined;
    return names.recorded(treatment.space, value) ?? value;
  });
}

interface Place {
  readonly names: Names;
  readonly path: string;
}

function compareMessages(type: string, wanted: Json, got: Json, place: Place): readonly FieldDifference[] {
  const keys = [...new Set([...Object.keys(wanted), ...Object.keys(got)])];
  return keys.flatMap((key) => {
    const path = place.path === "" ? key : `${place.path}.${key}`;
    return compareFields(type, key, wanted[key], got[key], { ...place, path });
  });
}

function compareFields(
  type: string,
  key: string,
  wanted: unknown,
  got: unknown,
  place: Place,
): readonly FieldDifference[] {
  const { treatment, message, isMap } = fieldOf(type, key, ANSWER_TABLES);
  if (treatment?.kind === "ignore") return [];
  if (wanted === undefined || got === undefined) return wanted === got ? [] : [{ field: place.path, wanted, got }];
  if (treatment?.kind === "presence") return [];
  if (treatment?.kind === "name") return compareNames(treatment.space, wanted, got, place);
  if (message === undefined) return compareValues(wanted, got, place);
  return compareInner({ message, isMap, order: orderOf(type, key) }, wanted, got, place);
}

interface Inner {
  readonly message: string;
  readonly isMap: boolean;
  readonly order: ((item: Json) => string) | undefined;
}

function compareInner(
  { message, isMap, order }: Inner,
  wanted: unknown,
  got: unknown,
  place: Place,
): readonly FieldDifference[] {
  if (Array.isArray(wanted) && Array.isArray(got)) {
    return compareLists(message, sorted(wanted, order), sorted(got, order), place);
  }
  if (!isRecord(wanted) || !isRecord(got)) return compareValues(wanted, got, place);
  return isMap ? compareMaps(message, wanted, got, place) : compareMessages(message, wanted, got, place);
}

function compareNames(
  space: string,
  wanted: unknown,
  got: unknown,
  { names, path }: Place,
): readonly FieldDifference[] {
  if (names.bind(space, wanted, got)) return [];
  // In the words of this run, where there are any: what stood there had to be that.
  return [{ field: path, wanted: names.live(space, wanted) ?? wanted, got }];
}

function compareLists(
  type: string,
  wanted: readonly unknown[],
  got: readonly unknown[],
  place: Place,
): readonly FieldDifference[] {
  const length = Math.max(wanted.length, got.length);
  return Array.from({ length }, (_, index) => index).flatMap((index) => {
    const path = `${place.path}[${index}]`;
    const [left, right] = [wanted[index], got[index]];
    if (!isRecord(left) || !isRecord(right)) return left === right ? [] : [{ field: path, wanted: left, got: right }];
    return compareMessages(type, left, right, { ...place, path });
  });
}

function compareMaps(type: string, wanted: Json, got: Json, place: Place): readonly FieldDifference[] {
  const keys = [...new Set([...Object.keys(wanted), ...Object.keys(got)])];
  return keys.flatMap((key) => {
    const path = `${place.path}[${JSON.stringify(key)}]`;
    const [left, right] = [wanted[key], got[key]];
    if (!isRecord(left) || !isRecord(right)) return [{ field: path, wanted: left, got: right }];
    return compareMessages(type, left, right, { ...place, path });
  });
}

/** Values of no message: texts, numbers, lists and maps of them. */
function compareValues(wanted: unknown, got: unknown, { path }: Place): readonly FieldDifference[] {
  if (isRecord(wanted) && isRecord(got)) {
    const keys = [...new Set([...Object.keys(wanted), ...Object.keys(got)])];
    return keys
      .filter((key) => JSON.stringify(wanted[key]) !== JSON.stringify(got[key]))
      .map((key) => ({ field: `${path}[${JSON.stringify(key)}]`, wanted: wanted[key], got: got[key] }));
  }
  return JSON.stringify(wanted) === JSON.stringify(got) ? [] : [{ field: path, wanted, got }];
}

function sorted(items: readonly unknown[], order: ((item: Json) => string) | undefined): readonly unknown[] {
  if (order === undefined) return items;
  const key = (item: unknown): string => (isRecord(item) ? order(item) : "");
  return items.toSorted((left, right) => Number(key(left) > key(right)) - Number(key(left) < key(right)));
}

function orderOf(type: string, key: string): ((item: Json) => string) | undefined {
  return UNORDERED[`${type.slice(type.lastIndexOf(".") + 1)}.${key}`];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
