import type { Random } from '../end-to-end/fuzz.ts'
import { below, pick } from './random.ts'
import { FULL, openWorld, type World } from './world.ts'

/** What a caller may not read, drawn at random; the twins differ in nothing else. */
export interface Secrecy {
  readonly hidden: readonly string[]
  readonly postWhere: string
  readonly tagWhere: string
  readonly drafts: boolean
  readonly token: boolean
  readonly updateWhere: string | null
}

export const CALLER = 'caller-of-the-twins-token-000000000000'

const HIDEABLE = ['secret', 'rank', 'code', 'seo', 'parts', 'body', 'flag', 'about']
const POST_WHERE = [
  '{ open: true }',
  '{ $not: { open: false } }',
  '{ $and: [{ open: { $eq: true } }, { title: { $notNull: true } }] }',
  '{ category: { open: true } }',
  '{ open: { $ne: false } }',
]
const USER_WHERE = [
  '{ owner: { id: $user.id } }',
  '{ $or: [{ owner: { username: $user.username } }, { open: true }] }',
  '{ owner: { favourite: { documentId: $user.favourite.documentId } } }',
]
const TAG_WHERE = ['{ open: true }', '{ $not: { open: false } }', '{ open: { $ne: false } }']

export function drawSecrecy(random: Random): Secrecy {
  const [first, second] = [random() + random() * 7, random() + random() * 5]
  const token = Math.floor(first * 10) % 2 === 0
  const hidden = ['secret', ...HIDEABLE.slice(1).filter(() => random() < 0.4)]
  return {
    hidden,
    postWhere: pick(random, token ? POST_WHERE : [...POST_WHERE, ...USER_WHERE]),
    tagWhere: pick(random, TAG_WHERE),
    drafts: Math.floor(second * 10) % 2 === 0,
    updateWhere:
      random() < 0.4
        ? pick(
            random,
            [
              '{ flag: true }',
              '{ rank: { $lt: 3 } }',
              '{ $not: { rank: 2 } }',
              '{ category: { documentId: c1 } }',
            ].filter(where => !hidden.some(name => where.includes(name))),
          )
        : null,
    token,
  }
}

export function projectOf({ hidden, postWhere, tagWhere, drafts, token, updateWhere }: Secrecy): string {
  const fields = `[${hidden.map(name => `"!${name}"`).join(', ')}]`
  const reads = `{ where: ${postWhere}, fields: ${fields} }`
  const tag = `{ where: ${tagWhere}, fields: ["!secret"] }`
  const permissions = `
      post: { find: ${reads}, findOne: ${reads}, create: true, update: ${updateWhere ? `{ where: ${updateWhere} }` : true}, delete: true, publish: true, readDrafts: ${drafts}, createLocalization: true }
      tag: { find: ${tag}, findOne: ${tag}, create: true, update: true, delete: true }
      category: { find: { fields: ["!secret"] }, findOne: { fields: ["!secret"] }, update: true }
      page: { find: true, update: true, readDrafts: ${drafts} }
      users: { find: { where: { username: { $ne: bob } }, fields: [username, posts, favourite] }, findOne: { where: { username: { $ne: bob } }, fields: [username, posts, favourite] }, me: true, count: true }
      upload: { find: { where: { caption: open } }, findOne: { where: { caption: open } } }`
  return `
name: Twins
database: { url: "\${DATABASE_URL}" }
i18n: { locales: [en, fr], defaultLocale: en }
rest: { openapi: true }
graphql: { endpoints: { /graphql: nested, /graphql5: flat } }
components:
  c.seo: { attributes: { text: string, concealed: { type: string, private: true }, pick: { type: relation, relation: oneToOne, target: tag }, image: { type: media, multiple: false } } }
  c.part: { attributes: { text: string, picks: { type: relation, relation: manyToMany, target: post }, inner: { type: component, component: c.seo }, safe: { type: relation, relation: oneToOne, target: vault } } }
contentTypes:
  post:
    draftAndPublish: true
    localized: true
    attributes:
      title: { type: string, required: true }
      secret: string
      rank: integer
      flag: boolean
      about: { type: string, localized: false }
      open: boolean
      code: { type: string, unique: true }
      concealed: { type: string, private: true }
      owner: { type: relation, relation: manyToOne, target: user, inversedBy: posts }
      category: { type: relation, relation: manyToOne, target: category, inversedBy: posts }
      tags: { type: relation, relation: manyToMany, target: tag, inversedBy: posts }
      related: { type: relation, relation: manyToMany, target: post }
      badge: { type: relation, relation: oneToOne, target: tag, inversedBy: badged }
      owned: { type: relation, relation: oneToMany, target: tag }
      vault: { type: relation, relation: manyToOne, target: vault }
      cover: { type: media, multiple: false }
      gallery: { type: media, multiple: true }
      seo: { type: component, component: c.seo }
      parts: { type: component, component: c.part, repeatable: true }
      body: { type: dynamiczone, components: [c.seo, c.part] }
    search: { attributes: { title: A, secret: B, body.text: C } }
  tag:
    attributes:
      label: { type: string, required: true }
      secret: string
      open: boolean
      posts: { type: relation, relation: manyToMany, target: post, mappedBy: tags }
      badged: { type: relation, relation: oneToOne, target: post, mappedBy: badge }
  category:
    attributes: { name: string, secret: string, open: boolean, posts: { type: relation, relation: oneToMany, target: post, mappedBy: category } }
  page:
    kind: single
    draftAndPublish: true
    attributes: { name: string, featured: { type: relation, relation: manyToMany, target: post }, body: { type: dynamiczone, components: [c.seo, c.part] } }
  vault: { attributes: { name: string } }
user:
  attributes:
    posts: { type: relation, relation: oneToMany, target: post, mappedBy: owner }
    favourite: { type: relation, relation: manyToOne, target: category }
roles:
  member:
    permissions:${permissions}
apiTokens:
  full: { type: full-access, secret: ${FULL} }
${token ? `  caller:\n    type: custom\n    secret: ${CALLER}\n    permissions:${permissions}` : ''}
`
}

const WORDS = ['amber', 'birch', 'coral', 'delta', 'ember', 'fjord']
export const word = (random: Random): string => pick(random, WORDS)

export interface Twin {
  readonly world: World
  readonly as: string
}

export const POSTS = ['p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8']
const FRENCH = ['p1', 'p4', 'p7']
export const TAGS = ['t1', 't2', 't3', 't4', 't5', 't6']
/** Posts with an even number are hidden in every condition, and so are tags with an even number. */
export const isHidden = (name: string): boolean => Number(name.slice(1)) % 2 === 0

const some = (random: Random, names: readonly string[]) => names.filter(() => random() < 0.5)

export function contentOf(random: Random): Record<string, string> {
  const tags = TAGS.map(name => ({
    documentId: name,
    label: word(random),
    secret: word(random),
    open: !isHidden(name),
  }))
  const badges = [...TAGS].sort(() => random() - 0.5)
  const post = (name: string, index: number) => {
    const open = !isHidden(name)
    const values = (posts = POSTS) => ({
      title: word(random),
      secret: word(random),
      rank: below(random, 5),
      flag: random() < 0.5,
      open,
      concealed: word(random),
      owner: open ? 'ann' : 'bob',
      category: open ? 'c1' : 'c2',
      tags: some(random, TAGS),
      related: some(random, posts),
      vault: 'v1',
      seo: { text: word(random), concealed: word(random), pick: pick(random, TAGS) },
      parts: [0, 1].map(() => ({
        text: word(random),
        picks: some(random, posts),
        inner: { text: word(random), pick: pick(random, TAGS) },
        safe: 'v1',
      })),
      body: [
        { __component: 'c.seo', text: word(random), concealed: word(random), pick: pick(random, TAGS) },
        { __component: 'c.part', text: word(random), picks: some(random, posts) },
      ],
    })
    const first = { documentId: name, about: word(random), code: `${name}en`, ...values() }
    return {
      ...first,
      ...(index < TAGS.length ? { badge: badges[index] } : {}),
      ...(name > 'p6' ? { status: 'draft' } : {}),
      ...(index % 3 === 0 ? { locales: { fr: { ...values(FRENCH), code: `${name}fr` } } } : {}),
    }
  }
  return {
    'vaults.yaml': '- { documentId: v1, name: one }\n- { documentId: v2, name: two }\n',
    'categories.yaml': JSON.stringify([
      { documentId: 'c1', name: 'first', secret: word(random), open: true },
      { documentId: 'c2', name: 'second', secret: word(random), open: false },
    ]),
    'tags.yaml': JSON.stringify(tags),
    'posts.yaml': JSON.stringify(POSTS.map(post)),
    'page.yaml': JSON.stringify([{ documentId: 'page', name: 'page', featured: some(random, POSTS) }]),
    'users.yaml': JSON.stringify(
      ['ann', 'bob', 'cyd'].map(username => ({
        username,
        email: `${username}@rig.test`,
        password: `${username}-Password1`,
        confirmed: true,
        role: 'member',
        favourite: username === 'bob' ? 'c2' : 'c1',
      })),
    ),
  }
}

const FILES = ['seen', 'unseen'].map(
  (
    name,
    index,
  ) => `INSERT INTO plinth_files (id, document_id, name, hash, ext, mime, size, url, provider, caption, created_at, updated_at, published_at)
  VALUES (${index + 1}, 'file${index + 1}', '${name}', '${name}', '.png', 'image/png', 1, '/uploads/${name}.png', 'local', '${name === 'seen' ? 'open' : 'closed'}', now(), now(), now())`,
)

export async function openTwin(secrecy: Secrecy, content: Record<string, string>): Promise<Twin> {
  const world = await openWorld(projectOf(secrecy), content)
  for (const text of FILES) await world.database.run({ name: 'add a file', text, values: [] })
  await world.make('PUT', '/api/posts/p1', { cover: 1, gallery: [1] })
  const body = JSON.stringify({ identifier: 'ann', password: 'ann-Password1' })
  const as = secrecy.token
    ? CALLER
    : JSON.parse((await world.ask('POST', '/api/auth/local', { body })).text).jwt
  return { world, as }
}

export interface Difference {
  readonly secrecy: Secrecy
  readonly random: Random
  /** The caller will publish: then the drafts of what it sees must not differ, as they become visible. */
  readonly publishing: boolean
}

/** Changes what the caller may not read, and nothing else. */
export async function perturb({ world: { make } }: Twin, difference: Difference): Promise<void> {
  const { secrecy, random, publishing } = difference
  for (const name of TAGS)
    await make('PUT', `/api/tags/${name}`, {
      secret: word(random),
      ...(isHidden(name) ? { label: word(random) } : {}),
    })
  for (const name of ['c1', 'c2']) await make('PUT', `/api/categories/${name}`, { secret: word(random) })
  await make('PUT', '/api/vaults/v1', { name: word(random) })
  for (const name of POSTS.filter(post => post < 'p7'))
    await make('PUT', `/api/posts/${name}`, otherValues(name, difference))
  await make('PUT', '/api/posts/p8?status=draft', otherValues('p8', difference))
  // Last, because publishing a draft publishes all of it.
  if (!secrecy.drafts && !publishing)
    for (const name of ['p1', 'p3', 'p5', 'p7'])
      await make('PUT', `/api/posts/${name}?status=draft`, otherDraft(random))
  await make('DELETE', '/api/posts/p6?locale=*')
  await make('DELETE', '/api/tags/t6')
}

const otherValues = (name: string, { random, secrecy }: Difference) =>
  isHidden(name) ? otherPost(name, random) : otherSecrets(name, secrecy, random)

const otherPost = (name: string, random: Random) => ({
  title: word(random),
  secret: word(random),
  rank: below(random, 5),
  flag: random() < 0.5,
  about: word(random),
  code: `other${name}`,
  tags: some(random, TAGS),
  related: some(random, POSTS),
  vault: pick(random, ['v1', 'v2', null]),
  owned: some(random, TAGS.filter(isHidden)),
  cover: pick(random, [1, 2, null]),
  seo: { text: word(random), pick: pick(random, TAGS) },
  parts: [{ text: word(random), picks: some(random, POSTS) }],
  body: [],
})

/** Hidden attributes and links to hidden documents of a visible post. */
function otherSecrets(name: string, { hidden }: Secrecy, random: Random): Readonly<Record<string, unknown>> {
  const drawn: Readonly<Record<string, unknown>> = {
    rank: below(random, 5),
    code: `changed${name}`,
    flag: random() < 0.5,
    about: word(random),
    seo: { text: word(random), pick: pick(random, TAGS) },
    parts: [{ text: word(random) }],
    body: [{ __component: 'c.seo', text: word(random) }],
  }
  const connect = some(random, TAGS.filter(isHidden)).map(documentId => ({
    documentId,
    position: { start: true },
  }))
  return {
    ...Object.fromEntries(Object.entries(drawn).filter(([attribute]) => hidden.includes(attribute))),
    secret: word(random),
    concealed: word(random),
    vault: pick(random, ['v1', 'v2', null]),
    tags: { connect },
    related: { disconnect: some(random, POSTS.filter(isHidden)) },
  }
}

const otherDraft = (random: Random) => ({
  title: word(random),
  rank: 9,
  category: pick(random, ['c1', 'c2']),
  tags: some(random, TAGS),
  badge: pick(random, TAGS),
  owned: some(random, TAGS),
  cover: pick(random, [1, 2, null]),
})

/** Stamps and numbers of later rows no longer depend on what was done to a twin. */
export async function settle({ world }: Twin): Promise<void> {
  const run = (text: string) => world.database.run({ name: 'settle a twin', text, values: [] })
  await run(`DO $$ DECLARE r record; BEGIN
    FOR r IN SELECT table_name t, column_name c FROM information_schema.columns
      WHERE table_schema = 'public' AND column_name IN ('created_at', 'updated_at', 'published_at', 'shared_updated_at')
    LOOP EXECUTE format('UPDATE %I SET %I = %L WHERE %I IS NOT NULL', r.t, r.c, '2024-01-01T00:00:00Z', r.c); END LOOP;
    FOR r IN SELECT sequencename s FROM pg_sequences WHERE schemaname = 'public'
    LOOP PERFORM setval(format('%I', r.s)::regclass, 5000); END LOOP;
  END $$`)
}
