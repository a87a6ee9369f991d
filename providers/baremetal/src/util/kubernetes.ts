import { Type } from "typebox";

/** What can be the name of a Node. */
export const nodeNamePattern = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** What can be the value of a label. */
export const labelValue = Type.String({ pattern: "^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$" });
