import { writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { compile, type JSONSchema } from 'json-schema-to-typescript'
import ts from 'typescript'
import { type JsonSchema, readProjectSchema, resolveRef } from '../core/project/grammar/project-schema.ts'

const TYPES = new URL('../core/project/settings/settings.ts', import.meta.url)

const HEAD = `// Made from project.schema.json by \`npm run generate\`: change that file, not this one.

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
`

const ROOT = {
  title: 'Settings',
  description: 'A checked project file: defaults are filled in, short forms expanded, amounts are numbers.',
}

/** The text of core/project/settings/settings.ts: the types of a project file with all defaults filled in. */
export async function generateSettingsTypes(): Promise<string> {
  const schema = readProjectSchema()
  const text = await compile(
    toFilled({ ...schema, ...ROOT }, { root: schema, named: new Map() }),
    'Settings',
    {
      bannerComment: '',
      ignoreMinAndMaxItems: true,
      additionalProperties: false,
      style: { singleQuote: true, semi: false, printWidth: 110 },
    },
  )
  return `${HEAD}\n${toReadonly(text.trimStart()).replaceAll(LONG_COMMENT, '/** $1 */')}`
}

/** A comment of one line of text, which the library writes as three lines. */
const LONG_COMMENT = /\/\*\*\n *\* (.*)\n *\*\//g

interface Context {
  readonly root: JsonSchema
  /** One object for each titled definition: the library declares a type for each object. */
  readonly named: Map<string, JSONSchema>
}

function toFilled(schema: JsonSchema, context: Context): JSONSchema {
  const definition = context.root.$defs?.[schema.$ref?.replace('#/$defs/', '') ?? '']
  const title = definition?.title
  if (definition === undefined || title === undefined)
    return filledForm(resolveRef(schema, context.root), context)
  const form = context.named.get(title) ?? filledForm(definition, context)
  context.named.set(title, form)
  return form
}

/** The form after defaults are filled in: full forms only, and amounts are numbers. */
function filledForm(schema: JsonSchema, context: Context): JSONSchema {
  const { description, title, type, items } = schema
  const head = {
    ...(title !== undefined && { title: toTypeName(title) }),
    ...(description !== undefined && { description }),
  }
  if (schema['x-unit']) return { ...head, type: 'number', description: amountComment(schema) }
  if (schema.anyOf)
    return { ...head, anyOf: fullForms(schema, context.root).map(form => toFilled(form, context)) }
  if (type === 'object') return { ...head, ...mappingOf(schema, context) }
  if (type === 'array') return { ...head, type, items: toFilled(items ?? {}, context) }
  const words = schema.enum ?? (schema.const === undefined ? undefined : [schema.const])
  if (words) return { ...head, tsType: words.map(word => JSON.stringify(word)).join(' | ') }
  return { ...head, tsType: type === undefined ? 'Json' : [type].flat().map(toTsType).join(' | ') }
}

const amountComment = ({ description = '', 'x-unit': unit }: JsonSchema): string =>
  description.replace(/A plain number is in \w+\./, `In ${unit === 'bytes' ? 'bytes' : 'milliseconds'}.`)

const toTsType = (type: string): string => (type === 'integer' ? 'number' : type)

/** The branches of a union that are no short forms. */
function fullForms({ anyOf = [], 'x-short': form }: JsonSchema, root: JsonSchema): readonly JsonSchema[] {
  if (form === undefined) return anyOf
  const full = form === 'list' ? 'array' : 'object'
  return anyOf.filter(branch => resolveRef(branch, root).type === full)
}

function mappingOf(schema: JsonSchema, context: Context): JSONSchema {
  const { properties = {}, additionalProperties: others, required = [] } = schema
  const entries = Object.entries(properties)
  const filled = entries.filter(([, part]) => isFilled(resolveRef(part, context.root))).map(([key]) => key)
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([key, part]) => [key, toFilled(part, context)])),
    additionalProperties: typeof others === 'object' ? toFilled(others, context) : false,
    required: [...new Set([...required, ...filled])],
  }
}

/** Whether settings always have the key (core/project/settings/fill-defaults.ts). */
const isFilled = (schema: JsonSchema): boolean =>
  schema.default !== undefined || schema.properties !== undefined || schema['x-derived'] === true

/** `GraphQL settings` becomes `GraphqlSettings`. */
const toTypeName = (title: string): string =>
  title.replaceAll(
    /(\S)(\S*)\s*/g,
    (_, first: string, others: string) => first.toUpperCase() + others.toLowerCase(),
  )

/** Makes all properties and lists readonly, for which the library has no option. */
function toReadonly(text: string): string {
  const insertions: (readonly [at: number, words: string])[] = []
  const visit = (node: ts.Node): void => {
    const isInner = ts.isArrayTypeNode(node) && ts.isArrayTypeNode(node.parent)
    if (isInner) insertions.push([node.getStart(), '(readonly '], [node.end, ')'])
    else if (ts.isPropertySignature(node) || ts.isIndexSignatureDeclaration(node) || ts.isArrayTypeNode(node))
      insertions.push([node.getStart(), 'readonly '])
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile('settings.ts', text, ts.ScriptTarget.Latest, true))
  let [result, from] = ['', 0]
  for (const [at, words] of insertions.toSorted(([one], [other]) => one - other)) {
    result += text.slice(from, at) + words
    from = at
  }
  return result + text.slice(from)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  await writeFile(TYPES, await generateSettingsTypes())
