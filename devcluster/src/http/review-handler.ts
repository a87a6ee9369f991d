import type { Review } from "../access/reviews.ts";
import { badRequest, methodNotAllowed, noSuchResource } from "../api-error.ts";
import { parseBody } from "../api/codec.ts";
import { isJsonObject } from "../json.ts";
import type { UserName } from "../resources/resource.ts";
import { DecodeError, decode } from "../schema/decode.ts";
import type { HandlerDeps } from "./deps.ts";
import type { Reply } from "./reply.ts";
import type { ApiRequest } from "./request.ts";
import type { RequestInfo } from "./request-info.ts";

/** POST of a review: the answer comes back in the same object. */
export function handleReview(
  deps: HandlerDeps,
  review: Review,
  info: Extract<RequestInfo, { kind: "resource" }>,
  request: ApiRequest,
  user: UserName,
): Reply {
  if (info.name !== "") throw noSuchResource();
  if (request.method !== "POST") throw methodNotAllowed();
  const question = read(deps, review, request.body);
  const answered = review.answer(question, user, deps.nowMs());
  const { value } = decode(deps.schema.shape(review.type), answered);
  const body = {
    ...(isJsonObject(value) ? value : {}),
    kind: review.kind,
    apiVersion: `${review.group}/${review.version}`,
  };
  return { kind: "json", status: 201, body: JSON.stringify(body) };
}

function read(deps: HandlerDeps, review: Review, text: string): ReturnType<Review["answer"]> {
  try {
    const { value } = decode(deps.schema.shape(review.type), parseBody(text, review.kind));
    if (isJsonObject(value)) return value;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw badRequest(
      `${review.kind} in version "${review.version}" cannot be handled as a ${review.kind}: ${error.message}`,
    );
  }
  throw badRequest(`the object provided is unrecognized (must be of type ${review.kind})`);
}
