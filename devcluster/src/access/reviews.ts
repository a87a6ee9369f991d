import { badRequest, invalid } from "../api-error.ts";
import { type Json, type JsonObject, isJsonArray, isJsonObject, stringAt, valueAt } from "../json.ts";
import type { UserName } from "../resources/resource.ts";
import { formatTime } from "../schema/time.ts";
import { type FieldError, invalidValue } from "../validation/field-error.ts";
import type { Access, Attributes } from "./access.ts";

/** A kind that is answered and never stored. */
export interface Review {
  readonly group: string;
  readonly version: string;
  readonly name: string;
  readonly singular: string;
  readonly kind: string;
  readonly type: string;
  /** The review with its status; throws ApiError when the question makes no sense. */
  readonly answer: (review: JsonObject, user: UserName, nowMs: number) => JsonObject;
}

/** The audience of tokens when no one names one. */
const audience = "https://kubernetes.default.svc";

/** The reviews of authentication.k8s.io and authorization.k8s.io. */
export function createReviews(access: Access): readonly Review[] {
  const authentication = { group: "authentication.k8s.io", version: "v1" };
  const authorization = { group: "authorization.k8s.io", version: "v1" };
  return [
    {
      ...authentication,
      name: "selfsubjectreviews",
      singular: "selfsubjectreview",
      kind: "SelfSubjectReview",
      type: "authentication.v1.SelfSubjectReview",
      answer: (review, user, nowMs) => ({
        ...review,
        metadata: { creationTimestamp: formatTime(nowMs) },
        status: { userInfo: userInfo(user) },
      }),
    },
    {
      ...authentication,
      name: "tokenreviews",
      singular: "tokenreview",
      kind: "TokenReview",
      type: "authentication.v1.TokenReview",
      answer: (review) => ({ ...review, status: reviewToken(access, review) }),
    },
    {
      ...authorization,
      name: "selfsubjectaccessreviews",
      singular: "selfsubjectaccessreview",
      kind: "SelfSubjectAccessReview",
      type: "authorization.v1.SelfSubjectAccessReview",
      answer: (review, user) => {
        refuse(checkAttributes(review));
        return { ...review, status: { allowed: access.allows(user, attributesOf(review)) } };
      },
    },
    {
      ...authorization,
      name: "subjectaccessreviews",
      singular: "subjectaccessreview",
      kind: "SubjectAccessReview",
      type: "authorization.v1.SubjectAccessReview",
      answer: (review) => reviewAccess(access, review),
    },
  ];
}

function reviewToken(access: Access, review: JsonObject): JsonObject {
  const token = stringAt(review, "spec", "token");
  if (token === "") throw badRequest("token is required for TokenReview in authentication");
  const audiences = strings(valueAt(review, "spec", "audiences"));
  const user = access.userOf(token);
  if (user === undefined || (audiences.length > 0 && !audiences.includes(audience))) {
    return { user: {}, error: "invalid bearer token" };
  }
  return { authenticated: true, user: userInfo(user), audiences: [audience] };
}

function reviewAccess(access: Access, review: JsonObject): JsonObject {
  const name = stringAt(review, "spec", "user");
  const groups = strings(valueAt(review, "spec", "groups"));
  const hasNoSubject = name === "" && groups.length === 0;
  refuse([
    ...checkAttributes(review),
    ...(hasNoSubject ? [invalidValue("spec.user", "", "at least one of user or group must be specified")] : []),
  ]);
  return { ...review, status: { allowed: access.allows({ name, groups }, attributesOf(review)) } };
}

function checkAttributes(review: JsonObject): readonly FieldError[] {
  const resource = valueAt(review, "spec", "resourceAttributes");
  const path = valueAt(review, "spec", "nonResourceAttributes");
  if ((resource === undefined) !== (path === undefined)) return [];
  const value = path === undefined ? null : { Path: stringAt(path, "path"), Verb: stringAt(path, "verb") };
  const detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
  return [invalidValue("spec", value, detail)];
}

/** The real server leaves the kind out of this message. */
function refuse(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid({ group: "authorization.k8s.io", kind: "" }, "", errors);
}

function attributesOf(review: JsonObject): Attributes {
  const path = valueAt(review, "spec", "nonResourceAttributes");
  if (isJsonObject(path)) return { kind: "path", verb: stringAt(path, "verb"), path: stringAt(path, "path") };
  const of = (field: string): string => stringAt(review, "spec", "resourceAttributes", field);
  return {
    kind: "resource",
    verb: of("verb"),
    group: of("group"),
    resource: of("resource"),
    subresource: of("subresource"),
    namespace: of("namespace"),
    name: of("name"),
  };
}

function userInfo({ name, uid, groups, extra }: UserName): JsonObject {
  return {
    username: name,
    ...(uid === undefined ? {} : { uid }),
    groups,
    ...(extra === undefined ? {} : { extra }),
  };
}

function strings(value: Json | undefined): readonly string[] {
  return isJsonArray(value) ? value.filter((element) => typeof element === "string") : [];
}
