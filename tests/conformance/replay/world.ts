import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parse } from 'yaml'
import { isObject, type Json, type JsonObject } from './case.ts'

/** A state that a list of documents under content/ cannot express, so what is read after it cannot be replayed. */
export class Inexpressible extends Error {}

interface WorldDocument {
  readonly plural: string
  readonly documentId: string
  readonly status: 'draft' | 'published'
  readonly values: JsonObject
  readonly locales: Readonly<Record<string, JsonObject>>
}

/** The prepared state of a case, as the documents that would produce it. */
export interface World {
  readonly documents: ReadonlyMap<string, WorldDocument>
  /** Name to bytes, for content/media/. */
  readonly files: ReadonlyMap<string, Buffer>
}

export const EMPTY_WORLD: World = { documents: new Map(), files: new Map() }

/** A write that the reference accepted; `id` is the document's (a new one where it creates). */
export interface Write {
  readonly method: string
  readonly plural: string
  readonly id: string
  readonly parameters: URLSearchParams
  readonly values: JsonObject
}

export function applyWrite(world: World, write: Write): World {
  const locale = write.parameters.get('locale')
  const isElsewhere = locale !== null && locale !== '' && locale !== 'en'
  if (write.method === 'DELETE') return isElsewhere ? giveUp('a locale is deleted') : remove(world, write.id)
  if (isElsewhere && locale === '*') return giveUp('all locales are written')
  if (write.method === 'POST') return isElsewhere ? giveUp('no default locale') : create(world, write)
  return update(world, write, isElsewhere ? locale : null)
}

const giveUp = (reason: string): never => {
  throw new Inexpressible(reason)
}

function remove(world: World, id: string): World {
  return { ...world, documents: new Map([...world.documents].filter(([key]) => key !== id)) }
}

function create(world: World, { plural, id, parameters, values }: Write): World {
  const status = statusOf(parameters)
  const linked = writeLinks(world, { plural, id, values })
  return put(linked.world, { plural, documentId: id, status, values: linked.values, locales: {} })
}

function update(world: World, { plural, id, parameters, values }: Write, locale: string | null): World {
  const document = world.documents.get(id) ?? giveUp('an unknown document is updated')
  const status = statusOf(parameters)
  if (status === 'draft' && document.status === 'published') return giveUp('draft and published differ')
  const linked = writeLinks(world, { plural, id, values })
  if (locale === null)
    return put(linked.world, { ...document, status, values: { ...document.values, ...linked.values } })
  const before = document.locales[locale] ?? {}
  return put(linked.world, {
    ...document,
    status,
    locales: { ...document.locales, [locale]: { ...before, ...linked.values } },
  })
}

const put = (world: World, document: WorldDocument): World => ({
  ...world,
  documents: new Map([...world.documents, [document.documentId, document]]),
})

const statusOf = (parameters: URLSearchParams): 'draft' | 'published' =>
  parameters.get('status') === 'draft' ? 'draft' : 'published'

/** Links written from the side that does not own them move to the owner's document. */
function writeLinks(
  world: World,
  { plural, id, values }: { plural: string; id: string; values: JsonObject },
): { world: World; values: JsonObject } {
  let result = world
  const kept: Record<string, Json> = {}
  for (const [name, value] of Object.entries(values)) {
    const relation = RELATIONS.get(`${plural}.${name}`)
    if (IGNORED.has(name)) continue
    if (!relation) kept[name] = value
    else if (!relation.mappedBy) kept[name] = plainLinks(value)
    else
      for (const target of asList(plainLinks(value))) result = linkBack(result, String(target), relation, id)
  }
  return { world: result, values: kept }
}

/** Contract 1: accepted in a body and ignored. */
const IGNORED: ReadonlySet<string> = new Set(['publishedAt', 'locale'])

function linkBack(world: World, target: string, relation: Relation, id: string): World {
  const owner = world.documents.get(target) ?? giveUp('a link to an unknown document')
  const before = owner.values[relation.mappedBy ?? '']
  const after = relation.relation === 'manyToMany' ? [...asList(before ?? null), id] : id
  return put(world, { ...owner, values: { ...owner.values, [relation.mappedBy ?? '']: after } })
}

/** Document ids alone; anything finer (connect, positions, numeric ids) is for the tests of writes. */
function plainLinks(value: Json): Json {
  if (Array.isArray(value)) return value.map(plainLinks)
  if (value === null || (typeof value === 'string' && !/^\d*$/.test(value))) return value
  return giveUp('links other than document ids')
}

const asList = (value: Json): readonly Json[] =>
  Array.isArray(value) ? value : value === null ? [] : [value]

/** The text of content/<plural>.yaml for each type that has documents. */
export function toContent(worlds: readonly World[]): ReadonlyMap<string, string> {
  const documents = worlds.flatMap(world => [...world.documents.values()])
  const plurals = [...new Set(documents.map(document => document.plural))]
  return new Map(
    plurals.map(plural => [
      `content/${plural}.yaml`,
      JSON.stringify(documents.filter(document => document.plural === plural).map(toEntry), null, 1),
    ]),
  )
}

const toEntry = ({ documentId, status, values, locales }: WorldDocument): JsonObject => ({
  documentId,
  ...(status === 'draft' ? { status } : {}),
  ...values,
  ...(Object.keys(locales).length > 0 ? { locales } : {}),
})

/** In the form of generated ids: `[a-z][a-z0-9]{23}`. */
export function newDocumentId(): string {
  const letters = 'abcdefghijklmnopqrstuvwxyz0123456789'
  return Array.from({ length: 24 }, (_, place) => letters[randomInt(place === 0 ? 26 : 36)]).join('')
}

interface Relation {
  readonly relation: string
  readonly mappedBy?: string
}

const RELATIONS: ReadonlyMap<string, Relation> = readRelations()

function readRelations(): ReadonlyMap<string, Relation> {
  const file = resolve(import.meta.dirname, '..', 'project', 'project.yaml')
  const types = (parse(readFileSync(file, 'utf8')) as { contentTypes: Record<string, DeclaredType> })
    .contentTypes
  return new Map(
    Object.entries(types).flatMap(([key, type]) =>
      Object.entries(type.attributes).flatMap(([name, attribute]) =>
        isObject(attribute) && attribute.type === 'relation'
          ? [[`${type.pluralApiId ?? `${key}s`}.${name}`, attribute as unknown as Relation] as const]
          : [],
      ),
    ),
  )
}

interface DeclaredType {
  readonly pluralApiId?: string
  readonly attributes: Readonly<Record<string, Json>>
}
