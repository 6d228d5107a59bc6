import { readFileSync } from 'node:fs'

/** A row of docs/migrations.md that says what a change of a relation does. */
export interface RelationRow {
  readonly line: number
  /** YAML of the attribute `x` of a book and of `y` of a tag; null: there is none. */
  readonly before: Sides
  readonly after: Sides
  /** `b1-t1` */
  readonly links: readonly string[]
  /** safe, destructive, or refused. */
  readonly class: string
  /** The heading of refused changes. */
  readonly code: string | null
  readonly outcome: readonly string[]
  /** What clients notice: breaking, risky, safe, none. */
  readonly rest: string
  readonly graphql: string
}

export interface Sides {
  readonly x: string | null
  readonly y: string | null
}

const PAGE = new URL('../../docs/migrations.md', import.meta.url)

export function readRelations(): readonly RelationRow[] {
  const lines = readFileSync(PAGE, 'utf8').split('\n')
  return lines.flatMap((text, index) => {
    const cells = text.split('|').map(cell => cell.trim())
    const [
      ,
      x = '',
      y = '',
      links = '',
      toX = '',
      toY = '',
      verdict = '',
      then = '',
      rest = '',
      graphql = '',
    ] = cells
    if (cells.length !== 11 || x.endsWith('before') || x.startsWith('---')) return []
    const [weight = '', code = null] = verdict.split(': ')
    return {
      line: index + 1,
      before: { x: declared(x), y: declared(y) },
      after: { x: declared(toX), y: declared(toY) },
      links: words(links),
      class: weight,
      code,
      outcome: words(then),
      rest,
      graphql,
    }
  })
}

const declared = (cell: string): string | null => (cell === '—' ? null : cell.replaceAll('`', ''))

const words = (cell: string): readonly string[] => cell.split(' ').filter(word => word !== '')
