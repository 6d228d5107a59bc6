import test from 'ava'
import type { Database, Transaction } from '../../core/database/database.ts'
import { countMediaSources, mediaSources } from '../../core/model/media-sources.ts'
import { holderOf, modelOf } from '../model/compiled.ts'
import { openWriting, openWritingOver } from './writing.ts'

const LEVELS = 20

/** Two components a level, each of which contains both of the next level: 2 ** 20 ways lead to the last level. */
function printDiamond(): string {
  const levels = Array.from({ length: LEVELS }, (_, index) => index + 1)
  const next = (level: number) =>
    ['a', 'b'].map(name => `${name}: { type: component, component: deep.${name}${level + 1} }`)
  const components = levels.flatMap(level => {
    const attributes =
      level < LEVELS ? next(level) : ['cover: { type: media }', 'code: { type: string, unique: true }']
    return ['a', 'b'].map(
      name => `deep.${name}${level}: { attributes: { title: string, ${attributes.join(', ')} } }`,
    )
  })
  return `
components:
  ${components.join('\n  ')}
contentTypes:
  article:
    draftAndPublish: true
    attributes: { title: string, cover: { type: media }, ${next(0).join(', ')} }
`
}

test('the ways over nested components to a file are counted, and listed only where they are few', async t => {
  const model = await modelOf(printDiamond())
  const related = [...model.contentTypes.values()]
    .flatMap(type => [...type.attributes.values()])
    .find(attribute => attribute.kind === 'morph')
  if (related?.kind !== 'morph') return t.fail('files have no attribute `related`')
  const holders = ['article', `deep.a${LEVELS}`, `deep.b${LEVELS}`].map(name => holderOf(model, name))
  t.deepEqual(
    [...countMediaSources(related)].map(([{ uid }, count]) => [uid, count]),
    holders.map(({ uid }, index) => [uid, index === 0 ? 1 : 2 ** (LEVELS - 1)]),
  )
  const [article] = holders
  t.is(article && mediaSources(related, article).length, 1)
  t.deepEqual(mediaSources(related, holderOf(model, 'deep.a3')), [])
})

/** The sizes of the parameters of all statements in transactions, as JSON. */
function measureParameters(database: Database) {
  const measured = { characters: 0 }
  const measure = (transaction: Transaction): Transaction => ({
    ...transaction,
    run: statement => {
      measured.characters += JSON.stringify(statement.values).length
      return transaction.run(statement)
    },
    send: statement => {
      measured.characters += JSON.stringify(statement.values).length
      transaction.send(statement)
    },
  })
  const whole: Database = {
    ...database,
    transaction: (work, options) => database.transaction(each => work(measure(each)), options),
  }
  return { measured, whole }
}

/** The value of the component of a level with `depth` levels in all. */
const chain = (depth: number, code: string): object =>
  depth === 1 ? { title: 'last', code } : { title: 'inner', a: chain(depth - 1, code) }

test('an update of nested components is proportional to their number, not to the ways through their versions', async t => {
  const model = await modelOf(printDiamond())
  const { database, create } = await openWriting(t, model)
  const plainly = { plainly: { filter: null } } as const
  const { documentId } = await create('article', { title: 'one', a: chain(LEVELS, 'x') }, plainly)
  const { measured, whole } = measureParameters(database)
  const { update, change, remove } = openWritingOver(whole, model)
  await update('article', documentId, { a: chain(LEVELS, 'y') }, plainly)
  await change('discardDraft', 'article', documentId, plainly)
  await change('unpublish', 'article', documentId, plainly)
  await change('publish', 'article', documentId, plainly)
  await remove('article', documentId, plainly)
  t.true(measured.characters < 100_000, `${measured.characters} characters of parameters`)
})
