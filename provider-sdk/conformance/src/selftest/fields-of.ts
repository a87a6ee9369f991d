/** Id of the check of the fields of a method's requests. */
export const fieldsOf = (method: string): string =>
  `val.fields.${method.replace(/(?<!^)([A-Z])/g, "-$1").toLowerCase()}`;
