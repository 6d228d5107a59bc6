import test from 'ava'
import { createRedactor } from '../../core/base/redact.ts'
import { findTransactionCommand } from '../../core/database/transaction-commands.ts'
import { toUsername } from '../../core/identity/users/user-values.ts'
import { suspectRanges } from '../../core/project/secret-ranges.ts'
import { linearity } from '../harness/processor-time.ts'

// Texts that make a backtracking expression take quadratic or exponential time, read by what replaced expressions.

const redact = createRedactor([])

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  redact,
  suspectRanges,
  findTransactionCommand,
  toUsername,
}

const SHAPES = [
  'a+',
  'a://b:',
  'a://b:c',
  '://',
  'secret:',
  'secret: ',
  "'",
  '"',
  '/*',
  '/**/',
  '--',
  '$a$',
  '$',
  ':',
  '\n',
  ' ',
  '`',
  '\\',
  '\u0301\u0323',
  '\u0301\uFF9E',
]

const SIZE = 400_000

test('texts are parsed in linear time', async t => {
  for (const [name, read] of Object.entries(READERS))
    for (const shape of SHAPES) {
      const { isLinear, times } = await linearity(SIZE, size => read(shape.repeat(size / shape.length)))
      t.true(isLinear, `${name} of ${JSON.stringify(shape)}: ${times}`)
    }
})

test('the marks of a letter are cut where no language has as many', t => {
  const marks = '\u0323\u0301'
  t.is(toUsername(` e${marks}\uFB01 `), '\u1EB9\u0301fi')
  t.is(toUsername(`x${marks.repeat(15)}`), `x${'\u0323'.repeat(15)}${'\u0301'.repeat(15)}`)
  t.is(toUsername(`x${marks.repeat(200_000)}y`), `x${'\u0323'.repeat(15)}${'\u0301'.repeat(15)}y`)
})

test('passwords in URLs are masked at any position', t => {
  t.is(
    redact('postgres://u:p4ss:w@h/db and x://y:z@h'),
    'postgres://u:[redacted]@h/db and x://y:[redacted]@h',
  )
  t.is(redact('http://h:80/a@b'), 'http://h:80/a@b')
  t.is(redact('a://b://c:d@e'), 'a://b://c:[redacted]@e')
  t.is(redact('://u:p@h'), '://u:p@h')
})

test('transaction commands inside of comments, strings and functions are not detected as such', t => {
  t.is(
    findTransactionCommand('-- commit;\n/* ; commit */ SELECT \';commit\', "a;commit", $x$ ;commit; $x$'),
    null,
  )
  t.is(findTransactionCommand("SELECT 'it''s'; commit"), 'COMMIT')
  t.is(findTransactionCommand('SELECT $1; rollback'), 'ROLLBACK')
  t.is(findTransactionCommand('rollback to a'), null)
})
