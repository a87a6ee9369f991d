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
  | {
      readonly kind: "binary";
      readonly status: number;
      readonly contentType: string;
      readonly body: Uint8Array;
      readonly warnings: readonly string[];
    }
  | { readonly kind: "text"; readonly status: number; readonly body: string }
  | { readonly kind: "stream"; readonly contentType: string; readonly start: (stream: EventStream) => void };

/** A response that is written event by event. */
export interface EventStream {
  /** A line of JSON with its end, or a frame of protobuf. */
  readonly write: (event: string | Uint8Array) => void;
  readonly end: () => void;
  /** Calls back once when the client is gone or the response is over. */
  readonly onClose: (callback: () => void) => void;
}
