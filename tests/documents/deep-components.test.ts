import test, { type ExecutionContext } from 'ava'
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

const LISTED = `
components:
  part.leaf: { attributes: { text: string } }
  part.word: { attributes: { text: string, leaves: { type: component, component: part.leaf, repeatable: true } } }
contentTypes:
  page:
    draftAndPublish: true
    attributes: { title: string, words: { type: component, component: part.word, repeatable: true } }
`

interface Listed {
  readonly id: number
  readonly leaves?: readonly Listed[]
}

/** How often ids of stored rows are read while a page is updated and published, whose components the body names by id. */
async function readsOfIds(t: ExecutionContext, length: number): Promise<number> {
  const { create, update, change, find } = await openWriting(t, await modelOf(LISTED))
  const draft = { status: 'draft' } as const
  const some = () => Array.from({ length }, () => ({ text: 'x' }))
  const words = [...some(), { text: 'y', leaves: some() }]
  const { documentId } = await create('page', { words }, draft)
  const stored = await find('page', documentId, draft)
  const get = Map.prototype.get
  let reads = 0
  Map.prototype.get = function (key) {
    if (key === 'id') reads += 1
    return get.call(this, key)
  }
  try {
    const again = (listed: readonly Listed[]): object[] =>
      listed
        .map(({ id, leaves }) => ({ id, text: 'z', ...(leaves ? { leaves: again(leaves) } : {}) }))
        .toReversed()
    await update('page', documentId, { words: again(stored?.words as readonly Listed[]) }, draft)
    await change('publish', 'page', documentId)
  } finally {
    Map.prototype.get = get
  }
  return reads
}

test.serial('the work for components that a body names by id is proportional to their number', async t => {
  const [few, many] = [await readsOfIds(t, 50), await readsOfIds(t, 400)]
  t.true(few > 100, `${few}: the ids of all components are read`)
  t.true(many < few * 12, `${few} and ${many}`)
})
