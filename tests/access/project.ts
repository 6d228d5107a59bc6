import { type Access, compileAccess } from '../../core/access/compile/compile-access.ts'
import type { Result } from '../../core/base/result.ts'
import type { Diagnostic } from '../../core/faults/diagnostic.ts'
import { compileModel } from '../../core/model/compile-model.ts'
import type { Attribute, ContentType, Holder, Model, ScalarAttribute } from '../../core/model/model.ts'
import { loadProject } from '../../core/project/load-project.ts'
import type { Project } from '../../core/project/project.ts'
import type { Query, Selection } from '../../core/query/query.ts'
import { temporaryFolder } from '../harness/folder.ts'

/** Two types with secrets, related every way; a component that leads on, a zone, drafts, locales. */
export const TYPES = `
name: Access
i18n: { locales: [en, fr] }
components:
  shared.box:
    attributes:
      label: string
      hidden: { type: string, private: true }
      pin: password
      writer: { type: relation, relation: oneToOne, target: writer }
  shared.shelf:
    attributes:
      label: string
      box: { type: component, component: shared.box }
contentTypes:
  writer:
    attributes:
      name: string
      age: integer
      salary: integer
      secret: { type: string, private: true }
      pin: password
      portrait: { type: media, multiple: false }
      books: { type: relation, relation: oneToMany, target: book, mappedBy: writer }
      account: { type: relation, relation: manyToOne, target: user }
  book:
    draftAndPublish: true
    localized: true
    attributes:
      title: string
      price: integer
      secret: { type: string, private: true }
      pin: password
      writer: { type: relation, relation: manyToOne, target: writer, inversedBy: books }
      sequel: { type: relation, relation: oneToOne, target: book }
      vault: { type: relation, relation: oneToOne, target: vault }
      box: { type: component, component: shared.box }
      shelf: { type: component, component: shared.shelf }
      parts: { type: dynamiczone, components: [shared.box, shared.shelf] }
  vault:
    attributes: { code: string }
user: { attributes: { nickname: string, writer: { type: relation, relation: oneToOne, target: writer } } }
`

export interface World {
  readonly project: Project
  readonly model: Model
  readonly access: Access
}

export async function load(yaml: string): Promise<{ project: Project; model: Model }> {
  const folder = temporaryFolder()
  try {
    folder.write('project.yaml', yaml)
    const project = passed(await loadProject(folder.path, {}))
    return { project, model: passed(compileModel(project)) }
  } finally {
    folder.remove()
  }
}

/** The project of TYPES with these roles and tokens. */
export async function world(yaml: string): Promise<World> {
  const { project, model } = await load(TYPES + yaml)
  return { project, model, access: passed(compileAccess(project, model)) }
}

/** The faults of these roles and tokens: `line:column code message`. */
export async function faultsOf(yaml: string, types = TYPES): Promise<readonly string[]> {
  const { project, model } = await load(types + yaml)
  const compiled = compileAccess(project, model)
  return compiled.ok ? [] : compiled.reasons.map(reported)
}

const reported = ({ code, message, path, location }: Diagnostic): string => {
  const word = location.source.slice(location.column - 1)
  return `${code}: ${message} | ${path.join('.')} | ${word}`
}

export function passed<Value>(result: Result<Value, unknown>): Value {
  if (result.ok) return result.value
  throw new Error(JSON.stringify(result.reasons, null, 2))
}

export function typeOf(model: Model, key: string): ContentType {
  const type = [...model.contentTypes.values()].find(each => each.key === key)
  if (!type) throw new Error(`no type ${key}`)
  return type
}

export function attributeOf<Kind extends Attribute['kind']>(
  holder: Holder,
  name: string,
  kind: Kind,
): Extract<Attribute, { kind: Kind }> {
  const attribute = holder.attributes.get(name)
  if (attribute?.kind !== kind) throw new Error(`${holder.uid}.${name} is no ${kind}`)
  return attribute as Extract<Attribute, { kind: Kind }>
}

export const scalarOf = (holder: Holder, name: string): ScalarAttribute => attributeOf(holder, name, 'scalar')

/** All scalars, private and secret ones too, as a careless parser might name them. */
export const everything = (holder: Holder): Selection => ({
  fields: [...holder.attributes.values()].filter(attribute => attribute.kind === 'scalar'),
  named: false,
  populate: [],
})

/** A list of published documents in the default locale, with all their fields. */
export const listOf = (type: ContentType, parts: Partial<Query> = {}): Query => ({
  kind: 'query',
  type,
  take: { kind: 'many', page: { start: 0, limit: 25 }, total: true },
  status: 'published',
  locale: type.localized ? { kind: 'these', codes: ['en'] } : { kind: 'all' },
  selection: everything(type),
  filter: null,
  search: null,
  publication: null,
  sort: [],
  ...parts,
})
