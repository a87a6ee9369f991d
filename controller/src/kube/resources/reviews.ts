import type { ObjectMeta } from "../../api/meta.ts";
import {
  type JsonRecord,
  asRecord,
  booleanField,
  recordField,
  stringField,
  stringMapField,
  stringsField,
} from "../../util/json.ts";
import { type Resource, metaFromJson } from "./codec.ts";

export interface TokenReview {
  readonly authenticated: boolean;
  readonly user: ReviewedUser;
  /** Why the token could not be checked; "": it could. */
  readonly error: string;
}

export interface ReviewedUser {
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

export interface SubjectAccessReview {
  readonly allowed: boolean;
  readonly reason: string;
}

/** Only created, never stored. */
export const TOKEN_REVIEWS: Resource<TokenReview> = {
  group: "authentication.k8s.io",
  version: "v1",
  kind: "TokenReview",
  plural: "tokenreviews",
  namespaced: false,
  fromJson: (object) => {
    const status = recordField(object, "status");
    return {
      authenticated: booleanField(status, "authenticated"),
      user: userFromJson(recordField(status, "user")),
      error: stringField(status, "error"),
    };
  },
};

/** Only created, never stored. */
export const SUBJECT_ACCESS_REVIEWS: Resource<SubjectAccessReview> = {
  group: "authorization.k8s.io",
  version: "v1",
  kind: "SubjectAccessReview",
  plural: "subjectaccessreviews",
  namespaced: false,
  fromJson: (object) => {
    const status = recordField(object, "status");
    return { allowed: booleanField(status, "allowed"), reason: stringField(status, "reason") };
  },
};

function userFromJson(user: JsonRecord): ReviewedUser {
  const extra = asRecord(user["extra"], "extra");
  return {
    username: stringField(user, "username"),
    uid: stringField(user, "uid"),
    groups: stringsField(user, "groups"),
    extra: Object.fromEntries(Object.keys(extra).map((key) => [key, stringsField(extra, key)])),
  };
}

export interface ConfigMap {
  readonly metadata: ObjectMeta;
  readonly data: Readonly<Record<string, string>>;
}

/** JSON only: small, and read once a minute. */
export const CONFIG_MAPS: Resource<ConfigMap> = {
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
  fromJson: (object) => ({ metadata: metaFromJson(object), data: stringMapField(object, "data") }),
};
