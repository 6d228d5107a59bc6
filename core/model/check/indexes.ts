import { didYouMean } from '../../base/nearest.ts'
import { fitsIndex } from '../columns.ts'
import { attributeNamed, type Declarations, type DeclaredType } from '../declarations.ts'
import type { ModelFinding } from './finding.ts'

const SYSTEM = ['id', 'documentId', 'createdAt', 'updatedAt', 'publishedAt']

/** A declared index may only name attributes that are columns of the type's table and fit into an index. */
export function* indexes({ types }: Declarations): Generator<ModelFinding> {
  for (const type of types) {
    for (const [number, names] of type.indexes.entries()) {
      for (const [position, name] of names.entries()) {
        const message = faultOf(type, name)
        if (message === undefined) continue
        yield { code: 'index', message, path: [...type.path, 'indexes', number, position] }
      }
    }
  }
}

function faultOf(type: DeclaredType, name: string): string | undefined {
  if (SYSTEM.includes(name) || (name === 'locale' && type.localized)) return undefined
  const declaration = attributeNamed(type, name)
  const at = `\`${type.key}.${name}\``
  if (declaration === undefined) {
    return `unknown attribute \`${name}\`${didYouMean(name, [...Object.keys(type.attributes), ...SYSTEM])}`
  }
  switch (declaration.type) {
    case 'component':
    case 'dynamiczone':
      return `${at} is stored in other tables: it cannot be part of an index`
    case 'media':
      return declaration.multiple ? `${at} is a list: it cannot be part of an index` : undefined
    case 'relation':
      return isColumn(declaration)
        ? undefined
        : `${at} is not a column of \`${type.key}\`: it cannot be part of an index`
    default:
      return !fitsIndex(declaration)
        ? `${at} is of type ${declaration.type}, which is too large for an index`
        : undefined
  }
}

const isColumn = ({
  relation,
  mappedBy,
}: {
  readonly relation: string
  readonly mappedBy?: string
}): boolean => (relation === 'oneToOne' || relation === 'manyToOne') && mappedBy === undefined
