import test from 'ava'
import { mergeLineBreaks, normalizeLineBreaks } from '../../tools/console/fields/line-breaks.ts'
import { randomNumbers } from './random-blocks.ts'

const PARTS = [
  '\r\n',
  '\n',
  '\r',
  '\t',
  '  ',
  'word',
  '# ',
  'é',
  'e\u0301',
  '👩‍👩‍👧',
  '\u2028',
  '\ufeff',
  '\u200b',
  'مرحبا',
  '\u0007',
  '\ud800',
]

test('1,000 random texts are the same bytes after they were opened, and after an edit was taken back', t => {
  const random = randomNumbers(3)
  const text = (most: number) =>
    Array.from({ length: random(most) }, () => PARTS[random(PARTS.length)]).join('')
  for (let round = 0; round < 1000; round++) {
    const stored = text(40)
    const shown = normalizeLineBreaks(stored)
    t.is(mergeLineBreaks(stored, shown), stored)
    const place = random(shown.length + 1)
    const typed = `${shown.slice(0, place)}X${shown.slice(place)}`
    const edited = mergeLineBreaks(stored, typed)
    t.is(normalizeLineBreaks(edited), typed)
    t.is(edited.replace('X', ''), stored)
    t.is(mergeLineBreaks(edited, shown), stored)
  }
})

test('an edit keeps the line breaks of all other lines, and new lines have that of the text', t => {
  t.is(mergeLineBreaks('a\r\nb\rc\nd', 'a\nbX\nc\nd'), 'a\r\nbX\rc\nd')
  t.is(mergeLineBreaks('a\r\nb', 'a\nnew\nb'), 'a\r\nnew\r\nb')
  t.is(mergeLineBreaks('a\r\nb', ''), '')
  t.is(mergeLineBreaks('', 'a\nb'), 'a\nb')
  t.is(mergeLineBreaks('a\r\n\r\nb', 'a\nb'), 'a\r\nb')
})
