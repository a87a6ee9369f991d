import { type Explanation, type ObjectRef, PATHS } from "@cloudwire/operator-api";

/** Beside the page, whatever stands before both: the API server's proxy puts a path of its own in front. */
export function endpoint(path: string): URL {
  return new URL(`..${path}`, document.baseURI);
}

/** Rejects with an error of one sentence. */
export async function fetchExplanation(object: ObjectRef, signal: AbortSignal): Promise<Explanation> {
  const url = endpoint(PATHS.explain);
  url.searchParams.set("object", object);
  const response = await fetch(url, { signal, headers: { accept: "application/json" } });
  if (!response.ok) throw new Error(await errorOf(response));
  return response.json();
}

const MOST_TEXT = 300;

/** What the answer says of itself: 403 is another thing than 503. */
export async function errorOf(response: Response): Promise<string> {
  const text = await response.text().catch(() => "");
  const said = text.startsWith("<") ? "" : shortened(messageIn(text).trim().replace(/\.$/, ""));
  const status = `${response.status} ${response.statusText}`.trim();
  return `the controller responded with ${status}${said === "" || said === response.statusText ? "" : `: ${said}`}`;
}

function shortened(text: string): string {
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)} …` : text;
}

/** The `message` of a JSON answer, or the text as it is. */
function messageIn(text: string): string {
  try {
    const answer: unknown = JSON.parse(text);
    if (typeof answer === "object" && answer !== null && "message" in answer) return String(answer.message);
  } catch {
    // No JSON.
  }
  return text;
}
