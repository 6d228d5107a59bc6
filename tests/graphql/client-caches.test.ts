import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import {
  ApolloClient,
  disableFragmentWarnings,
  gql,
  HttpLink,
  InMemoryCache,
  type TypePolicies,
} from '@apollo/client'
import { BatchHttpLink } from '@apollo/client/link/batch-http'
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries'
import { Client, fetchExchange } from '@urql/core'
import { cacheExchange, type KeyingConfig } from '@urql/exchange-graphcache'
import test, { type ExecutionContext } from 'ava'
import { ClientError, GraphQLClient } from 'graphql-request'
import { openTestApp } from '../harness/test-app.ts'

// Each format has its own fragment of one name.
disableFragmentWarnings()

const TOKEN = 'a-secret-of-forty-letters-that-no-client-guesses'

const PROJECT = {
  i18n: { locales: ['en', 'fr'], defaultLocale: 'en' },
  contentTypes: {
    article: {
      localized: true,
      attributes: {
        title: { type: 'string', required: true },
        author: { type: 'relation', relation: 'manyToOne', target: 'author', inversedBy: 'articles' },
      },
    },
    author: {
      attributes: {
        name: 'string',
        articles: { type: 'relation', relation: 'oneToMany', target: 'article', mappedBy: 'author' },
      },
    },
  },
  apiTokens: { all: { type: 'full-access', secret: TOKEN } },
}

const headers = { authorization: `Bearer ${TOKEN}` }

/** The documents of the clients in each format; the fragment `Shown` selects the fields of an article. */
const DOCUMENTS = {
  nested: `
    fragment Shown on ArticleEntity { id attributes { locale title author { data { id attributes { name } } } } }
    query List($locale: I18NLocaleCode) { shown: articles(locale: $locale) { list: data { ...Shown } } }
    query Both {
      en: articles(locale: "en") { list: data { ...Shown } }
      fr: articles(locale: "fr") { list: data { ...Shown } }
    }
    mutation Rename($id: ID!, $locale: I18NLocaleCode, $title: String) {
      updateArticle(id: $id, locale: $locale, data: { title: $title }) { data { ...Shown } }
    }`,
  flat: `
    fragment Shown on Article { documentId locale title author { documentId name } }
    query List($locale: I18NLocaleCode) { shown: articles_connection(locale: $locale) { list: nodes { ...Shown } } }
    query Both {
      en: articles_connection(locale: "en") { list: nodes { ...Shown } }
      fr: articles_connection(locale: "fr") { list: nodes { ...Shown } }
    }
    mutation Rename($id: ID!, $locale: I18NLocaleCode, $title: String) {
      updateArticle(documentId: $id, locale: $locale, data: { title: $title }) { ...Shown }
    }`,
} as const

type Format = keyof typeof DOCUMENTS
type Name = 'List' | 'Both' | 'Rename'

/** One operation with its fragment: clients send single operations. */
function operation(format: Format, name: Name): string {
  const parts = DOCUMENTS[format].split(/\n(?= {4}(?:fragment|query|mutation) )/)
  return parts.filter(part => /^\s*fragment/.test(part) || part.includes(` ${name}`)).join('\n')
}

interface Entity {
  readonly id?: string
  readonly documentId?: string
  readonly title?: string
  readonly attributes?: { readonly title: string }
}

type Listed = Readonly<Record<'shown' | 'en' | 'fr', { readonly list: readonly Entity[] }>>

const titlesOf = (listed: { readonly list: readonly Entity[] } | undefined) =>
  listed?.list.map(({ title, attributes }) => title ?? attributes?.title)

/** Serves the project in both formats with one article in English and French; returns the URL of the server. */
async function serve(t: ExecutionContext, config: object = {}): Promise<string> {
  const graphql = { endpoints: { '/nested': 'nested', '/flat': 'flat' }, config }
  const opened = await openTestApp(t, { project: { ...PROJECT, graphql }, listen: true })
  const { app } = opened
  const author = await app.documents('author').create({ data: { name: 'Ann' } })
  const linked = { author: author.documentId }
  const { documentId } = await app.documents('article').create({ data: { title: 'one', ...linked } })
  await app.documents('article').update({ documentId, locale: 'fr', data: { title: 'un', ...linked } })
  return String(opened.url)
}

/** The settings of a cache that docs/graphql.md shows. */
function documented(name: string): CacheSettings {
  const text = readFileSync(join(import.meta.dirname, '../../docs/graphql.md'), 'utf8')
  const [, example = ''] = text.split(`\n// ${name}\n`)
  const [settings = ''] = example.split(/\n(?:```|\/\/)/)
  return runInNewContext(settings.replace('new InMemoryCache', 'cacheExchange'), {
    cacheExchange: (options: object) => options,
  }) as CacheSettings
}

interface CacheSettings {
  readonly keys: KeyingConfig
  readonly typePolicies: TypePolicies
}

/** Objects without an id in the nested format. */
const WITHOUT_KEYS = Object.fromEntries(
  [
    'Article',
    'ArticleEntityResponse',
    'ArticleEntityResponseCollection',
    'Author',
    'AuthorEntityResponse',
  ].map(type => [type, () => null]),
)

const CASES = [
  { name: 'nested, ids of records', format: 'nested', config: { entityId: 'record' }, policies: null },
  { name: 'nested, type policies', format: 'nested', config: {}, policies: 'nested format' },
  { name: 'flat, type policies', format: 'flat', config: {}, policies: 'flat format' },
] as const

for (const { name, format, config, policies } of CASES)
  test(`Apollo Client keeps two locales in its cache: ${name}`, async t => {
    const url = await serve(t, config)
    const settings = policies === null ? {} : documented(`Apollo Client, ${policies}`)
    const cache = new InMemoryCache(settings)
    const client = new ApolloClient({ link: new HttpLink({ uri: `${url}/${format}`, headers }), cache })
    const ask = async (operationName: Name, variables = {}, fetchPolicy?: 'cache-only') => {
      const query = gql(operation(format, operationName))
      const { data } = await client.query<Listed>({ query, variables, ...(fetchPolicy && { fetchPolicy }) })
      return data
    }
    t.deepEqual(titlesOf((await ask('List', { locale: 'en' }))?.shown), ['one'])
    const french = (await ask('List', { locale: 'fr' }))?.shown
    t.deepEqual(titlesOf(french), ['un'])
    t.deepEqual(titlesOf((await ask('List', { locale: 'en' }, 'cache-only'))?.shown), ['one'])
    const both = await ask('Both')
    t.deepEqual([titlesOf(both?.en), titlesOf(both?.fr)], [['one'], ['un']])

    const { id, documentId = id } = french?.list[0] ?? {}
    const mutation = gql(operation(format, 'Rename'))
    await client.mutate({ mutation, variables: { id: documentId, locale: 'fr', title: 'deux' } })
    const cached = await ask('Both', {}, 'cache-only')
    t.deepEqual([titlesOf(cached?.en), titlesOf(cached?.fr)], [['one'], ['deux']])
    const keys = Object.keys(cache.extract())
    t.is(keys.filter(key => /^Article(?:Entity)?:/.test(key)).length, 2, keys.join())
    t.is(keys.filter(key => /^Author/.test(key)).length, 1, keys.join())
    client.stop()
  })

for (const { name, format, config, policies } of CASES)
  test(`urql's normalized cache keeps two locales: ${name}`, async t => {
    const url = await serve(t, config)
    const warnings: string[] = []
    const { keys } = policies === null ? { keys: WITHOUT_KEYS } : documented(`urql, ${policies}`)
    const logger = (severity: string, message: string) => {
      if (severity !== 'debug') warnings.push(message)
    }
    const client = new Client({
      url: `${url}/${format}`,
      exchanges: [cacheExchange({ keys, logger }), fetchExchange],
      fetchOptions: { headers },
      preferGetMethod: false,
    })
    const ask = async (operationName: Name, variables = {}, requestPolicy?: 'cache-only') => {
      const context = requestPolicy && { requestPolicy }
      const { data, error } = await client
        .query<Listed>(operation(format, operationName), variables, context)
        .toPromise()
      t.is(error, undefined)
      return data
    }
    t.deepEqual(titlesOf((await ask('List', { locale: 'en' }))?.shown), ['one'])
    const french = (await ask('List', { locale: 'fr' }))?.shown
    t.deepEqual(titlesOf((await ask('List', { locale: 'en' }, 'cache-only'))?.shown), ['one'])
    await ask('Both')
    const { id, documentId = id } = french?.list[0] ?? {}
    const variables = { id: documentId, locale: 'fr', title: 'deux' }
    t.is((await client.mutation(operation(format, 'Rename'), variables).toPromise()).error, undefined)
    const cached = await ask('Both', {}, 'cache-only')
    t.deepEqual([titlesOf(cached?.en), titlesOf(cached?.fr)], [['one'], ['deux']])
    t.deepEqual(warnings, [])
  })

for (const format of ['nested', 'flat'] as const)
  test(`Apollo Client's links and errors: ${format} format`, async t => {
    const uri = `${await serve(t)}/${format}`
    const open = (link: ConstructorParameters<typeof ApolloClient>[0]['link']) =>
      new ApolloClient({ link, cache: new InMemoryCache() })
    const query = gql(operation(format, 'List'))
    const sha256 = async (text: string) => {
      const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
      return Buffer.from(bytes).toString('hex')
    }
    const byHash = new PersistedQueryLink({ sha256, useGETForHashedQueries: true })
    for (const link of [
      new HttpLink({ uri, headers, useGETForQueries: true }),
      byHash.concat(new HttpLink({ uri, headers })),
    ]) {
      const { data } = await open(link).query<Listed>({ query, variables: { locale: 'fr' } })
      t.deepEqual(titlesOf(data?.shown), ['un'])
    }
    const client = open(new HttpLink({ uri, headers }))
    const refused = await t.throwsAsync(client.query({ query: gql`{ articles { nope } }` }))
    // Strapi 4 answers with application/json, too: Apollo Client then reads no body of a 400.
    t.regex(refused?.message ?? '', format === 'flat' ? /Cannot query field "nope"/ : /status code 400/)
    const anonymous = open(new HttpLink({ uri }))
    t.regex((await t.throwsAsync(anonymous.query({ query })))?.message ?? '', /Forbidden access/)
    if (format === 'flat') return
    const batched = open(new BatchHttpLink({ uri, headers, batchInterval: 5 }))
    const [en, fr] = await Promise.all(
      ['en', 'fr'].map(locale => batched.query<Listed>({ query, variables: { locale } })),
    )
    t.deepEqual([titlesOf(en?.data?.shown), titlesOf(fr?.data?.shown)], [['one'], ['un']])
  })

for (const format of ['nested', 'flat'] as const)
  test(`graphql-request reads and writes, and gets errors: ${format} format`, async t => {
    const url = `${await serve(t)}/${format}`
    for (const method of ['POST', 'GET'] as const) {
      const client = new GraphQLClient(url, { headers, method })
      const listed = await client.request<Listed>(operation(format, 'List'), { locale: 'fr' })
      t.deepEqual(titlesOf(listed.shown), ['un'])
      const { status, headers: received } = await client.rawRequest(operation(format, 'List'))
      t.is(status, 200)
      const type = format === 'flat' ? 'application/graphql-response+json; charset=utf-8' : 'application/json'
      t.is(received.get('content-type'), type)
    }
    const client = new GraphQLClient(url, { headers })
    const invalid = await t.throwsAsync(client.request('{ articles { nope } }'), { instanceOf: ClientError })
    t.is(invalid.response.status, 400)
    t.regex(invalid.response.errors?.[0]?.message ?? '', /Cannot query field "nope"/)
    const create = format === 'nested' ? 'data { id }' : 'documentId'
    const refused = await t.throwsAsync(
      client.request(`mutation { createArticle(data: {}) { ${create} } }`),
      {
        instanceOf: ClientError,
      },
    )
    t.is(refused.response.errors?.[0]?.extensions?.code, 'BAD_USER_INPUT')
    const anonymous = new GraphQLClient(url, { errorPolicy: 'all' })
    const { errors } = await anonymous.rawRequest(operation(format, 'List'))
    t.is(errors?.[0]?.extensions?.code, 'FORBIDDEN')
  })
