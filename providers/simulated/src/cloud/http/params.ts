import { Type } from "typebox";
import type { ListFilter } from "../store/resource-store.ts";

export const idParams = Type.Object({ id: Type.String({ maxLength: 128 }) });

export const withQuery = <const Properties extends Type.TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });

interface CommonQuery {
  readonly id?: readonly string[];
  readonly name?: readonly string[];
  readonly tag?: readonly string[];
}

/** The filters that every list has. */
export const toFilter = (query: CommonQuery): ListFilter => ({
  ids: query.id,
  names: query.name,
  tags: query.tag?.map((tag) => {
    const [key = "", ...value] = tag.split("=");
    return [key.replaceAll('"', ""), value.join("=")] as const;
  }),
});
