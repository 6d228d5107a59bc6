import test from 'ava'
import { hintFor, nearest } from '../../core/base/nearest.ts'
import { OPERATOR_NAMES } from '../../core/query/operators.ts'
import { openRandom } from '../harness/random.ts'

const MEANT: readonly (readonly [word: string, known: readonly string[], meant: string | undefined])[] = [
  ['landingPage', ['homepage', 'landing-page'], 'landing-page'],
  ['Landing_Page', ['homepage', 'landing-page'], 'landing-page'],
  ['api::author.author', ['article', 'author'], 'author'],
  ['global::is-owner', ['has-role', 'is-owner'], 'is-owner'],
  ['read', ['create', 'find', 'findOne'], 'find'],
  ['read', ['create', 'read'], 'read'],
  ['remove', ['create', 'delete'], 'delete'],
  ['artcle', ['article', 'author'], 'article'],
  ['targetField', ['type', 'target'], 'target'],
  ['xyz', ['article', 'author'], undefined],
  ['', ['article'], undefined],
  ['toString', ['article'], undefined],
]

for (const [word, known, meant] of MEANT)
  test(`the nearest word to \`${word}\` among ${known.join(', ')}`, t => t.is(nearest(word, known), meant))

test('the nearest word is the one with the fewest insertions, deletions, replacements and swaps', t => {
  const random = openRandom(7)
  const word = () => Array.from({ length: 3 + random(8) }, () => 'abcd'[random(4)]).join('')
  for (let round = 0; round < 2_000; round++) {
    const [asked, known] = [word(), word()]
    const found = distance(asked, known)
    const isNear = found <= Math.max(1, Math.floor(asked.length / 3))
    t.is(nearest(asked, [known]), isNear ? known : undefined, `${asked} ${known} ${found}`)
  }
})

/** The definition, without anything that makes it fast. */
function distance(a: string, b: string): number {
  const rows: number[][] = []
  const at = (row: number, column: number) => rows[row]?.[column] ?? Number.POSITIVE_INFINITY
  for (let row = 0; row <= a.length; row++) {
    rows.push([])
    for (let column = 0; column <= b.length; column++) {
      const replaced = at(row - 1, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1)
      const isSwap = a.slice(row - 2, row) === [...b.slice(column - 2, column)].reverse().join('')
      const swapped = row > 1 && column > 1 && isSwap ? at(row - 2, column - 2) + 1 : replaced
      const least = Math.min(at(row - 1, column) + 1, at(row, column - 1) + 1, replaced, swapped)
      rows[row]?.push(row + column === 0 ? 0 : least)
    }
  }
  return at(a.length, b.length)
}

test('operators of other query languages are matched to ours', t => {
  const of = (word: string) => nearest(word, OPERATOR_NAMES)
  t.is(of('$equals'), '$eq')
  t.is(of('$neq'), '$ne')
  t.is(of('$nin'), '$notIn')
  t.is(of('$like'), '$contains')
  t.is(of('$ilike'), '$containsi')
  t.is(of('$greaterThanOrEqual'), '$gte')
  t.is(of('$isNull'), '$null')
  t.is(of('$startswith'), '$startsWith')
})

test('without a near word, a short list is printed, a long one is not, and an empty one is mentioned', t => {
  t.is(hintFor('x', ['one', 'three']), ': one of `one`, `three`')
  t.is(hintFor('x', []), ': there is none')
  t.is(
    hintFor(
      'x',
      Array.from({ length: 15 }, (_, at) => `word${at}`),
    ),
    '',
  )
})
