import test from 'ava'
import { modelOf } from '../model/compiled.ts'
import { roundTrips } from './round-trips.ts'
import { names, openWriting, type Row, refusal, type Where } from './writing.ts'

const model = await modelOf(`
i18n: { defaultLocale: en, locales: [en, fr] }
contentTypes:
  note: { attributes: { name: string, posts: { type: relation, relation: oneToMany, target: post, mappedBy: note } } }
  tag: { attributes: { name: string, posts: { type: relation, relation: manyToMany, target: post, mappedBy: tags } } }
  post:
    draftAndPublish: true
    attributes:
      title: { type: string, required: true, minLength: 2, maxLength: 6 }
      slug: { type: uid, targetField: title }
      code: { type: string, unique: true }
      rank: { type: integer, min: 1, max: 9 }
      note: { type: relation, relation: manyToOne, target: note, inversedBy: posts }
      tags: { type: relation, relation: manyToMany, target: tag, inversedBy: posts }
      friends: { type: relation, relation: oneToMany, target: post }
  story:
    draftAndPublish: true
    localized: true
    attributes:
      title: { type: string, required: true }
      text: text
      kind: { type: string, localized: false }
      tags: { type: relation, relation: manyToMany, target: tag }
  page:
    attributes:
      title: { type: string, required: true }
      generated: { type: uid, targetField: title, generate: true }
      posts: { type: relation, relation: manyToMany, target: post }
      first: { type: relation, relation: manyToOne, target: post }
`)

/** A precondition that always holds takes the path that loads the document. */
const LOADING: Where = { tags: ['*'] }

const DRAFT: Where = { status: 'draft' }

/** What answers show, without ids and moments, with the names of what is linked. */
const shown = (row: Row | null): Row | null =>
  row &&
  Object.fromEntries(
    Object.entries(row)
      .filter(
        ([key]) => !['id', 'documentId', 'createdAt', 'updatedAt', 'code', 'slug', 'generated'].includes(key),
      )
      .map(([key, value]) => [
        key,
        key === 'publishedAt'
          ? value !== null
          : key === 'friends' || key === 'posts'
            ? names(value, 'title')
            : value && typeof value === 'object'
              ? names(value)
              : value,
      ]),
  )

test.serial(
  'an update in one round trip leaves the same rows and lists as one that loads the document',
  async t => {
    const { create, update, change, find } = await openWriting(t, model)
    const tags: unknown[] = []
    for (const name of ['a', 'b', 'c']) tags.push((await create('tag', { name })).documentId)
    const [one, two] = [await create('note', { name: 'one' }), await create('note', { name: 'two' })]
    const friend = (await create('post', { title: 'friend' })).documentId
    const [a, b, c] = tags
    const steps: readonly (readonly [Row, Where] | 'publish' | 'unpublish')[] = [
      [{ title: 'second', rank: 2 }, {}],
      [{ note: one.documentId, tags: [a, b] }, {}],
      [{ title: 'third' }, DRAFT],
      [{ tags: [c, a], note: two.documentId }, DRAFT],
      'publish',
      [{ tags: [b, a, c], friends: [friend] }, {}],
      [{ note: null, tags: [] }, {}],
      [{ tags: [a, c], note: one.documentId, rank: null }, DRAFT],
      'unpublish',
      [{ title: 'fourth' }, {}],
      'unpublish',
      'publish',
      [{}, {}],
    ]
    const start = { title: 'first', note: one.documentId, tags: [b] }
    const ways = [
      await create('post', { ...start, code: 'x' }),
      await create('post', { ...start, code: 'y' }),
    ]
    for (const step of steps) {
      const answers: unknown[] = []
      for (const [way, { documentId }] of ways.entries()) {
        // Conditions take the path that loads the document, too.
        const always = { conditions: { before: { kind: 'and', filters: [] } } } as const
        if (typeof step === 'string') await change(step, 'post', documentId, way === 0 ? {} : always)
        else
          answers.push(
            shown(await update('post', documentId, step[0], { ...step[1], ...(way === 0 ? {} : LOADING) })),
          )
        for (const status of ['draft', 'published'] as const)
          answers.push(shown(await find('post', documentId, { status })))
      }
      const half = answers.length / 2
      t.deepEqual(answers.slice(0, half), answers.slice(half), JSON.stringify(step))
    }
    for (const [kind, id] of [
      ['tag', a],
      ['note', one.documentId],
    ] as const) {
      const { posts } = (await find(kind, id)) ?? {}
      t.is((posts as unknown[]).length, 2, kind)
    }
  },
)

test.serial('plain fields, whole lists, publishing and deletion take one round trip', async t => {
  const { create, update, change, remove, find } = await openWriting(t, model)
  const tag = (await create('tag', { name: 'a' })).documentId
  const { documentId } = await create('post', { title: 'first', tags: [tag] })
  const page = await create('page', { title: 'a', posts: [documentId] })
  const counts: number[] = []
  const count = async (work: () => Promise<unknown>) => counts.push(await roundTrips(work))
  await count(() => update('post', documentId, { title: 'b1', rank: 3 }))
  await count(() => update('post', documentId, { tags: [tag] }))
  await count(() => update('post', documentId, { title: 'b2' }, DRAFT))
  await count(() => update('page', page.documentId, { title: 'b', first: documentId }))
  await count(() => change('unpublish', 'post', documentId))
  await count(() => change('publish', 'post', documentId))
  await count(() => remove('post', documentId))
  t.deepEqual(counts, [1, 1, 1, 1, 1, 1, 1])
  const left = await find('page', page.documentId)
  t.deepEqual([left?.title, names(left?.posts, 'title'), left?.first], ['b', [], null])
})

test.serial('what the one round trip assumes may be wrong: the update then loads the document', async t => {
  const { create, update, tryUpdate, tryRemove, change, find, rows } = await openWriting(t, model)
  const tags: unknown[] = []
  for (const name of ['a', 'b']) tags.push((await create('tag', { name })).documentId)
  const { documentId } = await create('post', { title: 'first', tags })
  const sql = (text: string) => rows(text.replace('$ID', `document_id = '${documentId}'`))
  // Another process changed the list of the draft.
  const ofDraft = `(SELECT id FROM posts WHERE $ID AND status = 'draft')`
  await sql(`DELETE FROM posts_tags_links WHERE owner_id = ${ofDraft} AND target_key = 1`)
  await update('post', documentId, { title: 'b1' })
  t.deepEqual(names((await find('post', documentId))?.tags), ['b'])
  // It unpublished, or published.
  await sql(`DELETE FROM posts WHERE $ID AND status = 'published'`)
  t.like(await update('post', documentId, { title: 'b2' }), { title: 'b2' })
  await change('unpublish', 'post', documentId)
  const copied = 'document_id, document_key, title, created_at, updated_at, published_at'
  await sql(`INSERT INTO posts (status, ${copied}) SELECT 'published', ${copied} FROM posts WHERE $ID`)
  t.like(await update('post', documentId, { rank: 4 }), { title: 'b2', rank: 4 })
  t.deepEqual(names((await find('post', documentId))?.tags), ['b'])
  // It stored values that may not be published.
  for (const [set, message] of [
    [`title = NULL`, /title/],
    [`title = '1'`, /title must be at least 2 characters/],
    [`title = '1234567'`, /title must be at most 6 characters/],
    [`rank = 10`, /rank must be less than or equal to 9/],
    [`rank = 0`, /rank must be greater than or equal to 1/],
    [`slug = 'ä'`, /slug must match/],
  ] as const) {
    await sql(`UPDATE posts SET ${set} WHERE $ID AND status = 'draft'`)
    t.regex(String(refusal(await tryUpdate('post', String(documentId), { code: 'new' })).message), message)
    await sql(`UPDATE posts SET title = 'fine', rank = 1, slug = 'fine' WHERE $ID AND status = 'draft'`)
  }
  await create('post', { title: 'other', code: 'taken' })
  t.regex(String(refusal(await tryUpdate('post', String(documentId), { code: 'taken' })).message), /unique/)
  t.regex(String(refusal(await tryUpdate('post', 'nowhere', { code: 'z' })).message), /not found/i)
  t.true((await tryRemove('post', 'nowhere')).ok)
  // A type without drafts generates the uid that is not there.
  const page = await create('page', { title: 'Of old' })
  await rows(`UPDATE pages SET generated = NULL`)
  t.is((await update('page', page.documentId, { title: 'Of now' })).generated, 'of-now')
})

test.serial('links that an update keeps keep their places in the lists of the other side', async t => {
  const { create, update, find } = await openWriting(t, model)
  const tag = (await create('tag', { name: 'a' })).documentId
  const note = (await create('note', { name: 'n' })).documentId
  const posts: unknown[] = []
  for (const title of ['p1', 'p2'])
    posts.push((await create('post', { title, tags: [tag], note })).documentId)
  await update('post', posts[0], { title: 'p3', tags: [tag], note })
  const inverse = async (kind: string, id: unknown) => names((await find(kind, id))?.posts, 'title')
  t.deepEqual(
    [await inverse('tag', tag), await inverse('note', note)],
    [
      ['p3', 'p2'],
      ['p3', 'p2'],
    ],
  )
  await update('post', posts[0], { tags: [], note: null })
  await update('post', posts[0], { tags: [tag], note })
  t.deepEqual(
    [await inverse('tag', tag), await inverse('note', note)],
    [
      ['p2', 'p3'],
      ['p2', 'p3'],
    ],
  )
})

test.serial(
  'a locale is updated and published in one round trip, as by the path that loads the document',
  async t => {
    const { create, update, change, find, rows } = await openWriting(t, model)
    const tags: unknown[] = []
    for (const name of ['a', 'b']) tags.push((await create('tag', { name })).documentId)
    const french: Where = { locale: 'fr' }
    const steps: readonly (readonly [Row, Where] | readonly ['publish' | 'unpublish', Where])[] = [
      [{ title: 'two', tags }, {}],
      [{ title: 'deux' }, french],
      [{ kind: 'shared' }, DRAFT],
      [{ title: 'trois', text: 'long' }, french],
      [{ title: 'three' }, { ...DRAFT }],
      [{ title: 'quatre' }, { ...DRAFT, ...french }],
      ['unpublish', french],
      ['publish', french],
      ['publish', {}],
      [{ kind: 'other' }, DRAFT],
      ['unpublish', {}],
      ['publish', {}],
      [{ text: null, tags: [tags[1]] }, french],
    ]
    const ways = [await create('story', { title: 'one' }), await create('story', { title: 'one' })]
    const always = { conditions: { before: { kind: 'and', filters: [] } } } as const
    for (const [done, where] of steps) {
      const seen: unknown[][] = []
      for (const [way, { documentId }] of ways.entries()) {
        const how = { ...where, ...(way === 0 ? {} : always) }
        if (typeof done === 'string') await change(done, 'story', documentId, how)
        else await update('story', documentId, done, how)
        const stamps = `SELECT status, locale, title, kind, text, published_at IS NULL, dense_rank() OVER (ORDER BY updated_at), dense_rank() OVER (ORDER BY shared_updated_at) FROM stories WHERE document_id = '${documentId}' ORDER BY status, locale`
        const found = [...(await rows(stamps))]
        for (const status of ['draft', 'published'] as const)
          for (const locale of ['en', 'fr'])
            found.push([names((await find('story', documentId, { status, locale }))?.tags) as never])
        seen.push(found)
      }
      t.deepEqual(seen[0], seen[1], JSON.stringify([done, where]))
    }
    const id = ways[0]?.documentId
    t.is(await roundTrips(() => update('story', id, { title: 'x' }, { ...DRAFT, ...french })), 1)
    await update('story', id, { title: 'y' }, french)
    t.is(await roundTrips(() => update('story', id, { title: 'z' }, french)), 1)
  },
)
