import type { SchemaCase } from '../schema-case.ts'
import { type Draft, type DraftAttribute, type DraftType, ENUM } from './draft.ts'
import type { Chance } from './random.ts'

const TEXTS = [
  'Dune',
  '412',
  '007',
  '1.50',
  '-3',
  'true',
  'news',
  '1',
  '2026-02-28',
  '09:30',
  'a@example.com',
  '2026-02-28T10:00:00Z',
]

const POOL: Readonly<Record<DraftAttribute['type'], readonly unknown[]>> = {
  string: TEXTS,
  text: [...TEXTS, 'x'.repeat(300)],
  integer: [0, 1, -7, 2147483647],
  biginteger: ['0', '1', '9007199254740991'],
  float: [0, 1, 1.5, 0.1, 12345678901],
  decimal: [0, 1, 19.9, 99999999.99],
  boolean: [true, false],
  date: ['2026-02-28', '1999-12-31'],
  time: ['09:30:00', '23:59:59.123'],
  datetime: ['2026-02-28T00:00:00Z', '2026-02-28T10:00:00.5Z'],
  json: ['Dune', 7, true, ['a'], { b: 1 }],
  array: [['a'], [1, 2]],
  email: ['a@example.com'],
  enumeration: ENUM,
}

let written = 0

function valueFor(attribute: DraftAttribute, random: Chance): unknown {
  if (attribute.unique) return attribute.type === 'integer' ? 1000 + written : `unique ${written}`
  if (!attribute.required && random.onceIn(3)) return null
  return random.one(POOL[attribute.type])
}

export const tableOf = (type: DraftType): string => `${type.key}s`

/** A document; at random it is also published if it has drafts. */
export async function write({ sql }: SchemaCase, type: DraftType, random: Chance): Promise<void> {
  written += 1
  const table = tableOf(type)
  const values = Object.fromEntries(type.attributes.map(one => [one.name, valueFor(one, random)]))
  const names = ['document_id', 'created_at', 'updated_at', ...type.attributes.map(({ name }) => name)]
  const stamp = '2026-01-01T00:00:00Z'
  const row = {
    document_id: `d${written}`,
    created_at: stamp,
    updated_at: stamp,
    published_at: stamp,
    ...values,
  }
  const insert = (columns: readonly string[], rows: object) =>
    sql(
      `INSERT INTO ${table} (${columns.join()}) SELECT ${columns.join()}
       FROM jsonb_populate_record(NULL::${table}, $1::jsonb)`,
      JSON.stringify(rows),
    )
  if (!type.drafts) return void (await insert([...names, 'published_at'], row))
  const key = 100_000 + written
  const version = [...names, 'document_key', 'status', 'published_at']
  await insert(version, { ...row, document_key: key, status: 'draft', published_at: null })
  if (random.onceIn(2)) await insert(version, { ...row, document_key: key, status: 'published' })
}

/** Values by type, document and attribute. Of a document with drafts its draft's. */
export type Contents = ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, unknown>>>

export async function read(one: SchemaCase, { types }: Draft): Promise<Contents> {
  const contents = new Map<string, ReadonlyMap<string, ReadonlyMap<string, unknown>>>()
  for (const type of types) contents.set(type.id, await readType(one, type))
  return contents
}

async function readType({ sql }: SchemaCase, type: DraftType) {
  const where = type.drafts ? ` WHERE status = 'draft'` : ''
  const [row] = await sql(`SELECT coalesce(json_agg(t), '[]')::text FROM ${tableOf(type)} AS t${where}`)
  const rows: readonly Readonly<Record<string, unknown>>[] = JSON.parse(String(row?.[0]))
  return new Map(
    rows.map(values => [
      String(values.document_id),
      new Map(type.attributes.map(({ id, name }) => [id, values[name] ?? null])),
    ]),
  )
}

/** The same for values that say the same, whatever their types. */
export function meaningOf(value: unknown): string {
  if (Array.isArray(value) && value.length === 1 && typeof value[0] === 'string') return meaningOf(value[0])
  if (typeof value === 'boolean') return value ? '1' : '0'
  if (typeof value === 'object') return JSON.stringify(value)
  const text = String(value)
  if (text === 'true' || text === 'false') return text === 'true' ? '1' : '0'
  if (/^-?\d+$/.test(text)) return text
  if (/^-?\d+\.\d+$/.test(text)) return String(Number(text))
  if (/^\d\d:\d\d/.test(text)) return timeOf(text)
  if (/^\d{4}-\d\d-\d\d/.test(text)) return new Date(text).toISOString()
  if (/^[[{]/.test(text)) return meaningOf(JSON.parse(text))
  return text
}

const timeOf = (text: string): string => {
  const [hours, minutes, seconds = '0'] = text.split(':')
  return `${hours}:${minutes}:${Number(seconds)}`
}
