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
  type GraphQLSchema,
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
  public: { permissions: { book: [find, create, update, delete], author: [find] } }
`

/** The differences between the formats: the documents, and the paths in their results. */
const FORMATS = {
  nested: {
    operations: `
      query Shelf($mood: String, $limit: Int = 5) {
        books(filters: { mood: { eq: $mood } }, sort: ["title"], pagination: { limit: $limit }) {
          data { id attributes { title mood ...Writer } }
          meta { pagination { total } }
        }
      }
      fragment Writer on Book { author { data { attributes { name } } } }
      mutation Add($data: BookInput!) { createBook(data: $data) { data { id attributes { title mood ...Writer } } } }
      mutation Change($id: ID!, $data: BookInput!) { updateBook(id: $id, data: $data) { data { id attributes { title mood ...Writer } } } }
      mutation Remove($id: ID!) { deleteBook(id: $id) { data { id attributes { title mood ...Writer } } } }`,
    use: `
      export const titles = (shelf: ShelfQuery): string[] =>
        shelf.books?.data.map(book => book.attributes?.title ?? '') ?? []
      export const writers = (shelf: ShelfQuery): (string | null | undefined)[] | undefined =>
        shelf.books?.data.map(book => book.attributes?.author?.data?.attributes?.name)
      export const changed = ({ updateBook }: ChangeMutation): string | undefined => updateBook?.data?.attributes?.title`,
    listed: ({ books }: NestedShelf) => ({
      books: books.data.map(({ attributes }) => bookOf(attributes)),
      total: books.meta.pagination.total,
    }),
    written: ({ data }: { readonly data: NestedBook | null }) =>
      data && { id: data.id, ...bookOf(data.attributes) },
  },
  flat: {
    operations: `
      query Shelf($mood: String, $limit: Int = 5) {
        books_connection(filters: { mood: { eq: $mood } }, sort: ["title"], pagination: { limit: $limit }) {
          nodes { documentId title mood ...Penned }
          pageInfo { total }
        }
      }
      fragment Penned on Book { author { name } }
      mutation Add($data: BookInput!) { createBook(data: $data) { documentId title mood ...Penned } }
      mutation Change($id: ID!, $data: BookInput!) { updateBook(documentId: $id, data: $data) { documentId title mood ...Penned } }
      mutation Remove($id: ID!) { deleteBook(documentId: $id) { documentId } }`,
    use: `
      export const titles = (shelf: ShelfQuery): string[] => shelf.books_connection?.nodes.map(book => book.title) ?? []
      export const writers = (shelf: ShelfQuery): (string | null | undefined)[] | undefined =>
        shelf.books_connection?.nodes.map(book => book.author?.name)
      export const changed = ({ updateBook }: ChangeMutation): string | undefined => updateBook?.title`,
    listed: ({ books_connection: { nodes, pageInfo } }: FlatShelf) => ({
      books: nodes.map(({ title, mood, author }) => ({ title, mood, author: author?.name ?? null })),
      total: pageInfo.total,
    }),
    written: ({ documentId, title, mood, author }: FlatBook) => ({
      ...{ id: documentId, title, mood, author: author?.name ?? null },
    }),
  },
} as const

/** A user's program with the generated types: compiled, never run. */
const USE = `
import type { AddMutationVariables, ChangeMutation, ShelfQuery, ShelfQueryVariables } from './operations.ts'
export const asked: ShelfQueryVariables = { mood: 'light', limit: 1 }
export const added: AddMutationVariables = { data: { title: 'Cats', mood: 'two_words', author: '1' } }
// @ts-expect-error there is no such variable
export const wrong: ShelfQueryVariables = { mod: 'light' }
// @ts-expect-error there is no such value
export const moody: AddMutationVariables = { data: { mood: 'dark' } }
`

interface NestedShelf {
  readonly books: {
    readonly data: readonly NestedBook[]
    readonly meta: { readonly pagination: { readonly total: number } }
  }
}

interface NestedBook {
  readonly id: string
  readonly attributes: {
    readonly title: string
    readonly mood: string | null
    readonly author: { readonly data: { readonly attributes: { readonly name: string } } | null }
  }
}

const bookOf = ({ title, mood, author }: NestedBook['attributes']) => ({
  ...{ title, mood, author: author.data?.attributes.name ?? null },
})

interface FlatShelf {
  readonly books_connection: {
    readonly nodes: readonly FlatBook[]
    readonly pageInfo: { readonly total: number }
  }
}

interface FlatBook {
  readonly documentId: string
  readonly title: string
  readonly mood: string | null
  readonly author: { readonly name: string } | null
}

type Written<Field extends string> = Readonly<
  Record<Field, NestedBook & FlatBook & { data: NestedBook | null }>
>

interface Generated {
  readonly ShelfDocument: TypedDocumentNode<NestedShelf & FlatShelf, { mood?: string; limit?: number }>
  readonly AddDocument: TypedDocumentNode<Written<'createBook'>, { data: unknown }>
  readonly ChangeDocument: TypedDocumentNode<Written<'updateBook'>, { id: string; data: unknown }>
  readonly RemoveDocument: TypedDocumentNode<Written<'deleteBook'>, { id: string }>
}

for (const format of ['nested', 'flat'] as const)
  test(`a client with generated types works unchanged: urql and graphql-codegen, ${format} format`, async t => {
    const { listed, written } = FORMATS[format]
    const yaml = `${PROJECT}graphql: { config: { v4CompatibilityMode: ${format === 'nested'} } }\n`
    const { create, respond } = await openEndpoint(t, yaml)
    const ann = await create('author', { name: 'Ann' })
    await create('book', { title: 'Alps', mood: 'two words', author: ann.documentId })
    await create('book', { title: 'Bees', mood: 'light', author: ann.documentId })
    const { url } = await serve(t, [respond], { settings: { bodyLimit: 100_000, requestTimeout: 60_000 } })
    const client = new Client({ url: `${url}/graphql`, exchanges: [fetchExchange], preferGetMethod: false })

    const introspected = await client.query<IntrospectionQuery>(getIntrospectionQuery(), {}).toPromise()
    t.is(introspected.error, undefined)
    if (!introspected.data) return t.fail()
    const folder = await generate(buildClientSchema(introspected.data), format)
    t.teardown(folder.remove)
    t.deepEqual(compile([join(folder.path, 'operations.ts'), join(folder.path, 'use.ts')]), [])

    const generated: Generated = await import(pathToFileURL(join(folder.path, 'operations.mjs')).href)
    const find = async (
      variables: { mood?: string; limit?: number },
      preferGetMethod: false | 'force' = false,
    ) => {
      const { data, error } = await client
        .query(generated.ShelfDocument, variables, { preferGetMethod })
        .toPromise()
      t.is(error, undefined)
      return data && listed(data)
    }
    const shelf = { books: [{ title: 'Alps', mood: 'two_words', author: 'Ann' }], total: 1 }
    for (const preferGetMethod of [false, 'force'] as const)
      t.deepEqual(await find({ mood: 'two words', limit: 1 }, preferGetMethod), shelf)
    const data = { title: 'Cats', mood: 'two_words', author: ann.documentId }
    const added = await client.mutation(generated.AddDocument, { data }).toPromise()
    t.is(added.error, undefined)
    const book = added.data && written(added.data.createBook)
    t.like(book, { title: 'Cats', mood: 'two_words', author: 'Ann' })
    const id = book?.id ?? ''
    const change = { title: 'Dogs', author: null }
    const changed = await client.mutation(generated.ChangeDocument, { id, data: change }).toPromise()
    t.is(changed.error, undefined)
    t.deepEqual(changed.data && written(changed.data.updateBook), {
      ...{ id, title: 'Dogs', mood: 'two_words', author: null },
    })
    const removed = await client.mutation(generated.RemoveDocument, { id }).toPromise()
    t.is(removed.data && written(removed.data.deleteBook)?.id, id)
    t.deepEqual(await find({ mood: 'two words' }), shelf)
    const invalid = await client.mutation(generated.AddDocument, { data: { mood: 'light' } }).toPromise()
    t.is(invalid.error?.graphQLErrors[0]?.extensions.code, 'BAD_USER_INPUT')
    const field = format === 'nested' ? 'books' : 'books_connection'
    const refused = await client.query(`{ ${field} { nope } }`, {}).toPromise()
    t.regex(refused.error?.graphQLErrors[0]?.message ?? '', /Cannot query field "nope"/)
  })

/** Types of the operations, by plugins of GraphQL Code Generator. */
async function generate(schema: GraphQLSchema, format: keyof typeof FORMATS) {
  const text = await codegen({
    filename: 'operations.ts',
    schema: parse(printSchema(schema)),
    documents: [{ location: 'operations.graphql', document: parse(FORMATS[format].operations) }],
    config: { useTypeImports: true },
    plugins: [{ operations: {} }, { typedDocuments: {} }],
    pluginMap: { operations, typedDocuments },
  })
  const folder = temporaryFolder()
  folder.write('operations.ts', text)
  folder.write('operations.mjs', ts.transpileModule(text, { compilerOptions: COMPILED }).outputText)
  folder.write('use.ts', USE + FORMATS[format].use)
  symlinkSync(resolve(import.meta.dirname, '../../node_modules'), join(folder.path, 'node_modules'))
  return folder
}

const COMPILED = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext }

const compile = (files: readonly string[]): readonly string[] => {
  const program = ts.createProgram([...files], {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    allowImportingTsExtensions: true,
    ...COMPILED,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  })
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}
