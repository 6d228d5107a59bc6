import { GraphQLError, GraphQLScalarType, Kind, type ValueNode, valueFromASTUntyped } from 'graphql'
import { isRealDay, printJsonValue } from '../../base/text.ts'
import { graphqlEnumValues } from '../../model/enum-names.ts'
import type { Attribute, Component, Model, ZoneAttribute } from '../../model/model.ts'
import { graphqlTypeName, graphqlZoneName } from '../../model/names.ts'
import { isRecord } from '../../query/parse-place.ts'
import type { GraphqlFormat } from '../formats/format.ts'
import { UploadedFile, withoutFiles } from './uploaded-file.ts'

/** A scalar that parses and serializes strings of one format. */
interface TextScalar {
  readonly name: string
  /** The normalized value; null: not in the format. */
  read(text: string): string | null
  write(value: unknown): unknown
  /** The error for an invalid value; `node`: the literal, if it is one. */
  writeError(input: unknown, node?: ValueNode): Error
}

const textScalar = ({ name, read, write, writeError }: TextScalar): GraphQLScalarType => {
  const parse = (input: unknown, node?: ValueNode): string => {
    const taken = typeof input === 'string' ? read(input) : null
    if (taken === null) throw writeError(input, node)
    return taken
  }
  return new GraphQLScalarType({
    name,
    serialize: write,
    parseValue: input => parse(input),
    parseLiteral: node => parse(node.kind === Kind.STRING ? node.value : valueFromASTUntyped(node), node),
  })
}

/** Strapi's message, with the position of a literal. */
const complaint = (message: string, node: ValueNode | undefined): GraphQLError =>
  new GraphQLError(message, { nodes: node ?? null })

const DAY = /^\d{4}-\d{2}-\d{2}$/

const date = textScalar({
  name: 'Date',
  read: text => (DAY.test(text) && isRealDay(text) ? text : null),
  write: value => value,
  writeError(input, node) {
    if (typeof input === 'string')
      return complaint(`Date cannot represent an invalid date-string ${input}.`, node)
    const printed = JSON.stringify(input)
    return node
      ? complaint(`Date cannot represent non string type ${printed}`, node)
      : complaint(`Date cannot represent a non string, or non Date type ${printed}.`, node)
  },
})

const TIME = /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,3})?$/

const time = textScalar({
  name: 'Time',
  read: text => (TIME.test(text) ? text : null),
  write: value => (typeof value === 'string' ? withMillis(value) : value),
  writeError: input =>
    new TypeError(
      typeof input === 'string'
        ? 'Invalid time format, expected HH:mm:ss.SSS'
        : 'Time cannot represent non string type',
    ),
})

/** REST omits trailing zeros. */
function withMillis(time: string): string {
  const [seconds = '', fraction = ''] = time.split('.')
  return `${seconds}.${fraction.padEnd(3, '0')}`
}

/** RFC 3339, with its zone. */
const MOMENT =
  /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i

function readMoment(text: string): string | null {
  const day = MOMENT.exec(text)?.[1]
  if (day === undefined || !isRealDay(day)) return null
  const moment = new Date(text)
  return Number.isNaN(moment.getTime()) ? null : moment.toISOString()
}

const dateTime = textScalar({
  name: 'DateTime',
  read: readMoment,
  // A `timestamp` attribute is a string of milliseconds internally (reference/rest.md#3-attribute-values).
  write: value =>
    typeof value === 'string' && /^-?\d+$/.test(value) ? new Date(Number(value)).toISOString() : value,
  writeError(input, node) {
    if (typeof input === 'string')
      return complaint(`DateTime cannot represent an invalid date-time-string ${input}.`, node)
    const printed = JSON.stringify(input)
    return node
      ? complaint(`DateTime cannot represent non string or Date type ${printed}`, node)
      : complaint(`DateTime cannot represent a non string, or non Date type ${printed}`, node)
  },
})

const LONG_RANGE = 2n ** 63n

const shorten = (input: unknown): string => printJsonValue(input).slice(0, 100)

/** Parses a 64-bit integer to a string, which does not round it. */
function readLong(input: unknown): string {
  const text = typeof input === 'number' || typeof input === 'string' ? String(input) : ''
  if (!/^[+-]?\d{1,40}$/.test(text)) throw new TypeError(`Cannot convert ${shorten(input)} to a BigInt`)
  const long = BigInt(text)
  if (long < -LONG_RANGE || long >= LONG_RANGE) throw new RangeError(`${text} is no integer of 64 bits`)
  return String(long)
}

const long = new GraphQLScalarType({
  name: 'Long',
  serialize: value => (Number.isSafeInteger(Number(value)) ? Number(value) : String(value)),
  parseValue: readLong,
  parseLiteral: node =>
    readLong(node.kind === Kind.INT || node.kind === Kind.STRING ? node.value : valueFromASTUntyped(node)),
})

/** Literals may contain variables. */
const json = new GraphQLScalarType({
  name: 'JSON',
  specifiedByURL: 'http://www.ecma-international.org/publications/files/ECMA-ST/ECMA-404.pdf',
  serialize: value => value,
  parseValue: value => withoutFiles(value, 'JSON'),
  parseLiteral: (node: ValueNode, variables) => withoutFiles(valueFromASTUntyped(node, variables), 'JSON'),
})

const upload = new GraphQLScalarType({
  name: 'Upload',
  serialize() {
    throw new GraphQLError('Upload serialization unsupported.')
  },
  parseValue(value) {
    if (value instanceof UploadedFile) return value
    throw new GraphQLError('Upload value invalid.')
  },
  parseLiteral(node) {
    throw new GraphQLError('Upload literal unsupported.', { nodes: node })
  },
})

/**
 * A literal must be a locale of the project, or the word for all; a variable is not checked (reference/graphql.md#3-scalars),
 * so a value that is no text becomes the code of an unknown locale, instead of being read as the default one.
 */
const localeCode = ({ locales }: Model, { allLocales }: GraphqlFormat): GraphQLScalarType => {
  const known = new Set([allLocales, ...locales.map(({ code }) => code)])
  return new GraphQLScalarType({
    name: 'I18NLocaleCode',
    serialize: String,
    parseValue: value =>
      typeof value === 'string' ? value : JSON.stringify(withoutFiles(value, 'I18NLocaleCode')),
    parseLiteral(node) {
      if (node.kind !== Kind.STRING) throw new TypeError('Locale cannot represent non string type')
      if (known.has(node.value)) return node.value
      throw new TypeError('Unknown locale supplied')
    },
  })
}

/** The schema's scalars (reference/graphql.md#3-scalars). */
export const createScalars = (
  model: Model,
  format: GraphqlFormat,
): Readonly<Record<string, GraphQLScalarType>> => ({
  Date: date,
  Time: time,
  DateTime: dateTime,
  Long: long,
  JSON: json,
  Upload: upload,
  I18NLocaleCode: localeCode(model, format),
})

/**
 * The input scalar of a dynamic zone: an entry with the `__typename` of a component (reference/graphql.md#3-scalars, reference/graphql.md#6-writing). It is
 * converted to REST's form; keys that the component does not have are dropped. The document's rules refuse components
 * that the zone does not allow.
 */
export function zoneInput(
  holder: string,
  zone: ZoneAttribute,
  components: Model['components'],
): readonly [string, GraphQLScalarType] {
  const name = `${graphqlZoneName(holder, zone.name)}Input`
  const known = new Map(Array.from(components.values(), each => [graphqlTypeName(each), each]))
  const parse = (input: unknown) => parseEntry(withoutFiles(input, name), zone, known)
  const scalar = new GraphQLScalarType({
    name,
    serialize: value => value,
    parseValue: parse,
    parseLiteral: (node: ValueNode, variables) => parse(valueFromASTUntyped(node, variables)),
  })
  return [name, scalar]
}

/** Throws plain errors, to which graphql-js adds the position and code. */
function parseEntry(input: unknown, zone: ZoneAttribute, known: ReadonlyMap<string, Component>): object {
  if (!isRecord(input)) throw new TypeError('a dynamic zone takes objects with a __typename')
  const { __typename: name } = input
  const component = typeof name === 'string' ? known.get(name) : undefined
  if (!component) {
    const allowed = zone.components.map(graphqlTypeName).join(', ')
    throw new TypeError(`Component not found. expected one of: ${allowed}`)
  }
  return { __component: component.uid, ...fieldsOf(component, input) }
}

/** Values in a zone are unchecked: GraphQL input types end at its scalar. */
function fieldsOf(component: Component, input: Readonly<Record<string, unknown>>) {
  const id = input.id === undefined ? {} : { id: input.id }
  const values = Object.entries(input).flatMap(([key, value]) => {
    const attribute = component.attributes.get(key)
    return attribute && !attribute.system ? [[key, coerce(attribute, value)]] : []
  })
  return { ...id, ...Object.fromEntries(values) }
}

function coerce(attribute: Attribute, value: unknown): unknown {
  if (attribute.kind === 'component')
    return Array.isArray(value)
      ? value.map(each => nested(attribute.component, each))
      : nested(attribute.component, value)
  if (attribute.kind !== 'scalar' || attribute.type !== 'enumeration' || typeof value !== 'string')
    return value
  return graphqlEnumValues(attribute.values ?? []).get(value) ?? value
}

const nested = (component: Component, value: unknown): unknown =>
  isRecord(value) ? fieldsOf(component, value) : value
