import { symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { codegen } from '@graphql-codegen/core'
import * as typedDocuments from '@graphql-codegen/typed-document-node'
import * as operations from '@graphql-codegen/typescript-operations'
import { Client, fetchExchange, type TypedDocumentNode } from '@urql/core'
import test from 'ava'
import {
  buildClientSchema,
  getIntrospectionQuery,
  type IntrospectionQuery,
  parse,
  printSchema,
} from 'graphql'
import ts from 'typescript'
import { temporaryFolder } from '../harness/folder.ts'
import { serve } from '../http/serving.ts'
import { openEndpoint } from './endpoint.ts'

const PROJECT = `
contentTypes:
  book:
    attributes:
      title: { type: string, required: true }
      pages: biginteger
      mood: { type: enumeration, enum: [light, two words] }
      author: { type: relation, relation: manyToOne, target: author, inversedBy: books }
  author:
    attributes:
      name: string
      books: { type: relation, relation: oneToMany, target: book, mappedBy: author }
roles:
  public: { permissions: { book: [find], author: [find] } }
`

const OPERATIONS = `
  query Shelf($mood: String, $limit: Int = 5) {
    books(filters: { mood: { eq: $mood } }, sort: ["title"], pagination: { limit: $limit }) {
      data { id attributes { title mood ...Writer } }
      meta { pagination { total } }
    }
  }
  fragment Writer on Book { author { data { attributes { name } } } }
`

/** What a program of a user does with the generated types: compiled, never run. */
const USE = `
import type { ShelfQuery, ShelfQueryVariables } from './operations.ts'
export const asked: ShelfQueryVariables = { mood: 'light', limit: 1 }
export function titles(shelf: ShelfQuery): string[] {
  return shelf.books?.data.map(book => book.attributes?.title ?? '') ?? []
}
export const writers = (shelf: ShelfQuery): (string | null | undefined)[] | undefined =>
  shelf.books?.data.map(book => book.attributes?.author?.data?.attributes?.name)
// @ts-expect-error there is no such variable
export const wrong: ShelfQueryVariables = { mod: 'light' }
`

interface Shelf {
  readonly books: {
    readonly data: readonly { readonly attributes: { readonly title: string; readonly mood: string } }[]
    readonly meta: { readonly pagination: { readonly total: number } }
  }
}

test('a client with generated types works unchanged: urql and graphql-codegen', async t => {
  const { create, respond } = await openEndpoint(t, PROJECT)
  const ann = await create('author', { name: 'Ann' })
  await create('book', { title: 'Alps', mood: 'two words', author: ann.documentId })
  await create('book', { title: 'Bees', mood: 'light', author: ann.documentId })
  const { url } = await serve(t, [respond], { settings: { bodyLimit: 100_000 } })
  const client = new Client({ url: `${url}/graphql`, exchanges: [fetchExchange] })

  const introspected = await client.query<IntrospectionQuery>(getIntrospectionQuery(), {}).toPromise()
  t.is(introspected.error, undefined)
  if (!introspected.data) return t.fail()
  const folder = await generate(buildClientSchema(introspected.data))
  t.teardown(folder.remove)
  t.deepEqual(compile([join(folder.path, 'operations.ts'), join(folder.path, 'use.ts')]), [])

  const generated = (await import(pathToFileURL(join(folder.path, 'operations.ts')).href)) as {
    readonly ShelfDocument: TypedDocumentNode<Shelf, { readonly mood?: string; readonly limit?: number }>
  }
  for (const preferGetMethod of [false, 'force'] as const) {
    const asked = { mood: 'two words', limit: 1 }
    const shelf = await client.query(generated.ShelfDocument, asked, { preferGetMethod }).toPromise()
    t.is(shelf.error, undefined)
    t.like(shelf.data?.books.data, [
      { attributes: { title: 'Alps', mood: 'two_words', author: { data: { attributes: { name: 'Ann' } } } } },
    ])
    t.is(shelf.data?.books.meta.pagination.total, 1)
  }
  const refused = await client.query('{ books { nope } }', {}).toPromise()
  t.regex(refused.error?.graphQLErrors[0]?.message ?? '', /Cannot query field "nope"/)
})

/** Types of the operations, by the plugins that graphql-codegen's users configure. */
async function generate(schema: ReturnType<typeof buildClientSchema>) {
  const text = await codegen({
    filename: 'operations.ts',
    schema: parse(printSchema(schema)),
    documents: [{ location: 'operations.graphql', document: parse(OPERATIONS) }],
    config: { useTypeImports: true },
    plugins: [{ operations: {} }, { typedDocuments: {} }],
    pluginMap: { operations, typedDocuments },
  })
  const folder = temporaryFolder()
  folder.write('operations.ts', text)
  folder.write('use.ts', USE)
  symlinkSync(resolve(import.meta.dirname, '../../node_modules'), join(folder.path, 'node_modules'))
  return folder
}

const compile = (files: readonly string[]): readonly string[] => {
  const program = ts.createProgram([...files], {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    allowImportingTsExtensions: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  })
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}
