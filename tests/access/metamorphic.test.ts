import test from 'ava'
import type { Caller } from '../../core/access/caller.ts'
import type { Filter, Populate, Query } from '../../core/query/query.ts'
import { parseFilter, restrict } from '../harness/attempts.ts'
import { populate } from './oracle.ts'
import { attributeOf, everything, listOf, passed, typeOf, world } from './project.ts'

/** Conditions in the language of the file; each becomes a role that finds books, and may read all else. */
const CONDITIONS = [
  '{ price: 5 }',
  '{ price: { $gt: 5, $lt: 9 } }',
  '{ title: { $in: [a, b] } }',
  '{ $or: [{ price: 1 }, { title: { $startsWithi: x } }] }',
  '{ $not: { title: { $null: true } } }',
  '{ writer: { name: Ann } }',
  '{ writer: { books: { sequel: { title: x } } } }',
  '{ box: { writer: { age: { $gte: 18 } } } }',
]

const { model, access } = await world(`
roles:
${CONDITIONS.map(
  (where, index) => `
  role${index}: { permissions: { "*": [find, findOne], users: [find], book: { find: { where: ${where} }, findOne: { where: ${where} } } } }`,
).join('')}
apiTokens: { all: { type: full-access, secret: all-all-all-all-all-all } }
`)
const book = typeOf(model, 'book')
const writer = typeOf(model, 'writer')

const caller = (name: string): Caller => {
  const grants = access.roles.get(name) ?? access.tokens.get(name)
  if (!grants) throw new Error(`no ${name}`)
  return { kind: 'token', grants, user: null }
}

const and = (condition: Filter, filter: Filter | null): Filter =>
  filter ? { kind: 'and', filters: [condition, filter] } : condition

/** The condition of a scope as a part of the filter: plan/ returns the same rows for both. */
function spread<Node extends Populate>(node: Node): Node {
  if (node.kind !== 'link' || !node.scope?.where) return node
  return { ...node, scope: null, filter: and(node.scope.where, node.filter) }
}

const asked: readonly (Filter | null)[] = [
  null,
  passed(parseFilter({ title: { $contains: 'x' } }, book)),
  passed(parseFilter({ $or: [{ price: 3 }, { $not: { writer: { name: 'Bob' } } }] }, book)),
]

for (const [index, where] of CONDITIONS.entries()) {
  test(`a role that finds only ${where} answers like full access with that filter`, t => {
    const role = caller(`role${index}`)
    const all = caller('all')
    const condition = conditionOf(role)
    for (const filter of asked) {
      for (const take of [listOf(book).take, { kind: 'one', documentId: 'x' } as const]) {
        const query: Query = { ...listOf(book), take, filter }
        const narrow = passed(restrict(query, role))
        const wide = passed(restrict({ ...query, filter: and(condition, filter) }, all))
        t.deepEqual(narrow, wide)
      }
      const inner = populate(attributeOf(writer, 'books', 'relation'))
      if (inner.kind !== 'link') return t.fail()
      const [own] = populated({ ...inner, filter }, role)
      const [full] = populated({ ...inner, filter: and(condition, filter) }, all)
      t.deepEqual(own && spread(own), full)
      const [counted] = populated({ ...inner, filter, count: true }, role)
      t.deepEqual(counted?.kind === 'link' && counted.scope, { status: null, where: condition })
    }
    return undefined
  })
}

function conditionOf(role: Caller): Filter {
  const { filter } = passed(restrict(listOf(book), role))
  if (!filter) throw new Error('the role has no condition')
  return filter
}

function populated(inner: Populate, as: Caller): readonly Populate[] {
  const selection = { ...everything(writer), populate: [inner] }
  return passed(restrict(listOf(writer, { selection }), as)).selection.populate
}
