import { readFileSync } from 'node:fs'

/** A row of docs/migrations.md that says what a change of an attribute does. */
export interface ChangeRow {
  readonly line: number
  /** YAML; null: there was none. */
  readonly before: string | null
  /** JSON texts of the values. */
  readonly values: readonly unknown[]
  readonly after: string | null
  /** safe, slow, destructive, or refused. */
  readonly class: string
  /** The heading of refused changes. */
  readonly code: string | null
  readonly large: string
  /** null: the attribute is gone, or nothing was changed. */
  readonly outcome: readonly unknown[] | null
  /** What clients notice: breaking, risky, safe, none. */
  readonly rest: string
  readonly graphql: string
}

const PAGE = new URL('../../docs/migrations.md', import.meta.url)

export function readChanges(): readonly ChangeRow[] {
  const lines = readFileSync(PAGE, 'utf8').split('\n')
  return lines.flatMap((text, index) => {
    const cells = text.split(/(?<!\\)\|/).map(cell => cell.trim())
    const [
      ,
      before = '',
      values = '',
      after = '',
      verdict = '',
      large = '',
      then = '',
      rest = '',
      graphql = '',
    ] = cells
    if (cells.length !== 10 || before === 'Before' || before.startsWith('---')) return []
    const [weight = '', code = null] = verdict.split(': ')
    return {
      line: index + 1,
      before: declared(before),
      values: parse(values),
      after: declared(after),
      class: weight,
      code,
      large,
      outcome: then === '' ? null : parse(then),
      rest,
      graphql,
    }
  })
}

const declared = (cell: string): string | null => (cell === '—' ? null : plain(cell))

const plain = (cell: string): string => cell.replace(/^`+|`+$/g, '')

const parse = (cell: string): readonly unknown[] =>
  JSON.parse(`[${plain(cell).replace(/<(\d+) letters>/g, (_, count: string) => 'x'.repeat(Number(count)))}]`)
