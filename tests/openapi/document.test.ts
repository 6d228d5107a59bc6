import { resolve } from 'node:path'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import test, { type ExecutionContext } from 'ava'
import { servesOpenapi } from '../../core/openapi/open-openapi.ts'
import { describeRole } from '../../tools/cli/openapi.ts'
import { temporaryFolder } from '../harness/folder.ts'

const example = resolve(import.meta.dirname, '../..')
const conformance = resolve(import.meta.dirname, '../conformance/project')

async function describe(t: ExecutionContext, folder: string, role: string, format: 'v4' | 'v5' = 'v5') {
  const described = await describeRole({ folder, env: { DATABASE_URL: 'embedded' }, role, format })
  if (!described.ok) return t.fail(described.reasons.join('\n'))
  return described.value
}

/** The problems that the strict rules find. */
async function lint(document: unknown): Promise<readonly string[]> {
  const config = await createConfig({ extends: ['recommended-strict'] })
  const problems = await lintFromString({ source: JSON.stringify(document), config, absoluteRef: 'api.json' })
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)
}

for (const role of ['public', 'authenticated', 'editor', 'website'])
  for (const format of ['v5', 'v4'] as const)
    test.serial(`strict rules find nothing in what ${role} may do in the example (${format})`, async t => {
      t.deepEqual(await lint(await describe(t, example, role, format)), [])
    })

for (const role of ['public', 'editor', 'full', 'custom'])
  test.serial(`strict rules find nothing in what ${role} may do in the conformance project`, async t => {
    t.deepEqual(await lint(await describe(t, conformance, role)), [])
  })

test.serial(
  'strict rules find nothing in a project of 500 types, each with a relation to the next',
  async t => {
    const folder = temporaryFolder()
    t.teardown(() => folder.remove())
    folder.write('project.yaml', JSON.stringify(largeProject(500)))
    const problems = await lint(await describe(t, folder.path, 'all'))
    t.deepEqual(problems.slice(0, 5), [])
  },
)

function largeProject(count: number): object {
  const types = Array.from({ length: count }, (_, at) => [
    `kind${at}`,
    {
      draftAndPublish: at % 2 === 0,
      attributes: {
        title: { type: 'string', required: true },
        body: { type: 'richtext' },
        size: { type: 'integer' },
        day: { type: 'date' },
        next: { type: 'relation', relation: 'manyToOne', target: `kind${(at + 1) % count}` },
        cover: { type: 'media' },
      },
    },
  ])
  return {
    name: 'Large',
    database: { url: 'embedded' },
    contentTypes: Object.fromEntries(types),
    roles: { all: { permissions: { '*': '*' } } },
  }
}

const UNREADABLE = {
  name: 'Boxes',
  database: { url: 'embedded' },
  components: {
    'shared.tag': {
      attributes: {
        concealed: { type: 'string', private: true },
        key: { type: 'uid', targetField: 'concealed' },
      },
    },
  },
  contentTypes: {
    box: {
      attributes: {
        label: 'string',
        unseen: 'string',
        concealed: { type: 'string', private: true },
        slug: { type: 'uid', targetField: 'label' },
        code: { type: 'uid', targetField: 'unseen' },
        mark: { type: 'uid', targetField: 'concealed' },
        tag: { type: 'component', component: 'shared.tag' },
      },
    },
  },
  roles: { reader: { permissions: { box: { find: { fields: ['!unseen'] } } } } },
}

test.serial(
  'no attribute that the role may neither read nor write is named, not even as the source of a uid',
  async t => {
    const folder = temporaryFolder()
    t.teardown(() => folder.remove())
    folder.write('project.yaml', JSON.stringify(UNREADABLE))
    const text = JSON.stringify(await describe(t, folder.path, 'reader'))
    t.notRegex(text, /unseen"|concealed/)
    t.regex(text, /"targetField":"label"/)
  },
)

test('production serves the description only if the project says so', t => {
  t.deepEqual([servesOpenapi(undefined, true), servesOpenapi(undefined, false)], [false, true])
  t.deepEqual([servesOpenapi(true, true), servesOpenapi(false, false)], [true, false])
})

const STRAPI4 = {
  name: 'Old',
  rest: { responseFormat: 'v4', populateDeep: 4 },
  i18n: { locales: ['en', 'fr'], defaultLocale: 'en' },
  components: { 'shared.seo': { attributes: { image: { type: 'media' } } } },
  contentTypes: {
    article: {
      ...{ draftAndPublish: true, localized: true },
      attributes: {
        title: 'string',
        cover: { type: 'media' },
        gallery: { type: 'media', multiple: true },
        seo: { type: 'component', component: 'shared.seo' },
      },
    },
    home: { kind: 'single', localized: true, attributes: { title: 'string' } },
  },
  roles: {
    editor: {
      permissions: {
        article: ['find', 'create', 'update', 'createLocalization'],
        home: ['find', 'update', 'createLocalization'],
        upload: ['upload'],
      },
    },
    writer: { permissions: { article: ['find', 'create', 'update'] } },
  },
}

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly parameters: Readonly<Record<string, { readonly name: string }>> }
}

interface Operation {
  readonly requestBody: { readonly content: Readonly<Record<string, { readonly schema: FormSchema }>> }
}

interface FormSchema {
  readonly properties: Readonly<Record<string, unknown>>
  readonly patternProperties?: Readonly<Record<string, unknown>>
}

test.serial(
  'forms, locales and populate=deep of Strapi 4 are described where the project has them',
  async t => {
    const folder = temporaryFolder()
    t.teardown(() => folder.remove())
    folder.write('project.yaml', JSON.stringify(STRAPI4))
    const document = await describe(t, folder.path, 'editor', 'v4')
    t.deepEqual(await lint(document), [])
    const { paths, components } = document as unknown as Described
    for (const operation of [paths['/articles']?.post, paths['/articles/{documentId}']?.put]) {
      const form = operation?.requestBody.content['multipart/form-data']?.schema
      t.deepEqual(Object.keys(form?.properties ?? {}), ['data', 'files.cover', 'files.gallery'])
      t.deepEqual(Object.keys(form?.patternProperties ?? {}), ['^files\\.(seo)\\.'])
    }
    const localized = paths['/articles/{documentId}/localizations']?.post
    const body = localized?.requestBody.content['application/json']?.schema.properties ?? {}
    t.like(body, { locale: { enum: ['en', 'fr'] } })
    t.true(Object.hasOwn(body, 'title') && Object.hasOwn(body, 'publishedAt'))
    t.truthy(paths['/home/localizations']?.post)
    const names = Object.values(components.parameters).map(({ name }) => name)
    t.true(names.includes('pLevel'))
    t.regex(JSON.stringify(components.parameters.ArticlePopulate), /"\*","deep"/)

    const writer = (await describe(t, folder.path, 'writer', 'v4')) as unknown as Described
    const form = writer.paths['/articles']?.post?.requestBody.content['multipart/form-data']?.schema
    t.deepEqual(Object.keys(form?.properties ?? {}), ['data'], 'files need the permission to upload')
    t.is(writer.paths['/articles/{documentId}/localizations'], undefined)

    const plain = JSON.stringify({ ...STRAPI4, rest: {} })
    folder.write('project.yaml', plain)
    const other = (await describe(t, folder.path, 'editor')) as unknown as Described
    t.is(other.paths['/articles/{documentId}/localizations'], undefined)
    t.deepEqual(Object.keys(other.paths['/articles']?.post?.requestBody.content ?? {}), ['application/json'])
    t.false(JSON.stringify(other.components).includes('pLevel'))
  },
)
