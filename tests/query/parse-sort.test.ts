import test from 'ava'
import { parseSort } from '../../core/query/parse-sort.ts'
import { holderOf, modelOf } from '../model/compiled.ts'

const model = await modelOf(`
contentTypes:
  book: { attributes: { title: string, author: { type: relation, relation: manyToOne, target: author } } }
  author: { attributes: { name: string } }
`)

/** `author.name asc` */
const parse = (sort: unknown): readonly string[] =>
  parseSort(sort, holderOf(model, 'book')).map(
    ({ path, attribute, direction }) =>
      `${[...path.map(step => step.attribute.name), attribute.name].join('.')} ${direction}`,
  )

test('a sort that is repeated counts once, so that a list of any length sorts by few attributes', t => {
  t.deepEqual(parse('title,author.name:desc,title:ASC'), ['title asc', 'author.name desc'])
  t.deepEqual(parse(['title:desc', 'title', { author: { name: 'asc' } }]), [
    'title desc',
    'title asc',
    'author.name asc',
  ])
  t.deepEqual(parse(Array.from({ length: 1_000 }, () => 'title')), ['title asc'])
})
