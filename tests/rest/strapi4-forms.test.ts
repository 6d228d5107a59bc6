import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp } from '../harness/test-app.ts'

// reference/rest.md#16-response-format-v4-and-query-parsing: creates and updates of Strapi 4 as multipart forms.

const TOKEN = 'a-secret-of-forty-letters-that-no-client-guesses'
const NO_UPLOADS = 'another-secret-of-forty-letters-for-a-writer-0'

const TITLES = 'another-secret-of-forty-letters-for-all-titles'

const PROJECT = {
  name: 'Forms',
  rest: { responseFormat: 'v4' },
  upload: { sizeLimit: '1mb' },
  components: {
    'shared.seo': { attributes: { title: 'string', image: { type: 'media' } } },
    'shared.slide': { attributes: { pictures: { type: 'media', multiple: true } } },
    'shared.deep': {
      attributes: { slides: { type: 'component', component: 'shared.slide', repeatable: true } },
    },
  },
  contentTypes: {
    article: {
      draftAndPublish: true,
      attributes: {
        title: { type: 'string', maxLength: 20 },
        cover: { type: 'media', allowedTypes: ['files'] },
        photo: { type: 'media', allowedTypes: ['images'] },
        gallery: { type: 'media', multiple: true },
        seo: { type: 'component', component: 'shared.seo' },
        slides: { type: 'component', component: 'shared.slide', repeatable: true },
        blocks: { type: 'dynamiczone', components: ['shared.seo', 'shared.slide', 'shared.deep'] },
        deep: { type: 'component', component: 'shared.deep' },
      },
    },
    home: { kind: 'single', attributes: { title: 'string', cover: { type: 'media' } } },
  },
  apiTokens: {
    all: { type: 'full-access', secret: TOKEN },
    writer: { type: 'custom', secret: NO_UPLOADS, permissions: { article: ['find', 'create'] } },
    titles: {
      type: 'custom',
      secret: TITLES,
      permissions: { upload: ['upload'], article: { create: { fields: ['title', 'gallery'] } } },
    },
  },
}

type Parts = readonly (readonly [field: string, value: string | object, filename?: string])[]

async function openSite(t: ExecutionContext, settings: object = {}) {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', JSON.stringify({ ...PROJECT, ...settings }))
  const app = await openTestApp(t, { project: folder.path })
  const list = (name: string) => {
    const path = join(folder.path, '.plinth', name)
    return existsSync(path) ? readdirSync(path).map(each => each.replace(/_[0-9a-f]+\./, '.')) : []
  }
  return {
    app,
    /** The names of all stored files; fails if staged ones are left. */
    stored() {
      t.deepEqual(list('staging'), [])
      return list('uploads').toSorted()
    },
    async send(method: string, path: string, parts: Parts, token = TOKEN) {
      const form = new FormData()
      for (const [field, value, filename] of parts) {
        if (filename !== undefined) form.append(field, new Blob([String(value)]), filename)
        else form.append(field, typeof value === 'string' ? value : JSON.stringify(value))
      }
      const { status, body } = await app.request(method, `/api/${path}`, { body: form, token })
      const { data, error } = body as { data: Entry; error: { message: string } }
      return { status, data, message: error?.message }
    },
  }
}

interface Entry {
  readonly id: number
  readonly attributes: Readonly<Record<string, unknown>>
}

const POPULATE =
  'populate[cover]=*&populate[gallery]=*&populate[seo][populate]=*&populate[slides][populate]=*&populate[blocks][populate]=*'

const file = (name: string) => ({ attributes: { name } })

test('a form creates a document with its files, in attributes, components and zones', async t => {
  const { send, stored } = await openSite(t)
  const values = {
    title: 'one',
    seo: { title: 's' },
    slides: [{}, {}],
    blocks: [{ __component: 'shared.slide' }, { __component: 'shared.seo', title: 'b' }],
    unknown: 1,
  }
  const { status, data } = await send('POST', `articles?${POPULATE}`, [
    ['files.cover', 'cover', 'cover.txt'],
    ['data', values],
    ['files.gallery', 'one', 'one.txt'],
    ['files.gallery.1', 'two', 'two.txt'],
    ['files.seo.image', 'seo', 'seo.txt'],
    ['files.slides[1].pictures', 'slide', 'slide.txt'],
    ['files.blocks.1.image', 'block', 'block.txt'],
  ])
  t.is(status, 200)
  t.like(data.attributes, {
    title: 'one',
    cover: { data: file('cover.txt') },
    gallery: { data: [file('one.txt'), file('two.txt')] },
    seo: { title: 's', image: { data: file('seo.txt') } },
    slides: [{ pictures: { data: null } }, { pictures: { data: [file('slide.txt')] } }],
  })
  const [, block] = data.attributes.blocks as readonly object[]
  t.like(block, { title: 'b', image: { data: file('block.txt') } })
  t.deepEqual(stored(), ['block.txt', 'cover.txt', 'one.txt', 'seo.txt', 'slide.txt', 'two.txt'])
})

test('an update replaces a file, and appends to a list of files', async t => {
  const { send } = await openSite(t)
  const { data } = await send('POST', 'articles', [
    ['data', { title: 'one' }],
    ['files.gallery', 'one', 'one.txt'],
    ['files.cover', 'cover', 'cover.txt'],
  ])
  const path = `articles/${data.id}?${POPULATE}`
  const changed = await send('PUT', path, [
    ['data', { title: 'two' }],
    ['files.gallery', 'two', 'two.txt'],
    ['files.cover', 'other', 'other.txt'],
  ])
  t.like(changed, {
    status: 200,
    data: {
      id: data.id,
      attributes: {
        title: 'two',
        cover: { data: file('other.txt') },
        gallery: { data: [file('one.txt'), file('two.txt')] },
      },
    },
  })
  const kept = await send('PUT', path, [
    ['data', { title: 'two' }],
    ['files.cover', '/uploads/other.txt'],
    ['files.nothing', ''],
  ])
  t.like(kept, { status: 200, data: { attributes: { cover: { data: file('other.txt') } } } })
  const emptied = await send('PUT', path, [
    ['data', { gallery: [] }],
    ['files.gallery', 'three', 'three.txt'],
  ])
  t.deepEqual(
    (emptied.data.attributes.gallery as { data: Entry[] }).data.map(each => each.attributes.name),
    ['three.txt'],
  )
  const draft = await send('POST', `articles?${POPULATE}`, [
    ['data', { title: 'draft', publishedAt: null }],
    ['files.gallery', 'one', 'one.txt'],
  ])
  t.like(
    await send('PUT', `articles/${draft.data.id}?${POPULATE}`, [
      ['data', {}],
      ['files.gallery', 'b', 'b.txt'],
    ]),
    {
      data: { attributes: { publishedAt: null, gallery: { data: [file('one.txt'), file('b.txt')] } } },
    },
  )
  const home = await send('PUT', 'home?populate=*', [
    ['data', { title: 'here' }],
    ['files.cover', 'home', 'home.txt'],
  ])
  t.like(home, { status: 200, data: { attributes: { cover: { data: file('home.txt') } } } })
  t.like(await send('PUT', 'home', [['data', { title: 'there' }]]), {
    data: { attributes: { title: 'there' } },
  })
})

const names = (value: unknown): unknown =>
  ((value as { data: readonly Entry[] | null }).data ?? []).map(each => each.attributes.name)

test('an update appends to lists of files in components that the body names by id', async t => {
  const { send } = await openSite(t)
  const populate =
    'populate[slides][populate]=*&populate[deep][populate][slides][populate]=*&populate[blocks][on][shared.deep][populate][slides][populate]=*'
  const created = await send('POST', `articles?${populate}`, [
    [
      'data',
      {
        slides: [{}, {}],
        deep: { slides: [{}] },
        blocks: [{ __component: 'shared.deep', slides: [{}] }],
      },
    ],
    ['files.slides.0.pictures', '1', '1.txt'],
    ['files.slides.1.pictures', '2', '2.txt'],
    ['files.deep.slides.0.pictures', '3', '3.txt'],
    ['files.blocks.0.slides.0.pictures', '4', '4.txt'],
  ])
  t.is(created.status, 200)
  type Slide = { readonly id: number; readonly pictures: unknown }
  type Deep = { readonly id: number; readonly slides: readonly Slide[] }
  const read = ({ data: { attributes } }: typeof created) => ({
    slides: attributes.slides as readonly Slide[],
    deep: attributes.deep as Deep,
    block: (attributes.blocks as readonly Deep[])[0] as Deep,
  })
  const { slides, deep, block } = read(created)
  const idOf = ({ id }: { readonly id: number }) => ({ id })
  const changed = await send('PUT', `articles/${created.data.id}?${populate}`, [
    [
      'data',
      {
        slides: [...slides.map(idOf).toReversed(), {}],
        deep: { id: String(deep.id), slides: deep.slides.map(idOf) },
        blocks: [{ ...idOf(block), __component: 'shared.deep', slides: block.slides.map(idOf) }],
      },
    ],
    ['files.slides.0.pictures', '5', '5.txt'],
    ['files.slides.2.pictures', '6', '6.txt'],
    ['files.deep.slides.0.pictures', '7', '7.txt'],
    ['files.blocks.0.slides.0.pictures', '8', '8.txt'],
    ['files.blocks.0.slides.0.pictures', '9', '9.txt'],
  ])
  t.is(changed.status, 200, changed.message)
  const after = read(changed)
  t.deepEqual(
    after.slides.map(({ pictures }) => names(pictures)),
    [['2.txt', '5.txt'], ['1.txt'], ['6.txt']],
  )
  t.deepEqual(
    after.deep.slides.map(({ pictures }) => names(pictures)),
    [['3.txt', '7.txt']],
  )
  t.deepEqual(
    after.block.slides.map(({ pictures }) => names(pictures)),
    [['4.txt', '8.txt', '9.txt']],
  )
  const foreign = await send('PUT', `articles/${created.data.id}`, [
    ['data', { slides: [{ id: 99_999 }] }],
    ['files.slides.0.pictures', 'x', 'x.txt'],
  ])
  t.is(foreign.status, 400)
  t.regex(foreign.message, /components in slides are not related/)
})

test('forms that append to one list at the same time all leave their files', async t => {
  const { send, stored } = await openSite(t)
  const { data } = await send('POST', 'articles', [['data', { title: 'one' }]])
  const numbers = Array.from({ length: 8 }, (_, index) => `${index}.txt`)
  const answers = await Promise.all(
    numbers.map(name =>
      send('PUT', `articles/${data.id}?${POPULATE}`, [
        ['data', {}],
        ['files.gallery', name, name],
      ]),
    ),
  )
  t.deepEqual(
    answers.map(({ status }) => status),
    numbers.map(() => 200),
  )
  const last = await send('PUT', `articles/${data.id}?${POPULATE}`, [['data', { title: 'two' }]])
  t.deepEqual((names(last.data.attributes.gallery) as string[]).toSorted(), numbers)
  t.deepEqual(stored(), numbers)
})

test('a refused form proposes no attributes that the caller may not write', async t => {
  const { send } = await openSite(t)
  const media = 'a media attribute of api::article.article'
  for (const [field, expected] of [
    ['files.covr', `${media}: one of \`gallery\``],
    ['files.galery', `${media}: did you mean \`gallery\`?`],
    ['files.seo', `${media}: one of \`gallery\``],
    ['files.seo.imag', 'a media attribute of shared.seo'],
  ] as const) {
    const parts = [
      ['data', { seo: {} }],
      [field, 'a', 'a.txt'],
    ] as const
    const { status, message } = await send('POST', 'articles', parts, TITLES)
    t.deepEqual([status, message], [400, `Invalid ${field} of the form: expected ${expected}`])
  }
})

test('a form that is refused leaves neither files nor documents', async t => {
  const { app, send, stored } = await openSite(t)
  const cover = ['files.cover', 'cover', 'cover.txt'] as const
  const data = ['data', { title: 'one' }] as const
  const refusals: readonly (readonly [Parts, string, query?: string])[] = [
    [[cover], 'Invalid data of the form: expected a field with the JSON text of the values'],
    [[['data', 'x'], cover], 'invalid JSON, only supports object and array'],
    [[['data', '[]'], cover], 'Invalid data of the form: expected a JSON object'],
    [
      [data, ['files', 'a', 'a.txt']],
      'Invalid files of the form: expected files and the name of a media attribute, such as files.cover',
    ],
    [
      [data, ['files.covr', 'a', 'a.txt']],
      'Invalid files.covr of the form: expected a media attribute of api::article.article: did you mean `cover`?',
    ],
    [
      [data, ['files.title', 'a', 'a.txt']],
      'Invalid files.title of the form: expected a media attribute of api::article.article',
    ],
    [
      [data, ['files.seo.image', 'a', 'a.txt']],
      'Invalid files.seo.image of the form: expected data to have a component at seo',
    ],
    [
      [data, ['files.seo', 'a', 'a.txt']],
      'Invalid files.seo of the form: expected the name of a media attribute after seo, such as image',
    ],
    [
      [
        ['data', { slides: [{}] }],
        ['files.slides.pictures', 'a', 'a.txt'],
      ],
      'Invalid files.slides.pictures of the form: expected the number of an entry after slides, such as slides.0',
    ],
    [
      [
        ['data', { slides: [{}] }],
        ['files.slides.0x0.pictures', 'a', 'a.txt'],
      ],
      'Invalid files.slides.0x0.pictures of the form: expected the number of an entry after slides',
    ],
    [
      [
        ['data', { slides: [{}] }],
        ['files.slides.1.pictures', 'a', 'a.txt'],
      ],
      'Invalid files.slides.1.pictures of the form: expected data to have a component at slides.1',
    ],
    [[data, cover, cover], 'Invalid files.cover of the form: expected one file'],
    [[data, ['files.cover', '', 'empty.txt']], 'Files are empty'],
    [[data, ['files.photo', 'a', 'a.txt']], 'a.txt is no file of a kind that is allowed here: images'],
    [[['data', { title: 'x'.repeat(21) }], cover], 'title must be at most 20 characters'],
    [[data, cover], 'Invalid key bad', '?fields=bad'],
  ]
  for (const [parts, message, query = ''] of refusals) {
    const refused = await send('POST', `articles${query}`, parts)
    t.is(refused.status, 400, message)
    t.true(refused.message.startsWith(message), `${refused.message} | ${message}`)
  }
  for (const id of ['99', 'none', '%00'])
    for (const sent of [cover, ['files.gallery', 'a', 'a.txt'] as const])
      t.is((await send('PUT', `articles/${id}`, [data, sent])).status, 404, id)
  const forbidden = await send('POST', 'articles', [data, cover], NO_UPLOADS)
  t.deepEqual([forbidden.status, forbidden.message], [403, 'Forbidden'])
  const large = ['files.cover', 'x'.repeat(1_100_000), 'large.txt'] as const
  t.is((await send('POST', 'articles', [data, large])).status, 413)
  t.deepEqual(stored(), [])
  t.is(await app.app.documents('article').count({}), 0)
  t.is(await app.app.documents('plugin::upload.file').count({}), 0)
  t.is((await send('POST', 'articles', [data], NO_UPLOADS)).status, 200, 'a form without files')
})

test('in the format of Strapi 5 a form is refused, with the way that works', async t => {
  const { send, stored } = await openSite(t, { rest: { responseFormat: 'v5' } })
  const data = ['data', { title: 'one' }] as const
  const missing = 'Missing "data" payload in the request body'
  const plain = await send('POST', 'articles', [data])
  t.deepEqual([plain.status, plain.message], [400, missing])
  const refused = await send('POST', 'articles', [data, ['files.cover', 'cover', 'cover.txt']])
  const way = 'a form cannot write a document. Upload its files to /upload first, then send their ids as JSON'
  t.deepEqual([refused.status, refused.message], [400, `${missing}: ${way}`])
  t.deepEqual(stored(), [])
})
