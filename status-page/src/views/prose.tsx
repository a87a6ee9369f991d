import type { JSX } from "preact";
import { proseParts } from "../model/prose.ts";

/** A sentence of the controller with its code parts. */
export function Prose({ text }: { readonly text: string }): JSX.Element {
  return <>{proseParts(text).map((part, index) => (part.isCode ? <code key={index}>{part.text}</code> : part.text))}</>;
}
