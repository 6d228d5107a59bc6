/** A value on one line as YAML has it: `{ author: { id: $user.id } }`. */
export function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`
  if (typeof value === 'string') return /^[A-Za-z$_][\w$. -]*$/.test(value) ? value : JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return String(value)
  const pairs = Object.entries(value).map(([key, part]) => `${flow(key)}: ${flow(part)}`)
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`
}

const BREAK = /(?= (?:FROM|WHERE|JOIN|ORDER BY|AND|OR|LIMIT|UNION ALL)\b)/
const LEADING = / (?:FROM|WHERE|JOIN|ORDER BY|AND|OR|LIMIT|UNION ALL)\b/y

/** SQL on several lines, indented by its brackets; nothing inside quotes is touched, so it can still be run. */
export function breakSql(text: string): readonly string[] {
  const lines: string[] = ['']
  let depth = 0
  for (const part of text.split(/("[^"]*"|'[^']*')/).flatMap(breakUnquoted)) {
    LEADING.lastIndex = 0
    if (LEADING.test(part)) lines.push('  '.repeat(depth) + part.slice(1))
    else lines.push((lines.pop() ?? '') + part)
    if (!isQuoted(part)) depth += count(part, '(') - count(part, ')')
  }
  return lines
}

const isQuoted = (part: string): boolean => /^["']/.test(part)

const count = (text: string, letter: string): number => text.split(letter).length - 1

const breakUnquoted = (part: string): readonly string[] =>
  isQuoted(part) ? [part] : part.split(BREAK).filter(piece => piece !== '')
