/**
 * Returns the number that a text holds, or the text itself. So a value from a command line or a form
 * reaches its schema in the type it would have in JSON, and the schema rejects any other text.
 */
export const numberOrText = (text: string): number | string => /^\s*-?\d+(\.\d+)?\s*$/.test(text) ? Number(text) : text
