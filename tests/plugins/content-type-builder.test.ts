import test from 'ava'
import { openTestApp } from '../harness/test-app.ts'

const ALL = 'all-all-all-all-all-all-all-all-all-all'
const SOME = 'some-some-some-some-some-some-some-some'

const project = {
  contentTypes: {
    article: {
      draftAndPublish: true,
      attributes: {
        title: { type: 'string', required: true, maxLength: 80 },
        kind: { type: 'enumeration', enum: ['news', 'story'] },
        secret: { type: 'string', private: true },
        notes: 'text',
        cover: { type: 'media', allowedTypes: ['images'] },
        author: { type: 'relation', relation: 'manyToOne', target: 'author', inversedBy: 'articles' },
        seo: { type: 'component', component: 'shared.seo' },
        body: { type: 'dynamiczone', components: ['blocks.text', 'blocks.card'] },
      },
    },
    author: {
      attributes: {
        name: 'string',
        articles: { type: 'relation', relation: 'oneToMany', target: 'article', mappedBy: 'author' },
      },
    },
    home: { kind: 'single', attributes: { intro: { type: 'component', component: 'home.intro' } } },
  },
  components: {
    'shared.seo': { attributes: { description: 'text' } },
    'blocks.text': { attributes: { text: 'richtext' } },
    'blocks.card': { attributes: { seo: { type: 'component', component: 'shared.seo', repeatable: true } } },
    'home.intro': { attributes: { text: 'string' } },
  },
  apiTokens: {
    all: { secret: ALL, type: 'full-access' },
    some: {
      secret: SOME,
      type: 'custom',
      permissions: { article: { find: { fields: ['title', 'author', 'seo'] } } },
    },
  },
  roles: { public: { permissions: { article: ['find'] } } },
}

interface Schema {
  readonly uid: string
  readonly schema: { readonly attributes: Readonly<Record<string, unknown>> }
}

test('an API token reads the content-types and components that it may read, in the form of Strapi', async t => {
  const app = await openTestApp(t, { project })
  const read = async (path: string, token?: string) =>
    app.request('GET', `/api/content-type-builder/${path}`, token === undefined ? {} : { token })
  const listed = async (path: string, token: string) =>
    ((await read(path, token)).body as { data: readonly Schema[] }).data

  const all = await listed('content-types', ALL)
  const article = all.find(({ uid }) => uid === 'api::article.article')
  t.like(article, {
    uid: 'api::article.article',
    apiID: 'article',
    schema: {
      kind: 'collectionType',
      singularName: 'article',
      pluralName: 'articles',
      displayName: 'Article',
      draftAndPublish: true,
      collectionName: 'articles',
      visible: true,
    },
  })
  t.deepEqual(article?.schema.attributes, {
    title: { type: 'string', required: true, maxLength: 80 },
    kind: { type: 'enumeration', required: false, enum: ['news', 'story'] },
    notes: { type: 'text', required: false },
    cover: { type: 'media', multiple: false, required: false, private: false, allowedTypes: ['images'] },
    author: {
      type: 'relation',
      relation: 'manyToOne',
      target: 'api::author.author',
      inversedBy: 'articles',
      targetAttribute: 'articles',
      private: false,
    },
    seo: { type: 'component', component: 'shared.seo', repeatable: false, required: false },
    body: { type: 'dynamiczone', components: ['blocks.text', 'blocks.card'], required: false },
  })
  t.true(all.some(({ uid }) => uid === 'plugin::upload.file'))
  t.deepEqual(
    (await listed('content-types?kind=singleType', ALL)).map(({ uid }) => uid),
    ['api::home.home'],
  )
  t.deepEqual((await listed('components', ALL)).map(({ uid }) => uid).sort(), [
    'blocks.card',
    'blocks.text',
    'home.intro',
    'shared.seo',
  ])

  const some = await listed('content-types', SOME)
  t.deepEqual(
    some.map(({ uid, schema }) => [uid, Object.keys(schema.attributes)]),
    [['api::article.article', ['title', 'seo']]],
  )
  t.deepEqual(
    (await listed('components', SOME)).map(({ uid }) => uid),
    ['shared.seo'],
  )
  t.like(await read('content-types/api::article.article', SOME), {
    status: 200,
    body: { data: { uid: 'api::article.article' } },
  })
  t.is((await read('components/shared.seo', SOME)).status, 200)
  t.is((await read('components/home.intro', SOME)).status, 404)
  t.is((await read('content-types/api::home.home', SOME)).status, 404)
  t.is((await read('content-types')).status, 403)
  t.is((await read('content-types', 'wrong')).status, 401)
  for (const kind of [
    'kind=both',
    'kind=constructor',
    'kind[a]=singleType',
    'kind=singleType&kind=singleType',
  ])
    t.is((await read(`content-types?${kind}`, ALL)).status, 400, kind)
  t.is((await app.request('POST', '/api/content-type-builder/content-types', { token: ALL })).status, 405)
})

const BOXES = {
  contentTypes: {
    box: {
      attributes: {
        label: 'string',
        hidden: 'string',
        concealed: { type: 'string', private: true },
        slug: { type: 'uid', targetField: 'label' },
        code: { type: 'uid', targetField: 'hidden' },
        mark: { type: 'uid', targetField: 'concealed' },
        lids: { type: 'relation', relation: 'oneToMany', target: 'lid', mappedBy: 'hidden' },
        tags: { type: 'relation', relation: 'manyToMany', target: 'lid', inversedBy: 'concealed' },
        seen: { type: 'relation', relation: 'manyToMany', target: 'lid', inversedBy: 'boxes' },
        owner: { type: 'relation', relation: 'manyToOne', target: 'user', inversedBy: 'hidden' },
      },
    },
    lid: {
      attributes: {
        hidden: { type: 'relation', relation: 'manyToOne', target: 'box', inversedBy: 'lids' },
        concealed: {
          ...{ type: 'relation', relation: 'manyToMany', target: 'box', mappedBy: 'tags' },
          private: true,
        },
        boxes: { type: 'relation', relation: 'manyToMany', target: 'box', mappedBy: 'seen' },
      },
    },
  },
  user: {
    attributes: { hidden: { type: 'relation', relation: 'oneToMany', target: 'box', mappedBy: 'owner' } },
  },
  apiTokens: {
    some: {
      ...{ secret: SOME, type: 'custom' },
      permissions: {
        box: { find: { fields: ['!hidden'] } },
        lid: { find: { fields: ['boxes'] } },
        users: { find: { fields: ['username'] } },
      },
    },
  },
}

test('no schema names an attribute that the token may not read, as the source of a uid or the other side of a relation', async t => {
  const app = await openTestApp(t, { project: BOXES })
  const { body } = await app.request('GET', '/api/content-type-builder/content-types', { token: SOME })
  const text = JSON.stringify(body)
  t.notRegex(text, /hidden"|concealed/)
  t.regex(text, /"targetField":"label"/)
  t.regex(text, /"inversedBy":"boxes","targetAttribute":"boxes"/)
})
