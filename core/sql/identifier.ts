/** The one way for a name into SQL. Names come from the model and from code, never from a request. */
export function quoteIdentifier(name: string): string {
  if (name === '' || name.includes('\0'))
    throw new TypeError(`no name for a table or a column: ${JSON.stringify(name)}`)
  return `"${name.replaceAll('"', '""')}"`
}

/** A text constant from code or the model (a status, a component's owner); what a request sends is a parameter. */
export function quoteText(text: string): string {
  if (text.includes('\0')) throw new TypeError('a text constant cannot hold NUL')
  const doubled = text.replaceAll("'", "''")
  return text.includes('\\') ? ` E'${doubled.replaceAll('\\', '\\\\')}'` : `'${doubled}'`
}
