import type { JsonRecord, JsonValue } from '../../tools/console/api/json.ts'

export type RandomNumber = (bound: number) => number

/** A linear congruential generator: the same numbers in every run. */
export function randomNumbers(seed: number): RandomNumber {
  let state = seed
  return bound => {
    state = (state * 1103515245 + 12345) % 2147483648
    return Math.floor(state / 65536) % bound
  }
}

const WORDS = [
  '',
  ' ',
  'word',
  'two words ',
  'line\nline',
  '\r\n\t',
  'é e\u0301 ﬁ',
  'مرحبا',
  '👩‍👩‍👧',
  '\u200b\u2028\ufeff',
  '<b>&amp;</b>',
  '"\\',
  '\u{1d11e}',
]
const NAMES = ['id', 'lang', '__component', 'constructor', 'toString', 'data-x', 'Z', '1']

/** Random documents of the format `blocks` with unknown properties, orders of keys, and nodes, unless `known`. */
export function randomBlocks(random: RandomNumber, known = false): JsonValue[] {
  const pick = <Value>(values: readonly Value[]): Value => values[random(values.length)] as Value
  const many = <Value>(most: number, make: () => Value): Value[] =>
    Array.from({ length: 1 + random(most) }, make)
  const value = (): JsonValue => pick<JsonValue>([null, true, 1.5, 'x', [], { a: [1] }, 12345678901234])
  const shuffled = (node: JsonRecord): JsonRecord => {
    const entries = Object.entries(node)
    if (random(4) === 0) entries.push([pick(NAMES), value()])
    if (random(3) === 0) entries.sort(() => random(3) - 1)
    return Object.fromEntries(entries)
  }
  const text = (): JsonRecord => {
    const marks = ['bold', 'italic', 'underline', 'strikethrough', 'code'].filter(() => random(5) === 0)
    return shuffled({
      type: 'text',
      text: pick(WORDS) + pick(WORDS),
      ...Object.fromEntries(marks.map(mark => [mark, pick([true, true, false])])),
    })
  }
  const inline = (): JsonValue => {
    const kind = random(10)
    if (kind === 0)
      return shuffled({
        type: 'link',
        url: pick(['https://a.b/', '/c', 'mailto:a@b.c']),
        children: many(3, text),
      })
    if (kind === 1 && !known && random(4) === 0)
      return pick<JsonValue>([{ type: 'mention', id: 3, children: [] }, { emoji: 'x' }])
    return text()
  }
  const item = (): JsonValue => shuffled({ type: 'list-item', children: many(3, inline) })
  const list = (level: number): JsonRecord =>
    shuffled({
      type: 'list',
      format: pick(['ordered', 'unordered']),
      ...(level > 0 && { indentLevel: level }),
      children: many(4, () => (level < 4 && random(4) === 0 ? list(level + 1) : item())),
    })
  const block = (): JsonValue => {
    switch (random(known ? 4 : 8)) {
      case 0:
        return shuffled({ type: 'heading', level: 1 + random(6), children: many(3, inline) })
      case 1:
        return list(0)
      case 2:
        return shuffled({ type: 'quote', children: many(3, inline) })
      case 3:
        return shuffled({ type: 'code', ...(random(2) === 0 && { language: 'ts' }), children: many(2, text) })
      case 4:
        return shuffled({
          type: 'image',
          image: { name: 'a.png', url: '/uploads/a.png', width: 3, alternativeText: pick([null, 'a']) },
          children: many(1, text),
        })
      case 5:
        return pick<JsonValue>([
          { type: 'table', rows: [[1]] },
          { type: 'x', children: [text()] },
        ])
      default:
        return shuffled({ type: 'paragraph', children: many(4, inline) })
    }
  }
  // One blank paragraph is how an editor shows no document.
  return [{ type: 'paragraph', children: [text(), { type: 'text', text: 'x' }] }, ...many(6, block)]
}
