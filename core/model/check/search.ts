import { didYouMean } from '../../base/nearest.ts'
import type { AttributeDeclaration } from '../../project/settings/declarations.ts'
import { attributeNamed, type Declarations, type DeclaredHolder, type DeclaredType } from '../declarations.ts'
import { CONFIGURATIONS } from '../search.ts'
import type { ModelFinding } from './finding.ts'

const SEARCHABLE: readonly string[] = ['string', 'text', 'richtext', 'blocks', 'email', 'uid']

/** `search:` names text attributes of the type and of its components, its locales, and configurations of PostgreSQL. */
export function* searches(declarations: Declarations): Generator<ModelFinding> {
  for (const type of declarations.types) {
    if (type.search === null) continue
    for (const path of Object.keys(type.search.attributes)) {
      const message = faultOf(type, path, declarations)
      const place = [...type.path, 'search', 'attributes', path]
      if (message !== undefined) yield { code: 'search', message, path: place, atKey: true }
    }
    yield* languageFaults(type, declarations)
  }
}

function faultOf(type: DeclaredType, path: string, declarations: Declarations): string | undefined {
  const [name = '', inner, ...deeper] = path.split('.')
  const attribute = attributeNamed(type, name)
  if (!attribute) return unknown(type, name)
  const components = componentsOf(attribute, declarations)
  if (inner === undefined)
    return components === null
      ? notText(path, attribute)
      : `\`${path}\` is a component: name one of its attributes, such as \`${path}.text\``
  if (components === null) return `\`${name}\` is not a component: \`${path}\` does not exist`
  if (deeper.length > 0) return `\`${path}\`: components are searched one level deep`
  const found = components.flatMap(component => attributeNamed(component, inner) ?? [])
  const [first] = components
  if (found.length === 0 && first) return unknown(first, inner)
  return found.map(each => notText(path, each)).find(message => message !== undefined)
}

const unknown = (holder: DeclaredHolder, name: string): string =>
  `unknown attribute \`${name}\`${didYouMean(name, Object.keys(holder.attributes))}`

const notText = (path: string, { type }: AttributeDeclaration): string | undefined =>
  SEARCHABLE.includes(type)
    ? undefined
    : `\`${path}\` is of type ${type}: a search takes attributes of type ${SEARCHABLE.join(', ')}`

/** null: not an attribute with components. */
function componentsOf(
  attribute: AttributeDeclaration,
  { componentsByUid }: Declarations,
): readonly DeclaredHolder[] | null {
  if (attribute.type !== 'component' && attribute.type !== 'dynamiczone') return null
  const uids = attribute.type === 'component' ? [attribute.component] : attribute.components
  return uids.flatMap(uid => componentsByUid.get(uid) ?? [])
}

function* languageFaults(type: DeclaredType, { settings }: Declarations): Generator<ModelFinding> {
  const codes = settings.i18n.locales.map(({ code }) => code)
  for (const [locale, configuration] of Object.entries(type.search?.languages ?? {})) {
    const path = [...type.path, 'search', 'languages', locale]
    if (!codes.includes(locale))
      yield {
        code: 'search',
        message: `unknown locale \`${locale}\`${didYouMean(locale, codes)}`,
        path,
        atKey: true,
      }
    if (!CONFIGURATIONS.includes(configuration)) {
      const message = `unknown text search configuration \`${configuration}\`${didYouMean(configuration, CONFIGURATIONS)}`
      yield { code: 'search', message, path }
    }
  }
}
