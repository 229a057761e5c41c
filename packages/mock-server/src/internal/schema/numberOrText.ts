/**
 * Returns the number in a text, or the text itself. A value from a command line or a form thus has the same type as in
 * JSON when its schema decodes it, and the schema rejects any other text.
 */
export const numberOrText = (text: string): number | string => /^\s*-?\d+(\.\d+)?\s*$/.test(text) ? Number(text) : text
