/** A value in PostgreSQL's text form; bytes as they are. */
export function toWire(value: unknown): string | Buffer | null {
  switch (typeof value) {
    case 'string':
      return value
    case 'number':
    case 'boolean':
    case 'bigint':
      return String(value)
    case 'object':
      return value === null || Buffer.isBuffer(value) ? value : toText(value)
    case 'undefined':
      return null
    default:
      throw new TypeError(`PostgreSQL has no form for a ${typeof value}`)
  }
}

function toText(value: object): string {
  if (Array.isArray(value)) return `{${value.map(toElement).join(',')}}`
  return value instanceof Date ? value.toISOString() : JSON.stringify(value)
}

function toElement(value: unknown): string {
  if (Array.isArray(value)) return toText(value)
  const sent = toWire(value)
  if (sent === null) return 'NULL'
  if (typeof sent !== 'string') return `"\\\\x${sent.toString('hex')}"`
  return typeof value === 'number' || typeof value === 'boolean'
    ? sent
    : `"${sent.replace(/[\\"]/g, '\\$&')}"`
}
