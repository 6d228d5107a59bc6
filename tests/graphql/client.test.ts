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
  public: { permissions: { book: [find, create, update, delete], author: [find] } }
`

const OPERATIONS = `
  query Shelf($mood: String, $limit: Int = 5) {
    books(filters: { mood: { eq: $mood } }, sort: ["title"], pagination: { limit: $limit }) {
      data { id attributes { title mood ...Writer } }
      meta { pagination { total } }
    }
  }
  fragment Writer on Book { author { data { attributes { name } } } }
  mutation Add($data: BookInput!) { createBook(data: $data) { data { id attributes { title mood ...Writer } } } }
  mutation Change($id: ID!, $data: BookInput!) { updateBook(id: $id, data: $data) { data { id attributes { title mood ...Writer } } } }
  mutation Remove($id: ID!) { deleteBook(id: $id) { data { id attributes { title mood ...Writer } } } }
`

/** A user's program with the generated types: compiled, never run. */
const USE = `
import type { AddMutationVariables, ChangeMutation, ShelfQuery, ShelfQueryVariables } from './operations.ts'
export const asked: ShelfQueryVariables = { mood: 'light', limit: 1 }
export function titles(shelf: ShelfQuery): string[] {
  return shelf.books?.data.map(book => book.attributes?.title ?? '') ?? []
}
export const writers = (shelf: ShelfQuery): (string | null | undefined)[] | undefined =>
  shelf.books?.data.map(book => book.attributes?.author?.data?.attributes?.name)
export const added: AddMutationVariables = { data: { title: 'Cats', mood: 'two_words', author: '1' } }
export const changed = ({ updateBook }: ChangeMutation): string | undefined => updateBook?.data?.attributes?.title
// @ts-expect-error there is no such variable
export const wrong: ShelfQueryVariables = { mod: 'light' }
// @ts-expect-error there is no such value
export const moody: AddMutationVariables = { data: { mood: 'dark' } }
`

interface Shelf {
  readonly books: {
    readonly data: readonly { readonly attributes: { readonly title: string; readonly mood: string } }[]
    readonly meta: { readonly pagination: { readonly total: number } }
  }
}

interface Book {
  readonly id: string
  readonly attributes: {
    readonly title: string
    readonly mood: string | null
    readonly author: { readonly data: { readonly attributes: { readonly name: string } } | null }
  }
}

type Written<Field extends string> = Readonly<Record<Field, { readonly data: Book | null }>>

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

  const generated = (await import(pathToFileURL(join(folder.path, 'operations.mjs')).href)) as {
    readonly ShelfDocument: TypedDocumentNode<Shelf, { readonly mood?: string; readonly limit?: number }>
    readonly AddDocument: TypedDocumentNode<Written<'createBook'>, { readonly data: unknown }>
    readonly ChangeDocument: TypedDocumentNode<
      Written<'updateBook'>,
      { readonly id: string; readonly data: unknown }
    >
    readonly RemoveDocument: TypedDocumentNode<Written<'deleteBook'>, { readonly id: string }>
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
  const data = { title: 'Cats', mood: 'two_words', author: ann.documentId }
  const added = await client.mutation(generated.AddDocument, { data }).toPromise()
  t.is(added.error, undefined)
  const { id = '', attributes } = added.data?.createBook.data ?? {}
  t.like(attributes, {
    title: 'Cats',
    mood: 'two_words',
    author: { data: { attributes: { name: 'Ann' } } },
  })
  const change = { title: 'Dogs', author: null }
  const changed = await client.mutation(generated.ChangeDocument, { id, data: change }).toPromise()
  t.is(changed.error, undefined)
  t.like(changed.data?.updateBook.data, {
    id,
    attributes: { title: 'Dogs', mood: 'two_words', author: { data: null } },
  })
  const removed = await client.mutation(generated.RemoveDocument, { id }).toPromise()
  t.is(removed.data?.deleteBook.data?.id, id)
  const gone = await client.query(generated.ShelfDocument, { mood: 'two words' }).toPromise()
  t.deepEqual(
    gone.data?.books.data.map(book => book.attributes.title),
    ['Alps'],
  )
  const invalid = await client.mutation(generated.AddDocument, { data: { mood: 'light' } }).toPromise()
  t.is(invalid.error?.graphQLErrors[0]?.extensions.code, 'BAD_USER_INPUT')
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
  folder.write('operations.mjs', ts.transpileModule(text, { compilerOptions: COMPILED }).outputText)
  folder.write('use.ts', USE)
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
