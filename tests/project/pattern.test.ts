import test from 'ava'
import { compilePattern } from '../../core/project/pattern.ts'
import { linearity } from '../harness/processor-time.ts'

/** Expressions of real projects, and values on which engines differ. */
const SOURCES = [
  '^[a-z0-9-]+$',
  '^(?:[a-z]+-)*[a-z]+$',
  '^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$',
  '^(a|b)?.{2,5}$',
  '(\\d{3})-(\\d{4})',
  '^#(?<hex>[0-9a-f]{6})$',
  'a.b|c\\sd',
  '^[[a]+(x|y)$',
  '^\\p{L}(a|b)',
  '^(?=.*[A-Z])(?=.*\\d).{4,}$',
  '^(a)\\1$',
  '[^]{2}(x)?',
  '\\bword\\b(s)?',
  '^[\\s\\d]+(;|$)',
  '^\\/a(\\/b)*$',
  '(^a$)|(^b$)',
]
const VALUES = [
  '',
  'a',
  'aa',
  'a-b',
  'abc',
  'a@b.c',
  'a b@c.d',
  '123-4567',
  '#00ff00',
  'a\nb',
  'a\u2028b',
  'c\u00a0d',
  'a[[x',
  '[ax',
  'p{L}a',
  'Passw0rd',
  'passw0rd',
  'a word',
  'swords',
  '1 2;',
  '/a/b/b',
  '\ufeff1',
  'é',
]

test('a pattern matches the same texts as the regular expression of JavaScript', t => {
  for (const source of SOURCES) {
    const pattern = compilePattern(source)
    t.is(String(pattern), `/${source}/`)
    for (const value of VALUES)
      t.is(pattern.test(value), new RegExp(source).test(value), `/${source}/ of ${JSON.stringify(value)}`)
  }
})

test('a pattern runs in linear time for every value', async t => {
  const sources = [
    '^(a+)+$',
    '^(a|a)*$',
    '^(a|aa)+$',
    '(x+x+)+y',
    '^(?=(a+)+$)a',
    '^(a+)+\\1$',
    '^a{0,90}a{0,90}a*$',
  ]
  for (const source of sources) {
    const pattern = compilePattern(source)
    for (const print of [(size: number) => `${'a'.repeat(size)}!`, (size: number) => 'x'.repeat(size)]) {
      const { isLinear, times } = await linearity(50_000, size => t.false(pattern.test(print(size)), source))
      t.true(isLinear, `/${source}/: ${times}`)
    }
  }
})

test('an invalid expression is reported with JavaScript’s message', t => {
  t.throws(() => compilePattern('(a'), { instanceOf: SyntaxError })
})
