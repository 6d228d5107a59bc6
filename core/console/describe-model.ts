import { locationJson } from '../explain/report.ts'
import type { Path } from '../faults/diagnostic.ts'
import type { Attribute, Component, ContentType, Holder, Model } from '../model/model.ts'
import type { Project } from '../project/project.ts'

/** The content-types and components with their attributes, and the line of each in the project file. */
export function describeModel({ model, project }: { readonly model: Model; readonly project: Project }) {
  const describe = (holder: Holder, path: Path) => ({
    uid: holder.uid,
    key: holder.key,
    name: holder.displayName,
    description: holder.description ?? null,
    location: locationJson(project.keyLocation(path)),
    attributes: [...holder.attributes.values()]
      .filter(({ system }) => !system)
      .map(attribute => ({
        ...describeAttribute(attribute),
        location: locationJson(project.keyLocation([...path, 'attributes', attribute.name])),
      })),
  })
  return {
    types: [...model.contentTypes.values()].map(type => ({
      ...describe(type, typePath(type)),
      kind: type.kind,
      builtIn: type.builtIn,
      draftAndPublish: type.draftAndPublish,
      localized: type.localized,
    })),
    components: [...model.components.values()].map(component =>
      describe(component, ['components', component.uid]),
    ),
  }
}

/** Of the built-in types only `user` has attributes of the file. */
const typePath = ({ builtIn, key }: ContentType): Path =>
  builtIn ? (key === 'user' ? ['user'] : []) : ['contentTypes', key]

function describeAttribute(attribute: Attribute) {
  const { name, required, localized } = attribute
  return {
    name,
    required,
    localized,
    private: attribute.private,
    unique: attribute.kind === 'scalar' && attribute.unique,
    ...typeOf(attribute),
  }
}

interface AttributeType {
  readonly type: string
  readonly relation?: string
  /** The uids that it leads to. */
  readonly targets: readonly string[]
  /** The attribute of the target that is the other side. */
  readonly counterpart?: string | null
}

function typeOf(attribute: Attribute): AttributeType {
  switch (attribute.kind) {
    case 'scalar':
      return { type: attribute.type, targets: [] }
    case 'relation':
      return {
        type: 'relation',
        relation: attribute.relation,
        targets: [attribute.target.uid],
        counterpart: attribute.counterpart?.name ?? null,
      }
    case 'component':
      return { type: 'component', targets: [attribute.component.uid] }
    case 'zone':
      return { type: 'dynamiczone', targets: uidsOf(attribute.components) }
    default:
      return { type: attribute.kind, targets: [] }
  }
}

const uidsOf = (components: readonly Component[]): readonly string[] => components.map(({ uid }) => uid)
