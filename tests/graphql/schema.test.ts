import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { buildSchema as fromText, type GraphQLSchema } from 'graphql'
import { compileApp } from '../../core/app/compile-app.ts'
import { compileGraphqlSchema, withNamedDirectives } from '../../core/graphql/compile-schema.ts'
import type { FormatName } from '../../core/graphql/formats/format.ts'
import type { Model } from '../../core/model/model.ts'
import type { ShadowCrudDeclaration } from '../../core/project/settings/declarations.ts'
import { modelOf } from '../model/compiled.ts'
import { differences, linesOf } from './loading.ts'

const here = import.meta.dirname

const blueprint = await compileApp(join(here, '..', 'conformance', 'project'), {})
if (!blueprint.ok) throw new Error(JSON.stringify(blueprint.reasons))
const { model } = blueprint.value

function schemaOf(
  from: Model,
  declared: Readonly<Record<string, Partial<ShadowCrudDeclaration>>> = {},
  format: FormatName = 'nested',
): GraphQLSchema {
  const shadow = Object.entries(declared).map(
    ([uid, one]) =>
      [uid, { enabled: true, queries: true, mutations: true, actions: {}, fields: {}, ...one }] as const,
  )
  const compiled = compileGraphqlSchema({
    format,
    model: from,
    shadow: new Map(shadow),
    entityId: 'document',
    generatesTypes: true,
    extensions: null,
  })
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.reasons))
  return compiled.value.schema
}

const notes = await modelOf(`
components:
  shared.tag: { attributes: { label: string, secret: { type: string, private: true } } }
contentTypes:
  note:
    attributes:
      title: { type: string, required: true }
      mood: { type: enumeration, enum: [two words, with-dash, été] }
      pin: password
      token: { type: string, writable: false }
      tags: { type: component, component: shared.tag, repeatable: true }
      book: { type: relation, relation: manyToOne, target: book, inversedBy: notes }
  book:
    attributes:
      title: string
      notes: { type: relation, relation: oneToMany, target: note, mappedBy: book }
`)

for (const [format, reference, listed] of [
  ['nested', 'reference.graphql', 'differences.txt'],
  ['flat', 'reference-flat.graphql', 'flat-differences.txt'],
] as const)
  test(`the ${format} schema of the recorded project is the reference’s, except for the listed differences`, t => {
    const ours = linesOf(schemaOf(model, {}, format))
    const theirs = linesOf(fromText(readFileSync(join(here, reference), 'utf8')))
    const file = join(here, 'golden', listed)
    const found = differences(ours, theirs)
    if (process.env.UPDATE_GOLDEN || !existsSync(file)) writeFileSync(file, found)
    t.is(found, readFileSync(file, 'utf8'))
  })

const fieldsOf = (schema: GraphQLSchema, name: string): readonly string[] => {
  const type = schema.getType(name)
  return type && 'getFields' in type ? Object.keys(type.getFields()) : []
}

test('hashes and private attributes are not in the schema; attributes that only the server writes are no input', t => {
  const schema = schemaOf(notes)
  const outputs = fieldsOf(schema, 'Note')
  t.true(outputs.includes('token') && !outputs.includes('pin'))
  t.deepEqual(fieldsOf(schema, 'ComponentSharedTag'), ['id', 'label'])
  const inputs = fieldsOf(schema, 'NoteInput')
  t.true(inputs.includes('pin') && !inputs.includes('token'))
})

test('the flat format has no private attributes in filters, and a connection for each list', t => {
  const schema = schemaOf(notes, {}, 'flat')
  t.deepEqual(fieldsOf(schema, 'ComponentSharedTagFiltersInput'), ['label', 'and', 'or', 'not'])
  t.deepEqual(
    fieldsOf(schema, 'Book').filter(name => name.startsWith('notes')),
    ['notes_connection', 'notes'],
  )
  t.true(fieldsOf(schema, 'NoteInput').includes('locale'))
  for (const name of ['NoteEntity', 'NoteEntityResponse', 'PublicationState', 'Upload'])
    t.falsy(schema.getType(name), name)
})

test('enumeration values that are no GraphQL names are rewritten', t => {
  const type = schemaOf(notes).getType('ENUM_NOTE_MOOD')
  t.deepEqual(type && 'getValues' in type ? type.getValues().map(({ name }) => name) : [], [
    'two_words',
    'with_dash',
    'ete',
  ])
})

test('a disabled type is removed with its operations and with relations that lead to it', t => {
  const schema = schemaOf(notes, { 'api::book.book': { enabled: false } })
  t.falsy(schema.getType('Book'))
  t.falsy(schema.getType('BookFiltersInput'))
  t.false(fieldsOf(schema, 'Query').includes('books'))
  for (const name of ['Note', 'NoteInput', 'NoteFiltersInput'])
    t.false(fieldsOf(schema, name).includes('book'))
})

test('queries, mutations, actions and fields are disabled individually', t => {
  const uid = 'api::note.note'
  const without = (declared: Partial<ShadowCrudDeclaration>) => schemaOf(notes, { [uid]: declared })
  const closed = without({ queries: false })
  t.deepEqual(
    fieldsOf(closed, 'Query').filter(name => /^notes?$/.test(name)),
    [],
  )
  t.true(fieldsOf(closed, 'Book').includes('notes'))
  t.falsy(without({ mutations: false }).getType('NoteInput'))
  const few = fieldsOf(without({ actions: { delete: false, findOne: false } }), 'Mutation')
  t.true(few.includes('updateNote') && !few.includes('deleteNote'))
  const field = { enabled: true, output: true, input: true, filters: true }
  const hidden = without({
    fields: { title: { ...field, output: false }, mood: { ...field, enabled: false } },
  })
  t.false(fieldsOf(hidden, 'Note').includes('title'))
  t.true(fieldsOf(hidden, 'NoteInput').includes('title'))
  t.falsy(hidden.getType('ENUM_NOTE_MOOD'))
})

test('introspection lists the directives that Strapi clients know, and newer ones if they are used', t => {
  const named = (schema: GraphQLSchema) =>
    new Map(schema.getDirectives().map(({ name, locations }) => [name, locations.map(String)]))
  const known = named(schemaOf(model))
  t.deepEqual([...known.keys()], ['include', 'skip', 'deprecated', 'specifiedBy'])
  t.deepEqual(known.get('deprecated'), [
    'FIELD_DEFINITION',
    'ARGUMENT_DEFINITION',
    'INPUT_FIELD_DEFINITION',
    'ENUM_VALUE',
  ])
  const one = fromText('input One @oneOf { a: Int, b: Int } type Query { one(of: One): Int }')
  t.true(named(withNamedDirectives(one)).has('oneOf'))
})
