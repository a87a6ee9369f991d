/** What goes back to the client. */
export type Reply =
  | {
      readonly kind: "json";
      readonly status: number;
      readonly body: string;
      readonly warnings?: readonly string[];
      /** Parameters of the media type, which kubectl reads to know what it got. */
      readonly mediaParameters?: string;
    }
  | { readonly kind: "text"; readonly status: number; readonly body: string }
  | { readonly kind: "stream"; readonly start: (stream: LineStream) => void };

/** A response that is written line by line. */
export interface LineStream {
  readonly line: (text: string) => void;
  readonly end: () => void;
  /** Calls back once when the client is gone or the response is over. */
  readonly onClose: (callback: () => void) => void;
}
