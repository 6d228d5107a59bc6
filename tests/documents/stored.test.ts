import test from 'ava'
import type { Result } from '../../core/base/result.ts'
import { entityTag } from '../../core/base/text.ts'
import type { Fault } from '../../core/faults/fault.ts'
import type { Filter } from '../../core/query/query.ts'
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
  pin: { attributes: { post: { type: relation, relation: manyToOne, target: post } } }
`)

const ALWAYS = { kind: 'and', filters: [] } as const

/** Conditions that every version meets. */
const CONDITIONAL: Where = {
  conditions: {
    before: ALWAYS,
    after: ALWAYS,
    visible: [
      { status: 'published', where: ALWAYS },
      { status: 'draft', where: ALWAYS },
    ],
  },
}

/** How a write is made: in one round trip, the same under conditions, and after it loaded the document. */
const WAYS = ['once', 'under conditions', 'loading'] as const

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
    const { create, update, change, find, loading } = await openWriting(t, model)
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
      [{ title: 'other' }, {}],
      [{ tags: [b, c, a], friends: [friend] }, DRAFT],
      'publish',
      [{ tags: [b, a, c], friends: [friend] }, {}],
      [{ tags: { disconnect: [b], connect: [a] } }, {}],
      [{ tags: { disconnect: [a, c] }, note: { connect: [two.documentId] } }, DRAFT],
      [{ tags: { connect: [c] } }, {}],
      [{ title: 'edited', tags: { disconnect: [c] } }, {}],
      [{ note: null, tags: [] }, {}],
      [{ tags: [a, c], note: one.documentId, rank: null }, DRAFT],
      'unpublish',
      [{ title: 'fourth' }, {}],
      'unpublish',
      'publish',
      [{}, {}],
      'unpublish',
      [{ tags: { connect: [b], disconnect: [c] } }, {}],
    ]
    const start = { title: 'first', note: one.documentId, tags: [b] }
    const posts = new Map<string, unknown>()
    for (const way of WAYS) posts.set(way, (await create('post', { ...start, code: way })).documentId)
    for (const step of steps) {
      const answers: unknown[][] = []
      for (const way of WAYS) {
        const documentId = posts.get(way)
        const where = way === 'under conditions' ? CONDITIONAL : {}
        const write = async () =>
          typeof step === 'string'
            ? void (await change(step, 'post', documentId, where))
            : shown(await update('post', documentId, step[0], { ...step[1], ...where }))
        const seen: unknown[] = [await (way === 'loading' ? loading(write) : write())]
        for (const status of ['draft', 'published'] as const)
          seen.push(shown(await find('post', documentId, { status })))
        answers.push(seen)
      }
      for (const [index, way] of WAYS.entries())
        t.deepEqual(answers[index], answers[0], `${way}: ${JSON.stringify(step)}`)
    }
    for (const [kind, id] of [
      ['tag', a],
      ['note', one.documentId],
    ] as const) {
      const { posts } = (await find(kind, id)) ?? {}
      t.is((posts as unknown[]).length, WAYS.length, kind)
    }
  },
)

test.serial('plain fields, lists, publishing and deletion take one round trip', async t => {
  const { create, update, change, remove, find } = await openWriting(t, model)
  const tag = (await create('tag', { name: 'a' })).documentId
  const { documentId } = await create('post', { title: 'first', tags: [tag] })
  const page = await create('page', { title: 'a', posts: [documentId] })
  const counts: number[] = []
  const count = async (work: () => Promise<unknown>) => counts.push(await roundTrips(work))
  await count(() => update('post', documentId, { title: 'b1', rank: 3 }))
  await count(() => update('post', documentId, { tags: [tag] }))
  await count(() => update('post', documentId, { tags: { disconnect: [tag] } }))
  await count(() => update('post', documentId, { title: 'b2', tags: [] }, DRAFT))
  await count(() => update('post', documentId, { rank: 4 }))
  await count(() => update('post', documentId, { tags: { connect: [tag] } }, DRAFT))
  await count(() => change('publish', 'post', documentId))
  await count(() => update('page', page.documentId, { title: 'b', first: documentId }))
  await count(() => change('unpublish', 'post', documentId, CONDITIONAL))
  await count(() => change('publish', 'post', documentId, CONDITIONAL))
  await count(() => update('post', documentId, { tags: { connect: [tag] } }, CONDITIONAL))
  await count(() => update('post', documentId, { title: 'b3' }, CONDITIONAL))
  await count(() => change('unpublish', 'post', documentId))
  await count(() => change('publish', 'post', documentId))
  await count(() => remove('post', documentId, CONDITIONAL))
  t.deepEqual([...new Set(counts)], [1], `${counts}`)
  const left = await find('page', page.documentId)
  t.deepEqual([left?.title, names(left?.posts, 'title'), left?.first], ['b', [], null])
})

test.serial('a write of what the caller has seen takes one round trip', async t => {
  const { create, update, tryUpdate, tryRemove, remove, find } = await openWriting(t, model)
  const made = await create('post', { title: 'first' })
  const id = String(made.documentId)
  const tagOf = (row: unknown) => entityTag(`<${JSON.stringify(row)}>`)
  const draft = tagOf(await find('post', id, DRAFT))
  t.is(await roundTrips(() => update('post', id, { title: 'b1' }, { tags: ['other', tagOf(made)] })), 1)
  t.is(await roundTrips(() => update('post', id, { title: 'b2' }, { tags: ['*'], ...CONDITIONAL })), 1)
  const seen = await find('post', id)
  for (const refused of [
    await tryUpdate('post', id, { title: 'b3' }, { tags: [tagOf(made)] }),
    await tryUpdate('post', id, { title: 'b3' }, { ...DRAFT, tags: [draft] }),
    await tryRemove('post', id, { tags: ['ä', draft] }),
  ])
    t.is(refusal(refused).status, 412)
  t.deepEqual(await find('post', id), seen)
  t.true((await tryUpdate('post', id, { rank: 1 }, { tags: ['a', 'b', 'c', 'd', tagOf(seen)] })).ok)
  const now = tagOf(await find('post', id))
  t.is(await roundTrips(() => remove('post', id, { tags: [now] })), 1)
  t.is(await find('post', id), null)
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
  // It changed a value of the draft.
  await sql(`UPDATE posts SET rank = 7 WHERE $ID AND status = 'draft'`)
  t.like(await update('post', documentId, { title: 'b0' }), { title: 'b0', rank: 7 })
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

test.serial('conditions that a version does not meet refuse the write, which changes nothing', async t => {
  const { create, update, tryCreate, tryUpdate, tryRemove, tryChange, find, rows } = await openWriting(
    t,
    model,
  )
  const title = model.contentTypes.get('api::post.post')?.attributes.get('title')
  if (title?.kind !== 'scalar') return t.fail()
  const isTitled = (value: string): Filter => ({
    kind: 'comparison',
    attribute: title,
    operator: '$in',
    values: [value],
  })
  const { documentId } = await create('post', { title: 'old' })
  const id = String(documentId)
  const old = { conditions: { before: isTitled('old'), after: isTitled('old') } }
  const other = isTitled('other')
  const hidden = [
    { status: 'published', where: other },
    { status: 'draft', where: other },
  ] as const
  t.like(await update('post', id, { rank: 1 }, old), { rank: 1 })
  const status = (result: Result<unknown, Fault>) => refusal(result).status
  const before = await find('post', id)
  t.is(status(await tryUpdate('post', id, { title: 'new' }, old)), 403)
  for (const [conditions, expected] of [
    [{ before: other }, 403],
    [{ before: other, visible: [] }, 404],
    [{ visible: hidden }, 404],
  ] as const) {
    t.is(status(await tryUpdate('post', id, { rank: 2 }, { conditions })), expected)
    t.is(status(await tryChange('publish', 'post', id, { conditions })), expected)
    t.is(status(await tryChange('unpublish', 'post', id, { conditions })), expected)
    const removed = await tryRemove('post', id, { conditions })
    if (expected === 403) t.is(status(removed), 403)
    else t.true(removed.ok)
  }
  t.is(status(await tryCreate('post', { title: 'new' }, { conditions: { after: isTitled('old') } })), 403)
  t.deepEqual(await find('post', id), before)
  t.deepEqual(await rows('SELECT count(*) FROM posts'), [[2]])
})

test.serial(
  'links to targets that a caller sees in part are checked in the round trip of the write',
  async t => {
    const { create, update, tryCreate, tryUpdate, change } = await openWriting(t, model)
    const type = model.contentTypes.get('api::post.post')
    if (!type) return t.fail()
    const published = { targets: new Map([[type, [{ status: 'published', where: null }] as const]]) }
    const post = (await create('post', { title: 'first' })).documentId
    const page = (await create('page', { title: 'a' })).documentId
    const link = { posts: [post], first: post }
    const seeing = { conditions: published }
    await create('page', { title: 'b', ...link }, seeing)
    t.is(await roundTrips(() => create('pin', { post }, seeing)), 1)
    t.is(await roundTrips(() => update('page', page, link, seeing)), 1)
    t.is(await roundTrips(() => update('page', page, { posts: { disconnect: [post] } }, seeing)), 1)
    await change('unpublish', 'post', post)
    for (const result of [
      await tryCreate('page', { title: 'd', ...link }, seeing),
      await tryUpdate('page', String(page), { posts: { connect: [post] } }, seeing),
      await tryUpdate('page', String(page), link, { conditions: { targets: new Map([[type, []]]) } }),
    ])
      t.regex(String(refusal(result).message), new RegExp(`"${post}"`))
    t.is(await roundTrips(() => update('page', page, link)), 1)
  },
)

test.serial(
  'a target that is named by the id of a row is found again in the round trip of the write',
  async t => {
    const { create, tryCreate, remove, rows } = await openWriting(t, model)
    const note = await create('note', { name: 'n' })
    const link = { title: 'one', note: note.id }
    await create('post', link)
    t.is(await roundTrips(() => create('post', link)), 1)
    await remove('note', note.documentId)
    t.regex(String(refusal(await tryCreate('post', link)).message), /do not exist/)
    t.deepEqual(await rows('SELECT count(*) FROM posts'), [[4]])
  },
)

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
    const { create, update, change, find, rows, loading } = await openWriting(t, model)
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
    const ways: Row[] = []
    for (const _ of WAYS) ways.push(await create('story', { title: 'one' }))
    for (const [done, where] of steps) {
      const seen: unknown[][] = []
      for (const [way, { documentId }] of ways.entries()) {
        const how = { ...where, ...(WAYS[way] === 'under conditions' ? CONDITIONAL : {}) }
        const write = async () =>
          typeof done === 'string'
            ? void (await change(done, 'story', documentId, how))
            : void (await update('story', documentId, done, how))
        await (WAYS[way] === 'loading' ? loading(write) : write())
        const stamps = `SELECT status, locale, title, kind, text, published_at IS NULL, dense_rank() OVER (ORDER BY updated_at), dense_rank() OVER (ORDER BY shared_updated_at) FROM stories WHERE document_id = '${documentId}' ORDER BY status, locale`
        const found = [...(await rows(stamps))]
        for (const status of ['draft', 'published'] as const)
          for (const locale of ['en', 'fr'])
            found.push([names((await find('story', documentId, { status, locale }))?.tags) as never])
        seen.push(found)
      }
      for (const [way, each] of seen.entries())
        t.deepEqual(each, seen[0], `${WAYS[way]}: ${JSON.stringify([done, where])}`)
    }
    const id = ways[0]?.documentId
    t.is(await roundTrips(() => update('story', id, { title: 'x' }, { ...DRAFT, ...french })), 1)
    await update('story', id, { title: 'y' }, french)
    t.is(await roundTrips(() => update('story', id, { title: 'z' }, french)), 1)
  },
)
