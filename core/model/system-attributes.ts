import type { Attribute, ContentType, ScalarAttribute, ValueType } from './model.ts'

const base = (name: string, localized: boolean) => ({
  name,
  required: false,
  private: false,
  writable: false,
  localized,
  system: true,
})

const scalar = (name: string, type: ValueType, localized: boolean): ScalarAttribute => ({
  ...base(name, localized),
  kind: 'scalar',
  type,
  unique: false,
})

/** What stands before the declared attributes. */
export const leadingAttributes = ({ localized }: ContentType): readonly Attribute[] => [
  scalar('id', 'id', localized),
  scalar('documentId', 'documentId', false),
]

/** What stands behind them: stamps on every type, contract/rest.md 1. */
export function trailingAttributes(type: ContentType): readonly Attribute[] {
  const { localized } = type
  const stamps = ['createdAt', 'updatedAt', 'publishedAt'].map(name => scalar(name, 'datetime', localized))
  if (!localized) return stamps
  return [
    ...stamps,
    scalar('locale', 'locale', true),
    { ...base('localizations', true), kind: 'localizations', target: type, many: true },
  ]
}

export const componentIdAttribute: Attribute = scalar('id', 'id', false)
