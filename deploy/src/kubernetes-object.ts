import { Document, isScalar, visit } from "yaml";

/** What a manifest holds: more than these fields, which every object has. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** A manifest of these objects; short lists on one line. */
export const manifestOf = (objects: readonly KubernetesObject[], head: string): string =>
  [`# ${head} Do not edit.\n`, ...objects.map((object) => yamlOf(object))].join("---\n");

const yamlOf = (object: KubernetesObject): string => {
  const document = new Document(object, { aliasDuplicateObjects: false });
  visit(document, {
    Seq: (_key, list) => {
      list.flow = list.items.every((item) => isScalar(item));
    },
  });
  return document.toString({ flowCollectionPadding: false });
};
