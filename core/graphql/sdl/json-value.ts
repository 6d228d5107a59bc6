/** Attribute types whose values are JSON, which the scalar JSON takes as they are. */
export const JSON_TYPES: ReadonlySet<string> = new Set(['json', 'blocks', 'array'])

/** For readers, as REST's, that take a text for the text of JSON. */
export const toJsonText = (value: unknown): string => JSON.stringify(value)
