import test from 'ava'
import { hintFor, nearest } from '../../core/base/nearest.ts'
import { OPERATOR_NAMES } from '../../core/query/operators.ts'

const MEANT: readonly (readonly [word: string, known: readonly string[], meant: string | undefined])[] = [
  ['landingPage', ['homepage', 'landing-page'], 'landing-page'],
  ['Landing_Page', ['homepage', 'landing-page'], 'landing-page'],
  ['api::author.author', ['article', 'author'], 'author'],
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
