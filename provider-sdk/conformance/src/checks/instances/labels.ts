import { show } from "../../suite/expect.ts";

const labelKey = /^(?:[a-z0-9.-]{1,253}\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const labelValue = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/** What Kubernetes would refuse of labels. */
export const labelProblems = (labels: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(labels).flatMap(([key, value]) => [
    ...(labelKey.test(key) ? [] : [`${show(key)} is no label key`]),
    ...(labelValue.test(value) ? [] : [`${show(value)} is no label value`]),
  ]);
